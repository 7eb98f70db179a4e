"""A table of strings in two arrays, which avoids one object per string and can be memory-mapped."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.storage.arrays import Expected

if TYPE_CHECKING:
    from taggers.model_folder import ModelFiles


@dataclass(frozen=True, slots=True, eq=False)
class StringTable:
    """A table of strings in two arrays.

    Parameters
    ----------
    text : ndarray of uint8
        The concatenated strings, encoded as UTF-8.
    ends : ndarray of int64, shape (V,)
        The end offset of each string in `text`.
    """

    text: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    @classmethod
    def from_strings(cls, strings: Sequence[str]) -> StringTable:
        """Build a table from strings."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    def __len__(self) -> int:
        """Return the number of strings."""
        return len(self.ends)

    def __getitem__(self, index: int) -> str:
        """Return the string at an index."""
        begin = self.ends[index - 1] if index else 0
        return self.text[begin : self.ends[index]].tobytes().decode("utf-8", "surrogatepass")

    def strings(self) -> list[str]:
        """Return all strings."""
        data = self.text.tobytes()
        offsets = [0, *self.ends.tolist()]
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(offsets)]

    def take(self, kept: npt.NDArray[np.bool_]) -> StringTable:
        """Select strings by a mask of shape (V,); an empty table stays empty for any mask."""
        if not len(self):
            return self
        lengths = np.diff(self.ends, prepend=0)
        return StringTable(self.text[np.repeat(kept, lengths)], np.cumsum(lengths[kept]))


#: The empty table.
EMPTY = StringTable(np.zeros(0, np.uint8), np.zeros(0, np.int64))


def read_strings(model: ModelFiles, text: str, ends: str, number: int) -> StringTable:
    """Read a table of strings from the files of a model, and check it.

    Parameters
    ----------
    model : ModelFiles
        The files of the model.
    text, ends : str
        The names of the arrays.
    number : int
        The number of strings; the table may also be empty.

    Raises
    ------
    InputError
        If an array is missing, or the ends are not places between the characters of the text.
    """
    table = StringTable(
        model.array(text, Expected("uint8", (None,)), mapped=True),
        model.array(ends, Expected("int64", (None,), 0, order="ascending"), mapped=True),
    )
    if len(table) not in (0, number):
        raise InputError(f"{ends}.npy has {len(table):,} strings; expected {number:,} or none")
    if table.ends[-1:].tolist() != [len(table.text)][: len(table)]:
        raise InputError(f"{ends}.npy does not end where the text in {text}.npy does")
    # A character in UTF-8 continues with bytes from 0x80 to 0xBF: no string begins with one.
    inside = table.ends[table.ends < len(table.text)]
    if ((table.text[inside] & 0xC0) == 0x80).any():
        raise InputError(f"{ends}.npy has an end within a character of the text")
    try:
        table.text.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise InputError(f"{text}.npy is not text in UTF-8") from None
    return table
