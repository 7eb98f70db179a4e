"""A prefix tree of phrases in arrays, and the search for the longest match at each token."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled

#: Properties of word types, as bits.
PASSED, PUNCTUATION, STOP, SLASH, SHORT, WHOLE = 1, 2, 4, 8, 16, 32

#: The absence of a word, a class or a node.
NONE = -1

#: The maximum numbers of punctuation marks and of skipped words between two words of a phrase.
PASSING = 2

_ROOT = 0


class Tree(NamedTuple):
    """A prefix tree of phrases of two or more words, with words as numbers.

    Parameters
    ----------
    keys : ndarray of int64, shape (S,)
        A hash table of pairs of parent and word, ``parent * words + word``; -1 in empty slots.
    children : ndarray of int32, shape (S,)
        The node of each key.
    classes : ndarray of int32, shape (N,)
        The class of the phrase that ends at each node, or -1.
    words : int
        The number of words.
    """

    keys: npt.NDArray[np.int64]
    children: npt.NDArray[np.int32]
    classes: npt.NDArray[np.int32]
    words: int

    @classmethod
    def from_phrases(
        cls, phrases: Sequence[Sequence[int]], kinds: Sequence[int], words: int
    ) -> Self:
        """Build the tree of phrases.

        Parameters
        ----------
        phrases : sequence of sequence of int
            The words of each phrase.
        kinds : sequence of int
            The class of each phrase; the first class of equal phrases is kept.
        words : int
            The number of words; each word is less.
        """
        offsets = np.cumsum([0, *map(len, phrases)], dtype=np.int64)
        flat = np.fromiter(chain.from_iterable(phrases), np.int64, int(offsets[-1]))
        slots = 1 << max(2 * len(flat), 2).bit_length()
        keys, children = np.full(slots, NONE, np.int64), np.full(slots, NONE, np.int32)
        classes = np.full(len(flat) + 1, NONE, np.int32)
        number = _grow(flat, offsets, np.array(kinds, np.int32), words, keys, children, classes)
        return cls(keys, children, classes[:number], words)


@compiled()
def _slot(keys: Array, key: int) -> int:
    """Return the slot of a key, or the empty slot where it belongs."""
    mask = len(keys) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(32)) & mask
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@compiled("int64[::1], int64[::1], int32[::1], int64, int64[::1], int32[::1], int32[::1]")
def _grow(
    flat: Array,
    offsets: Array,
    kinds: Array,
    words: int,
    keys: Array,
    children: Array,
    classes: Array,
) -> int:
    number = 1
    for row in range(len(kinds)):
        node = _ROOT
        for word in flat[offsets[row] : offsets[row + 1]]:
            slot = _slot(keys, node * words + word)
            if keys[slot] < 0:
                keys[slot] = node * words + word
                children[slot] = number
                number += 1
            node = children[slot]
        if classes[node] < 0:
            classes[node] = kinds[row]
    return number


class WordTypes(NamedTuple):
    """The properties of word types that the matcher uses.

    Parameters
    ----------
    bits : ndarray of uint8
        Combinations of `PASSED`, `PUNCTUATION`, `STOP`, `SLASH`, `SHORT` and `WHOLE`.
    plain, dotted : ndarray of int32
        The number of the word, and its number before a full stop or a slash; -1 for none.
    alone : ndarray of int32
        The class of the phrase that consists of this word, or -1.
    capital : ndarray of bool
        Whether the word has a capital.
    """

    bits: Array
    plain: Array
    dotted: Array
    alone: Array
    capital: Array


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1])), Tuple((uint8[::1], int32[::1], "
    "int32[::1], int32[::1], boolean[::1])), Tuple((int64[::1], int32[::1], int32[::1], "
    "int64)), int64, UniTuple(int64[::1], 3)"
)
def find_longest(
    tokens: tuple[Array, Array, Array, Array],
    types: tuple[Array, Array, Array, Array, Array],
    tree: tuple[Array, Array, Array, int],
    blocked: int,
    matches: tuple[Array, Array, Array],
) -> int:
    """Find the longest phrases from left to right, without overlap, and return their number.

    Parameters
    ----------
    tokens : tuple of ndarray
        The words, starts, ends and line numbers of the tokens of a batch. No match crosses lines.
    types, tree : tuple
        The fields of `WordTypes` and of `Tree`.
    blocked : int
        The class whose phrases need no capital, or -1.
    matches : tuple of ndarray of int64
        Output arrays: the first and the last token of each match, and its class.
    """
    number, place = 0, int(np.int64(0))  # a literal would be compiled for as a type of its own
    first, last, classes = matches
    while place < len(tokens[0]):
        end, kind = _longest(place, tokens, types, tree, blocked)
        if end < 0:
            place += 1
            continue
        first[number], last[number], classes[number] = place, end, kind
        number += 1
        place = end + 1
    return number


@compiled()
def _longest(
    place: int,
    tokens: tuple[Array, Array, Array, Array],
    types: tuple[Array, Array, Array, Array, Array],
    tree: tuple[Array, Array, Array, int],
    blocked: int,
) -> tuple[int, int]:
    """Return the last token of the longest phrase that begins at a token, and its class, or -1."""
    words, starts, ends, lines = tokens
    bits, plain, dotted, alone, capital = types
    keys, children, classes, size = tree
    kind = alone[words[place]]
    end = place if kind >= 0 and (capital[words[place]] or kind == blocked) else NONE
    node, token = _ROOT, place
    raised, whole = False, False
    while token >= 0:
        followed = (
            token + 1 < len(words)
            and lines[token + 1] == lines[token]
            and starts[token + 1] == ends[token]
        )
        stop = followed and bits[words[token + 1]] & STOP
        slash = followed and bits[words[token + 1]] & SLASH
        word = dotted[words[token]] if stop or slash else plain[words[token]]
        if word < 0:
            break
        slot = _slot(keys, node * size + word)
        if keys[slot] < 0:
            break
        node = children[slot]
        raised |= capital[words[token]]
        whole |= bits[words[token]] & WHOLE > 0
        if classes[node] >= 0 and whole and (raised or classes[node] == blocked):
            short = bits[words[token]] & SHORT
            end, kind = (token + 1 if stop and short else token), classes[node]
        token = _next(token, words, starts, ends, lines, bits)
    return end, (kind if end >= 0 else NONE)


@compiled()
def _next(token: int, words: Array, starts: Array, ends: Array, lines: Array, bits: Array) -> int:
    """Return the next token that may continue a phrase, or -1."""
    marks, passed = 0, 0
    line, short = lines[token], bits[words[token]] & SHORT
    for place in range(token + 1, len(words)):
        if lines[place] != line:
            return NONE
        what = bits[words[place]]
        if what & STOP:
            if not short or starts[place] != ends[place - 1]:
                return NONE
            marks += 1
        elif what & PUNCTUATION:
            marks += 1
        elif what & PASSED:
            passed += 1
        else:
            return place
        # A full stop belongs to the abbreviation or to a skipped initial before it.
        short = what & SHORT
        if marks > PASSING or passed > PASSING:
            return NONE
    return NONE
