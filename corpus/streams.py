"""Streams: values of tokens in addition to their words, with a small dictionary for each stream.

A part of speech, a phrase of a gazetteer or the decision of a rule depends on the place and not on
the word alone. Like words, the values of a stream are numbered, and each token holds a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Number of a token of which a stream says nothing.
NO_VALUE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A value for each token of a batch.

    Parameters
    ----------
    vocabulary : tuple of str
        The distinct values.
    values : ndarray of int32, shape (N,)
        The index into `vocabulary` of each token, or -1 for no value.
    """

    vocabulary: tuple[str, ...]
    values: npt.NDArray[np.int32]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> Stream:
        """Build a stream from the value of each token, None for no value."""
        index: dict[str, int] = {}
        numbers = [
            NO_VALUE if value is None else index.setdefault(value, len(index)) for value in values
        ]
        return cls(tuple(index), np.array(numbers, np.int32))

    def take(self, tokens: npt.NDArray[np.int64] | slice) -> Stream:
        """Select the values of some tokens, with only the types they use."""
        used, values = used_only(self.values[tokens], len(self.vocabulary))
        return Stream(tuple(self.vocabulary[index] for index in used.tolist()), values)


def used_only(
    values: npt.NDArray[np.integer], types: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Renumber values, so that every number is used.

    Parameters
    ----------
    values : ndarray of int, shape (N,)
        Below `types`; -1 says nothing.
    types : int
        How many there are.

    Returns
    -------
    used : ndarray of int64
        The types that are used, in their order.
    values : ndarray of int32, shape (N,)
        Indices into `used`; -1 stays.
    """
    seen = np.zeros(types + 1, bool)  # the last is where -1, nothing, points
    seen[values] = True
    numbers = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    numbers[-1] = NO_VALUE
    return np.flatnonzero(seen[:-1]), numbers[values]


def concatenate_streams(streams: Sequence[Stream]) -> Stream:
    """Concatenate streams and unify their types.

    Parameters
    ----------
    streams : sequence of Stream
        At least one.
    """
    index: dict[str, int] = {}
    parts = []
    for stream in streams:
        numbers = [index.setdefault(value, len(index)) for value in stream.vocabulary]
        # The last entry is where -1, nothing, points.
        parts.append(np.array([*numbers, NO_VALUE], np.int32)[stream.values])
    return Stream(tuple(index), np.concatenate(parts))
