"""Conversion between arrays and the files of a model."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def array_files(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, bytes]:
    """Return the contents of NumPy files of arrays, by file name."""
    return {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}


def read_arrays(folder: Path, names: Sequence[str]) -> list[npt.NDArray[Any]]:
    """Read the arrays of these names from files that were written from `array_files`."""
    return [np.load(folder / f"{name}.npy", allow_pickle=False) for name in names]


def array_bytes(array: npt.NDArray[Any]) -> bytes:
    """Return the content of a NumPy file of an array."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
