"""A compiled table of words, which needs no string for each token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.kernels.code_points import Codes
from corpus.kernels.compiled import Array, compiled
from corpus.kernels.hashing import (
    CODE_POINTS,
    empty_slots,
    fill_slots,
    find_slot,
    hash_code_points,
)

Places = npt.NDArray[np.int64]

#: Tokens per call of compiled code; memory is reserved as if every word were new.
_BLOCK = 1 << 14

_SEED = np.uint64(0xCBF29CE484222325)  # the offset basis of FNV


class Lexicon:
    """A table of words, numbered in order of first appearance.

    Words are looked up by their hashes and compared by their characters.
    """

    def __init__(self) -> None:
        self._size = 0
        self._slots = empty_slots(0)
        self._hashes = np.empty(0, np.uint64)
        self._ends = np.zeros(1, np.int64)  # the end of each word in `_letters`, after a leading 0
        self._letters = np.empty(0, np.uint32)

    def look_up(
        self, codes: Codes, starts: Places, ends: Places
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the number of the word of each token, and add new words.

        Parameters
        ----------
        codes : ndarray of uint32
            Code points, as `corpus.kernels.code_points.code_points` returns them.
        starts, ends : ndarray of int64, shape (N,)
            Half-open offsets of the tokens, in order.

        Returns
        -------
        words : ndarray of int32, shape (N,)
        firsts : ndarray of int64
            The first token of each new word, in the order of the numbers of the words.
        """
        words = np.empty(len(starts), np.int32)
        firsts = [np.zeros(0, np.int64)]
        for begin in range(0, len(starts), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            new = self._look_up(codes, starts[block], ends[block], words[block])
            firsts.append(begin + new)
        return words, np.concatenate(firsts)

    def _look_up(
        self, codes: Codes, starts: Places, ends: Places, words: npt.NDArray[np.int32]
    ) -> Places:
        self._reserve(len(starts), int(ends[-1] - starts[0]))
        firsts = np.empty(len(starts), np.int64)
        size = _look_up(
            codes, starts, ends, self._size, self._slots, self._hashes, self._ends, self._letters,
            words, firsts,
        )  # fmt: skip
        firsts = firsts[: size - self._size]
        self._size = size
        return firsts

    def _reserve(self, words: int, letters: int) -> None:
        """Allocate memory for a number of new words and their letters."""
        words += self._size
        letters += int(self._ends[self._size])
        if words > len(self._hashes):
            words = max(words, 2 * len(self._hashes))
            self._hashes = _grown(self._hashes, words)
            self._ends = _grown(self._ends, words + 1)
            self._slots = empty_slots(words)
            fill_slots(self._slots, self._hashes[: self._size])
        if letters > len(self._letters):
            self._letters = _grown(self._letters, max(letters, 2 * len(self._letters)))


def _grown(array: Array, size: int) -> Array:
    grown = np.empty(size, array.dtype)
    grown[: len(array)] = array
    return grown


@compiled(
    f"{CODE_POINTS}, int64[::1], int64[::1], int64, int32[::1], uint64[::1], int64[::1], "
    "uint32[::1], int32[::1], int64[::1]"
)
def _look_up(
    codes: Array,
    starts: Array,
    ends: Array,
    size: int,
    slots: Array,
    hashes: Array,
    word_ends: Array,
    letters: Array,
    words: Array,
    firsts: Array,
) -> int:
    """Compute the words of tokens, add new words, and return the new number of words."""
    before = size
    for token in range(len(starts)):
        start, end = starts[token], ends[token]
        value = hash_code_points(codes, start, end, _SEED)
        slot = find_slot(slots, hashes, value, value)
        while slots[slot] >= 0 and not _is_word(
            codes, start, end, letters, word_ends[slots[slot]], word_ends[slots[slot] + 1]
        ):
            slot = find_slot(slots, hashes, value, slot + np.uint64(1))
        if slots[slot] < 0:
            slots[slot] = size
            hashes[size] = value
            origin = word_ends[size]
            word_ends[size + 1] = origin + (end - start)
            for place in range(end - start):  # a slice takes a second to compile
                letters[origin + place] = codes[start + place]
            firsts[size - before] = token
            size += 1
        words[token] = slots[slot]
    return size


@compiled()
def _is_word(codes: Array, start: int, end: int, letters: Array, first: int, last: int) -> bool:
    """Compare the characters of a token with the letters of a word."""
    if end - start != last - first:
        return False
    for place in range(end - start):  # noqa: SIM110 - numba compiles no generator expressions
        if codes[start + place] != letters[first + place]:
            return False
    return True
