"""Arithmetic on ragged arrays: rows of different lengths, one after the other in one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
_Integers = npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]


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
