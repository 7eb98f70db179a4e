"""Numbers of words by their characters, without a string for each token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled

Codes = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]

#: Tokens looked up at a time: there is always room for as many new words.
_PIECE = 1 << 14


class Lexicon:
    """Numbers words in the order in which they are met.

    Words are found by their hashes and told apart by their characters.
    """

    def __init__(self) -> None:
        self._known = 0
        self._slots = np.full(1, -1, np.int32)  # words by their hashes, with room between them
        self._hashes = np.empty(0, np.uint64)
        self._ends = np.zeros(1, np.int64)  # of each word in the letters, after a 0
        self._letters = np.empty(0, np.uint32)

    def look_up(
        self, codes: Codes, starts: Places, ends: Places
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Give the number of each token's word, and the tokens whose words are new.

        Parameters
        ----------
        codes : ndarray of uint32
            Characters.
        starts, ends : ndarray of int64, shape (N,)
            Where the tokens are, in order.

        Returns
        -------
        words : ndarray of int32, shape (N,)
        firsts : ndarray of int64
            The first token of each new word, in the order of the words' numbers.
        """
        words = np.empty(len(starts), np.int32)
        firsts = [np.zeros(0, np.int64)]
        for begin in range(0, len(starts), _PIECE):
            piece = slice(begin, begin + _PIECE)
            new = self._look_up(codes, starts[piece], ends[piece], words[piece])
            firsts.append(begin + new)
        return words, np.concatenate(firsts)

    def _look_up(
        self, codes: Codes, starts: Places, ends: Places, words: npt.NDArray[np.int32]
    ) -> Places:
        self._make_room(len(starts), int(ends[-1] - starts[0]))
        firsts = np.empty(len(starts), np.int64)
        known = _look_up(
            codes, starts, ends, self._known, self._slots, self._hashes, self._ends, self._letters,
            words, firsts,
        )  # fmt: skip
        firsts = firsts[: known - self._known]
        self._known = known
        return firsts

    def _make_room(self, words: int, letters: int) -> None:
        """Make room for so many new words and so many letters of theirs."""
        words += self._known
        letters += int(self._ends[self._known])
        if words > len(self._hashes):
            words = max(words, 2 * len(self._hashes))
            self._hashes = _grown(self._hashes, words)
            self._ends = _grown(self._ends, words + 1)
            self._slots = np.full(1 << (2 * words - 1).bit_length(), -1, np.int32)
            _fill(self._slots, self._hashes[: self._known])
        if letters > len(self._letters):
            self._letters = _grown(self._letters, max(letters, 2 * len(self._letters)))


def _grown(array: Array, size: int) -> Array:
    grown = np.empty(size, array.dtype)
    grown[: len(array)] = array
    return grown


@compiled
def _fill(slots: Array, hashes: Array) -> None:
    mask = np.uint64(len(slots) - 1)
    for word in range(len(hashes)):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


@compiled
def _look_up(
    codes: Array,
    starts: Array,
    ends: Array,
    known: int,
    slots: Array,
    hashes: Array,
    word_ends: Array,
    letters: Array,
    words: Array,
    firsts: Array,
) -> int:
    """Give tokens the numbers of their words, and return how many words are known then."""
    mask = np.uint64(len(slots) - 1)
    before = known
    for token in range(len(starts)):
        characters = codes[starts[token] : ends[token]]
        value = _hash(characters)
        slot = value & mask
        while slots[slot] >= 0:
            word = slots[slot]
            if hashes[word] == value and _equal(
                characters, letters[word_ends[word] : word_ends[word + 1]]
            ):
                break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = known
            hashes[known] = value
            word_ends[known + 1] = word_ends[known] + len(characters)
            _copy(characters, letters[word_ends[known] :])
            firsts[known - before] = token
            known += 1
        words[token] = slots[slot]
    return known


@compiled
def _hash(characters: Array) -> np.uint64:
    value = np.uint64(len(characters))
    for code in characters:
        value = (value ^ np.uint64(code)) * np.uint64(0x100000001B3)  # FNV-1a, by code points
    # The finalizer of splitmix64 spreads what is in the high bits.
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def _copy(characters: Array, into: Array) -> None:
    for place in range(len(characters)):  # a slice takes a second to compile
        into[place] = characters[place]


@compiled
def _equal(left: Array, right: Array) -> bool:
    if len(left) != len(right):
        return False
    for place in range(len(left)):  # noqa: SIM110 - what is compiled is no generator
        if left[place] != right[place]:
            return False
    return True
