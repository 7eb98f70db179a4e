"""The normalised form of texts, in which words are looked up, with exact offsets in the source.

Text that was copied from PDF files and web pages, or written to evade a filter, has characters that
are not displayed inside words, full-width letters, ligatures, decomposed accents or letters of
other scripts. Tokens are found in a form without them:

- Characters that are not displayed are dropped: soft hyphens, zero-width spaces and joiners,
  byte-order marks, marks of writing direction, variation selectors, tag characters.
- Compatibility forms are read as the letters, digits and signs that they display, and unusual
  spaces, hyphens and apostrophes as the usual ones (`corpus.tokens.characters`). Superscripts and
  subscripts are read as letters and digits at the beginning of a word only: after a letter or digit
  they are exponents and indices. ``¹``, ``²`` and ``³`` stay unless others are next to them.
- Accents are composed with their letters. Other marks on a Latin letter or a digit are dropped.
- Letters of other scripts in Latin words are read as Latin (`corpus.tokens.homoglyphs`).

Characters of Latin-1 stay, except for soft hyphens and no-break spaces, and so does a byte-order
mark at the beginning of a line.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from corpus.kernels.code_points import Characters, Codes
from corpus.tokens.characters import (
    BYTE_ORDER_MARK,
    INVISIBLE,
    LIGATURES,
    MARKS,
    RAISED,
    RAISED_CHARACTERS,
    is_invisible,
    is_mark,
    kind_of_invisible,
    reading,
)
from corpus.tokens.homoglyphs import (
    OTHER_SCRIPTS,
    has_twin,
    is_disguised,
    is_foreign,
    looks_latin,
    may_be_twin,
    may_have_foreign_word,
    read_words,
)

#: Kinds of combining marks.
DECOMPOSED = "decomposed accents"
STRAY_MARKS = "combining marks that are no accents"

_Places = npt.NDArray[np.int64]

_SUSPECTS_OF_LATIN_1 = "\xa0\xad"  # the no-break space and the soft hyphen
_LINE_END = ord("\n")
_ROUNDS = 4  # of all steps, more than any text is known to need
_BEFORE_LINE = ("", "\n", "\r")  # the character before a line, if any

_RUN = re.compile(r"\S+")
_LINE = re.compile(r"[^\r\n]+")
_HIDDEN = re.compile(f"[{INVISIBLE}]+")
_FORM = re.compile("[^\x00-\x9f\xa1-\xff]")
_RAISED_CLASS = "".join(RAISED_CHARACTERS)
_RAISED = re.compile(rf"(?<![^\W_]|[{MARKS}{_RAISED_CLASS}])[{_RAISED_CLASS}]+")
_RARELY_RAISED = re.compile(f"[{_RAISED_CLASS.strip('¹²³')}]")
_MARKED = re.compile(rf"([^\W_])([{MARKS}]+)")
_GEMINATE = re.compile("[Ŀŀ](?=[lL])")


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
        Names of the kinds of characters that were found.
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
    return None if text.isascii() else _normalised(text, suspects(text, Characters.of(text)))


def normalised_text(text: str) -> str:
    """Return the normalised form of a text without its offsets."""
    found = normalise(text)
    return text if found is None else found.text


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
    joined = "\n".join([*texts, ""])
    if joined.isascii():
        return {}
    lengths = np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts))
    return normalise_joined(joined, Characters.of(joined), np.cumsum(lengths))


def normalise_joined(joined: str, characters: Characters, ends: _Places) -> dict[int, Normalised]:
    """Do what `normalise_all` does, for texts that are joined already.

    Parameters
    ----------
    joined : str
        The texts, each with a line end after it.
    characters : Characters
        The code points of `joined`.
    ends : ndarray of int64
        Where each text with its line end ends in `joined`.
    """
    places = suspects(joined, characters)
    if not len(places):
        return {}
    rows, firsts = np.unique(np.searchsorted(ends, places, side="right"), return_index=True)
    found = {}
    for row, of_text in zip(rows.tolist(), np.split(places, firsts[1:]), strict=True):
        begin = int(ends[row - 1]) if row else 0
        if normalised := _normalised(joined[begin : int(ends[row]) - 1], of_text - begin):
            found[row] = normalised
    return found


def suspects(text: str, characters: Characters) -> _Places:
    """Return the places of the characters that may have to be normalised, in order.

    Parameters
    ----------
    text : str
        A text.
    characters : Characters
        Its code points.
    """
    codes, found = characters.codes, characters.rare
    if len(found):
        found = found[_suspicion(codes[found])]
        leads = (found == 0) | (codes[found - 1] == _LINE_END)
        found = found[~(leads & (codes[found] == ord(BYTE_ORDER_MARK)))]
    several = [np.flatnonzero(codes == ord(each)) for each in _SUSPECTS_OF_LATIN_1 if each in text]
    return np.sort(np.concatenate([found, *several])) if several else found


class _Suspicion:
    """A table of whether a character may have to be normalised, filled as characters occur."""

    def __init__(self) -> None:
        self._table: npt.NDArray[np.int8] = np.full(0x110000, -1, np.int8)

    def __call__(self, codes: Codes) -> npt.NDArray[np.bool_]:
        found = self._table[codes]
        if (found < 0).any():
            for code in np.unique(codes[found < 0]).tolist():
                self._table[code] = _is_suspect(chr(code))
            found = self._table[codes]
        return found > 0


_suspicion = _Suspicion()


def _is_suspect(character: str) -> bool:
    return (
        is_invisible(character)
        or is_mark(character)
        or character in "Ŀŀ"
        or character in RAISED_CHARACTERS
        or reading(character)[0] != character
        or may_be_twin(character)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The normalised form of a run of characters without white space, or of one unusual space."""

    text: str
    starts: _Places
    ends: _Places
    kinds: frozenset[str]


def _normalised(text: str, places: _Places) -> Normalised | None:
    """Normalise the runs of characters around the suspects of a text."""
    lines = _Lines(text)
    found = [
        (begin, end, run)
        for begin, end in _runs(text, places.tolist())
        if (run := _normalised_run(text[begin:end], *lines.scripts(begin, end))).kinds
    ]
    if not found:
        return None
    parts, after = [], 0
    for begin, end, run in found:
        parts += [text[after:begin], run.text]
        after = end
    starts, ends = _offsets(len(text), found)
    kinds = frozenset().union(*{run.kinds for _, _, run in found})
    return Normalised("".join([*parts, text[after:]]), starts, ends, kinds)


def _runs(text: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of the runs that contain places, in order."""
    end = 0
    for place in places:
        if place < end:
            continue
        begin = place
        while begin > end and not text[begin - 1].isspace():
            begin -= 1
        if text[place].isspace():
            begin, end = place, place + 1
        else:
            run = _RUN.match(text, place)
            assert run is not None
            end = run.end()
            begin += text[begin] == BYTE_ORDER_MARK and text[begin - 1 : begin] in _BEFORE_LINE
        if begin < end:
            yield begin, end


def _offsets(length: int, runs: Sequence[tuple[int, int, _Run]]) -> tuple[_Places, _Places]:
    """Return the half-open offsets in the source of each character of the normalised text."""
    begins, ends = (np.array([run[side] for run in runs], np.int64) for side in (0, 1))
    sizes = np.array([len(run.text) for _, _, run in runs], np.int64)
    shorter = ends - begins - sizes
    new_ends = ends - np.cumsum(shorter)
    total = length - int(shorter.sum())
    jumps = np.bincount(new_ends, weights=shorter, minlength=total + 1)[:total]
    places = np.arange(total) + np.cumsum(jumps).astype(np.int64)
    within = np.arange(sizes.sum()) + np.repeat(new_ends - np.cumsum(sizes), sizes)
    found = places.copy(), places + 1
    for side, each in zip(found, ("starts", "ends"), strict=True):
        relative = np.concatenate([getattr(run, each) for _, _, run in runs])
        side[within] = relative + np.repeat(begins, sizes)
    return found


class _Lines:
    """The lines of a text, asked about in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._found = (False, True)

    def scripts(self, begin: int, end: int) -> tuple[bool, bool]:
        """Return how to read a run with letters of other scripts, by its line.

        Returns
        -------
        whole : bool
            Whether words without Latin letters are read as Latin.
        symbols : bool
            Whether Greek letters may be symbols.
        """
        if not has_twin(_HIDDEN.sub("", self._text[begin:end])):
            return False, True
        if begin >= self._end:
            first = max(self._text.rfind(mark, 0, begin) for mark in "\r\n") + 1
            match = _LINE.match(self._text, first)
            assert match is not None
            self._end = match.end()
            line = _HIDDEN.sub("", match.group())
            whole = may_have_foreign_word(line) and looks_latin(line)
            self._found = whole, not (whole and is_disguised(line))
        return self._found


@functools.lru_cache(maxsize=1 << 15)  # words repeat
def _normalised_run(text: str, whole: bool, symbols: bool) -> _Run:
    run = _Changed(text, list(range(len(text))), list(range(1, len(text) + 1)))
    for _ in range(_ROUNDS):  # a composed accent may complete a word that is read as Latin
        before = run.text
        for step in _STEPS:
            run.change(step(run.text))
        words = read_words(run.text, whole=whole, symbols=symbols)
        run.change((*change, OTHER_SCRIPTS) for change in words)
        for step in _LAST_STEPS:
            run.change(step(run.text))
        if run.text == before:
            break
    run.join_overlapping()
    starts, ends = (np.array(side, np.int64) for side in (run.starts, run.ends))
    return _Run(run.text, starts, ends, frozenset(run.kinds))


_Changes = Iterable[tuple[int, int, str, str]]


@dataclass(slots=True)
class _Changed:
    """A run that is normalised step by step.

    Parameters
    ----------
    text : str
        The run as far as it is normalised.
    starts, ends : list of int
        The half-open offsets in the source of what each character was read from.
    kinds : set of str
        The kinds of characters that were found.
    """

    text: str
    starts: list[int]
    ends: list[int]
    kinds: set[str] = field(default_factory=set)

    def change(self, changes: _Changes) -> None:
        """Replace ranges by other text, and note their kinds.

        Parameters
        ----------
        changes : iterable of (int, int, str, str)
            Half-open offsets, the text instead, and the kind. Text of the same length is replaced
            character by character.
        """
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        after = 0
        for start, end, plain, kind in changes:
            self.kinds.add(kind)
            parts += [self.text[after:start], plain]
            starts += self.starts[after:start]
            ends += self.ends[after:start]
            if len(plain) == end - start:
                starts += self.starts[start:end]
                ends += self.ends[start:end]
            else:
                starts += [self.starts[start]] * len(plain)
                ends += [self.ends[end - 1]] * len(plain)
            after = end
        if parts:
            self.text = "".join([*parts, self.text[after:]])
            self.starts = starts + self.starts[after:]
            self.ends = ends + self.ends[after:]

    def join_overlapping(self) -> None:
        """Let characters that share a part of the source be read from all of it together.

        The accent after a ligature is composed with the last of its letters only.
        """
        first = 0
        for place in range(1, len(self.text) + 1):
            if place < len(self.text) and self.starts[place] < self.ends[place - 1]:
                continue
            if place - first > 1:
                self.starts[first:place] = [self.starts[first]] * (place - first)
                self.ends[first:place] = [self.ends[place - 1]] * (place - first)
            first = place


def _hidden(text: str) -> _Changes:
    for match in _HIDDEN.finditer(text):
        kinds = dict.fromkeys(map(kind_of_invisible, match.group()))
        *others, last = kinds
        yield from ((match.start(), match.start(), "", kind) for kind in others)
        yield *match.span(), "", last


def _forms(text: str) -> _Changes:
    for match in _FORM.finditer(text):
        plain, kind = reading(match.group())
        if kind:
            yield *match.span(), plain, kind


def _raised(text: str) -> _Changes:
    if _RARELY_RAISED.search(text):
        for match in _RAISED.finditer(text):
            yield *match.span(), "".join(map(RAISED_CHARACTERS.__getitem__, match.group())), RAISED


def _accents(text: str) -> _Changes:
    for match in _MARKED.finditer(text):
        composed = unicodedata.normalize("NFC", match.group())
        if composed != match.group():
            yield *match.span(), composed, DECOMPOSED


def _stray_marks(text: str) -> _Changes:
    for match in _MARKED.finditer(text):
        if not is_foreign(match[1]):
            yield *match.span(), match[1], STRAY_MARKS


def _geminates(text: str) -> _Changes:
    for match in _GEMINATE.finditer(text):
        yield *match.span(), unicodedata.normalize("NFKC", match.group()), LIGATURES


_STEPS: tuple[Callable[[str], _Changes], ...] = (_hidden, _forms, _raised)
_LAST_STEPS: tuple[Callable[[str], _Changes], ...] = (_accents, _stray_marks, _geminates)
