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
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.errors import number_of
from corpus.kernels.code_points import CharacterTable, Codes, code_points, text_of
from corpus.ragged import offsets_of, ranges_of
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

Texts: TypeAlias = Sequence[str] | pa.LargeStringArray

#: The number of characters that are processed at a time; bounds the memory needed.
CHUNK = 1 << 19

_SUSPECT, _LINE_END, _WHITE, _LAST = 1, 2, 4, 8  # kinds of characters, less than a printable one
_ORDER_MARK = 0xFEFF
_AS_HYPHEN = str.maketrans(dict.fromkeys(LINE_ENDS, "-"))
_PRINTABLE = range(0x20, 0x7F)  # of ASCII

_HALF_GEMINATES = {"ŀ": "l·", "Ŀ": "L·"}  # before another l

# No word is broken at white space after a sign of ASCII other than a hyphen, or after a letter or a
# digit that is displayed: there a run ends.
_LAST_OF_RUN = re.compile(r"[!-,.-~]|[^\W\u115f\u1160\u3164\uffa0]")
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
    starts, ends : ndarray of int32, shape (len(text),)
        The half-open offsets in the source of what each character was read from.
    """

    text: str
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]


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


def normalised_texts(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the normalised forms of texts without their offsets; no text is null."""
    changed = normalise_all(texts)
    is_changed = np.zeros(len(texts), bool)
    is_changed[list(changed)] = True
    forms = pa.array([form.text for form in changed.values()], texts.type)
    return pc.replace_with_mask(texts, pa.array(is_changed), forms)


def normalise_all(texts: Texts) -> dict[int, Normalised]:
    """Normalise texts; return the forms of those that have something to normalise.

    Parameters
    ----------
    texts : sequence of str or pyarrow.LargeStringArray
        Any texts.

    Returns
    -------
    dict of int to Normalised
        By index into the texts, in increasing order.
    """
    changed = {}
    before = 0
    for joined, ends in joined_texts(texts):
        if form := normalise_joined(joined, code_points(joined), ends):
            places, offsets = np.searchsorted(form.starts, ends).tolist(), ends.tolist()
            bounds = zip(pairwise([0, *places]), pairwise([0, *offsets]), strict=True)
            for row, ((first, last), (begin, end)) in enumerate(bounds, before):
                here, origin = slice(first, last - 1), np.int32(begin)
                if form.text[here] != joined[begin : end - 1]:
                    starts, stops = form.starts[here] - origin, form.ends[here] - origin
                    changed[row] = Normalised(form.text[here], starts, stops)
        before += len(ends)
    return changed


def joined_texts(texts: Texts) -> Iterator[tuple[str, _Places]]:
    """Join texts in order, each with a line end after it; yield where each of them ends, too.

    A line end is a gap: no token reaches from one text into the next.

    Parameters
    ----------
    texts : sequence of str or pyarrow.LargeStringArray
        Any texts. A few at a time are joined, which bounds the memory needed.
    """
    arrow = isinstance(texts, pa.Array)
    lengths = pc.utf8_length(texts) if arrow else np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = offsets_of(np.asarray(lengths) + 1)
    begin = 0
    while begin < len(texts):
        stop = max(int(np.searchsorted(offsets, offsets[begin] + CHUNK)), begin + 1)
        chunk = texts[begin:stop]
        if arrow:
            rows = pa.LargeListArray.from_arrays([0, len(chunk)], chunk)
            chunk = [pc.binary_join(rows, pa.scalar("\n", pa.large_string()))[0].as_py()]
        yield "\n".join([*chunk, ""]), offsets[begin + 1 : stop + 1] - offsets[begin]
        begin = stop


def normalise_joined(text: str, codes: Codes, text_ends: _Places) -> Normalised | None:
    """Do what `normalise` does, for texts that are joined: their code points, and their ends."""
    # One comparison finds what is not printable ASCII: smaller numbers wrap around.
    rare = np.flatnonzero(codes - np.uint32(_PRINTABLE[0]) >= len(_PRINTABLE))
    kinds = _kinds()(codes[rare])
    replaced = kinds >= _PRINTABLE[0]
    if replaced.any():
        codes = codes.copy()
        codes[rare[replaced]] = kinds[replaced]
        kinds[replaced] = 0
        text = text_of(codes)
    line_ends = rare[kinds & _LINE_END != 0]
    broken = line_ends[codes[line_ends - 1] == ord("-")]
    places = np.union1d(rare[kinds & _SUSPECT != 0], broken)
    if not len(places) and not replaced.any():
        return None
    form = _with_runs(text, *_runs(codes, text_ends, places))
    return form if replaced.any() or form.text != text else None


def _with_runs(text: str, begins: _Places, finishes: _Places) -> Normalised:
    """Normalise the runs of characters between places."""
    runs, parts, after = [], [], 0
    for begin, end in zip(begins.tolist(), finishes.tolist(), strict=True):
        runs.append(_normalised_run(text[begin:end]))
        parts += [text[after:begin], runs[-1].text]
        after = end
    plain = "".join([*parts, text[after:]])
    lengths = np.array([len(run.text) for run in runs], np.int64)
    grown = offsets_of(lengths - (finishes - begins)).astype(np.int32)
    moved = begins + grown[:-1]
    starts = np.arange(len(plain), dtype=np.int32)
    starts -= np.repeat(grown, np.diff(moved, prepend=0, append=len(plain)))
    ends = starts + np.int32(1)
    if runs:
        inside, origins = ranges_of(moved, lengths), np.repeat(begins, lengths)
        starts[inside] = origins + np.concatenate([run.starts for run in runs])
        ends[inside] = origins + np.concatenate([run.ends for run in runs])
    return Normalised(plain, starts, ends)


@functools.cache
def _kinds() -> CharacterTable:
    """Return a table of the kinds of characters, or what they are read as beside any others."""

    def kind(character: str) -> int:
        plain = reading(character)
        if len(plain) == 1 and plain != character:
            return ord(plain)
        kinds = (may_change(character), character in LINE_ENDS, character in " \t" + LINE_ENDS)
        last = _LAST_OF_RUN.match(character) is not None
        return sum(is_kind << bit for bit, is_kind in enumerate((*kinds, last, True)))

    return CharacterTable(kind, np.uint32)


def _runs(codes: Codes, text_ends: _Places, places: _Places) -> tuple[_Places, _Places]:
    """Return the half-open offsets of the runs that contain places."""
    if not len(places):
        return places, places
    # Nothing is looked up in texts without one of the places.
    rows = np.unique(np.searchsorted(text_ends, places, side="right"))
    lengths = np.diff(text_ends, prepend=0)[rows]
    nearby = ranges_of(text_ends[rows] - lengths, lengths)
    kinds = _kinds()(codes[nearby])
    is_break = np.zeros(len(nearby), bool)
    is_break[1:] = (kinds[1:] & _WHITE != 0) & (kinds[:-1] & _LAST != 0)
    is_break[np.cumsum(lengths) - 1] = True
    breaks = nearby[is_break]
    begins = np.append(nearby[0], nearby[1:][is_break[:-1]])
    runs = np.unique(np.searchsorted(breaks, places))
    return begins[runs], breaks[runs]


@functools.lru_cache(maxsize=1 << 15)  # words repeat
def _normalised_run(text: str) -> Normalised:
    """Normalise a run of characters."""
    hyphens = {match.start() for match in _SHOWN_HYPHEN.finditer(text)}
    places = [place for place, one in enumerate(text) if place in hyphens or not is_hidden(one)]
    visible = "".join([text[place] for place in places])
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
    left_out |= {place for place, (cell, _, _) in enumerate(cells) if cell in SOFT_HYPHENS}
    cells = [cell for place, cell in enumerate(cells) if place not in left_out]
    for number in reversed(range(len(cells) - 1)):
        cell, start, end = cells[number]
        if cell in _HALF_GEMINATES and cells[number + 1][0][0] in "lL":
            cells[number] = (_HALF_GEMINATES[cell], start, end)
    plain = "".join([cell for cell, _, _ in cells])
    lengths = [len(cell) for cell, _, _ in cells]
    begins, finishes = (np.array([cell[side] for cell in cells], np.int32) for side in (1, 2))
    return Normalised(plain, np.repeat(begins, lengths), np.repeat(finishes, lengths))


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

    def add(self, texts: Texts) -> None:
        """Count the texts of notes; a byte-order mark at the beginning of a text is usual."""
        self.notes += len(texts)
        for joined, ends in joined_texts(texts):
            codes = code_points(joined)
            if form := normalise_joined(joined, codes, ends):
                same = codes[form.starts] == code_points(form.text)
                same &= form.ends - form.starts == 1
                others = np.delete(np.arange(len(codes)), form.starts[same])
                others = others[(codes[others] != _ORDER_MARK) | ~np.isin(others, [0, *ends])]
                rows = np.searchsorted(ends, others, side="right").tolist()
                # Of a broken word, the hyphen is unusual.
                characters = "".join(map(chr, codes[others].tolist())).translate(_AS_HYPHEN)
                places = set(zip(rows, characters, strict=True))
                unusual = [(row, one) for row, one in places if one == "-" or may_change(one)]
                self.kinds.update(kind for _, kind in {(row, kind_of(one)) for row, one in unusual})
                self.hidden.update(one for _, one in unusual if is_hidden(one))

    def update(self, other: UnusualCharacters) -> None:
        """Add the counts of other notes."""
        self.notes += other.notes
        self.kinds.update(other.kinds)
        self.hidden |= other.hidden

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report, the most frequent kind first; none for usual text."""
        notes = f"of {number_of(self.notes, 'note')}"
        for kind, count in sorted(self.kinds.items(), key=lambda item: (-item[1], item[0])):
            names = sorted(f"U+{ord(one):04X}" for one in self.hidden if kind_of(one) == kind)
            named = f"{kind} ({', '.join(names)})" if names else kind
            yield f"{named} in {count:,} {notes}"
