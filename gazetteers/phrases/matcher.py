"""Matching of phrases, such as names of hospitals and streets, in notes."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.kernels.compiled import kernel_array
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes, hash_values
from corpus.ragged import ranges_of
from corpus.tags import TokenSpans
from corpus.tokens import tokenize
from corpus.units import line_numbers
from gazetteers.folding import fold
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
    find_longest,
)
from gazetteers.phrases.spellings import ABBREVIATIONS, SEVERAL, STREETS, WORDS, spellings

#: The class of phrases that look like names but are not.
BLOCKED = "BLOCKED"


class PhraseMatcher:
    """A matcher of phrases that finds the longest matches from left to right, without overlap.

    Parameters
    ----------
    phrases : mapping of str to sequence of str
        Terms of any case, by class. The class of a phrase of several classes is `BLOCKED`, or else
        the first of them.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        self.phrases = {name: tuple(dict.fromkeys(terms)) for name, terms in phrases.items()}
        self.classes = tuple(self.phrases)

    @property
    def types(self) -> tuple[str, ...]:
        """The values of streams: ``B-`` and ``I-`` of each class."""
        return tuple(f"{side}-{name}" for name in self.classes for side in "BI")

    def find(self, batch: Batch, hashes: Hashes | None = None) -> TokenSpans:
        """Return the first and the last token of each match, and the index of its class.

        Parameters
        ----------
        batch : Batch
            The documents.
        hashes : ndarray of uint64, optional
            The hashes of the surfaces of the vocabulary, if they are known; see
            `gazetteers.phrases.matcher.surface_hashes`.
        """
        first, last, classes = np.empty((3, batch.n_tokens), np.int64)
        columns = (batch.word_ids, batch.visible_starts(), batch.ends)
        words, starts, ends = map(kernel_array, columns)
        tokens, matches = (words, starts, ends, line_numbers(batch)), (first, last, classes)
        tree, index, known = self._compiled
        types = _types_of(batch.vocabulary, hashes, index, known)
        number = find_longest(tokens, types[:], tree[:], self._blocked, matches)
        return TokenSpans(first[:number], last[:number], classes[:number])

    def match(self, batch: Batch) -> Stream:
        """Return the phrase that each token belongs to.

        Returns
        -------
        Stream
            A stream with the vocabulary `types`. The first token of a match has twice the index of
            its class, and the others one more.
        """
        matches = self.find(batch)
        values = np.full(batch.n_tokens, NO_VALUE, np.int32)
        lengths = matches.last - matches.first + 1
        values[ranges_of(matches.first, lengths)] = np.repeat(2 * matches.classes + 1, lengths)
        values[matches.first] = 2 * matches.classes
        return Stream(self.types, values)

    @property
    def _blocked(self) -> int:
        return self.classes.index(BLOCKED) if BLOCKED in self.classes else -1

    @cached_property
    def _compiled(self) -> tuple[Tree, HashIndex, WordTypes]:
        """The compiled phrases, built at the first search because few commands need them."""
        order = sorted(range(len(self.classes)), key=lambda kind: kind != self._blocked)
        pairs = [(term, kind) for kind in order for term in self.phrases[self.classes[kind]]]
        return _compile(tuple(term for term, _ in pairs), tuple(kind for _, kind in pairs))


def blocked(stream: Stream) -> npt.NDArray[np.bool_]:
    """Return whether each token belongs to a phrase of `BLOCKED`."""
    kinds = [value[2:] == BLOCKED for value in stream.vocabulary]
    return np.array([*kinds, False])[stream.values]


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


@functools.lru_cache(maxsize=8)  # the models of a run have the same phrases, and advice tries lists
def _compile(terms: tuple[str, ...], kinds: tuple[int, ...]) -> tuple[Tree, HashIndex, WordTypes]:
    """Compile terms, each with the index of its class; the first class of a phrase is kept.

    Returns
    -------
    tree : Tree
        The phrases of two or more words, in which words are numbers.
    index : HashIndex
        The hashes of surfaces.
    known : WordTypes
        The properties of each surface of the index, then the properties shared by all other
        surfaces. None has a capital.
    """
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
    paths = [[numbers.setdefault(word, len(numbers)) for word in way] for way in several]
    tree = Tree.from_phrases(paths, list(several.values()), len(numbers))
    stopped = {_surface(word) for _, phrase in written for word in phrase if word[-1] == _STOP}
    return tree, *_known(numbers, alone, stopped)


def _types_of(
    types: Sequence[str], hashes: Hashes | None, index: HashIndex, known: WordTypes
) -> WordTypes:
    """Return the properties of word types, whose hashes are computed if they are not known."""
    if not types:
        return WordTypes(*(column[:0] for column in known))
    codes = index.positions(surface_hashes(fold(types)) if hashes is None else hashes)
    bits, plain, dotted, alone, _ = (column[codes] for column in known)
    lower = "\n".join(types).lower().split("\n")
    capital = np.fromiter(map(str.__ne__, types, lower), bool, len(types))
    return WordTypes(bits, plain, dotted, alone, capital)


def _surface(written: str) -> str:
    return written.rstrip(_STOP + _SLASHES)


def _written(terms: Sequence[str]) -> Iterator[tuple[int, Words]]:
    """Yield the row of each spelling of terms, and its words with the sign after each."""
    spelt = [(row, text) for row, texts in enumerate(spellings(terms)) for text in texts]
    tokens = tokenize([text for _, text in spelt])
    known = surfaces(tokens.vocabulary)
    words = [known[word] for word in tokens.word_ids.tolist()]
    touches = [*(tokens.starts[1:] == tokens.ends[:-1]).tolist(), False]
    offsets = tokens.document_offsets.tolist()
    for place, (row, _) in enumerate(spelt):
        phrase = [
            words[token] + _sign(words, token, touches)
            for token in range(offsets[place], offsets[place + 1])
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
    by_first: dict[str, list[tuple[Words, list[Words]]]] = {}
    for group in SEVERAL:
        ways = [tuple(map(_compared, phrase)) for _, phrase in _written(group)]
        for way in ways:
            others = [other for other in ways if other != way]
            by_first.setdefault(way[0], []).append((way, others))
    return by_first


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
    short = [surface for surface, word in ABBREVIATIONS.items() if word in numbers]
    whole = [surface for surface, word in WORDS.items() if word in numbers]
    every = list(dict.fromkeys([*numbers, *short, *whole, *alone, *PASSED_WORDS, *_MARKS, _STOP]))
    bits = [_bits(surface, surface in stopped or surface in short) for surface in every]
    columns = (
        [numbers.get(counted(surface), NONE) for surface in every],
        [numbers.get(counted(f"{surface}."), NONE) for surface in every],
        [alone.get(surface, NONE) for surface in every],
    )
    plain, dotted, classes = (np.array([*column, NONE], np.int32) for column in columns)
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
