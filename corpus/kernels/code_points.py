"""The code points of texts as arrays; nothing here is compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]


def code_points(text: str) -> Codes:
    """Return the code points of a text, lone surrogates included, as a read-only array."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
