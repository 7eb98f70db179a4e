"""The file of the vectors of an embedding, written incrementally."""

from __future__ import annotations

import io
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.storage.atomic import open_anew

Floats = npt.NDArray[np.float32]

#: Rows before those of words: zeros for padding and for positions outside of a document, and the
#: mean of all vectors for unknown words. `FIRST` is the row of the first word.
PADDING, UNKNOWN, FIRST = 0, 1, 2

_HEADER = 128  # bytes: as NumPy pads it


class VectorFile:
    """A writer of vectors in NumPy's format, in one pass and without their number in advance.

    Parameters
    ----------
    path : Path
        The file to create.
    dimension : int
        Dimension of the vectors, N.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._dimension = dimension
        self._sum = np.zeros(dimension)
        self._number = 0
        self._file = open_anew(path)
        self._file.seek(_HEADER + FIRST * dimension * 4)

    def __enter__(self) -> Self:
        return self

    def add(self, vectors: Floats) -> None:
        """Write the vectors of the next words, shape (words, N)."""
        self._file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
        self._sum += vectors.sum(axis=0, dtype=np.float64)
        self._number += len(vectors)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._file as file:
            if kind is not None:
                return
            header = io.BytesIO()
            shape = (self._number + FIRST, self._dimension)
            np.lib.format.write_array_header_1_0(
                header, {"descr": "<f4", "fortran_order": False, "shape": shape}
            )
            assert header.tell() == _HEADER
            file.seek(0)
            file.write(header.getvalue())
            file.write(np.zeros(self._dimension, "<f4").tobytes())
            file.write((self._sum / max(self._number, 1)).astype("<f4").tobytes())
