"""The normalised form of texts, in which words are looked up, with exact offsets in the source.

Text that was copied from PDF files and web pages, or written to evade a filter, has characters that
are not displayed inside words, full-width letters, ligatures or decomposed accents. Tokens are
found in a form without them:

- Characters without a glyph are dropped: control and format characters, such as soft hyphens,
  zero-width spaces, byte-order marks and marks of writing direction.
- Compatibility forms are read as the letters, digits and signs that they display, and unusual
  spaces, hyphens and apostrophes as the usual ones (`corpus.tokens.characters`). Superscripts and
  subscripts are read as letters and digits at the beginning of a word only: after a letter or digit
  they are exponents and indices. ``¹``, ``²`` and ``³`` stay unless others are next to them.
- Accents are composed with their letters. Other marks on a letter or a digit are dropped.

Other characters of Latin-1 stay.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from corpus.kernels.code_points import CharacterTable, Codes, code_points
from corpus.tokens.characters import MARKS, RAISED, is_hidden, is_mark, kind_of, may_change, reading

_Places = npt.NDArray[np.int64]

_KEPT, _SUSPECT = 1, 2
_PRINTABLE = range(0x20, 0x7F)  # of ASCII

_HALF_GEMINATES = {"ŀ": "l·", "Ŀ": "L·"}  # before another l

_RUN = re.compile(r"[^ \t\n\v\f\r]+")
_RAISED_CLASS = "".join(map(chr, RAISED))
# At the beginning of a word, and not of ¹, ² and ³ alone.
_RAISED = re.compile(
    rf"(?<![^\W_])(?<![{MARKS}{_RAISED_CLASS}])"
    rf"(?=[¹²³]*+[{_RAISED_CLASS.strip('¹²³')}])[{_RAISED_CLASS}]+"
)


@dataclass(frozen=True, slots=True, eq=False)
class Normalised:
    """The normalised form of a text.

    Parameters
    ----------
    text : str
        The normalised form.
    starts, ends : ndarray of int64, shape (len(text),)
        The half-open offsets in the source of what each character was read from.
    kinds : frozenset of str
        Names of the kinds of characters that were changed.
    """

    text: str
    starts: _Places
    ends: _Places
    kinds: frozenset[str]

    def in_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the source of a range of at least one character."""
        return int(self.starts[start]), int(self.ends[end - 1])


def normalise(text: str) -> Normalised | None:
    """Normalise a text.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    Normalised or None
        None if the text has nothing to normalise, as most texts do.
    """
    return normalise_all([text]).get(0)


def normalised_text(text: str) -> str:
    """Return the normalised form of a text without its offsets.

    >>> normalised_text("A\u200bnna")  # with a zero-width space
    'Anna'
    """
    normalised = normalise(text)
    return text if normalised is None else normalised.text


def normalise_all(texts: Sequence[str]) -> dict[int, Normalised]:
    """Normalise texts; return the forms of those that have something to normalise.

    Parameters
    ----------
    texts : sequence of str
        Any texts.

    Returns
    -------
    dict of int to Normalised
        By index into the texts, in increasing order.
    """
    lengths = np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts))
    return normalise_joined(code_points("\n".join([*texts, ""])), np.cumsum(lengths), texts)


def normalise_joined(codes: Codes, ends: _Places, texts: Sequence[str]) -> dict[int, Normalised]:
    """Do what `normalise_all` does, for texts that are joined already.

    Parameters
    ----------
    codes : ndarray of uint32
        The code points of the texts, each with a line end after it.
    ends : ndarray of int64
        Where each text with its line end ends.
    texts : sequence of str
        The texts.
    """
    places = suspects(codes)
    rows, firsts = np.unique(np.searchsorted(ends, places, side="right"), return_index=True)
    changed = {}
    for row, of_text in zip(rows.tolist(), np.split(places, firsts[1:]), strict=bool(len(places))):
        begin = int(ends[row - 1]) if row else 0
        if normalised := _normalised(texts[row], of_text - begin):
            changed[row] = normalised
    return changed


def suspects(codes: Codes) -> _Places:
    """Return the places of the characters that may have to be normalised, in order."""
    # One comparison finds what is not printable ASCII: smaller numbers wrap around.
    rare = np.flatnonzero(codes - np.uint32(_PRINTABLE[0]) >= len(_PRINTABLE))
    suspicious: npt.NDArray[np.bool_] = _suspicion()(codes[rare]) == _SUSPECT
    return rare[suspicious]


@functools.cache
def _suspicion() -> CharacterTable:
    return CharacterTable(lambda c: _SUSPECT if may_change(c) else _KEPT, np.uint8)


def _normalised(text: str, places: _Places) -> Normalised | None:
    """Normalise the runs of characters around the suspects of a text."""
    parts: list[str] = []
    starts: list[_Places] = []
    ends: list[_Places] = []
    kinds: set[str] = set()
    after = 0
    for begin, end in _runs(text, places.tolist()):
        run = _normalised_run(text[begin:end])
        if run is not None:
            parts += [text[after:begin], run.text]
            between = np.arange(after, begin)
            starts += [between, begin + run.starts]
            ends += [between + 1, begin + run.ends]
            kinds |= run.kinds
            after = end
    if not parts:
        return None
    rest = np.arange(after, len(text))
    return Normalised(
        "".join([*parts, text[after:]]),
        np.concatenate([*starts, rest]),
        np.concatenate([*ends, rest + 1]),
        frozenset(kinds),
    )


def _runs(text: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of the runs without usual white space that contain places."""
    end = 0
    for place in places:
        if place >= end:
            begin = place
            while begin > end and _RUN.match(text[begin - 1]):
                begin -= 1
            run = _RUN.match(text, place)
            assert run is not None
            end = run.end()
            yield begin, end


@functools.lru_cache(maxsize=1 << 15)  # words repeat
def _normalised_run(text: str) -> Normalised | None:
    """Normalise a run of characters; return None if it stays unchanged."""
    places = [place for place, character in enumerate(text) if not is_hidden(character)]
    # Single replacements come before replacements that depend on neighbours.
    plain_or_same = [(reading(text[place]), text[place]) for place in places]
    visible = "".join([plain if len(plain) == 1 else same for plain, same in plain_or_same])
    visible = _RAISED.sub(lambda match: match.group().translate(RAISED), visible)
    cells: list[str] = []  # what is read from one place
    starts: list[int] = []
    ends: list[int] = []
    for place, character in zip(places, visible, strict=True):
        if is_mark(character) and cells and cells[-1][-1].isalnum():
            composed = unicodedata.normalize("NFC", cells[-1] + character)
            if len(composed) == len(cells[-1]):
                cells[-1] = composed
            ends[-1] = place + 1
            continue
        cells.append(reading(character))
        starts.append(place)
        ends.append(place + 1)
    for number in reversed(range(len(cells) - 1)):
        if cells[number] in _HALF_GEMINATES and cells[number + 1][0] in "lL":
            cells[number] = _HALF_GEMINATES[cells[number]]
    plain = "".join(cells)
    if plain == text:
        return None
    lengths = np.array([len(cell) for cell in cells], np.int64)
    kinds = frozenset(kind_of(character) for character in text if may_change(character))
    begins, finishes = np.array(starts, np.int64), np.array(ends, np.int64)
    return Normalised(plain, np.repeat(begins, lengths), np.repeat(finishes, lengths), kinds)


@dataclass(slots=True)
class UnusualCharacters:
    """Counts of the notes with each kind of character that is not read as itself.

    Attributes
    ----------
    notes : int
        The number of notes so far.
    counts : Counter of str
        The number of notes with characters of each kind.
    """

    notes: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, texts: Sequence[str]) -> None:
        """Count the texts of notes; a byte-order mark at the beginning of a text is usual."""
        self.notes += len(texts)
        for normalised in normalise_all([text.removeprefix("\ufeff") for text in texts]).values():
            self.counts.update(normalised.kinds)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report, the most frequent kind first; none for usual text."""
        notes = f"of {self.notes:,} {'note' if self.notes == 1 else 'notes'}"
        for kind, count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0])):
            yield f"{kind} in {count:,} {notes}"
