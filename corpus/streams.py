"""Streams: values of tokens in addition to their words, each stream with its own vocabulary.

A part of speech, a match of a gazetteer or the decision of a rule depends on the context of a token
and not only on its word. Values are stored like words, as indices into a vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: The index of a token without a value.
NO_VALUE = -1

#: With at most this many possible numbers per token, those that occur are marked in a table.
_DENSE = 32


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
    def from_values(cls, values: Sequence[str | None]) -> Stream:
        """Build a stream from the values of tokens; None is no value."""
        index: dict[str, int] = {}
        numbers = [
            NO_VALUE if value is None else index.setdefault(value, len(index)) for value in values
        ]
        return cls(tuple(index), np.array(numbers, np.int32))

    def take(self, tokens: npt.NDArray[np.int64] | slice) -> Stream:
        """Select the values of tokens, with the vocabulary that they use."""
        used, values = used_only(self.values[tokens], len(self.vocabulary))
        return Stream(tuple(self.vocabulary[index] for index in used.tolist()), values)


def used_only(
    values: npt.NDArray[np.integer], types: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Renumber indices so that every number is used.

    Parameters
    ----------
    values : ndarray of int, shape (N,)
        Indices less than `types`; -1 is no value.
    types : int
        The number of types.

    Returns
    -------
    used : ndarray of int64
        The indices that are used, in increasing order.
    values : ndarray of int32, shape (N,)
        Indices into `used`; -1 is unchanged.
    """
    is_used = np.zeros(types + 1, bool)  # -1, no value, indexes the last entry
    is_used[values] = True
    numbers = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    numbers[-1] = NO_VALUE
    return np.flatnonzero(is_used[:-1]), numbers[values]


def number_used(
    numbers: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Renumber nonnegative numbers of any size so that every number is used.

    Parameters
    ----------
    numbers : ndarray of int64, shape (N,)
        Numbers less than `size`.
    size : int
        Exclusive upper bound of the numbers.

    Returns
    -------
    used : ndarray of int64
        The numbers that occur, in increasing order.
    values : ndarray of int32, shape (N,)
        Indices into `used`.
    """
    if size > _DENSE * len(numbers):
        used, values = np.unique(numbers, return_inverse=True)
        return used, values.reshape(-1).astype(np.int32)
    return used_only(numbers, size)


def concatenate_streams(streams: Sequence[Stream]) -> Stream:
    """Concatenate streams and merge their vocabularies.

    Parameters
    ----------
    streams : sequence of Stream
        At least one.
    """
    index: dict[str, int] = {}
    parts = []
    for stream in streams:
        numbers = [index.setdefault(value, len(index)) for value in stream.vocabulary]
        # No value is -1 and so indexes the last entry.
        parts.append(np.array([*numbers, NO_VALUE], np.int32)[stream.values])
    return Stream(tuple(index), np.concatenate(parts))
