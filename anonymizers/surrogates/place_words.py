"""The words of mentions of places and organisations: what stays, and what is a name."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anonymizers.surrogates.characters import read_tables
from gazetteers.builtin import CUE_WORDS, read_gazetteer
from gazetteers.folding import fold
from gazetteers.grammar import Grammar

#: The kinds of places that bear a name after words that say what they are.
FACILITIES = frozenset(("hospital", "health_centre", "institution"))

_TABLES = read_tables("places.toml")
_CATALAN, _SQUARES, _ROADS = (frozenset(_TABLES[name]) for name in ("catalan", "squares", "roads"))
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
#: Combining marks and characters without a glyph, which may be within words.
MARKS = "\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufeff"
_TOKEN = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")


class Word(NamedTuple):
    """A word of a mention, its place and its folded form."""

    start: int
    end: int
    folded: str


class Head(NamedTuple):
    """Words that say what kind of place is meant, and in which language.

    The kind is a class of `gazetteers.written_places` without the suffix for Catalan, `road` or
    `institution`.
    """

    kind: str
    catalan: bool
    words: int


def words_in(text: str, spans: Sequence[tuple[int, int]]) -> list[list[Word]]:
    """Return the words of each of some spans of a text."""
    places = [[match.span() for match in _TOKEN.finditer(text, *span)] for span in spans]
    words = [text[start:end] for own in places for start, end in own]
    folded = iter(fold([w if w.isalnum() else _HIDDEN.sub("", w) for w in words]))
    return [[Word(*place, next(folded)) for place in own] for own in places]


def words_of(text: str) -> list[Word]:
    """Return the words of a text."""
    return words_in(text, [(0, len(text))])[0]


def _key_words(text: str) -> list[str]:
    return [word.folded for word in words_of(text)]


@functools.cache
def _grammar() -> Grammar:
    return Grammar.read()


@functools.cache
def particles() -> frozenset[str]:
    """Return folded articles, prepositions and conjunctions, without elisions."""
    own = {word.rstrip("'") for word in _grammar().particles}
    return frozenset(own | {"as", "da", "das", "des", "do", "dos", "o", "os"})


@functools.cache
def _cue_words() -> Mapping[str, set[str]]:
    words = defaultdict(set, modifier=set(_TABLES["subjects"]))
    for row in read_gazetteer(CUE_WORDS).table().to_pylist():
        words[row["class"]].add(row["term"])
    return words


@functools.cache
def _heads() -> Mapping[tuple[str, ...], Head]:
    """Return the heads by their words: those of the grammar, its abbreviations and cue words."""
    heads: dict[tuple[str, ...], Head] = {}
    forms = [
        (kind, head, form)
        for kind, words in _grammar().places.items()
        for head, written in words.heads.items()
        for form in (head, *written)
        if form != "gran vía"  # it is a name by itself
    ]
    cues = [(kind, head, head) for kind in ("street", *FACILITIES) for head in _cue_words()[kind]]
    cues += [("institution", head, head) for head in _TABLES["organisations"]]
    for kind, head, form in (*forms, *cues):
        words = tuple(_key_words(form))
        own = "square" if head in _SQUARES else "road" if head in _ROADS else kind
        catalan = not _CATALAN.isdisjoint((" ".join(words), " ".join(_key_words(head))))
        heads.setdefault(words, Head(own, catalan, len(words)))
    return heads


def _head_at(words: Sequence[Word], place: int) -> Head | None:
    own = tuple(word.folded for word in words[place : place + 4])
    return next((_heads()[own[:n]] for n in range(len(own), 0, -1) if own[:n] in _heads()), None)


def head_of(words: Sequence[Word]) -> Head | None:
    """Return the head of words, with what continues it; None if they begin with no head.

    `Hospital Clínico Universitario de` and `Facultad de Ciencias de la Salud, Universidad de` are
    heads, whose prepositions belong to the name.
    """
    first = _head_at(words, 0)
    if first is None:
        return None
    is_facility, place, start = first.kind in FACILITIES, first.words, first.words
    while start < len(words):
        if is_facility and words[start].folded in particles():
            start += 1
        elif more := _head_at(words, start):
            place = start = start + more.words
        elif is_facility and words[start].folded in _cue_words()["modifier"]:
            place = start = start + 1
        else:
            break
    if place == len(words) and not is_facility:  # Calle Ronda, Plaza del Camino
        place = first.words
    return first._replace(words=place)


@functools.cache
def _tails() -> frozenset[str]:
    own = (word for words in _grammar().places.values() for word in words.tails)
    cues = (word for kind in ("number", "no_number", "floor") for word in _cue_words()[kind])
    return frozenset(
        word for text in (*own, *cues, *_TABLES["floors"]) for word in _key_words(text)
    )


@functools.cache
def kept_words() -> frozenset[str]:
    """Return the words that may stay, since they are no names: of kinds of places and of floors."""
    heads = (word for words in _heads() for word in words)
    return frozenset(heads) | _cue_words()["modifier"] | _tails() | particles()


def _is_tail(word: Word) -> bool:
    """Return whether a word belongs to the number of a house, or is a letter."""
    return word.folded in _tails() or len(word.folded) == 1


def without_tails(words: Sequence[Word]) -> Sequence[Word]:
    """Return words without those of a house number at their end; none if there are no others."""
    end = len(words)
    while end and _is_tail(words[end - 1]):
        end -= 1
    numeral = 0 < end < len(words) and words[end].folded in ("i", "v", "x")  # Juan Carlos I
    return words[: end + numeral]
