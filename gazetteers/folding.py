"""Folding: the form in which terms are kept and looked up, whatever their case and accents."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_BETWEEN = "\n"
#: Marks on letters, but for those that make another letter: ñ and ç are not n and c.
_MARKS = re.compile("(?<!n)\u0303|(?<!c)\u0327|[\u0300-\u0302\u0304-\u0326\u0328-\u036f]")

#: Entries of characters that have not occurred, and that cannot be folded alone.
_NEW, _NEVER = 0, 0xFFFFFFFF


def fold(texts: Sequence[str]) -> list[str]:
    """Convert texts to lower case without accents; ñ and ç are letters of their own, and stay.

    Parameters
    ----------
    texts : sequence of str
        Words or terms.

    Returns
    -------
    list of str
        Composed (NFC). What is folded again stays as it is.
    """
    together = _characters()(_BETWEEN.join(texts)).split(_BETWEEN)
    if len(together) == len(texts):
        return together
    return [_folded(text) for text in texts]  # one has a line break, or there is none


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _MARKS.sub("", apart))


class _Characters:
    """A table of folded characters, filled as they occur, for texts folded by character."""

    def __init__(self) -> None:
        self._table: npt.NDArray[np.uint32] = np.full(0x110000, _NEW, np.uint32)

    def __call__(self, text: str) -> str:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        found = self._table[codes]
        if not found.all():
            for code in np.unique(codes[found == _NEW]).tolist():
                self._table[code] = _alone(chr(code))
            found = self._table[codes]
        if (found == _NEVER).any():
            return _folded(text)
        return found.tobytes().decode("utf-32-le", "surrogatepass")


def _alone(character: str) -> int:
    """Return the folded form of a character, or `_NEVER` where it depends on its neighbours."""
    becomes = _folded(character)
    code = ord(character)
    mark = unicodedata.category(character).startswith("M")
    jamo = 0x1100 <= code < 0x1200  # parts of syllables, which are put together
    sigma = character == "Σ"  # another one at the end of a word
    if len(becomes) != 1 or becomes == "\0" or mark or jamo or sigma:
        return _NEVER
    return ord(becomes)


@functools.cache
def _characters() -> _Characters:
    return _Characters()
