"""An annotator of the spans of patterns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.ragged import ranges_of
from corpus.storage.fields import Fields
from taggers.patterns.labelled import LabelledPatterns
from taggers.patterns.tables import IDENTIFIERS, read_patterns


class Patterns:
    """Annotator of the spans of patterns.

    The tokens of a span of the class DATE have the values ``B-DATE`` and ``I-DATE``. Of spans that
    overlap, one has values; see `taggers.patterns.merging.merged`.

    Parameters
    ----------
    patterns : LabelledPatterns, optional
        The patterns; those of this package if omitted.
    """

    def __init__(self, patterns: LabelledPatterns | None = None) -> None:
        self.patterns = patterns or LabelledPatterns(read_patterns((IDENTIFIERS,)), {})

    def annotate(self, batch: Batch) -> Stream:
        """Return the label of each token in a span, such as ``B-DATE``."""
        spans, values = self.patterns.find(batch), np.full(batch.n_tokens, NO_VALUE, np.int32)
        begins, lengths = 2 * spans.classes, spans.last - spans.first + 1
        values[ranges_of(spans.first, lengths)] = np.repeat(begins + 1, lengths)
        values[spans.first] = begins
        types = tuple(f"{side}-{name}" for name in self.patterns.classes for side in "BI")
        return Stream(types, values)

    def settings(self) -> dict[str, Any]:
        """Return the patterns."""
        return self.patterns.description()

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""
        return cls(LabelledPatterns.from_description(settings))
