"""Ragged arrays are what loops over their rows make of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus.ragged import offsets_of, owners_of, ranges_of


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=8))
def test_rows_of_any_length(rows: list[tuple[int, int]]) -> None:
    begins, lengths = np.array(rows, np.int64).reshape(-1, 2).T
    offsets = offsets_of(lengths)
    assert offsets.tolist() == [sum(lengths[:row]) for row in range(len(rows) + 1)]
    assert owners_of(offsets).tolist() == [row for row, (_, n) in enumerate(rows) for _ in range(n)]
    expected = [number for begin, n in rows for number in range(begin, begin + n)]
    assert ranges_of(begins, lengths).tolist() == expected
