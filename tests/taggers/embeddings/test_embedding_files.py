"""Vectors are written as NumPy writes them, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taggers.embeddings.embedding_files import FIRST, PADDING, UNKNOWN, write_vectors


@settings(max_examples=30)
@given(sizes=st.lists(st.integers(0, 9), max_size=6), dimension=st.integers(1, 9))
@example(sizes=[], dimension=3)
@example(sizes=[0, 0], dimension=3)
@example(sizes=[100_000, 1], dimension=1)
def test_vectors_in_pieces_are_one_array_below_zeros_and_their_mean(sizes, dimension) -> None:
    rng = np.random.default_rng(len(sizes))
    pieces = [rng.normal(size=(size, dimension)).astype(np.float32) for size in sizes]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        write_vectors(path, dimension, pieces)
        written = np.load(path, allow_pickle=False)
        assert path.stat().st_size == 128 + 4 * written.size
    whole = np.concatenate([np.zeros((0, dimension), np.float32), *pieces])
    assert written.dtype == np.dtype("<f4")
    assert np.array_equal(written[FIRST:], whole)
    assert not written[PADDING].any()
    mean = whole.mean(axis=0, dtype=np.float64) if len(whole) else np.zeros(dimension)
    np.testing.assert_allclose(written[UNKNOWN], mean, rtol=1e-6, atol=1e-7)


def test_small_numbers_are_not_lost_in_the_sum_of_many(tmp_path: Path) -> None:
    write_vectors(tmp_path / "vectors.npy", 1, [np.full((50_000, 1), 0.1, np.float32)] * 40)
    assert np.load(tmp_path / "vectors.npy", mmap_mode="r")[UNKNOWN, 0] == np.float32(0.1)


@pytest.mark.parametrize("rows", [0, 1, 20_000])
def test_an_interrupted_file_is_not_valid(tmp_path: Path, rows: int) -> None:
    def pieces() -> Iterator[np.ndarray]:
        yield np.ones((rows, 3), np.float32)
        raise KeyboardInterrupt

    path = tmp_path / "vectors.npy"
    with pytest.raises(KeyboardInterrupt):
        write_vectors(path, 3, pieces())
    with pytest.raises((ValueError, EOFError)):
        np.load(path)
