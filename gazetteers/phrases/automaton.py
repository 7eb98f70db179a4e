"""Compilation of phrases for the matcher: canonical words, and words as numbers."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes, hash_values
from corpus.tokens import tokenize
from gazetteers.folding import fold
from gazetteers.phrases.abbreviations import ABBREVIATIONS, SEVERAL, STREETS, WORDS
from gazetteers.phrases.matching import (
    NONE,
    PASSED,
    PUNCTUATION,
    SHORT,
    SLASH,
    STOP,
    WHOLE,
    Tree,
    WordTypes,
)
from gazetteers.phrases.spellings import spellings

#: Words that are skipped in lists and in notes.
PASSED_WORDS = frozenset(("de", "del", "d"))

_ARTICLES = frozenset(("el", "la", "los", "las", "lo", "els", "les", "es", "sa", "ses", "os", "as"))

_STOP, _SLASHES = ".", "/\\"

#: Punctuation marks that may occur between the words of a phrase.
_MARKS = frozenset("'’‘`´\"“”«»-‐‑–—ºª°" + _SLASHES)

#: The apostrophe of a clitic, and the middle dot of a geminate. The lookbehind comes last, so that
#: only these characters are searched for.
_WITHIN = re.compile(r"['’](?<=\w['’])|·")

Words = tuple[str, ...]


def surfaces(types: Sequence[str]) -> list[str]:
    """Return the surfaces of word types: folded, ``l'`` as ``l`` and ``col·legi`` as one."""
    return _surfaces(fold(types))


def surface_hashes(folded: Sequence[str]) -> Hashes:
    """Return the hashes of the surfaces of folded words, shape (len(folded),)."""
    return hash_values("", _surfaces(folded))


def _surfaces(folded: Sequence[str]) -> list[str]:
    return _WITHIN.sub("", "\n".join(folded)).split("\n") if folded else []


@functools.lru_cache(maxsize=1 << 16)  # the words of names of places repeat
def counted(written: str) -> str:
    """Return the canonical word of a surface with the full stop or slash after it, if any."""
    surface = written.rstrip(_STOP + _SLASHES)
    if len(surface) == 1 and surface == written:
        return WORDS.get(surface, surface)
    return ABBREVIATIONS.get(surface, WORDS.get(surface, surface))


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPhrases:
    """Phrases in which words are numbers.

    Parameters
    ----------
    tree : Tree
        The phrases of two or more words.
    index : HashIndex
        The hashes of surfaces.
    known : WordTypes
        The properties of each surface of the index, followed by those of all other surfaces. None
        has a capital.
    """

    tree: Tree
    index: HashIndex
    known: WordTypes

    @classmethod
    def of(cls, terms: Sequence[str], kinds: Sequence[int]) -> CompiledPhrases:
        """Compile terms, each with the index of its class; the first class of a phrase is kept."""
        written = list(_written(terms))
        alone: dict[str, int] = {}
        several: dict[Words, int] = {}
        for row, phrase in written:
            if len(phrase) == 1:
                alone.setdefault(_surface(phrase[0]), kinds[row])
            else:
                for way in _ways(phrase):
                    several.setdefault(way, kinds[row])
        numbers: dict[str, int] = {}
        paths = [[numbers.setdefault(word, len(numbers)) for word in each] for each in several]
        tree = Tree.of(paths, list(several.values()), len(numbers))
        stopped = {_surface(word) for _, each in written for word in each if word[-1] == _STOP}
        return cls(tree, *_known(numbers, alone, stopped))

    def types(self, types: Sequence[str], hashes: Hashes | None = None) -> WordTypes:
        """Return the properties of word types that the matcher uses.

        Parameters
        ----------
        types : sequence of str
            T word types.
        hashes : ndarray of uint64, shape (T,), optional
            The result of `surface_hashes`, if it is known.
        """
        if not types:
            return WordTypes(*(each[:0] for each in _fields(self.known)))
        codes = self.index.positions(surface_hashes(fold(types)) if hashes is None else hashes)
        bits, plain, dotted, alone, _ = (each[codes] for each in _fields(self.known))
        lower = "\n".join(types).lower().split("\n")
        capital = np.fromiter(map(str.__ne__, types, lower), bool, len(types))
        return WordTypes(bits, plain, dotted, alone, capital)


def _surface(written: str) -> str:
    return written.rstrip(_STOP + _SLASHES)


def _written(terms: Sequence[str]) -> Iterator[tuple[int, Words]]:
    """Yield the row of each spelling of terms, and its words with the sign after each."""
    spelt = [(row, text) for row, each in enumerate(spellings(terms)) for text in each]
    tokens = tokenize([text for _, text in spelt])
    known = surfaces(tokens.vocabulary)
    words = [known[word] for word in tokens.word_ids.tolist()]
    touches = [*(tokens.starts[1:] == tokens.ends[:-1]).tolist(), False]
    bounds = tokens.document_offsets.tolist()
    for place, (row, _) in enumerate(spelt):
        phrase = [
            words[token] + _sign(words, token, touches)
            for token in range(bounds[place], bounds[place + 1])
            if words[token].isalnum() and words[token] not in PASSED_WORDS
        ]
        if phrase:
            yield row, tuple(phrase)


def _sign(words: Sequence[str], token: int, touches: Sequence[bool]) -> str:
    """Return the full stop or slash that touches a token, or nothing."""
    following = words[token + 1] if touches[token] else ""
    return following if following and following in _STOP + _SLASHES else ""


def _compared(written: str) -> str:
    """Return the canonical word, but keep single letters unchanged."""
    return written if len(_surface(written)) == 1 else counted(written)


def _several() -> dict[str, list[tuple[Words, list[Words]]]]:
    """Return the abbreviations of several words by their first word, with their alternatives."""
    found: dict[str, list[tuple[Words, list[Words]]]] = {}
    for group in SEVERAL:
        ways = [tuple(map(_compared, phrase)) for _, phrase in _written(group)]
        for way in ways:
            others = [other for other in ways if other != way]
            found.setdefault(way[0], []).append((way, others))
    return found


_SEVERAL = _several()


def _ways(phrase: Words) -> Iterator[Words]:
    """Yield the canonical words of a phrase, and of its abbreviations."""
    yield tuple(map(counted, phrase))
    compared = tuple(map(_compared, phrase))
    for at, word in enumerate(compared):
        for way, others in _SEVERAL.get(word, []):
            after = at + len(way)
            if compared[at:after] == way:
                for other in others:
                    whole = (*compared[:at], *other, *compared[after:])
                    if len(whole) > 1:
                        yield tuple(map(counted, whole))


def _known(
    numbers: Mapping[str, int], alone: Mapping[str, int], stopped: Collection[str]
) -> tuple[HashIndex, WordTypes]:
    """Return the properties of each surface that words of phrases may have in a note."""
    short = [each for each, word in ABBREVIATIONS.items() if word in numbers]
    whole = [each for each, word in WORDS.items() if word in numbers]
    every = list(dict.fromkeys([*numbers, *short, *whole, *alone, *PASSED_WORDS, *_MARKS, _STOP]))
    bits = [_bits(each, each in stopped or each in short) for each in every]
    columns = (
        [numbers.get(counted(each), NONE) for each in every],
        [numbers.get(counted(f"{each}."), NONE) for each in every],
        [alone.get(each, NONE) for each in every],
    )
    plain, dotted, classes = (np.array([*each, NONE], np.int32) for each in columns)
    known = WordTypes(
        np.array([*bits, 0], np.uint8), plain, dotted, classes, np.zeros(len(every) + 1, bool)
    )
    return HashIndex(hash_values("", every)), known


def _bits(surface: str, short: bool) -> int:
    if surface in _STOP:
        return STOP
    if surface in _MARKS:
        return PUNCTUATION | (SLASH if surface in _SLASHES else 0)
    passed = PASSED if surface in PASSED_WORDS else 0
    if short or (len(surface) == 1 and surface.isalpha()):
        return passed | SHORT
    return passed | (0 if surface in _ARTICLES or counted(surface) in STREETS else WHOLE)


def _fields(types: WordTypes) -> tuple[npt.NDArray[Any], ...]:
    return types.bits, types.plain, types.dotted, types.alone, types.capital
