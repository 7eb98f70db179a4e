"""Arithmetic on arrays of indices: ragged rows, one after the other, and numbers without gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
_Integers = npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]

#: With at most this many possible numbers per token, those that occur are marked in a table.
_DENSE = 32


def offsets_of(lengths: npt.ArrayLike) -> Indices:
    """Return where each row begins, and where the last one ends.

    Parameters
    ----------
    lengths : array of int or bool, shape (R,)
        The length of each row.

    Returns
    -------
    ndarray of int64, shape (R + 1,)
        Row ``r`` has the elements ``offsets[r]`` to ``offsets[r + 1]``.

    Examples
    --------
    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(np.asarray(lengths)) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def owners_of(offsets: _Integers) -> Indices:
    """Return the row of each element.

    Parameters
    ----------
    offsets : ndarray of int, shape (R + 1,)
        The offsets of the rows.

    Returns
    -------
    ndarray of int64, shape (N,)

    Examples
    --------
    >>> owners_of(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def count_by_row(flags: npt.NDArray[np.bool_], offsets: _Integers) -> Indices:
    """Count the elements of each row that have a flag.

    Parameters
    ----------
    flags : ndarray of bool, shape (N,)
        The flag of each element.
    offsets : ndarray of int, shape (R + 1,)
        The offsets of the rows.

    Returns
    -------
    ndarray of int64, shape (R,)

    Examples
    --------
    >>> count_by_row(np.array([True, False, True]), np.array([0, 2, 2, 3])).tolist()
    [1, 0, 1]
    """
    return np.diff(offsets_of(flags)[offsets])


def ranges_of(begins: _Integers, lengths: _Integers) -> Indices:
    """Concatenate ranges of integers.

    Parameters
    ----------
    begins, lengths : ndarray of int, shape (R,)
        The first integer of each range, and the number of its integers.

    Returns
    -------
    ndarray of int64, shape (sum(lengths),)

    Examples
    --------
    >>> ranges_of(np.array([7, 1]), np.array([2, 3])).tolist()
    [7, 8, 1, 2, 3]
    """
    offsets = offsets_of(lengths)
    return np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)


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
    numbers[-1] = -1
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
