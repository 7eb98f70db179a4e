"""Arrays in NumPy's format, which are checked when they are read from files.

Compiled functions do not check the indices that they follow. A file that somebody else wrote, or
that is damaged, is therefore refused before they see its values.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.storage.atomic import open_anew

Array = npt.NDArray[Any]

#: The largest magnitude of a weight. Trained ones are below 1,000; sums of larger ones overflow.
LARGEST = 1e6


@dataclass(frozen=True, slots=True)
class Expected:
    """Requirements on an array in a file.

    Parameters
    ----------
    dtypes : str
        The names of the data types that it may have, separated by spaces.
    shape : tuple of int or None
        Its shape; None for any length.
    least, most : float
        The limits of its values. Floating-point numbers must be finite in any case.
    order : {"any", "ascending", "distinct"}
        Whether values ascend, and whether they may be equal: ``"distinct"`` ones ascend, too.
    """

    dtypes: str
    shape: tuple[int | None, ...]
    least: float = -math.inf
    most: float = math.inf
    order: Literal["any", "ascending", "distinct"] = "any"


def weights_of_shape(*shape: int | None, dtypes: str = "float32") -> Expected:
    """Describe a valid array of weights."""
    return Expected(dtypes, shape, -LARGEST, LARGEST)


def array_files(arrays: Mapping[str, Array]) -> dict[str, bytes]:
    """Return the contents of NumPy files of arrays, by file name."""
    return {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}


def array_bytes(array: Array) -> bytes:
    """Return the content of a NumPy file of an array."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def write_array(path: Path, array: Array) -> None:
    """Write a NumPy file of an array into a folder that is locked or not complete."""
    array = np.ascontiguousarray(array)
    with open_anew(path) as file:
        # NumPy itself would not report why writing to a file fails.
        header = np.lib.format.header_data_from_array_1_0(array)
        np.lib.format.write_array_header_1_0(file, header)
        file.write(array.data)


def read_array(
    path: Path, expected: Expected, *, mapped: bool = False, checked: bool = True
) -> Array:
    """Read an array and check it.

    Parameters
    ----------
    path : Path
        A file in NumPy's format.
    expected : Expected
        The requirements on the array.
    mapped : bool
        Whether the file is mapped into memory. Changes of the array do not change the file.
    checked : bool
        Whether its values are checked. Without it, a large array is mapped at once, since values
        are read only where they are used. They must not be indices.

    Raises
    ------
    InputError
        If the file has another format, or the array does not meet the requirements.
    OSError
        If the file cannot be read.
    """
    place = str(path)
    if path.exists() and not path.is_file():  # of devices and pipes, some have no end
        raise InputError(f"{place} is not a regular file")
    with path.open("rb") as file:
        dtype, shape = _header(file, place)
        _check_header(dtype, shape, expected, place)
        offset, number = file.tell(), math.prod(shape)
        size = path.stat().st_size - offset
        if size != number * dtype.itemsize:
            raise InputError(
                f"{place} has {size:,} bytes of values; expected {number * dtype.itemsize:,}"
            )
        if number and mapped:
            # Unlike "r", copy-on-write maps are writable, as compiled functions require.
            array: Array = np.memmap(path, dtype, "c", offset, shape)
        else:
            array = np.fromfile(file, dtype, number).reshape(shape)
    if checked:
        _check_values(array, expected, place)
    return array


def _header(file: BinaryIO, place: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Read the data type and the shape of an array."""
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"version {version[0]}.{version[1]}")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception:  # NumPy parses the header as an expression of Python: any error may occur
        raise InputError(f"{place} is not an array in NumPy's format") from None
    if fortran and len(shape) > 1:
        raise InputError(f"{place} is not in C order")
    return dtype, shape


def _check_header(
    dtype: np.dtype[Any], shape: tuple[int, ...], expected: Expected, place: str
) -> None:
    known = [np.dtype(name) for name in expected.dtypes.split()]
    if dtype not in known:
        raise InputError(
            f"{place} has the data type {dtype.name}; expected {' or '.join(map(str, known))}"
        )
    right = len(shape) == len(expected.shape) and all(
        wanted in (None, length) for length, wanted in zip(shape, expected.shape, strict=True)
    )
    if not right or min(shape, default=0) < 0:
        wanted = ", ".join("any" if length is None else f"{length:,}" for length in expected.shape)
        actual = ", ".join(f"{length:,}" for length in shape)
        raise InputError(f"{place} has the shape ({actual}); expected ({wanted})")


def _check_values(array: Array, expected: Expected, place: str) -> None:
    """Refuse values that are outside of the limits, not finite or not in order."""
    if not array.size:
        return
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{place} has values that are not finite numbers")
    least, most = array.min().item(), array.max().item()
    if least < expected.least or most > expected.most:
        raise InputError(
            f"{place} has values from {least:,} to {most:,}; expected "
            f"{expected.least:,} to {expected.most:,}"
        )
    if expected.order != "any":
        before, after = array[:-1], array[1:]
        right = before < after if expected.order == "distinct" else before <= after
        if not right.all():
            raise InputError(f"{place} has values that do not ascend")
