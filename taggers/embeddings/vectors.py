"""The file of the vectors of an embedding."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus.storage.atomic import open_anew

Floats = npt.NDArray[np.float32]

#: Rows before those of words: zeros for padding and for positions outside of a document, and the
#: mean of all vectors for unknown words. `FIRST` is the row of the first word.
PADDING, UNKNOWN, FIRST = 0, 1, 2

_HEADER = 128  # bytes: as NumPy pads it


def write_vectors(path: Path, dimension: int, pieces: Iterable[Floats]) -> None:
    """Write vectors in NumPy's format, in one pass and without their number in advance.

    Parameters
    ----------
    path : Path
        The file to create.
    dimension : int
        Dimension of the vectors, N.
    pieces : iterable of ndarray, each of shape (words, N)
        The vectors of consecutive words.
    """
    total, number = np.zeros(dimension), 0
    with open_anew(path) as file:
        file.seek(_HEADER + FIRST * dimension * 4)
        for vectors in pieces:
            file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
            total += vectors.sum(axis=0, dtype=np.float64)
            number += len(vectors)
        header = io.BytesIO()
        layout = {"descr": "<f4", "fortran_order": False, "shape": (number + FIRST, dimension)}
        np.lib.format.write_array_header_1_0(header, layout)
        assert header.tell() == _HEADER
        mean = total / max(number, 1)
        file.seek(0)
        file.write(header.getvalue() + np.array([total * 0, mean], "<f4").tobytes())
