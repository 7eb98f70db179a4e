"""The case of the letters of names, and terms of gazetteers in this case."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from gazetteers.folding import fold

#: ``after`` is title case after other words of a name: particles are in lower case there.
Case = Literal["upper", "lower", "title", "after"]

#: Words of fewer letters are initials, particles and abbreviations, which do not show the case.
MIN_LETTERS = 3

_WORD = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"[^\s\-'’./(]+['’]?|[\s\-./(]+|['’]")


def case_of(text: str) -> Case:
    """Return the case of the words of a text; ``title`` if they differ or are all short.

    Examples
    --------
    >>> case_of("MARÍA de SOTO")
    'upper'
    """
    long = [word for word in _WORD.findall(text) if len(word) >= MIN_LETTERS]
    if long and all(word.isupper() for word in long):
        return "upper"
    return "lower" if long and all(word.islower() for word in long) else "title"


def in_case(term: str, case: Case, particles: Collection[str]) -> str:
    """Convert a term in lower case to a case.

    Parameters
    ----------
    term : str
        A term of a gazetteer.
    case : {"upper", "lower", "title", "after"}
        The case.
    particles : collection of str
        Folded words that stay in lower case in a title, except at its beginning.

    Examples
    --------
    >>> in_case("palma de mallorca", "title", {"de"})
    'Palma de Mallorca'
    """
    if case in ("upper", "lower"):
        return term.upper() if case == "upper" else term
    parts = _PART.findall(term)
    for place, part in enumerate(parts):
        if part not in particles or (place == 0 and case == "title"):
            parts[place] = part[:1].upper() + part[1:]
    return "".join(parts)


def begins_with_vowel_sound(text: str) -> bool:
    """Return whether an elided article can precede a text."""
    return fold([text[:1]])[0] in {"a", "e", "i", "o", "u", "h"}
