"""The conditional random field of paper 003 (section 3.4.2), on python-crfsuite."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pycrfsuite

from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.tags import well_formed
from taggers.features import WindowAttributes, feature
from taggers.tagger import MEASURES, Progress, Tagging, Training, TrainingError

_MODEL, _DESCRIPTION = "crf.crfsuite", "model.json"
_FORMAT = 2
_ITERATION = re.compile(r"\*+ Iteration #(\d+) \*+")
_LOSS = re.compile(r"Loss: (-?[\d.]+|-?nan|-?inf)")
_END = re.compile(r"L-BFGS (terminated with .*|resulted in convergence.*)")
_ALREADY_MINIMIZED = "error code (2)"  # of liblbfgs: the weights it begins with, 0, are the best


@dataclass(frozen=True, slots=True)
class CRFOptions:
    """Options of the CRF tagger; every field is a key of ``[tagger]``."""

    features: tuple[str, ...] = field(
        default=(
            "form",
            "lower",
            "capitalization",
            "has_digit",
            "is_number",
            "prefix3",
            "prefix4",
            "suffix3",
            "suffix4",
            "shape",
        ),
        metadata={"help": "features of a word, by name (see docs/taggers.md)"},
    )
    window: int = field(default=2, metadata={"help": "words on each side of a token", "least": 0})
    c1: float = field(default=0.0, metadata={"help": "weight of the L1 norm", "least": 0})
    c2: float = field(default=0.1, metadata={"help": "weight of the L2 norm", "least": 0})
    max_iterations: int = field(default=100, metadata={"help": "L-BFGS steps at most", "least": 1})
    min_frequency: int = field(
        default=0, metadata={"help": "attributes seen less often are left out", "least": 0}
    )

    def __post_init__(self) -> None:
        for name in self.features:
            feature(name)
        if not self.features:
            raise InputError("features is empty: a CRF needs at least one, such as form")
        for name in ("c1", "c2"):
            weight = getattr(self, name)
            if not 0 <= weight < math.inf:
                raise InputError(f"{name} = {weight}: expected a finite number of 0 or more")


class CRFTagger:
    """A linear-chain CRF.

    Parameters
    ----------
    options : CRFOptions
        Features, window and regularization.

    Attributes
    ----------
    labels : tuple of str
        The labels it was trained with.
    training : Training or None
        How training ended; None before it.
    """

    kind = "crf"

    def __init__(self, options: CRFOptions | None = None) -> None:
        self.options = options or CRFOptions()
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self._model = b""
        self._crfsuite: Any = None
        self._attributes = WindowAttributes(self.options.features, self.options.window)

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from tagged documents by L-BFGS.

        Parameters
        ----------
        train : Batch
            Documents all of whose tags are known. Those without tokens teach nothing.
        validation : Batch, optional
            Not looked at: L-BFGS stops by its own objective.
        rng : numpy.random.Generator
            Not drawn from: L-BFGS is deterministic.
        progress : callable, optional
            Told of the L-BFGS steps.

        Returns
        -------
        CRFTagger
            Itself.

        Raises
        ------
        TrainingError
            If there is nothing to learn from, or L-BFGS failed before its first step.
        ValueError
            If a tag is unknown.
        """
        if (train.tags < 0).any():
            raise ValueError("the CRF needs every tag of its training documents")
        if not len(train.words):
            raise TrainingError("there is not one token to train a CRF on")
        trainer = _Trainer(self.options.max_iterations, progress)
        trainer.set_params(
            {
                "c1": self.options.c1,
                "c2": self.options.c2,
                "max_iterations": self.options.max_iterations,
                "feature.minfreq": self.options.min_frequency,
                "feature.possible_transitions": True,
            }
        )
        # CRFsuite reads labels as ASCII, so it gets their numbers.
        tags = train.tags.astype(str).tolist()
        for row, (start, words) in enumerate(_documents(train)):
            if words:
                attributes = self._attributes.of_document(words)
                trainer.append(attributes, tags[start : train.documents[row + 1]])
        model = _trained(trainer)
        self.training = trainer.result()
        self._model, self._crfsuite = model, None
        self.labels = train.labels
        return self

    def tag(
        self, batch: Batch, *, measure: str = "probability", progress: Progress | None = None
    ) -> Tagging:
        """Tag documents with their most probable sequences.

        Parameters
        ----------
        batch : Batch
            Its own tags are not looked at.
        measure : str
            How to measure confidence: one of `taggers.tagger.MEASURES`.
        progress : callable, optional
            Told of the documents done.

        Returns
        -------
        Tagging
        """
        if measure not in MEASURES:
            raise InputError(f'there is no measure "{measure}"; there are {", ".join(MEASURES)}')
        crfsuite = self._opened()
        tags = np.zeros(len(batch.words), np.int16)
        confidence = np.ones(len(batch))
        for row, (start, words) in enumerate(_documents(batch)):
            if words:
                crfsuite.set(self._attributes.of_document(words))
                path = crfsuite.tag()
                tags[start : start + len(words)] = [int(label) for label in path]
                confidence[row] = _confidence(crfsuite, path, measure)
            if progress and row % 256 == 255:
                progress(row + 1, len(batch))
        if progress:
            progress(len(batch), len(batch))
        return Tagging(well_formed(tags, batch.documents, self.labels), self.labels, confidence)

    def save(self, folder: Path) -> None:
        """Write the model into a folder: CRFsuite's binary file and a description in JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _MODEL).write_bytes(self._model)
        description = {
            "kind": self.kind,
            "format": _FORMAT,
            "labels": self.labels,
            "options": asdict(self.options),
            "training": asdict(self.training) if self.training else None,
            "blake2b": hashlib.blake2b(self._model).hexdigest(),
        }
        description["digest"] = _digest(description)
        text = json.dumps(description, ensure_ascii=False, indent=1)
        (folder / _DESCRIPTION).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If the folder holds no CRF, or one of its files is not the one that was saved.
        """
        try:
            description = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
            model = (folder / _MODEL).read_bytes()
            _check(description, model, folder)
            options = {**description["options"], "features": (*description["options"]["features"],)}
            tagger = cls(CRFOptions(**options))
            tagger.labels = tuple(description["labels"])
            training = description["training"]
            tagger.training = Training(**training) if training else None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{folder} is not the folder of a CRF model: {error}") from error
        tagger._model = model
        return tagger

    def _opened(self) -> Any:
        if self._crfsuite is None:
            if not self._model:
                raise ValueError("the CRF has not been trained")
            self._crfsuite = pycrfsuite.Tagger()
            self._crfsuite.open_inmemory(self._model)
        return self._crfsuite


def _digest(description: Mapping[str, Any]) -> str:
    """Digest what a description says, but for the digest of itself."""
    rest = {name: value for name, value in description.items() if name != "digest"}
    return hashlib.blake2b(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _check(description: dict[str, Any], model: bytes, folder: Path) -> None:
    """Raise an `InputError` unless the files of a model are those that were saved.

    CRFsuite trusts the file that it reads, so a damaged one must not get there; with other
    features or labels than those of its training it would tag without a word.
    """
    if description["format"] != _FORMAT:
        raise InputError(
            f"{folder} holds a CRF of format {shown(description['format'])}; this version reads "
            f"format {_FORMAT}"
        )
    digests = {_DESCRIPTION: ("digest", _digest(description))}
    digests[_MODEL] = ("blake2b", hashlib.blake2b(model).hexdigest())
    for file, (name, digest) in digests.items():
        if description[name] != digest:
            raise InputError(f"{folder / file} is damaged: it is not the file that was saved")


def _documents(batch: Batch) -> Iterator[tuple[int, list[str]]]:
    """Yield the first token and the words of each document."""
    types = batch.types
    bounds = batch.documents.tolist()
    for start, stop in itertools.pairwise(bounds):
        yield start, [types[word] for word in batch.words[start:stop].tolist()]


def _confidence(crfsuite: Any, path: list[str], measure: str) -> float:
    if measure == "lowest":
        return float(min(crfsuite.marginal(label, place) for place, label in enumerate(path)))
    probability = min(float(crfsuite.probability(path)), 1.0)  # rounding can exceed 1
    if measure == "probability" or probability == 0:
        return probability
    return math.exp(math.log(probability) / len(path))


class _Trainer(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """Listens to CRFsuite's log, the only place that says how L-BFGS ended."""

    def __init__(self, most: int, progress: Progress | None) -> None:
        super().__init__(algorithm="lbfgs")
        self._most = most
        self._progress = progress
        self._iterations = 0
        self._loss = math.nan
        self._outcome = "L-BFGS said nothing of how it ended"

    def message(self, message: str) -> None:
        if match := _ITERATION.match(message):
            self._iterations = int(match[1])
            if self._progress:
                self._progress(self._iterations, self._most)
        elif match := _LOSS.match(message):
            self._loss = float(match[1])
        elif match := _END.match(message):
            self._outcome = match[0]

    def result(self) -> Training:
        """Say how training ended."""
        converged = "resulted in convergence" in self._outcome or (
            "stopping criteria" in self._outcome
        )
        if _ALREADY_MINIMIZED in self._outcome:
            raise TrainingError(
                "the CRF was not trained: no weight is better than 0. The training tokens all "
                "have the same tag, or nothing tells their tags apart, or c1 is too large"
            )
        if "error" in self._outcome and self._iterations == 0:
            raise TrainingError(f"the CRF was not trained: {self._outcome}")
        return Training(converged, self._outcome, self._iterations, self._loss)


def _trained(trainer: _Trainer) -> bytes:
    """Train and give the model file, which is a copy of words of notes and stays off the disk."""
    with _private_file() as path:
        trainer.train(path)
        return Path(path).read_bytes()


@contextlib.contextmanager
def _private_file() -> Iterator[str]:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("crf")
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:  # only Linux has files in memory
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / _MODEL)
