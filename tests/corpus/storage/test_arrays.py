"""Arrays in files: what is written is read again, and whatever is wrong is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.arrays import Expected, array_bytes, read_array

FIVE = np.array([0, 1, 1, 4, 9], np.int64)
ANY = Expected("int64", (None,))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.npy"
    path.write_bytes(array_bytes(FIVE))
    return path


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize(
    "array", [FIVE, FIVE[:0], np.zeros((2, 3), np.float32), np.zeros((0, 4), np.float16)]
)
def test_what_is_written_is_read_again(array: np.ndarray, mapped: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(array_bytes(array))
    expected = Expected(str(array.dtype), tuple(None for _ in array.shape))
    actual = read_array(path, expected, mapped=mapped)
    assert actual.dtype == array.dtype and actual.shape == array.shape
    assert (actual == array).all()
    assert actual.flags.writeable and actual.flags.c_contiguous


def test_a_change_of_a_mapped_array_does_not_change_the_file(file: Path) -> None:
    before = file.read_bytes()
    read_array(file, ANY, mapped=True)[:] = 7
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (Expected("int32", (None,)), "has the data type int64; expected int32"),
        (Expected("int32 uint8", (None,)), "expected int32 or uint8"),
        (Expected("int64", (4,)), r"has the shape \(5\); expected \(4\)"),
        (Expected("int64", (None, 2)), r"has the shape \(5\); expected \(any, 2\)"),
        (Expected("int64", (None,), 1), "has values from 0 to 9; expected 1 to inf"),
        (Expected("int64", (None,), 0, 8), "has values from 0 to 9; expected 0 to 8"),
        (Expected("int64", (None,), order="distinct"), "has values that do not ascend"),
    ],
)
def test_other_arrays_are_refused(expected: Expected, message: str, file: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_array(file, expected)


def test_equal_values_ascend_and_lower_ones_do_not(file: Path) -> None:
    ascending = Expected("int64", (None,), order="ascending")
    assert len(read_array(file, ascending)) == 5
    file.write_bytes(array_bytes(FIVE[::-1].copy()))
    with pytest.raises(InputError, match="do not ascend"):
        read_array(file, ascending)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(value: float, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(array_bytes(np.array([0.0, value])))
    with pytest.raises(InputError, match="not finite"):
        read_array(path, Expected("float64", (None,)))


@pytest.mark.parametrize("array", [np.array(["a"], object), FIVE.astype(">i8"), FIVE.astype("S1")])
def test_objects_and_other_byte_orders_are_refused(array: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    path.write_bytes(stream.getvalue())
    with pytest.raises(InputError, match="data type"):
        read_array(path, ANY)


def test_an_array_in_the_order_of_fortran_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(np.ones((2, 3))))
    with pytest.raises(InputError, match="not in C order"):
        read_array(tmp_path / "a.npy", Expected("float64", (2, 3)))


def test_no_memory_is_taken_for_what_a_header_only_claims(file: Path) -> None:
    content = file.read_bytes()
    header = content.replace(b"(5,), }    ", b"(90000,), }")
    assert len(header) == len(content) and header != content
    file.write_bytes(header)
    with pytest.raises(InputError, match="has 40 bytes of values; expected 720,000"):
        read_array(file, ANY, mapped=True, checked=False)


@given(place=st.integers(0, 200), bit=st.integers(0, 7), cut=st.integers(0, 200))
def test_a_damaged_file_is_read_or_refused(place, bit, cut, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("damaged") / "a.npy"
    content = bytearray(array_bytes(FIVE))
    content[place % len(content)] ^= 1 << bit
    path.write_bytes(bytes(content[: len(content) - cut // 20]))
    try:
        array = read_array(path, ANY)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert array.dtype == np.int64 and array.ndim == 1
