"""Positions of hashes in an array of distinct hashes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled, kernel_array
from corpus.kernels.hashing import EMPTY_SLOT, Hashes, empty_slots, fill_slots, find_slot, keyed

Positions = npt.NDArray[np.int32]

#: The position of a hash that is not in an index.
ABSENT = EMPTY_SLOT

_PART = 1024  # slots of a part of an index
_MOST_IN_PART = 800  # hashes, which evenly spread ones never reach


class HashIndex:
    """A hash table of the positions of hashes in an array.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Distinct hashes.
    key : int
        The key of these hashes (see `corpus.kernels.hashing.keyed`), if they have one.
    """

    def __init__(self, hashes: Hashes, key: int = 0) -> None:
        self._key = key
        self.hashes = kernel_array(hashes)
        self._slots = empty_slots(len(hashes))
        fill_slots(self._slots, self.hashes)

    def positions(self, hashes: Hashes) -> Positions:
        """Return the position of each hash, or `ABSENT`.

        Parameters
        ----------
        hashes : ndarray of uint64, shape (N,)
            Hashes without a key.

        Returns
        -------
        ndarray of int32, shape (N,)
        """
        positions = np.empty(len(hashes), np.int32)
        _find(kernel_array(keyed(hashes, self._key)), self.hashes, self._slots, positions)
        return positions


def is_crowded(hashes: Hashes) -> bool:
    """Return whether an index is slow because too many hashes belong into neighbouring slots.

    Hashes of words are spread evenly, and fill at most half of the slots of any part of an index.
    Values that somebody chose for a file may all belong into one part of it.
    """
    slots = len(empty_slots(len(hashes)))
    parts = (hashes & np.uint64(slots - 1)) // np.uint64(_PART)
    return len(hashes) > _PART and int(np.bincount(parts.astype(np.int64)).max()) > _MOST_IN_PART


@compiled("uint64[::1], uint64[::1], int32[::1], int32[::1]")
def _find(wanted: Array, hashes: Array, slots: Array, positions: Array) -> None:
    for row in range(len(wanted)):
        positions[row] = slots[find_slot(slots, hashes, wanted[row], wanted[row])]


def number_distinct(hashes: Hashes) -> tuple[Positions, npt.NDArray[np.int64]]:
    """Assign numbers to distinct hashes in the order in which they first appear.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (N,)

    Returns
    -------
    numbers : ndarray of int32, shape (N,)
        The number of each hash.
    first : ndarray of int64, shape (V,)
        The row where each distinct hash first appears.
    """
    numbers = np.empty(len(hashes), np.int32)
    first = np.empty(len(hashes), np.int64)
    distinct = np.empty(len(hashes), np.uint64)
    slots = empty_slots(len(hashes))
    number = _number(kernel_array(hashes), slots, distinct, numbers, first)
    return numbers, first[:number]


@compiled("uint64[::1], int32[::1], uint64[::1], int32[::1], int64[::1]")
def _number(hashes: Array, slots: Array, distinct: Array, numbers: Array, first: Array) -> int:
    number = 0
    for row in range(len(hashes)):
        slot = find_slot(slots, distinct, hashes[row], hashes[row])
        if slots[slot] < 0:
            slots[slot] = number
            distinct[number] = hashes[row]
            first[number] = row
            number += 1
        numbers[row] = slots[slot]
    return number
