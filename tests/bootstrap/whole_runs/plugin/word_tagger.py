"""Two taggers of another package: a token classifier, and an initial model without any option."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import bio_labels, well_formed
from taggers.base import Detail, Progress, Tagging, Training
from taggers.model_folder import read_description, write_model
from taggers.options import TaggerOptions


@dataclass(frozen=True, slots=True)
class WordOptions(TaggerOptions):
    """Options of the token classifier."""

    strength: float = field(
        default=10.0, metadata={"help": "inverse of the L2 regularization", "least": 0.01}
    )


class WordTagger:
    """A logistic regression on each word and its predecessor, found by an entry point."""

    kind = "words"
    options_type = WordOptions
    model_format = 2

    def __init__(self, options: WordOptions) -> None:
        self.options = options
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self._names: list[str] = []
        self._classes: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._weights: npt.NDArray[np.float64] = np.zeros((0, 0))
        self._bias: npt.NDArray[np.float64] = np.zeros(0)

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the weights on the tagged tokens."""
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression

        vectorizer = DictVectorizer()
        features = vectorizer.fit_transform(_features(train))
        model = LogisticRegression(C=self.options.strength, max_iter=200)
        model.fit(features, train.tags)
        self.labels, self._names = train.labels, vectorizer.feature_names_
        self._classes = model.classes_.astype(np.int64)
        self._weights, self._bias = model.coef_, model.intercept_
        if len(self._classes) == 2:  # of two classes, there is one row
            self._weights = np.vstack([np.zeros_like(model.coef_), model.coef_])
            self._bias = np.array([0.0, model.intercept_[0]])
        loss = float(np.square(model.coef_).sum())
        self.training = Training(True, "converged", int(model.n_iter_[0]), loss)
        return self

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "probability",
        detail: Detail = "document",
    ) -> Tagging:
        """Tag every token by itself."""
        column = {name: number for number, name in enumerate(self._names)}
        scores = np.tile(self._bias, (batch.n_tokens, 1))
        for row, features in enumerate(_features(batch)):
            for name in (f"{key}={value}" for key, value in features.items()):
                if name in column:
                    scores[row] += self._weights[:, column[name]]
        marginals = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
        tags = self._classes[marginals.argmax(axis=1)].astype(np.int16)
        return _tagging(batch, tags, marginals.max(axis=1), self.labels)

    def save(self, folder: Path) -> None:
        """Write the weights as JSON."""
        model = {
            "names": self._names,
            "classes": self._classes.tolist(),
            "weights": self._weights.tolist(),
            "bias": self._bias.tolist(),
        }
        description = {
            "kind": self.kind,
            "labels": self.labels,
            "options": asdict(self.options),
            "training": asdict(self.training) if self.training else None,
        }
        files = {"weights.json": json.dumps(model).encode()}
        write_model(folder, description, files, model_format=self.model_format)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the weights."""
        description = read_description(folder, cls.kind, model_format=cls.model_format)
        tagger = cls(WordOptions(**description["options"]))
        tagger.labels = tuple(description["labels"])
        tagger.training = Training(**description["training"])
        model = json.loads((folder / "weights.json").read_text(encoding="utf-8"))
        tagger._names, tagger._classes = model["names"], np.array(model["classes"])
        tagger._weights, tagger._bias = np.array(model["weights"]), np.array(model["bias"])
        return tagger


@dataclass(frozen=True, slots=True)
class NoOptions(TaggerOptions):
    """Options without a field."""


class Capitals:
    """Tags every capitalised word as a person, found by its path."""

    kind = "word_tagger:Capitals"
    options_type = NoOptions
    needs_seed = False

    def __init__(self, options: NoOptions) -> None:
        self.labels = bio_labels(["PERSON"])
        self.training: Training | None = None

    def fit(self, train: Batch, validation: Batch | None = None, **others: Any) -> Self:
        """Learn nothing."""
        return self

    def tag(self, batch: Batch, **others: Any) -> Tagging:
        """Tag every capitalised word."""
        capital = np.array([word.istitle() for word in batch.vocabulary], bool)
        tags = np.where(capital[batch.word_ids], 1, 0).astype(np.int16)
        return _tagging(batch, tags, np.full(len(tags), 0.9), self.labels)

    def save(self, folder: Path) -> None:
        """Write the kind."""
        write_model(folder, {"kind": self.kind}, {})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Check the folder."""
        read_description(folder, cls.kind)
        return cls(NoOptions())


def _features(batch: Batch) -> list[dict[str, str]]:
    words = [batch.vocabulary[number].lower() for number in batch.word_ids.tolist()]
    shapes = [str(batch.vocabulary[number].istitle()) for number in batch.word_ids.tolist()]
    before = ["", *words[:-1]]
    for first in batch.document_offsets[:-1].tolist():
        if first < len(before):
            before[first] = ""
    return [
        {"word": word, "capital": shape, "before": previous}
        for word, shape, previous in zip(words, shapes, before, strict=True)
    ]


def _tagging(
    batch: Batch,
    tags: npt.NDArray[np.int16],
    certainty: npt.NDArray[np.float64],
    labels: tuple[str, ...],
) -> Tagging:
    confidence = np.ones(len(batch))
    for number, (first, last) in enumerate(
        zip(batch.document_offsets[:-1].tolist(), batch.document_offsets[1:].tolist(), strict=True)
    ):
        confidence[number] = certainty[first:last].min(initial=1.0)
    return Tagging(well_formed(tags, batch.document_offsets, labels), labels, confidence, certainty)
