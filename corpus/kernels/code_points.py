"""The code points of texts as arrays; nothing here is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]

#: The code points of Latin-1.
LATIN_1 = range(0x100)


def code_points(text: str) -> Codes:
    """Return the code points of a text, lone surrogates included, as a read-only array."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """The code points of a text, and which of them are rare in Spanish and Catalan.

    Parameters
    ----------
    codes : ndarray of uint32
        The code points.
    rare : ndarray of int64
        The places of those beyond Latin-1.
    """

    codes: Codes
    rare: npt.NDArray[np.int64]

    @classmethod
    def of(cls, text: str) -> Self:
        """Find the code points of a text."""
        codes = code_points(text)
        return cls(codes, np.flatnonzero(codes > LATIN_1[-1]))
