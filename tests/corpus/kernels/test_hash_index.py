"""Every hash is found again at its position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corpus.kernels.hash_index import ABSENT, HashIndex, number_distinct

HASHES = hnp.arrays(np.uint64, st.integers(0, 60), unique=True)
# Hashes that all want the last slot.
CROWDED = hnp.arrays(
    np.uint64,
    st.integers(0, 40),
    elements=st.integers(1, 256).map(lambda number: (number << 56) - 1),
    unique=True,
)


@given(hashes=st.one_of(HASHES, CROWDED), wanted=st.one_of(HASHES, CROWDED))
def test_every_hash_is_found_and_no_other(hashes: np.ndarray, wanted: np.ndarray) -> None:
    index = HashIndex(hashes)
    actual = index.positions(hashes)
    assert actual.dtype == np.int32
    assert actual.tolist() == list(range(len(hashes)))
    reference = {value: row for row, value in enumerate(hashes.tolist())}
    expected = [reference.get(value, ABSENT) for value in wanted.tolist()]
    assert index.positions(wanted).tolist() == expected


@pytest.mark.parametrize("number", [1, 2, 3, 1023, 1024, 1025, 50_000])
def test_a_table_of_any_size_has_room(number: int) -> None:
    rng = np.random.default_rng(number)
    hashes = np.unique(rng.integers(0, 2**64, 2 * number, np.uint64))
    rng.shuffle(hashes)
    known, others = hashes[:number], hashes[number:]
    index = HashIndex(known)
    assert index.positions(known).tolist() == list(range(number))
    assert (index.positions(others) == ABSENT).all()


@given(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 64, 128]), max_size=40))
def test_hashes_are_numbered_as_they_appear(hashes: list[int]) -> None:
    codes, first = number_distinct(np.array(hashes, np.uint64))
    distinct = list(dict.fromkeys(hashes))
    assert codes.tolist() == [distinct.index(value) for value in hashes]
    assert first.tolist() == [hashes.index(value) for value in distinct]
