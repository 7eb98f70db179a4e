"""Patterns with the classes that their spans have, and the entities that they find."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, Stream
from corpus.errors import InputError
from corpus.storage.fields import Fields
from corpus.tags import TokenSpans, bio_labels, is_label, tags_of_entities
from taggers.patterns.merging import merged
from taggers.patterns.pattern import Pattern
from taggers.patterns.tables import IDENTIFIERS, patterns_of, read_patterns, table_of

if TYPE_CHECKING:
    from taggers.patterns.matcher import PatternMatcher

#: The class of spans that are no entities.
OUTSIDE = ""

#: The most classes of the patterns of a model, as of its labels.
_MOST_CLASSES = 1_000

_WORD = re.compile(r"[^\W\d_]+")


class LabelledPatterns:
    """Patterns with the classes that their spans have; the annotator of the stream "patterns".

    Parameters
    ----------
    patterns : sequence of Pattern, optional
        Rows of tables; those of the table of this package if omitted.
    labels : mapping of str to str, optional
        The class of the spans of patterns, by the class of the patterns, if it is another one;
        `OUTSIDE` for spans that are no entities. No other pattern finds an entity within them.

    Attributes
    ----------
    classes : tuple of str
        The classes of the entities.
    """

    def __init__(
        self, patterns: Sequence[Pattern] | None = None, labels: Mapping[str, str] | None = None
    ) -> None:
        self.patterns = tuple(read_patterns((IDENTIFIERS,)) if patterns is None else patterns)
        self._labels = dict(labels or {})
        named = [self._labels.get(pattern.label, pattern.label) for pattern in self.patterns]
        self.classes = tuple(sorted({*named} - {OUTSIDE}))
        index = {name: position for position, name in enumerate(self.classes)}
        self._numbers = np.array([*(index.get(name, -1) for name in named), -1], np.int64)

    def find(self, batch: Batch) -> tuple[TokenSpans, npt.NDArray[np.float64]]:
        """Find the spans of a batch.

        Returns
        -------
        spans : TokenSpans
            Spans in their order, of which no two have a common token. Their classes are indices
            into `classes`, or -1 for spans that are no entities.
        confidences : ndarray of float64, shape (S,)
            The confidence in each span.
        """
        hits = _matcher(self.patterns).find(batch)
        hits = hits.take(merged(hits.first, hits.last, hits.confidences))
        return TokenSpans(hits.first, hits.last, self._numbers[hits.patterns]), hits.confidences

    def annotate(self, batch: Batch) -> Stream:
        """Return the label of each token of an entity, such as ``B-DATE``."""
        spans, _ = self.find(batch)
        labels = bio_labels(self.classes)
        tags = tags_of_entities(entities_of(spans), batch.n_tokens, labels)
        return Stream(labels[1:], tags.astype(np.int32) - 1)

    def traces(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which words are in patterns that the table of this package does not have."""
        own = {*self.patterns} - {*read_patterns((IDENTIFIERS,))}
        texts = [f"{row.before} {row.expression} {row.after}".lower() for row in own]
        known = {word for text in texts for word in _WORD.findall(text)}
        return np.array([word.lower() in known for word in words], bool)

    def settings(self) -> dict[str, Any]:
        """Return the patterns and their classes, serialisable as JSON."""
        return {**table_of(self.patterns), "labels": self._labels}

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Read what `settings` returned from the description of a model.

        Raises
        ------
        InputError
            If it is invalid. The message does not quote it.
        """
        try:
            patterns = patterns_of({"pattern": settings.value("pattern")}, settings.place)
        except InputError:
            raise settings.error("pattern", "patterns that this version can search for") from None
        labelled = cls(patterns, settings.text_by_key("labels"))
        if len(labelled.classes) > _MOST_CLASSES or not all(map(is_label, labelled.classes)):
            raise settings.error("labels", f"at most {_MOST_CLASSES:,} names of classes")
        return labelled


def entities_of(spans: TokenSpans) -> TokenSpans:
    """Return the spans that are entities."""
    kept = spans.classes >= 0
    return TokenSpans(spans.first[kept], spans.last[kept], spans.classes[kept])


@functools.lru_cache(maxsize=8)  # the taggers of a run have the same patterns
def _matcher(patterns: tuple[Pattern, ...]) -> PatternMatcher:
    from taggers.patterns.matcher import PatternMatcher  # noqa: PLC0415 - numba is slow to import

    return PatternMatcher(patterns)
