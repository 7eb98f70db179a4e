"""Folding: the normal form of terms, which ignores case and accents."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from corpus.kernels.code_points import CharacterTable, code_points, text_of
from corpus.tokens.normalisation import normalise_all

_SEPARATOR = "\n"
#: Combining marks, except the marks of ñ and ç, which are distinct letters.
_MARKS = re.compile("(?<!n)\u0303|(?<!c)\u0327|[\u0300-\u0302\u0304-\u0326\u0328-\u036f]")

#: The entry of characters that depend on their context.
_CONTEXTUAL = 0xFFFFFFFF


def fold(texts: Sequence[str]) -> list[str]:
    """Convert texts to lower case without accents; the letters ñ and ç are kept.

    Returns
    -------
    list of str
        Folded texts in Unicode normalization form C. Folding is idempotent.

    Examples
    --------
    >>> fold(["MUÑOZ", "Güell"])
    ['muñoz', 'guell']
    """
    joined = _SEPARATOR.join(texts)
    codes = _characters()(code_points(joined))
    folded = (_folded(joined) if (codes == _CONTEXTUAL).any() else text_of(codes)).split(_SEPARATOR)
    if len(folded) == len(texts):
        return folded
    return [_folded(text) for text in texts]  # a text has a line break, or there are no texts


def fold_terms(texts: Sequence[str]) -> list[str]:
    """Fold the normalised forms of terms, as words of notes are looked up; spaces become single.

    >>> fold_terms([" Vila\u00adfranca  del\u00a0Penedès"])
    ['vilafranca del penedes']
    """
    forms = normalise_all(texts)
    plain = (forms[row].text if row in forms else text for row, text in enumerate(texts))
    return fold([" ".join(text.split()) for text in plain])


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


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
def _characters() -> CharacterTable:
    return CharacterTable(_fold_character, np.uint32)
