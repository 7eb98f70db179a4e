"""The regular expression that says what a token is, and finding tokens by it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

_UPPER = "A-ZÀ-ÖØ-Þ"
#: Classes of characters.
CAPITAL = f"[{_UPPER}]"
LOWER = rf"[^\W\d_{_UPPER}]"  # any other letter
LETTER = r"[^\W\d_]"
MARK = "[\u0300-\u036f]"  # combining accents belong to the letter they follow
DIGIT = r"\d"
# Marks of order and format are gaps like white space: they carry no meaning a tagger could use.
GAP = r"[\s\ufeff\u00ad\u200b-\u200f\u2028-\u202e\u2060]"
CLITIC = "[lLdDsSnNmMtT]"
APOSTROPHE = "['’]"
ELL = "[lL]"  # geminate in col·legi
POINT = "·"
IDENTITY = "[XYZ]"  # the identity number of a foreigner begins with one
ASCII_LETTER = "[A-Za-z]"
WORD = r"\w"

_CLITIC = f"{CLITIC}{APOSTROPHE}(?={LETTER})"
_GEMINATE = f"(?<={ELL}){POINT}{ELL}(?:{CAPITAL}|{MARK})*+{LOWER}*+"
_WORD = f"(?:(?:{CAPITAL}|{MARK})++|{LOWER}){LOWER}*+(?:{MARK}++{LOWER}*+|{_GEMINATE})*+"
_FOREIGN_IDENTITY = f"{IDENTITY}{DIGIT}{{7}}{ASCII_LETTER}(?!{WORD})"
_NUMBER = f"{DIGIT}++(?:(?<={DIGIT}{{7}}){ASCII_LETTER}(?!{WORD}))?"

#: Matches a gap, or a token with the space after it, at every place of every text. The quantifiers
#: are possessive for speed, and the space is matched along since most gaps are one.
TOKEN = re.compile(
    rf"(?:{_CLITIC}|{_FOREIGN_IDENTITY}|{_WORD}|{_NUMBER}) ?+|{GAP}++|(?:[^\w\s]|_) ?+"
)
_GAP_ONLY = re.compile(f"{GAP}++")


class Expression:
    """Finds tokens by the expression, and numbers their words."""

    def __init__(self) -> None:
        self._matches = _Matches()

    @property
    def types(self) -> Iterable[str]:
        """Distinct words, in the order of their first appearance."""
        return self._matches.types

    def find(
        self, text: str
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Find the tokens of a text.

        Parameters
        ----------
        text : str
            Any.

        Returns
        -------
        words : ndarray of int32, shape (N,)
            The index into `types` of each token.
        starts, ends : ndarray of int64, shape (N,)
            Half-open offsets of each token.
        """
        # The expression matches everywhere, so the lengths of the matches give every offset and no
        # match object is made.
        found = self._matches.look_up(TOKEN.findall(text))
        begins = np.cumsum(found[:, 2], dtype=np.int64) - found[:, 2]
        is_token = found[:, 0] >= 0
        words, lengths, starts = found[is_token, 0], found[is_token, 1], begins[is_token]
        return words, starts, starts + lengths


class _Matches(dict[str, int]):
    """Numbers the strings that the expression matches, and knows what each is."""

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[str, int] = {}  # words, by their numbers
        self._new: list[tuple[int, int, int]] = []
        self._rows = np.zeros((0, 3), np.int32)

    def __missing__(self, match: str) -> int:
        """Give a string that is looked up for the first time its number."""
        if not match[0].isalnum() and _GAP_ONLY.fullmatch(match):
            self._new.append((-1, 0, len(match)))
        else:
            word = match[:-1] if match[-1] == " " else match
            number = self.types.setdefault(word, len(self.types))
            self._new.append((number, len(word), len(match)))
        self[match] = number = len(self)
        return number

    def look_up(self, matches: list[str]) -> npt.NDArray[np.int32]:
        """Give the word of each match, its length and that of the match, shape (M, 3).

        A gap has the word -1.
        """
        numbers = np.fromiter(map(self.__getitem__, matches), np.int64, len(matches))
        if self._new:
            self._rows = np.concatenate([self._rows, np.array(self._new, np.int32)])
            self._new = []
        return self._rows[numbers]
