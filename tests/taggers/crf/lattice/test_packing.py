"""Packing of documents, longest first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf import lattice
from taggers.crf.lattice import Packing


def bounds_of(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.int64)


def packed_tokens(packing: Packing) -> np.ndarray:
    """Return the token of the batch that stands at each packed place."""
    tokens = np.full(packing.tokens, -1)
    for row, (first, length) in enumerate(zip(packing.first, packing.lengths, strict=True)):
        tokens[packing.steps[:length] + row] = np.arange(first, first + length)
    return tokens


@given(
    lengths=st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=8),
    tokens=st.integers(1, 30),
)
def test_wanted_documents_are_packed_once_longest_first_and_step_by_step(lengths, tokens) -> None:
    wanted = np.array([want for _, want in lengths], bool)
    sizes = [length for length, _ in lengths]
    documents, rows = bounds_of(sizes), []
    for packing in lattice.pack(documents, tokens, wanted):
        rows += packing.documents.tolist()
        assert packing.lengths.tolist() == sorted(packing.lengths.tolist(), reverse=True)
        assert packing.lengths.tolist() == [sizes[row] for row in packing.documents]
        assert packing.first.tolist() == documents[packing.documents].tolist()
        assert packing.tokens == packing.lengths.sum() < tokens + max(sizes)
        number = [int((packing.lengths > step).sum()) for step in range(packing.lengths[0])]
        assert np.diff(packing.steps).tolist() == number
        assert (packed_tokens(packing) >= 0).all()
    assert sorted(rows) == [row for row, (length, want) in enumerate(lengths) if want and length]
