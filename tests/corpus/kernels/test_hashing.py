"""Hashes of values are the same everywhere."""

import hashlib

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.kernels.hashing import EMPTY_SLOT, empty_slots, fill_slots, find_slot, hash_values

VALUES = st.lists(st.text(st.characters(exclude_categories=[]), max_size=5), min_size=1)


def straightforward(name: str, value: str) -> int:
    """Hash as the module describes it: FNV-1a by code points, then the finalizer of splitmix64."""
    copy = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    for character in value:
        copy = (copy ^ ord(character)) * 0x100000001B3 % 2**64
    copy = (copy ^ copy >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    copy = (copy ^ copy >> 27) * 0x94D049BB133111EB % 2**64
    return copy ^ copy >> 31


@given(name=st.sampled_from(["form", "lower", "prefix3", "ñ"]), values=VALUES)
@example(name="form", values=[""])
@example(name="form", values=["\ud800", "\udc00", "\U0010ffff", "\0", "\0\0"])
def test_hashes_are_those_of_a_straightforward_computation(name: str, values: list[str]) -> None:
    assert hash_values(name, values).tolist() == [straightforward(name, value) for value in values]


def test_hashes_are_the_same_for_ever() -> None:
    """Saved models find their weights by them."""
    actual = hash_values("form", ["Joan", "COL·LEGI", ""])
    assert actual.dtype == np.uint64
    assert actual.tolist() == [15998634900561959105, 14178134844529967015, 9333908149124173399]


@given(hashes=st.lists(st.sampled_from([0, 1, 7, 8, 2**63, 2**64 - 1]), max_size=20))
def test_equal_hashes_are_found_one_after_the_other(hashes: list[int]) -> None:
    array = np.array(hashes, np.uint64)
    slots = empty_slots(len(array))
    fill_slots(slots, array)
    for value in np.unique(array):
        actual = []
        slot = find_slot(slots, array, value, value)
        while slots[slot] != EMPTY_SLOT:
            actual.append(int(slots[slot]))
            slot = find_slot(slots, array, value, np.uint64(slot) + np.uint64(1))
        assert actual == np.flatnonzero(array == value).tolist()
