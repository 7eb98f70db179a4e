"""The parts of mentions of places and organisations that are replaced."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from anonymizers.surrogates.place_words import (
    MARKS,
    Head,
    Word,
    head_of,
    particles,
    without_tails,
    words_in,
)
from gazetteers.phrases.spellings import ABBREVIATIONS, WORDS
from gazetteers.written_places import place_key, written_places

#: Kinds of parts besides the classes of `gazetteers.written_places`.
DIGITS, LETTERS = "digits", "letters"

#: The population of places that no list has.
_MIDDLE = {"town": 30_000, "country": 30_000_000}
#: The classes in which names are looked up, in this order.
_LISTS = ("town", "province", "region", "country", "hospital", "city")

_MONTH = (
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    "|gener|febrer|març|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre"
)
_WORD = rf"(?:\d{{1,2}}\s+d(?:e\s+|['’])(?:{_MONTH})\b|[^\W\d_][\w{MARKS}]*)"
_SPACE = r"[^\S\t-\r\x1c-\x1e\x85\u2028\u2029]"  # neither tabs nor line ends
#: A full stop after a long word ends a name.
_JOINT = rf"(?:{_SPACE}+|(?<![^\W\d_]{{6}})\.{_SPACE}*|[-‐‑'’´·])"
#: Words that may be a name, or a number with the letters that touch it, as in 8C and 3er.
_PIECE = re.compile(
    rf"(?P<words>{_WORD}(?:{_JOINT}{_WORD})*)|(?P<number>\d+)(?:[^\W\d_]{{1,3}}(?!\w))?",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_POSTAL_CODE = re.compile(r"(0[1-9]|[1-4]\d|5[0-2])\d{3}")
_HOUSE_NUMBER = re.compile(rf"{_SPACE}*,?{_SPACE}*\d{{1,4}}(?!\d)")
_PREPOSITIONS = frozenset(("d", "da", "das", "de", "del", "dels", "des", "do", "dos"))
#: What follows a letter that stands for a street.
_STREET = ("/", "\\", ".")
_FACILITIES = frozenset(("hospital", "health_centre"))
#: What ends the name of a facility, unlike the quotation marks around a name.
_END = re.compile(rf"{_SPACE}*(?:[,;.()\n–-]|$)")
_LONGEST_ACRONYM = 6
#: The most words of two places that lists have.
_MOST_WORDS = 16
#: Words of fewer letters are mostly articles and prepositions.
_LONG = 4


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a mention that is replaced.

    Parameters
    ----------
    start, end : int
        Its offsets in the mention.
    kind : str
        A class of `gazetteers.written_places`, `DIGITS` or `LETTERS`.
    value : str
        What it is: equal for all spellings of a name.
    size : int
        The population of a place; 0 for names that are drawn from all of the class.
    catalan : bool
        Whether the name of a place is in Catalan.
    preposition : str
        What precedes the name of a place in the part, as in `Universidad de Salamanca`.
    alone : bool
        Whether no word for the kind of a street precedes its name.
    """

    start: int
    end: int
    kind: str
    value: str
    size: int = 0
    catalan: bool = False
    preposition: str = ""
    alone: bool = False


class Reading(NamedTuple):
    """The parts of a mention that are replaced, in order, and the words that may not come back."""

    parts: Sequence[Part]
    unwanted: frozenset[str]


@functools.lru_cache(1 << 14)
def read_parts(text: str, kind: str) -> Reading:
    """Find the parts of a mention; none if nothing is replaced, or a name is unexplained.

    `kind` is what a name is that no list has and no word explains: `town`, `country`, `street`,
    `hospital`, `health_centre`, or `institution`, which has to be explained.
    """
    pieces = list(_PIECE.finditer(text))
    runs = words_in(text, [piece.span() for piece in pieces if piece["words"]])
    words = frozenset(word.folded for run in runs for word in run)
    return Reading(
        _parts(text, pieces, runs, kind),
        frozenset(word for word in words if len(word) >= _LONG) or words,
    )


def _parts(
    text: str, pieces: Sequence[re.Match[str]], runs: Sequence[Sequence[Word]], kind: str
) -> list[Part]:
    """Return the numbers and names of a mention, whose words are those of some of its pieces."""
    parts: list[Part] = []
    head: Head | None = None
    default, names = kind, iter(runs)
    for piece in pieces:
        if piece["number"]:
            parts.append(_number(piece.start(), piece["number"]))
            continue
        words = all_words = next(names)
        own = head_of(words)
        # One letter is a head in C/ Mayor, and a door in 3, C.
        if own and (len(piece["words"]) > 1 or text[piece.end() : piece.end() + 1] in _STREET):
            head, words, all_words = own, words[own.words :], words[1:]
        # Hospital Clínic, Barcelona
        ends = bool(head and head.kind in _FACILITIES and _END.match(text, piece.end()))
        if words := without_tails(words) or (all_words if ends or len(pieces) == 1 else []):
            if not (own_parts := _names(text, words, head, default)):
                return []
            parts += own_parts
        if words or ends:
            head, default = None, "town"
    return parts


def _number(start: int, digits: str) -> Part:
    kind = "postal_code" if _POSTAL_CODE.fullmatch(digits) else DIGITS
    return Part(start, start + len(digits), kind, digits)


def _names(text: str, words: Sequence[Word], head: Head | None, default: str) -> list[Part]:
    """Return the parts of the words of a name, or of two places; none if it is unexplained."""
    kind = head.kind if head else default
    if len(words) == 1 and not head and (parts := _code(text, words[0], kind)):
        return parts
    first = len(words) > 1 and words[0].folded in _PREPOSITIONS
    preposition = text[words[0].start : words[first].start]
    if kind in ("street", "square") or (kind in _FACILITIES and not preposition):
        return [_name(words, kind, head)]
    return _listed(text, words[first:], kind, head, preposition) or _unlisted(
        text, words, kind, head, preposition
    )


def _code(text: str, word: Word, kind: str) -> list[Part]:
    """Return the parts of an acronym, or of digits after a letter, such as `E28013`."""
    written = text[word.start : word.end]
    digits = _DIGITS.search(written)
    if digits and digits.start() == 1 and digits.end() == len(written):
        return [_number(word.start + 1, digits[0])]
    acronym = len(written) <= _LONGEST_ACRONYM and (written.isupper() or digits is not None)
    if kind in ("street", "institution") or not acronym or _known([word], _LISTS, None):
        return []
    return [Part(word.start, word.end, LETTERS, word.folded)]


def _listed(
    text: str, words: Sequence[Word], kind: str, head: Head | None, preposition: str
) -> list[Part]:
    """Return the part of a place that a list has, or the parts of two."""
    if len(words) > _MOST_WORDS:
        return []
    lists = ("country", *_LISTS) if kind == "country" else _LISTS
    if known := _known(words, lists, head, preposition):
        stop = "." in text[known.start : known.end] and text[known.end : known.end + 1] == "."
        return [replace(known, end=known.end + stop)]  # EE. UU.
    for place in range(1, len(words)):
        one = _known(words[:place], lists, head, preposition)
        if one and (other := _known(words[place:], lists, None)):
            return [one, other]
    return []


def _unlisted(
    text: str, words: Sequence[Word], kind: str, head: Head | None, preposition: str
) -> list[Part]:
    if kind == "institution" and not head:
        return []
    if kind == "town" and _HOUSE_NUMBER.match(text, words[-1].end):
        return [_name(words, "street", None)]
    if kind in _FACILITIES or (kind == "institution" and not preposition):
        return [_name(words, "health_centre" if kind == "institution" else kind, head)]
    place = "country" if kind == "country" else "town"
    start, end, value = words[0].start, words[-1].end, _value(words)
    return [Part(start, end, place, value, _MIDDLE[place], preposition=preposition)]


def _value(words: Sequence[Word]) -> str:
    """Return what is the same for `Doctor Esquerdo` and `del Dr. Esquerdo`."""
    own = [word.folded for word in words if word.folded not in particles()]
    own = own or [word.folded for word in words]
    return " ".join(WORDS.get(word) or ABBREVIATIONS.get(word, word) for word in own)


def _name(words: Sequence[Word], kind: str, head: Head | None) -> Part:
    """Return the part of a name that is drawn from all of its class."""
    catalan = head is not None and head.catalan and kind != "hospital"
    alone = head is None and kind == "street"
    name = f"{kind}_ca" if catalan else kind
    return Part(words[0].start, words[-1].end, name, _value(words), alone=alone)


def _known(
    words: Sequence[Word], lists: Sequence[str], head: Head | None, preposition: str = ""
) -> Part | None:
    """Return the part of words that are the name of a place of a list."""
    key = " ".join(word.folded for word in words)
    name = next((name for name in lists if key in written_places()[name].rows), None)
    if name is None:
        return None
    if name == "hospital":
        return _name(words, name, head)
    places = written_places()[name]
    row = places.rows[key]
    start, value = words[0].start - len(preposition), places.names[row]
    catalan = key == place_key(places.catalan[row]) != place_key(value)
    return Part(start, words[-1].end, name, value, places.sizes[row], catalan, preposition)
