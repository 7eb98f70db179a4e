"""Hashes of values are the same everywhere, and every hash is found again."""

import hashlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corpus.kernels.hash_index import ABSENT, Vocabulary, hashed, numbered

HASHES = hnp.arrays(np.uint64, st.integers(0, 60), unique=True)
# Hashes that all want the last slot.
CROWDED = hnp.arrays(
    np.uint64,
    st.integers(0, 40),
    elements=st.integers(1, 256).map(lambda number: (number << 56) - 1),
    unique=True,
)
VALUES = st.lists(st.text(st.characters(exclude_categories=[]), max_size=5), min_size=1)


def straightforward(name: str, value: str) -> int:
    """Hash as the module describes it: FNV-1a by code points, then the finalizer of splitmix64."""
    found = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    for character in value:
        found = (found ^ ord(character)) * 0x100000001B3 % 2**64
    found = (found ^ found >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    found = (found ^ found >> 27) * 0x94D049BB133111EB % 2**64
    return found ^ found >> 31


@given(name=st.sampled_from(["form", "lower", "prefix3", "ñ"]), values=VALUES)
@example(name="form", values=[""])
@example(name="form", values=["\ud800", "\udc00", "\U0010ffff", "\0", "\0\0"])
def test_hashes_are_those_of_a_straightforward_computation(name: str, values: list[str]) -> None:
    assert hashed(name, values).tolist() == [straightforward(name, value) for value in values]


def test_hashes_are_the_same_for_ever() -> None:
    """Saved models find their weights by them."""
    found = hashed("form", ["Joan", "COL·LEGI", ""])
    assert found.dtype == np.uint64
    assert found.tolist() == [
        15998634900561959105,
        14178134844529967015,
        9333908149124173399,
    ]


def test_a_value_of_another_feature_has_another_hash() -> None:
    values = ["a", "b", "Joan", "123"]
    names = ["form", "lower", "prefix3", "suffix3", "border"]
    found = np.concatenate([hashed(name, values) for name in names])
    assert len(np.unique(found)) == len(names) * len(values)


def test_where_one_value_ends_does_not_run_into_the_next() -> None:
    assert hashed("form", ["ab", "c"])[0] != hashed("form", ["a", "bc"])[0]
    assert hashed("form", ["ab", "", "c"])[2] == hashed("form", ["c"])[0]


@given(hashes=st.one_of(HASHES, CROWDED), wanted=st.one_of(HASHES, CROWDED))
def test_every_hash_is_found_and_no_other(hashes: np.ndarray, wanted: np.ndarray) -> None:
    vocabulary = Vocabulary(hashes)
    found = vocabulary.codes(hashes)
    assert found.dtype == np.int32
    assert found.tolist() == list(range(len(hashes)))
    index = {value: row for row, value in enumerate(hashes.tolist())}
    expected = [index.get(value, ABSENT) for value in wanted.tolist()]
    assert vocabulary.codes(wanted).tolist() == expected


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 50_000])
def test_a_table_of_any_size_has_room(number: int) -> None:
    rng = np.random.default_rng(number)
    hashes = np.unique(rng.integers(0, 2**64, 2 * number, np.uint64))
    rng.shuffle(hashes)
    known, others = hashes[:number], hashes[number:]
    vocabulary = Vocabulary(known)
    assert vocabulary.codes(known).tolist() == list(range(number))
    assert (vocabulary.codes(others) == ABSENT).all()


def test_the_same_hash_may_be_looked_for_twice() -> None:
    hashes = hashed("form", ["a", "b"])
    wanted = hashes[[1, 0, 1, 1]]
    assert Vocabulary(hashes).codes(wanted).tolist() == [1, 0, 1, 1]


def test_an_empty_vocabulary_has_nothing() -> None:
    vocabulary = Vocabulary(np.zeros(0, np.uint64))
    assert vocabulary.codes(hashed("form", ["a", "b"])).tolist() == [ABSENT, ABSENT]
    assert vocabulary.codes(np.zeros(2, np.uint64)).tolist() == [ABSENT, ABSENT]
    assert vocabulary.codes(np.zeros(0, np.uint64)).tolist() == []


@given(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 64, 128]), max_size=40))
def test_hashes_are_numbered_as_they_appear(hashes: list[int]) -> None:
    codes, first = numbered(np.array(hashes, np.uint64))
    distinct = list(dict.fromkeys(hashes))
    assert codes.tolist() == [distinct.index(value) for value in hashes]
    assert first.tolist() == [hashes.index(value) for value in distinct]
