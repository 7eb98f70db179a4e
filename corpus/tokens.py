"""Tokens of clinical notes, with exact offsets.

Notes run words together (``28027España``, ``bases...Normas.Pulmicort-100``), so a token ends
wherever the kind of character changes: letters, digits, and each other character by itself. What
stays together is what loses its meaning when it is cut: ``col·legi``, a clitic with its
apostrophe (``l'`` in ``l'home``) and an identity number with its letter (``12345678Z``). Letters
are cut before a capital that follows a lower-case letter, since that is where notes lack a space
(``MartínezNHC``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_UPPER = "A-ZÀ-ÖØ-Þ"
_MARK = "[\u0300-\u036f]"  # combining accents belong to the letter they follow
# Marks of order and format are gaps like white space: they carry no meaning a tagger could use.
_GAP = r"[\s\ufeff\u00ad\u200b-\u200f\u2028-\u202e\u2060]++"
_CLITIC = r"[lLdDsSnNmMtT]['’](?=[^\W\d_])"
_LETTER = rf"[^\W\d_{_UPPER}]"  # but no capital
_GEMINATE = rf"(?<=[lL])·[lL](?:[{_UPPER}]|{_MARK})*+{_LETTER}*+"
_WORD = rf"(?:(?:[{_UPPER}]|{_MARK})++|{_LETTER}){_LETTER}*+(?:{_MARK}++{_LETTER}*+|{_GEMINATE})*+"
_FOREIGN_IDENTITY = r"[XYZ]\d{7}[A-Za-z](?!\w)"
_NUMBER = r"\d++(?:(?<=\d{7})[A-Za-z](?!\w))?"

#: Matches a gap, or a token with the space after it, at every place of every text. The quantifiers
#: are possessive for speed, and the space is matched along since most gaps are one.
TOKEN = re.compile(
    rf"(?:{_CLITIC}|{_FOREIGN_IDENTITY}|{_WORD}|{_NUMBER}) ?+|{_GAP}|(?:[^\w\s]|_) ?+"
)
_GAP_ONLY = re.compile(_GAP)

#: Characters that go through the expression at a time; bounds the strings alive at once.
_CHUNK = 1 << 19


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of some texts: each is the index of its word type and a pair of offsets.

    Parameters
    ----------
    types : tuple of str
        The distinct words, in the order of their first appearance.
    words : ndarray of int32, shape (N,)
        The index into `types` of each token.
    starts, ends : ndarray of int32, shape (N,)
        Half-open offsets of each token in its text.
    documents : ndarray of int64, shape (D + 1,)
        Tokens ``documents[d]`` to ``documents[d + 1]`` belong to text ``d``.
    """

    types: tuple[str, ...]
    words: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    documents: npt.NDArray[np.int64]


def tokenize(texts: Sequence[str]) -> Tokens:
    """Find the tokens of texts.

    Parameters
    ----------
    texts : sequence of str
        Any number of texts, of any length.

    Returns
    -------
    Tokens
        The same tokens for a text whatever stands beside it.
    """
    matches = _Matches()
    chunks = [_tokenize_chunk(chunk, matches) for chunk in _chunks(texts)]
    counts = [np.zeros(1, np.int64), *(chunk[3] for chunk in chunks)]
    return Tokens(
        types=tuple(matches.types),
        words=_joined([chunk[0] for chunk in chunks]),
        starts=_joined([chunk[1] for chunk in chunks]),
        ends=_joined([chunk[2] for chunk in chunks]),
        documents=np.cumsum(np.concatenate(counts), dtype=np.int64),
    )


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


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 1
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


_Chunk = tuple[
    npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]
]


def _tokenize_chunk(texts: list[str], matches: _Matches) -> _Chunk:
    """Give words, starts, ends and tokens per text."""
    # The expression matches everywhere, so the lengths of the matches give every offset and no
    # match object is made. A line end is a gap: no token reaches from one text into the next.
    found = matches.look_up(TOKEN.findall("\n".join(texts)))
    begins = np.cumsum(found[:, 2], dtype=np.int64) - found[:, 2]
    is_token = found[:, 0] >= 0
    words, lengths, starts = found[is_token, 0], found[is_token, 1], begins[is_token]
    ends = starts + lengths

    text_ends = np.cumsum(np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts)))
    boundaries = np.searchsorted(starts, text_ends)
    counts = np.diff(boundaries, prepend=0)
    origins = np.repeat(np.concatenate([[0], text_ends[:-1]]), counts)
    return (
        words,
        (starts - origins).astype(np.int32),
        (ends - origins).astype(np.int32),
        counts.astype(np.int64),
    )


def _joined(arrays: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    return np.concatenate([np.zeros(0, np.int32), *arrays])
