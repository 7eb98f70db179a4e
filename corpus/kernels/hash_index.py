"""Values of features as numbers: 64-bit hashes of them, and a table that finds them again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled

Hashes = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int32]

#: Code of a value that the vocabulary does not have.
ABSENT = -1


def hashed(name: str, values: Sequence[str]) -> Hashes:
    """Hash the values of a feature.

    Parameters
    ----------
    name : str
        The feature; the same value of another one has another hash.
    values : sequence of str
        One or more.

    Returns
    -------
    ndarray of uint64, shape (len(values),)
        The same on every machine. Among a million values, two share a hash with a probability of
        3 in 100 million.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    text = "".join(values).encode("utf-32-le", "surrogatepass")
    result = np.empty(len(values), np.uint64)
    _hash(np.frombuffer(text, np.uint32), lengths, np.frombuffer(digest, np.uint64)[0], result)
    return result


@compiled
def _hash(codes: Array, lengths: Array, seed: np.uint64, result: Array) -> None:
    place = 0
    for row in range(len(lengths)):
        value = seed
        for code in codes[place : place + lengths[row]]:
            value = (value ^ np.uint64(code)) * np.uint64(0x100000001B3)  # FNV-1a, by code points
        place += lengths[row]
        # The finalizer of splitmix64 spreads what is in the high bits.
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        result[row] = value ^ (value >> np.uint64(31))


def numbered(hashes: Hashes) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Give hashes numbers in the order in which they first appear.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (N,)
        Not all distinct.

    Returns
    -------
    codes : ndarray of int32, shape (N,)
        The number of each.
    first : ndarray of int64, shape (V,)
        The place where each number first appears.
    """
    codes = np.empty(len(hashes), np.int32)
    first = np.empty(len(hashes), np.int64)
    number = _number(np.ascontiguousarray(hashes), _slots(len(hashes)), codes, first)
    return codes, first[:number]


def _slots(number: int) -> Codes:
    """Make room for so many hashes, at most half of it used."""
    return np.full(1 << max(2 * number - 1, 1).bit_length(), ABSENT, np.int32)


@compiled
def _number(hashes: Array, slots: Array, codes: Array, first: Array) -> int:
    mask = np.uint64(len(slots) - 1)
    number = 0
    for row in range(len(hashes)):
        slot = hashes[row] & mask
        while slots[slot] >= 0 and hashes[first[slots[slot]]] != hashes[row]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = number
            first[number] = row
            number += 1
        codes[row] = slots[slot]
    return number


class Vocabulary:
    """Finds the places of hashes in an array of distinct ones.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Distinct.
    """

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes
        self._slots = _slots(len(hashes))
        _fill(hashes, self._slots)

    def codes(self, hashes: Hashes) -> Codes:
        """Give the place of each hash, or `ABSENT`."""
        found = np.empty(len(hashes), np.int32)
        _find(hashes, self.hashes, self._slots, found)
        return found


@compiled
def _fill(hashes: Array, slots: Array) -> None:
    mask = np.uint64(len(slots) - 1)
    for code in range(len(hashes)):
        slot = hashes[code] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code


@compiled
def _find(wanted: Array, hashes: Array, slots: Array, found: Array) -> None:
    mask = np.uint64(len(slots) - 1)
    for row in range(len(wanted)):
        slot = wanted[row] & mask
        while slots[slot] >= 0 and hashes[slots[slot]] != wanted[row]:
            slot = (slot + np.uint64(1)) & mask
        found[row] = slots[slot]
