"""The case of letters of mentions, which their replacements keep."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

#: ``after`` is title case after other words of a name: particles are in lower case there.
#: ``lower_first`` is title case except for the first word, as in ``calle Mayor``.
Case = Literal["upper", "lower", "title", "after", "lower_first"]

#: Words of fewer letters are initials, particles and abbreviations, which do not show the case.
MIN_LETTERS = 3

_PART = re.compile(r"[^\s\-'’./(]+['’]?|[\s\-./(]+")


def case_of(words: Sequence[str]) -> Case:
    """Return the case of a mention; ``title`` if its words differ or are all short.

    Parameters
    ----------
    words : sequence of str
        The tokens of the mention.
    """
    long = [word for word in words if len(word) >= MIN_LETTERS and word.isalpha()]
    if long and all(word.isupper() for word in long):
        return "upper"
    if long and all(word.islower() for word in long):
        return "lower"
    return "title"


@dataclass(frozen=True, slots=True)
class LetterCase:
    """The conversion of folded terms to a case.

    Parameters
    ----------
    particles : collection of str
        Folded words that stay in lower case in a title, except at its beginning.
    """

    particles: Collection[str]

    def convert(self, term: str, case: Case) -> str:
        """Convert a term in lower case to a case.

        Parameters
        ----------
        term : str
            A term of a gazetteer, such as ``"palma de mallorca"``.
        case : {"upper", "lower", "title", "after", "lower_first"}
            The case.

        Returns
        -------
        str
            The term, as ``"Palma de Mallorca"`` in the case ``title``.
        """
        if case == "upper":
            return term.upper()
        if case == "lower":
            return term
        parts = _PART.findall(term)
        if "".join(parts) != term:  # a part that begins with an apostrophe
            return term.title()
        return "".join(
            _capitalized(part) if self._is_capitalized(part, place, case) else part
            for place, part in enumerate(parts)
        )

    def _is_capitalized(self, part: str, place: int, case: Case) -> bool:
        if place == 0 and case != "after":
            return case == "title"
        return part not in self.particles


def _capitalized(word: str) -> str:
    return word[:1].upper() + word[1:]
