"""Patterns with the classes that their spans have, and the entities that they find."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.storage.fields import Fields
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.merging import merged
from taggers.patterns.pattern import Pattern
from taggers.patterns.tables import patterns_of, table_of

Indices = npt.NDArray[np.int64]

#: The class of spans that are no entities.
OUTSIDE = ""


@dataclass(frozen=True, slots=True, eq=False)
class PatternSpans:
    """Spans of patterns, of which no two have a common token, in their order.

    Parameters
    ----------
    first, last : ndarray of int64, shape (S,)
        The first and the last token of each span.
    classes : ndarray of int64, shape (S,)
        The index of its class in `LabelledPatterns.classes`, or -1 if it is no entity.
    confidences : ndarray of float64, shape (S,)
        The confidence in it.
    """

    first: Indices
    last: Indices
    classes: Indices
    confidences: npt.NDArray[np.float64]


class LabelledPatterns:
    """Patterns with the classes that their spans have.

    Parameters
    ----------
    patterns : sequence of Pattern
        Rows of tables.
    labels : mapping of str to str
        The class of the spans of patterns, by the class of the patterns, if it is another one;
        `OUTSIDE` for spans that are no entities. No other pattern finds an entity within them.

    Attributes
    ----------
    classes : tuple of str
        The classes of the entities.
    """

    def __init__(self, patterns: Sequence[Pattern], labels: Mapping[str, str]) -> None:
        self.patterns, self._labels = tuple(patterns), dict(labels)
        named = [labels.get(pattern.label, pattern.label) for pattern in self.patterns]
        self.classes = tuple(sorted({*named} - {OUTSIDE}))
        index = {name: position for position, name in enumerate(self.classes)}
        self._numbers = np.array([*(index.get(name, -1) for name in named), -1], np.int64)

    def find(self, batch: Batch) -> PatternSpans:
        """Find the spans of a batch."""
        hits = _matcher(self.patterns).find(batch)
        hits = hits.take(merged(hits.first, hits.last, hits.confidences))
        return PatternSpans(hits.first, hits.last, self._numbers[hits.patterns], hits.confidences)

    def description(self) -> dict[str, Any]:
        """Return the patterns and their classes as JSON values."""
        return {**table_of(self.patterns), "labels": self._labels}

    @classmethod
    def from_description(cls, fields: Fields) -> Self:
        """Read what `description` returned from the description of a model.

        Raises
        ------
        InputError
            If it is invalid. The message does not quote it.
        """
        try:
            patterns = patterns_of({"pattern": fields.value("pattern")}, fields.place)
        except InputError:
            raise fields.error("pattern", "patterns that this version can search for") from None
        return cls(patterns, fields.text_by_key("labels"))


@functools.lru_cache(maxsize=8)  # the taggers of a run have the same patterns
def _matcher(patterns: tuple[Pattern, ...]) -> PatternMatcher:
    return PatternMatcher(patterns)
