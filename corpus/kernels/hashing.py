"""64-bit hashes of strings, and the open addressing of tables of hashes.

Hashes are FNV-1a by code points, then the finalizer of splitmix64, which mixes the high bits into
the low ones. Tables are arrays of slots. Their size is a power of two, and at most half of the
slots are in use. A slot holds the position of a hash in an array of hashes, or `EMPTY_SLOT`.
Collisions are resolved by linear probing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.kernels.code_points import code_points
from corpus.kernels.compiled import Array, compiled

Hashes = npt.NDArray[np.uint64]
Slots = npt.NDArray[np.int32]

EMPTY_SLOT = -1

#: The largest key of hashes.
MOST_KEY = 2**63

#: The type of `code_points` in signatures: ``numpy.frombuffer`` of bytes is read-only.
CODE_POINTS = "Array(uint32, 1, 'C', True)"


def hash_values(name: str, values: Sequence[str]) -> Hashes:
    """Hash the values of a feature.

    Parameters
    ----------
    name : str
        The feature. Equal values of different features have different hashes.
    values : sequence of str
        At least one.

    Returns
    -------
    ndarray of uint64, shape (len(values),)
        Equal on every machine. Among a million values, the probability of a collision is 3 in
        100 million.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    result = np.empty(len(values), np.uint64)
    seed = np.frombuffer(digest, np.uint64)[0]
    _hash_strings(code_points("".join(values)), lengths, seed, result)
    return result


@compiled(f"{CODE_POINTS}, int64[::1], uint64, uint64[::1]")
def _hash_strings(codes: Array, lengths: Array, seed: np.uint64, result: Array) -> None:
    start = int(np.int64(0))  # a literal would be compiled for as a type of its own
    for row in range(len(lengths)):
        end = start + lengths[row]
        result[row] = hash_code_points(codes, start, end, seed)
        start = end


@compiled()
def hash_code_points(codes: Array, start: int, end: int, seed: np.uint64) -> np.uint64:
    """Hash the code points from `start` to `end`."""
    value = seed
    for place in range(start, end):
        value = (value ^ np.uint64(codes[place])) * np.uint64(0x100000001B3)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def keyed(hashes: Hashes, key: int) -> Hashes:
    """Return hashes that are equal only for the same key, and as distinct as they were.

    Whoever has the key can compute them for any word.

    Parameters
    ----------
    hashes : ndarray of uint64
        Hashes without a key.
    key : int
        0 for no key, up to `MOST_KEY`.
    """
    if not key:
        return hashes
    high, low = np.frombuffer(
        hashlib.blake2b(key.to_bytes(8, "little"), digest_size=16).digest(), np.uint64
    )
    value = hashes ^ low
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    value = (value ^ (value >> np.uint64(31))) + high
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    mixed: Hashes = value ^ (value >> np.uint64(33))
    return mixed


def empty_slots(number: int) -> Slots:
    """Return empty slots for a number of hashes."""
    return np.full(1 << max(2 * number - 1, 1).bit_length(), EMPTY_SLOT, np.int32)


@compiled()
def find_slot(slots: Array, hashes: Array, value: np.uint64, first: np.uint64) -> np.uint64:
    """Return the slot of a hash, or the empty slot where it belongs, from slot `first` on.

    The search begins with the hash itself as `first`, and continues after a slot that was returned.
    """
    mask = np.uint64(len(slots) - 1)
    slot = first & mask
    while slots[slot] >= 0 and hashes[slots[slot]] != value:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled("int32[::1], uint64[::1]")
def fill_slots(slots: Array, hashes: Array) -> None:
    """Insert the positions of hashes, which may be equal, into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for position in range(len(hashes)):
        slot = hashes[position] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = position
