"""The tagger that is spaCy's transition-based recognizer (paper 004, "Networks")."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.ragged import ranges_of
from corpus.storage.arrays import array_files, weights_of_shape
from corpus.tags import TokenSpans, classes_of, find_entities, tags_of_entities, well_formed
from corpus.units import line_numbers
from taggers.base import Detail, Progress, Tagging, TrainingError
from taggers.confidence import check_measure, document_confidence, token_confidence_of
from taggers.model_folder import ModelFiles
from taggers.networks.training.process import train_in_process
from taggers.privacy.pruning import Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.spacy_ner.spacy_options import SpacyOptions, check_installed
from taggers.trained_tagger import Traces, TrainedTagger

if TYPE_CHECKING:
    from spacy.language import Language

#: Its first and last token, its class, and its probability.
_Entity = tuple[int, int, int, float]

_DENSITY = 1e-4  # of the best sequence's probability, below which a sequence leaves the beam
_PIECE = 256  # documents that are tagged at once
_LONGEST = 2000  # tokens of a text that is parsed


class SpacyTagger(TrainedTagger[SpacyOptions]):
    """A tagger with spaCy's recognizer: a convolutional network that chooses transitions.

    It is trained from random weights, in a separate process. A model holds its weights as arrays.

    Parameters
    ----------
    options : SpacyOptions, optional
        Layers, schedule of training and width of the beam; defaults if omitted.
    """

    kind = "spacy"
    trains_in_process = True
    options_type = SpacyOptions

    def __init__(self, options: SpacyOptions | None = None) -> None:
        super().__init__(options)
        self._weights: dict[str, npt.NDArray[np.float32]] = {}
        self._pipeline: tuple[Language, Any] | None = None

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train on tagged documents by Adam; see `taggers.base.Tagger.fit`.

        A document whose weight is below 1 is used in an epoch with this probability.
        """
        check_installed()
        if (train.tags < 0).any():
            raise TrainingError(
                "a training token has an unknown tag, which spaCy cannot learn from"
            )
        if not (train.tags > 0).any():
            raise TrainingError("no training token is in an entity")
        if train.weights is not None and not train.weights.any():
            raise TrainingError("no training document has a weight above 0")
        offsets, documents = _parts(train)
        weights = np.ones(len(train), np.float32) if train.weights is None else train.weights
        request = {
            "kind": self.kind,
            "options": asdict(self.options),
            "classes": len(classes_of(train.labels)),
            "labels": _numbered(train.labels),
            "vocabulary": train.vocabulary,
            "random_state": int(rng.integers(2**31)),
        }
        arrays: dict[str, npt.NDArray[Any]] = {
            "word_ids": train.word_ids,
            "offsets": offsets,
            "tags": well_formed(train.tags, offsets, train.labels),
            "weights": weights[documents],
        }
        self._weights, self.training = train_in_process(request, arrays, progress)
        self._pipeline, self.labels = None, train.labels
        return self

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the entities of the best sequence of transitions; see `taggers.base.Tagger.tag`.

        Probabilities are those of the sequences in the beam.
        """
        check_measure(measure)
        self._check_trained()
        number = len(classes_of(self.labels))
        best, scored = list[_Entity](), list[_Entity]()
        offsets, documents = _parts(batch)
        for start in range(0, len(documents), _PIECE):
            of_best, of_scored = self._parsed(batch, offsets[start : start + _PIECE + 1])
            best += of_best
            scored += of_scored
        spans, chances = _spans(scored)
        marginals = np.zeros((batch.n_tokens, len(self.labels)))
        for kind, name in enumerate(classes_of(self.labels)):
            own = spans.classes == kind
            begin, inside = (self.labels.index(f"{prefix}-{name}") for prefix in "BI")
            lengths = (spans.last - spans.first)[own]
            np.add.at(marginals[:, begin], spans.first[own], chances[own])
            tokens = ranges_of(spans.first[own] + 1, lengths)
            np.add.at(marginals[:, inside], tokens, np.repeat(chances[own], lengths))
        marginals[:, 0] = np.maximum(1 - marginals[:, 1:].sum(axis=1), 0)
        marginals /= marginals.sum(axis=1, keepdims=True)
        tags = tags_of_entities(_spans(best)[0], batch.n_tokens, self.labels)
        chosen = token_confidence_of(marginals, tags)
        of_entities = None
        if detail == "entity":
            entities = find_entities(tags, batch.document_offsets, self.labels)
            of_entities = np.zeros((len(entities.first), number))
            rows = {first: row for row, first in enumerate(entities.first.tolist())}
            for first, last, kind, chance in scored:
                row = rows.get(first, -1)
                if row >= 0 and entities.last[row] == last:
                    of_entities[row, kind] = chance
        return Tagging(
            tags,
            self.labels,
            document_confidence(measure, batch.document_offsets, token_confidence=chosen),
            None if detail in ("tags", "document") else chosen,
            marginals if detail == "labels" else None,
            of_entities,
        )

    def _parsed(
        self, batch: Batch, offsets: npt.NDArray[np.int64]
    ) -> tuple[list[_Entity], list[_Entity]]:
        """Return the entities of the best sequences of some texts, and of all in the beam."""
        from taggers.spacy_ner.network import documents_of  # noqa: PLC0415 - spaCy is slow to import

        nlp, recognizer = self._loaded()
        tokens = slice(*offsets[[0, -1]].tolist())
        words = [batch.vocabulary[word] for word in batch.word_ids[tokens].tolist()]
        best, scored = list[_Entity](), list[_Entity]()
        with nlp.memory_zone():
            places = (offsets - offsets[0]).tolist()
            documents = list(documents_of(nlp, words, places))
            filled = [row for row, document in enumerate(documents) if len(document)]
            parsed = [documents[row] for row in filled]
            if not parsed:
                return best, scored
            width = self.options.beam
            beams = recognizer.beam_parse(parsed, beam_width=width, beam_density=_DENSITY)
            recognizer.set_annotations(parsed, beams)
            for row, of_document in zip(filled, recognizer.scored_ents(beams), strict=True):
                begin = int(offsets[row])
                best += [
                    (begin + own.start, begin + own.end - 1, int(own.label_), 1.0)
                    for own in documents[row].ents
                ]
                scored += [
                    (begin + first, begin + end - 1, int(name), float(chance))
                    for (first, end, name), chance in of_document.items()
                ]
        return best, scored

    def _loaded(self) -> tuple[Language, Any]:
        """Return the pipeline with the weights of the model."""
        if self._pipeline is None:
            check_installed()
            from taggers.spacy_ner.network import assign, make_pipeline  # noqa: PLC0415 - as above

            self._pipeline = make_pipeline(self.options, len(classes_of(self.labels)))
            assign(self._pipeline[1], self._weights)
        return self._pipeline

    def _is_trained(self) -> bool:
        return bool(self._weights)

    def _learned_contents(self) -> dict[str, int]:
        return {"weights": sum(array.size for array in self._weights.values())}

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        return {}

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        """Keep the weights: the model holds no words, only vectors of their hashes."""
        self._weights = whole._weights

    def _saved(self) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        return {}, array_files({f"weights-{name}": array for name, array in self._weights.items()})

    def _read(self, model: ModelFiles) -> None:
        check_installed()
        from taggers.spacy_ner.network import (  # noqa: PLC0415 - as above
            assign,
            make_pipeline,
            weights_of,
        )

        pipeline = make_pipeline(self.options, len(classes_of(self.labels)))
        self._weights = {
            name: model.array(f"weights-{name}", weights_of_shape(*array.shape))
            for name, array in weights_of(pipeline[1]).items()
        }
        assign(pipeline[1], self._weights)
        self._pipeline = pipeline


def _spans(entities: Sequence[_Entity]) -> tuple[TokenSpans, npt.NDArray[np.float64]]:
    """Return entities as arrays, with their probabilities."""
    columns = np.array(entities, np.float64).reshape(-1, 4).T
    first, last, classes = columns[:3].astype(np.int64)
    return TokenSpans(first, last, classes), columns[3]


def _numbered(labels: Sequence[str]) -> list[str]:
    """Return labels in which the numbers of classes stand for their names."""
    numbers = {name: str(number) for number, name in enumerate(classes_of(labels))}
    return [label if label == "O" else label[:2] + numbers[label[2:]] for label in labels]


def _parts(batch: Batch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Divide long documents: parsing takes the square of the number of tokens.

    Returns
    -------
    offsets : ndarray of int64, shape (P + 1,)
        The offsets of the tokens of each part: a document, or some lines of it.
    documents : ndarray of int64, shape (P,)
        The document of each part.
    """
    lines = np.flatnonzero(np.diff(line_numbers(batch), prepend=-1))
    begins, documents = list[int](), list[int]()
    for document, (first, end) in enumerate(itertools.pairwise(batch.document_offsets.tolist())):
        begins.append(first)
        documents.append(document)
        while end - begins[-1] > _LONGEST:
            # At the last line that begins in time, or else where there is no line.
            row = int(np.searchsorted(lines, begins[-1] + _LONGEST, side="right")) - 1
            line = int(lines[row])
            begins.append(line if line > begins[-1] else begins[-1] + _LONGEST)
            documents.append(document)
    offsets = np.array([*begins, batch.n_tokens], np.int64)
    return offsets, np.array(documents, np.int64)
