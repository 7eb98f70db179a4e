"""Folding: the form in which terms are kept and looked up, whatever their case and accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_BETWEEN = "\n"
#: Marks on letters, but for those that make another letter: ñ and ç are not n and c.
_MARKS = re.compile("(?<!n)\u0303|(?<!c)\u0327|[\u0300-\u0302\u0304-\u0326\u0328-\u036f]")


def folded(texts: Sequence[str]) -> list[str]:
    """Write texts in lower case and without accents; ñ and ç are letters, and stay.

    Parameters
    ----------
    texts : sequence of str
        Words or terms.

    Returns
    -------
    list of str
        Composed (NFC). What is folded again stays as it is.
    """
    together = _folded(_BETWEEN.join(texts)).split(_BETWEEN)
    if len(together) == len(texts):
        return together
    return [_folded(text) for text in texts]  # one has a line break, or there is none


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _MARKS.sub("", apart))
