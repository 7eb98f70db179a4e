"""The code points of texts as arrays, and tables of characters; nothing here is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]


def code_points(text: str) -> Codes:
    """Return the code points of a text, lone surrogates included, as a read-only array."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def text_of(codes: Codes) -> str:
    """Return the text of code points."""
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


class CharacterTable:
    """A table with a value for each character, filled as characters occur.

    Parameters
    ----------
    compute : callable
        Returns the value of a character, a number that is not 0.
    dtype : numpy dtype
        The type of the values.

    Attributes
    ----------
    values : ndarray, shape (0x110000,)
        The value of each code point; 0 where it has not occurred.
    """

    def __init__(self, compute: Callable[[str], int], dtype: npt.DTypeLike) -> None:
        self._compute = compute
        self.values: npt.NDArray[Any] = np.zeros(0x110000, dtype)

    def __call__(self, codes: Codes) -> npt.NDArray[Any]:
        """Return the value of each code point, in an array of the same shape."""
        values = self.values[codes]
        if not values.all():
            for code in np.unique(codes[values == 0]).tolist():
                self.values[code] = self._compute(chr(code))
            values = self.values[codes]
        return values
