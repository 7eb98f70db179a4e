"""Folding: the normal form of terms, which ignores case and accents."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_SEPARATOR = "\n"
#: Combining marks, except those of ñ and ç, which are distinct letters.
_MARKS = re.compile("(?<!n)\u0303|(?<!c)\u0327|[\u0300-\u0302\u0304-\u0326\u0328-\u036f]")

#: Entries of characters that have not occurred yet, and that depend on their context.
_NEW, _CONTEXTUAL = 0, 0xFFFFFFFF


def fold(texts: Sequence[str]) -> list[str]:
    """Convert texts to lower case without accents; the letters ñ and ç are kept.

    Parameters
    ----------
    texts : sequence of str
        Words or terms.

    Returns
    -------
    list of str
        Folded texts in Unicode normalization form C. Folding is idempotent.
    """
    folded = _characters()(_SEPARATOR.join(texts)).split(_SEPARATOR)
    if len(folded) == len(texts):
        return folded
    return [_folded(text) for text in texts]  # a text has a line break, or there are no texts


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


class _Characters:
    """A table of folded characters, filled as they occur."""

    def __init__(self) -> None:
        self._table: npt.NDArray[np.uint32] = np.full(0x110000, _NEW, np.uint32)

    def __call__(self, text: str) -> str:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        folded = self._table[codes]
        if not folded.all():
            for code in np.unique(codes[folded == _NEW]).tolist():
                self._table[code] = _fold_character(chr(code))
            folded = self._table[codes]
        if (folded == _CONTEXTUAL).any():
            return _folded(text)
        return folded.tobytes().decode("utf-32-le", "surrogatepass")


def _fold_character(character: str) -> int:
    """Return the folded form of a character, or `_CONTEXTUAL` if it depends on its context."""
    folded = _folded(character)
    code = ord(character)
    mark = unicodedata.category(character).startswith("M")
    jamo = 0x1100 <= code < 0x1200  # parts of Korean syllables, which are composed
    sigma = character == "Σ"  # its lower case differs at the end of a word
    if len(folded) != 1 or folded == "\0" or mark or jamo or sigma:
        return _CONTEXTUAL
    return ord(folded)


@functools.cache
def _characters() -> _Characters:
    return _Characters()
