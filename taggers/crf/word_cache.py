"""A table with a row for each word, which is computed when the word first occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_PIECE = 1 << 12  # words that are computed at once, which limits the memory that is needed


class WordCache:
    """A cached table of the rows of words.

    Parameters
    ----------
    compute : callable
        Computes the rows of words, into an array.
    fixed : ndarray
        The rows before the rows of words.
    most_bytes : int
        The size of the table that is not exceeded by words of earlier calls.

    Attributes
    ----------
    table : ndarray
        The rows, first the fixed ones. Those that no word has yet are undefined.
    """

    def __init__(
        self,
        compute: Callable[[Sequence[str], npt.NDArray[Any]], None],
        fixed: npt.NDArray[Any],
        most_bytes: int,
    ) -> None:
        self._compute = compute
        self._fixed = fixed
        self._most = most_bytes // fixed[0].nbytes
        self._clear()

    def _clear(self) -> None:
        self._index: dict[str, int] = {}
        self.table = np.empty((1024, *self._fixed.shape[1:]), self._fixed.dtype)
        self.table[: len(self._fixed)] = self._fixed

    def rows(self, types: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the row of each word; rows of new words are added to the table."""
        new = self._new(types)
        if new and len(self._index) + len(new) > self._most:
            self._clear()
            new = self._new(types)
        used = len(self._index) + len(self._fixed)
        if used + len(new) > len(self.table):
            size = max(used + len(new), 2 * len(self.table))
            table = np.empty((size, *self.table.shape[1:]), self.table.dtype)
            table[:used] = self.table[:used]
            self.table = table
        for first in range(0, len(new), _PIECE):
            words, row = new[first : first + _PIECE], used + first
            self._compute(words, self.table[row : row + len(words)])
            self._index.update(zip(words, range(row, row + len(words)), strict=True))
        return np.fromiter(map(self._index.__getitem__, types), np.int32, len(types))

    def _new(self, types: Sequence[str]) -> list[str]:
        """Return the distinct words without a row."""
        return [word for word in dict.fromkeys(types) if word not in self._index]
