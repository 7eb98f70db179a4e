"""Vectors are written as NumPy writes them, a piece at a time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taggers.embeddings.vectors import FIRST, PADDING, UNKNOWN, VectorFile


def drawn(sizes: list[int], dimension: int) -> list[np.ndarray]:
    rng = np.random.default_rng(len(sizes))
    return [rng.normal(size=(size, dimension)).astype(np.float32) for size in sizes]


@settings(max_examples=30)
@given(sizes=st.lists(st.integers(0, 9), max_size=6), dimension=st.integers(1, 9))
@example(sizes=[], dimension=3)
@example(sizes=[0, 0], dimension=3)
@example(sizes=[100_000, 1], dimension=1)
def test_what_is_written_in_pieces_is_read_as_a_whole(sizes: list[int], dimension: int) -> None:
    pieces = drawn(sizes, dimension)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        with VectorFile(path, dimension) as file:
            for piece in pieces:
                file.add(piece)
        found = np.load(path, allow_pickle=False)
        assert path.stat().st_size == 128 + 4 * found.size
    whole = np.concatenate([np.zeros((0, dimension), np.float32), *pieces])
    assert found.dtype == np.dtype("<f4")
    assert np.array_equal(found[FIRST:], whole)
    assert not found[PADDING].any()
    mean = whole.mean(axis=0, dtype=np.float64) if len(whole) else np.zeros(dimension)
    np.testing.assert_allclose(found[UNKNOWN], mean, rtol=1e-6, atol=1e-7)


def test_the_mean_is_that_of_all_vectors_and_not_of_the_pieces(tmp_path: Path) -> None:
    with VectorFile(tmp_path / "vectors.npy", 2) as file:
        file.add(np.array([[1, 0]], np.float32))
        file.add(np.array([[2, 4], [3, -4], [6, 4]], np.float32))
    assert np.load(tmp_path / "vectors.npy").tolist()[:2] == [[0, 0], [3, 1]]


def test_small_numbers_are_not_lost_in_the_sum_of_many(tmp_path: Path) -> None:
    with VectorFile(tmp_path / "vectors.npy", 1) as file:
        for _ in range(40):
            file.add(np.full((50_000, 1), 0.1, np.float32))
    assert np.load(tmp_path / "vectors.npy", mmap_mode="r")[UNKNOWN, 0] == np.float32(0.1)


def test_numbers_of_another_type_or_order_are_written_as_they_should(tmp_path: Path) -> None:
    vectors = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    with VectorFile(tmp_path / "vectors.npy", 2) as file:
        file.add(vectors)  # type: ignore[arg-type]
        file.add(vectors[::-2].astype(">f4"))
    found = np.load(tmp_path / "vectors.npy")
    assert found.dtype == np.dtype("<f4")
    assert found[FIRST:].tolist() == [[0, 1], [2, 3], [4, 5], [4, 5], [0, 1]]


@pytest.mark.parametrize("rows", [0, 1, 20_000])
def test_nothing_valid_is_left_where_something_fails(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "vectors.npy"
    with pytest.raises(KeyboardInterrupt), VectorFile(path, 3) as file:
        file.add(np.ones((rows, 3), np.float32))
        raise KeyboardInterrupt
    with pytest.raises((ValueError, EOFError)):
        np.load(path)
