"""Words that stay in the output although the model was not sure that they may."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from anonymizers.spans import Spans
from bootstrap.deidentification.finding import TaggedNotes, within
from corpus.replacement import OffsetMap

Indices: TypeAlias = npt.NDArray[np.int64]

#: Words are in doubt if their probability of being outside of all entities is lower.
SURE = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Doubts:
    """Words in doubt.

    Parameters
    ----------
    rows, starts, ends : ndarray of int64, shape (W,)
        The note of each word, and its half-open offsets there.
    probabilities : ndarray of float64, shape (W,)
        Its probability of being outside of all entities.
    """

    rows: Indices
    starts: Indices
    ends: Indices
    probabilities: npt.NDArray[np.float64]

    def moved(self, offsets: OffsetMap) -> Doubts:
        """Return the words with their offsets in the new texts."""
        starts = offsets.convert(self.rows, self.starts, "start")
        ends = offsets.convert(self.rows, self.ends, "end")
        return replace(self, starts=starts, ends=ends)

    def without(self, spans: Spans) -> Doubts:
        """Return the words that are not in spans, which are in order and do not overlap."""
        kept = ~within(self.rows, self.starts, self.ends, spans)
        return Doubts(self.rows[kept], self.starts[kept], self.ends[kept], self.probabilities[kept])


#: No words.
NO_DOUBTS = Doubts(*(np.zeros(0, np.int64),) * 3, np.zeros(0))


def doubts_of(tagged: TaggedNotes, replaced: Spans) -> Doubts:
    """Return the words in doubt outside of replaced spans."""
    rows, starts, ends = tagged.tokens()
    places = np.flatnonzero(tagged.outside < SURE)
    doubts = Doubts(rows[places], starts[places], ends[places], tagged.outside[places])
    return doubts.without(replaced)
