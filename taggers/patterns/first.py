"""Patterns before a tagger: their spans are found first, and the tagger fills the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.ragged import ranges_of
from corpus.storage.fields import Fields, parse_json
from corpus.tags import TokenSpans, bio_labels, classes_of, find_entities, tags_of_entities
from taggers.base import Detail, Progress, Tagger, Tagging, kernels_of
from taggers.confidence import spread, token_confidence_of
from taggers.model_folder import add_to_model
from taggers.patterns import KERNELS, PATTERNS_FILE
from taggers.patterns.labelled import LabelledPatterns, entities_of
from taggers.privacy.pruning import PrunableTagger, Pruning

if TYPE_CHECKING:
    from taggers.privacy.public_lists import PublicLists


#: The name of the part of the model.
_PART = "patterns before the tagger"


class PatternsFirst:
    """A tagger of any kind after patterns that are trusted.

    An entity of the tagger that overlaps a span of a pattern is left out. The tokens of a span are
    known, with the probability 1: those of an entity, and those outside of all entities where the
    tagger finds none. The confidence in documents is the one of the tagger.

    Parameters
    ----------
    tagger : Tagger
        The tagger.
    patterns : LabelledPatterns
        The patterns.
    """

    def __init__(self, tagger: Tagger, patterns: LabelledPatterns) -> None:
        self.tagger, self.patterns = tagger, patterns
        self.kind, self.training = tagger.kind, tagger.training
        self.labels = bio_labels({*classes_of(tagger.labels), *patterns.classes})
        self.kernels = kernels_of(tagger) + KERNELS

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train the tagger; see `taggers.base.Tagger.fit`."""
        start = warm_start.tagger if warm_start else None
        self.tagger.fit(train, validation, warm_start=start, rng=rng, progress=progress)
        self.training = self.tagger.training
        return self

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the tags of documents; see `taggers.base.Tagger.tag`."""
        tagging = self.tagger.tag(batch, measure=measure, detail=detail)
        return self._with_spans(tagging, self.patterns.find(batch)[0], batch)

    def _with_spans(self, tagging: Tagging, spans: TokenSpans, batch: Batch) -> Tagging:
        """Return a tagging with the spans of patterns first."""
        classes = classes_of(self.labels)
        own = np.array([classes.index(name) for name in classes_of(tagging.labels)], np.int64)
        named = np.array([classes.index(name) for name in self.patterns.classes], np.int64)
        known = entities_of(spans)
        taken = np.zeros(batch.n_tokens + 1, np.int64)
        taken[1 + ranges_of(known.first, known.last - known.first + 1)] = 1
        before = np.cumsum(taken)
        entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
        kept = np.flatnonzero(before[entities.last + 1] == before[entities.first])
        first = np.concatenate([known.first, entities.first[kept]])
        last = np.concatenate([known.last, entities.last[kept]])
        kinds = np.concatenate([named[known.classes], own[entities.classes[kept]]])
        order = np.argsort(first)
        merged = TokenSpans(first[order], last[order], kinds[order])
        tags = tags_of_entities(merged, batch.n_tokens, self.labels)
        result = replace(tagging, tags=tags, labels=self.labels)
        if tagging.token_confidence is None:
            return result
        columns = np.array([self.labels.index(label) for label in tagging.labels], np.int64)
        # Those of an entity, and those outside of all entities where the tagger agrees.
        is_known = taken[1:] > 0
        tokens = ranges_of(spans.first, spans.last - spans.first + 1)
        is_known[tokens[tags[tokens] == 0]] = True
        # Of the other tokens of an entity that is left out, nothing is sure.
        confidence = np.where(columns[tagging.tags] == tags, tagging.token_confidence, 0.0)
        marginals, probabilities = tagging.marginals, tagging.entity_probabilities
        if marginals is not None:
            marginals = spread(marginals, columns, len(self.labels))
            marginals[is_known] = np.eye(len(self.labels))[tags[is_known]]
            confidence = token_confidence_of(marginals, tags)
        confidence[is_known] = 1.0
        if probabilities is not None:
            certain = np.eye(len(classes))[named[known.classes]]
            others = spread(probabilities[kept], own, len(classes))
            probabilities = np.concatenate([certain, others])[order]
        return replace(
            result,
            token_confidence=confidence,
            marginals=marginals,
            entity_probabilities=probabilities,
        )

    def save(self, folder: Path) -> None:
        """Write the model of the tagger into a folder, with the patterns."""
        self.tagger.save(folder)
        add_to_model(folder, {PATTERNS_FILE: patterns_bytes(self.patterns)})

    @classmethod
    def from_file(cls, tagger: Tagger, content: bytes, path: Path) -> Self:
        """Read the patterns that are saved in the folder of a tagger.

        Raises
        ------
        InputError
            If they are invalid.
        """
        fields = Fields(parse_json(content, str(path)), str(path))
        return cls(tagger, LabelledPatterns.from_settings(fields))

    def contents(self) -> Mapping[str, int]:
        """Return the number of entries of each part of the model."""
        return {
            **self._prunable().contents(),
            _PART: len(self.patterns.patterns),
        }

    def pruned(self, pruning: Pruning) -> PatternsFirst:
        """Return a model that reveals less; see `taggers.privacy.pruning.PrunableTagger.pruned`."""
        return PatternsFirst(self._prunable().pruned(pruning), self.patterns)

    def traces(
        self, words: Sequence[str], lists: PublicLists
    ) -> Mapping[str, npt.NDArray[np.bool_]]:
        """Return which words left traces; see `taggers.privacy.pruning.PrunableTagger.traces`."""
        return {**self._prunable().traces(words, lists), _PART: self.patterns.traces(words)}

    def _prunable(self) -> PrunableTagger:
        if not isinstance(self.tagger, PrunableTagger):
            raise InputError(f'a model of kind "{self.kind}" cannot be pruned')
        return self.tagger


def patterns_bytes(patterns: LabelledPatterns) -> bytes:
    """Return the content of `PATTERNS_FILE`."""
    return json.dumps(patterns.settings()).encode()


def without_patterns(tagger: Tagger) -> Tagger:
    """Return a tagger without the patterns before it."""
    return tagger.tagger if isinstance(tagger, PatternsFirst) else tagger
