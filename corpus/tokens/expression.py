"""The regular expression that defines tokens, and a tokenizer that uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from corpus.kernels.code_points import Codes
from corpus.ragged import offsets_of

_UPPER = "A-ZÀ-ÖØ-Þ"
_ACCENTS = "\u0300-\u036f"
#: Classes of characters.
CAPITAL = f"[{_UPPER}]"
LOWER = rf"[^\W\d_{_UPPER}]"  # any other letter
LETTER = r"[^\W\d_]"
MARK = f"[{_ACCENTS}]"  # combining accents belong to the letter they follow
DIGIT = r"\d"
GAP = r"\s"
CLITIC = "[lLdDsSnNmMtT]"
APOSTROPHE = "['’]"
ELL = "[lL]"  # geminate in col·legi
POINT = "·"
IDENTITY = "[XYZ]"  # the first letter of identity numbers of foreigners
ASCII_LETTER = "[A-Za-z]"
WORD = r"\w"

_CLITIC = f"{CLITIC}{APOSTROPHE}(?={LETTER})"
_CAPITALS = f"[{_UPPER}{_ACCENTS}]"  # and their accents
_GEMINATE = f"(?<={ELL}){POINT}{ELL}{_CAPITALS}*+{LOWER}*+"
_WORD = f"(?:{_CAPITALS}++|{LOWER}){LOWER}*+(?:{MARK}++{LOWER}*+|{_GEMINATE})*"
_FOREIGN_IDENTITY = f"{IDENTITY}{DIGIT}{{7}}{ASCII_LETTER}(?!{WORD})"
_NUMBER = f"{DIGIT}++(?:(?<={DIGIT}{{7}}){ASCII_LETTER}(?!{WORD}))?"

#: Matches a gap, or a token with the space after it, at every position of a text. The quantifiers
#: of single characters are possessive for speed. Those of groups are not: before Python 3.11.5, a
#: possessive group can match the wrong text. Tokens include the next space because most gaps are a
#: single space.
TOKEN = re.compile(
    rf"(?:{_CLITIC}|{_FOREIGN_IDENTITY}|{_WORD}|{_NUMBER}) ?+|{GAP}++|(?:[^\w\s]|_) ?+"
)
_GAP_ONLY = re.compile(f"{GAP}++")


class Expression:
    """A tokenizer that uses the regular expression and numbers words."""

    def __init__(self) -> None:
        self._matches = _Matches()

    @property
    def types(self) -> Iterable[str]:
        """Distinct words, in the order of their first appearance."""
        return self._matches.types

    def find(
        self, text: str, codes: Codes | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Find the tokens of a text.

        Parameters
        ----------
        text : str
            Any text.
        codes : ndarray of uint32, optional
            Not used.

        Returns
        -------
        words : ndarray of int32, shape (N,)
            The index into `types` of each token.
        starts, ends : ndarray of int32, shape (N,)
            Half-open offsets of each token.
        """
        # The matches cover all of the text. Their lengths therefore determine all offsets, and no
        # match objects are needed.
        rows = self._matches.look_up(TOKEN.findall(text))
        begins = offsets_of(rows[:, 2])[:-1].astype(np.int32)
        is_token = rows[:, 0] >= 0
        words, lengths, starts = rows[is_token, 0], rows[is_token, 1], begins[is_token]
        return words, starts, starts + lengths


class _Matches(dict[str, int]):
    """A table of the distinct strings that the expression matched, with the word of each."""

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[str, int] = {}  # the number of each word
        self._new: list[tuple[int, int, int]] = []
        self._rows = np.zeros((0, 3), np.int32)

    def __missing__(self, match: str) -> int:
        """Enter a string that is not in the table yet, and return its number."""
        if not match[0].isalnum() and _GAP_ONLY.fullmatch(match):
            self._new.append((-1, 0, len(match)))
        else:
            word = match[:-1] if match[-1] == " " else match
            number = self.types.setdefault(word, len(self.types))
            self._new.append((number, len(word), len(match)))
        self[match] = number = len(self)
        return number

    def look_up(self, matches: list[str]) -> npt.NDArray[np.int32]:
        """Return the word of each match, its length and the length of the match, shape (M, 3)."""
        # The word of a gap is -1.
        numbers = np.fromiter(map(self.__getitem__, matches), np.int64, len(matches))
        if self._new:
            self._rows = np.concatenate([self._rows, np.array(self._new, np.int32)])
            self._new = []
        return self._rows[numbers]
