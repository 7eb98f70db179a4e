"""The case of letters of mentions, which their replacements keep."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

#: ``after`` is title case after other words of a name: particles are in lower case there.
#: ``lower_first`` is title case except for the first word, as in ``calle Mayor``.
Case = Literal["upper", "lower", "title", "after", "lower_first"]

#: Words of fewer letters are initials, particles and abbreviations, which do not show the case.
MIN_LETTERS = 3

_PART = re.compile(r"[^\s\-'’./(]+['’]?|[\s\-./(]+|['’]")


def case_of(words: Sequence[str]) -> Case:
    """Return the case of a mention; ``title`` if its words differ or are all short.

    Examples
    --------
    >>> case_of(["MARÍA", "de", "SOTO"])
    'upper'
    """
    long = [word for word in words if len(word) >= MIN_LETTERS and word.isalpha()]
    if long and all(word.isupper() for word in long):
        return "upper"
    return "lower" if long and all(word.islower() for word in long) else "title"


def in_case(term: str, case: Case, particles: Collection[str]) -> str:
    """Convert a term in lower case to a case.

    Parameters
    ----------
    term : str
        A term of a gazetteer.
    case : {"upper", "lower", "title", "after", "lower_first"}
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
        first = place == 0 and case != "after"
        if case == "title" if first else part not in particles:
            parts[place] = part[:1].upper() + part[1:]
    return "".join(parts)
