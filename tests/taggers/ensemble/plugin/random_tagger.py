"""A tagger of another package: word frequencies and noise, with labels in reverse order."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.tags import well_formed
from taggers.base import Detail, Progress, Tagging, Training, TrainingError
from taggers.confidence import document_confidence, token_confidence_of
from taggers.model_folder import read_description, write_model
from taggers.options import TaggerOptions


@dataclass(frozen=True, slots=True)
class RandomOptions(TaggerOptions):
    """Options of the tagger."""

    noise: float = 0.1
    fails: bool = False
    marginals: bool = True
    added: str = ""
    waits: bool = False


class RandomTagger:
    """Frequencies of the labels of each word, plus noise that is drawn in training."""

    kind = "random"
    options_type = RandomOptions

    #: Where taggers whose options say so wait for each other in training.
    barrier = threading.Barrier(2, timeout=60)

    def __init__(self, options: RandomOptions) -> None:
        self.options = options
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self.seen: dict[str, Any] = {}
        self.counts: dict[str, list[float]] = {}

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Count the labels of words, starting from the counts of another tagger."""
        if self.options.fails:
            raise TrainingError("no usable weights")
        if progress:
            progress(1, 2)
        if self.options.waits:
            self.barrier.wait()
        added = (self.options.added,) if self.options.added else ()
        self.labels = (*train.labels[::-1], *added)
        self.seen = {
            "validation": 0 if validation is None else len(validation),
            "warm_start": warm_start is not None,
        }
        self.counts = {} if warm_start is None else dict(warm_start.counts)
        for word in train.vocabulary:
            noise = self.options.noise * rng.random(len(self.labels)) + 1e-3
            self.counts[word] = noise.tolist()
        for word, tag in zip(train.word_ids.tolist(), train.tags.tolist(), strict=True):
            self.counts[train.vocabulary[word]][len(train.labels) - 1 - tag] += 1
        self.training = Training(True, "counted", 1, 0.0)
        if progress:
            progress(2, 2)
        return self

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "probability",
        detail: Detail = "document",
    ) -> Tagging:
        """Tag every token by itself."""
        unknown = [1.0] * len(self.labels)
        counts = np.array([self.counts.get(word, unknown) for word in batch.vocabulary])
        if not len(counts):
            counts = np.zeros((0, len(self.labels)))
        marginals = (counts / counts.sum(axis=1, keepdims=True))[batch.word_ids]
        tags = marginals.argmax(axis=1).astype(np.int16)
        tags = well_formed(tags, batch.document_offsets, self.labels)
        chosen = token_confidence_of(marginals, tags)
        return Tagging(
            tags,
            self.labels,
            document_confidence(measure, batch.document_offsets, token_confidence=chosen),
            chosen,
            marginals if detail == "labels" and self.options.marginals else None,
        )

    def save(self, folder: Path) -> None:
        """Write the counts."""
        files = {"counts.json": json.dumps(self.counts).encode()}
        write_model(folder, {"kind": self.kind, "labels": self.labels}, files)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the counts."""
        try:
            description = read_description(folder, cls.kind)
            counts = json.loads((folder / "counts.json").read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{folder}: {error}") from error
        tagger = cls(RandomOptions())
        tagger.labels, tagger.counts = tuple(description["labels"]), counts
        return tagger
