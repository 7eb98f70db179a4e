"""Arrays as the files of a model hold them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def array_files(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, bytes]:
    """Return arrays in NumPy's file format, by the names of their files."""
    return {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}


def read_arrays(folder: Path, names: Sequence[str]) -> list[npt.NDArray[Any]]:
    """Read what `array_files` returned."""
    return [np.load(folder / f"{name}.npy", allow_pickle=False) for name in names]


def array_bytes(array: npt.NDArray[Any]) -> bytes:
    """Return an array in NumPy's file format."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
