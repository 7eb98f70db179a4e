"""The normalised form of texts, in which words are looked up, with exact offsets in the source.

Text that was copied from PDF files and web pages, or written to evade a filter, has characters that
are not displayed inside words, full-width letters, ligatures or decomposed accents. Tokens are
found in a form without them:

- Characters without a glyph are dropped: control and format characters, such as soft hyphens,
  zero-width spaces, byte-order marks and marks of writing direction. Tabs and line ends stay.
- A word that a hyphen breaks at the end of a line is joined: ``Gar-`` and ``cía`` are read as
  ``García``. The hyphen stays after a capital, since ``VIH-`` is no beginning of a word, except
  after an initial; before a capital, as in ``García-Pérez``; and in ``pre- y postoperatorio``.
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
from corpus.tokens.characters import (
    LINE_ENDS,
    MARKS,
    RAISED,
    SOFT_HYPHENS,
    is_hidden,
    is_mark,
    kind_of,
    may_change,
    reading,
)
from corpus.tokens.expression import CAPITAL, LETTER, LOWER

_Places = npt.NDArray[np.int64]
_Cell = tuple[str, int, int]  # what is read from one place, and the half-open offsets of the place

_KEPT, _SUSPECT, _LINE_END = 1, 2, 3
_PRINTABLE = range(0x20, 0x7F)  # of ASCII

_HALF_GEMINATES = {"ŀ": "l·", "Ŀ": "L·"}  # before another l

# No word is broken at white space after a sign of ASCII other than a hyphen, or after a letter or a
# digit that is displayed: there a run ends.
_SPACE = f" \t{LINE_ENDS}"
_RUN = re.compile(rf"(?:[^{_SPACE}]|(?<![!-,.-~])(?<![^\W\u115f\u1160\u3164\uffa0])[{_SPACE}])+")
_SHOWN_HYPHEN = re.compile(f"[{SOFT_HYPHENS}][{LINE_ENDS}]")
# A word is broken after a lower-case letter or an initial.
_BREAK = (
    rf"(?:(?<={LOWER})|(?<=(?<!{LETTER}){CAPITAL}))"
    rf"-?[{SOFT_HYPHENS}]?(?<!{LETTER})[{LINE_ENDS}]\s*(?={LOWER})"
)
_BROKEN = re.compile(
    rf"(?<!{LETTER})(?:{CAPITAL}{LETTER}*+(?:{_BREAK}{LETTER}++)+"
    rf"|{LOWER}{LETTER}*+(?:{_BREAK}(?![yeoui](?!{LETTER})){LETTER}++)+)"
)
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
    unusual : frozenset of str
        The characters that were not read as themselves, among them ``-`` if a broken word was
        joined.
    """

    text: str
    starts: _Places
    ends: _Places
    unusual: frozenset[str]

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
    kinds = _suspicion()(codes[rare])
    ends = rare[kinds == _LINE_END]
    broken = ends[codes[ends - 1] == ord("-")]
    suspicious: _Places = rare[kinds == _SUSPECT]
    return np.union1d(suspicious, broken) if len(broken) else suspicious


@functools.cache
def _suspicion() -> CharacterTable:
    return CharacterTable(
        lambda c: _LINE_END if c in LINE_ENDS else _SUSPECT if may_change(c) else _KEPT, np.uint8
    )


def _normalised(text: str, places: _Places) -> Normalised | None:
    """Normalise the runs of characters around the suspects of a text."""
    parts: list[str] = []
    starts: list[_Places] = []
    ends: list[_Places] = []
    unusual: set[str] = set()
    after = 0
    for begin, end in _runs(text, places.tolist()):
        run = _normalised_run(text[begin:end])
        if run is not None:
            parts += [text[after:begin], run.text]
            between = np.arange(after, begin)
            starts += [between, begin + run.starts]
            ends += [between + 1, begin + run.ends]
            unusual |= run.unusual
            after = end
    if not parts:
        return None
    rest = np.arange(after, len(text))
    return Normalised(
        "".join([*parts, text[after:]]),
        np.concatenate([*starts, rest]),
        np.concatenate([*ends, rest + 1]),
        frozenset(unusual),
    )


def _runs(text: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of the runs that contain places."""
    end = 0
    for place in places:
        # The line end after a text is none of its characters.
        if place >= end and (run := _RUN.match(text, place)):
            begin = place
            while begin > end and _RUN.match(text, begin - 1, begin):
                begin -= 1
            end = run.end()
            yield begin, end


@functools.lru_cache(maxsize=1 << 15)  # words repeat
def _normalised_run(text: str) -> Normalised | None:
    """Normalise a run of characters; return None if it stays unchanged."""
    hyphens = {match.start() for match in _SHOWN_HYPHEN.finditer(text)}
    places = [place for place, one in enumerate(text) if place in hyphens or not is_hidden(one)]
    # Single replacements come before replacements that depend on neighbours.
    plain_or_same = [(reading(text[place]), text[place]) for place in places]
    visible = "".join([plain if len(plain) == 1 else same for plain, same in plain_or_same])
    visible = _RAISED.sub(lambda match: match.group().translate(RAISED), visible)
    cells: list[_Cell] = []
    for place, character in zip(places, visible, strict=True):
        if is_mark(character) and cells and cells[-1][0][-1].isalnum():
            before, start, _ = cells[-1]
            composed = unicodedata.normalize("NFC", before + character)
            kept = composed if len(composed) == len(before) else before
            cells[-1] = (kept, start, place + 1)
        else:
            cells.append((reading(character) or character, place, place + 1))
    ends = "".join([cell[-1] for cell, _, _ in cells])
    broken = [place for match in _BROKEN.finditer(ends) for place in range(*match.span())]
    left_out = {place for place in broken if not ends[place].isalnum()}
    unusual = {one for one in text if may_change(one)} | ({"-"} if left_out else set())
    left_out |= {place for place, (cell, _, _) in enumerate(cells) if cell in SOFT_HYPHENS}
    cells = [cell for place, cell in enumerate(cells) if place not in left_out]
    for number in reversed(range(len(cells) - 1)):
        cell, start, end = cells[number]
        if cell in _HALF_GEMINATES and cells[number + 1][0][0] in "lL":
            cells[number] = (_HALF_GEMINATES[cell], start, end)
    plain = "".join([cell for cell, _, _ in cells])
    if plain == text:
        return None
    lengths = [len(cell) for cell, _, _ in cells]
    begins, finishes = (np.array([cell[side] for cell in cells], np.int64) for side in (1, 2))
    return Normalised(
        plain, np.repeat(begins, lengths), np.repeat(finishes, lengths), frozenset(unusual)
    )


@dataclass(slots=True)
class UnusualCharacters:
    """Counts of the notes with characters that are not read as themselves.

    Attributes
    ----------
    notes : int
        The number of notes so far.
    kinds : Counter of str
        The number of notes with characters of each kind.
    hidden : set of str
        The characters without a glyph.
    """

    notes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    hidden: set[str] = field(default_factory=set)

    def add(self, texts: Sequence[str]) -> None:
        """Count the texts of notes; a byte-order mark at the beginning of a text is usual."""
        self.notes += len(texts)
        for normalised in normalise_all([text.removeprefix("\ufeff") for text in texts]).values():
            self.kinds.update({kind_of(character) for character in normalised.unusual})
            self.hidden.update(filter(is_hidden, normalised.unusual))

    def update(self, other: UnusualCharacters) -> None:
        """Add the counts of other notes."""
        self.notes += other.notes
        self.kinds.update(other.kinds)
        self.hidden |= other.hidden

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report, the most frequent kind first; none for usual text."""
        notes = f"of {self.notes:,} {'note' if self.notes == 1 else 'notes'}"
        for kind, count in sorted(self.kinds.items(), key=lambda item: (-item[1], item[0])):
            names = sorted(f"U+{ord(one):04X}" for one in self.hidden if kind_of(one) == kind)
            named = f"{kind} ({', '.join(names)})" if names else kind
            yield f"{named} in {count:,} {notes}"
