"""Counts of pairs of words and labels, and of feature values and labels, in a training set.

A CRF has a weight for each feature value, offset and label that occur together (paper 003, section
3.4.2). They are counted in two stages, first for words and then for feature values, so that each
token is visited once for any number of features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from corpus.ragged import offsets_of, owners_of

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Counts of pairs of a row and a label, ordered by both.

    Parameters
    ----------
    begins : ndarray of int64, shape (rows + 1,)
        Pairs ``begins[r]`` to ``begins[r + 1]`` are those of row r.
    labels : ndarray of int16, shape (K,)
        The label of each pair.
    counts : ndarray of float64, shape (K,)
        The count of each pair.
    """

    begins: Indices
    labels: npt.NDArray[np.int16]
    counts: npt.NDArray[np.float64]

    def at_least(self, count: float) -> Pairs:
        """Select the pairs with at least a count."""
        return self._kept(self.counts >= count)

    def of_rows(self, rows: npt.NDArray[np.bool_]) -> Pairs:
        """Select the pairs of some rows; the other rows become empty."""
        return self._kept(np.repeat(rows, np.diff(self.begins)))

    def amid(self, offsets: int, more: int) -> Pairs:
        """Move every row of a window of `offsets` to the middle of a wider window."""
        side = (more - offsets) // 2
        held = np.diff(self.begins).reshape(-1, offsets)
        wide = np.pad(held, ((0, 0), (side, side))).reshape(-1)
        begins = offsets_of(wide)
        return Pairs(begins, self.labels, self.counts)

    def first_rows(self, rows: int) -> Pairs:
        """Select the first rows."""
        number = self.begins[rows]
        return Pairs(self.begins[: rows + 1], self.labels[:number], self.counts[:number])

    def followed_by(self, others: Pairs) -> Pairs:
        """Append other pairs, in the rows after these."""
        return Pairs(
            np.concatenate([self.begins, others.begins[1:] + self.begins[-1]]),
            np.concatenate([self.labels, others.labels]),
            np.concatenate([self.counts, others.counts]),
        )

    def _kept(self, kept: npt.NDArray[np.bool_]) -> Pairs:
        before = offsets_of(kept)
        return Pairs(before[self.begins], self.labels[kept], self.counts[kept])


def pairs_of_words(
    words: npt.NDArray[np.int32],
    documents: Indices,
    tags: npt.NDArray[np.int16],
    types: int,
    offsets: int,
    labels: int,
) -> Pairs:
    """Count the pairs of a word at an offset and a label.

    Parameters
    ----------
    words : ndarray of int32, shape (N,)
        The word of each token, below `types`; tokens with a negative number are not counted.
    documents : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tags : ndarray of int16, shape (N,)
        The label of each token; negative if unknown.
    types, offsets, labels : int
        Number of word types, offsets and labels. In a window of W offsets, index o stands for
        o - W // 2 tokens after the label.

    Returns
    -------
    Pairs
        Counts in rows ``word * offsets + offset``. The words `types` and ``types + 1`` are the
        positions before and after a document.
    """
    order, groups = _grouped(words, types)
    owners = owners_of(documents)
    rows = (types + 2) * offsets
    begins = np.zeros(rows + 1, np.int64)
    none = np.zeros(0, np.int16), np.zeros(0, np.float64)
    arguments = order, groups, owners, documents, tags, offsets, labels
    _count_words(*arguments, begins, *none, False)
    np.cumsum(begins, out=begins)
    found = np.empty(begins[-1], np.int16), np.empty(begins[-1], np.float64)
    _count_words(*arguments, begins, *found, True)
    return Pairs(begins, *found)


def _grouped(values: npt.NDArray[np.int32], number: int) -> tuple[Indices, Indices]:
    """Return the positions of all values, sorted by value, and the first index of each value.

    Negative values are ignored.
    """
    held = np.bincount(values[values >= 0], minlength=number)
    groups = offsets_of(held)
    places = np.empty(groups[-1], np.int64)
    _sort(values, groups[:-1].copy(), places)
    return places, groups


@compiled("int32[::1], int64[::1], int64[::1]")
def _sort(values: Array, following: Array, places: Array) -> None:
    for place in range(len(values)):
        value = values[place]
        if value >= 0:
            places[following[value]] = place
            following[value] += 1


@compiled(
    "int64[::1], int64[::1], int64[::1], int64[::1], int16[::1], int64, int64, int64[::1], "
    "int16[::1], float64[::1], boolean"
)
def _count_words(
    order: Array,
    groups: Array,
    owners: Array,
    documents: Array,
    tags: Array,
    offsets: int,
    labels: int,
    begins: Array,
    found: Array,
    counts: Array,
    fill: bool,
) -> None:
    """Count the pairs of each row into ``begins[row + 1]``, or fill them in."""
    sums = np.zeros((offsets, labels))
    seen = np.zeros((offsets, labels), np.bool_)
    window = offsets // 2
    types = len(groups) - 1
    for word in range(types):
        for place in range(groups[word], groups[word + 1]):
            token = order[place]
            owner = owners[token]
            for offset in range(offsets):
                other = token - (offset - window)
                if documents[owner] <= other < documents[owner + 1] and tags[other] >= 0:
                    sums[offset, tags[other]] += 1
                    seen[offset, tags[other]] = True
        _take(sums, seen, word, begins, found, counts, fill)
    for border in range(2):
        for owner in range(len(documents) - 1):
            start, stop = documents[owner], documents[owner + 1]
            for offset in range(offsets):
                shift = offset - window
                if border == 0:
                    first, last = start, min(start - shift, stop)
                else:
                    first, last = max(stop - shift, start), stop
                for token in range(first, last):
                    if tags[token] >= 0:
                        sums[offset, tags[token]] += 1
                        seen[offset, tags[token]] = True
        _take(sums, seen, types + border, begins, found, counts, fill)


@compiled()
def _take(
    sums: Array, seen: Array, row: int, begins: Array, found: Array, counts: Array, fill: bool
) -> None:
    """Move the sums of the offsets of a row to the result, and reset them."""
    offsets, labels = sums.shape
    for offset in range(offsets):
        into = begins[row * offsets + offset]
        number = 0
        for label in range(labels):
            if seen[offset, label]:
                if fill:
                    found[into + number] = label
                    counts[into + number] = sums[offset, label]
                number += 1
                sums[offset, label] = 0
                seen[offset, label] = False
        if not fill:
            begins[row * offsets + offset + 1] = number


def pairs_of_values(
    words: Pairs, codes: npt.NDArray[np.int32], values: int, offsets: int, labels: int
) -> Pairs:
    """Count the pairs of a feature value at an offset and a label.

    Parameters
    ----------
    words : Pairs
        Counts of words, as returned by `pairs_of_words`.
    codes : ndarray of int32, shape (types, F)
        The feature values of each word, below `values`; negative for no value.
    values, offsets, labels : int
        Number of feature values, offsets and labels.

    Returns
    -------
    Pairs
        Counts in rows ``value * offsets + offset``.
    """
    places, groups = _grouped(codes.reshape(-1), values)
    types = places // codes.shape[1]
    begins = np.zeros(values * offsets + 1, np.int64)
    none = np.zeros(0, np.int16), np.zeros(0, np.float64)
    arguments = types, groups, words.begins, words.labels, words.counts, offsets, labels
    _count_values(*arguments, begins, *none, False)
    np.cumsum(begins, out=begins)
    found = np.empty(begins[-1], np.int16), np.empty(begins[-1], np.float64)
    _count_values(*arguments, begins, *found, True)
    return Pairs(begins, *found)


@compiled(
    "int64[::1], int64[::1], int64[::1], int16[::1], float64[::1], int64, int64, int64[::1], "
    "int16[::1], float64[::1], boolean"
)
def _count_values(
    types: Array,
    groups: Array,
    word_begins: Array,
    word_labels: Array,
    word_counts: Array,
    offsets: int,
    labels: int,
    begins: Array,
    found: Array,
    counts: Array,
    fill: bool,
) -> None:
    sums = np.zeros((offsets, labels))
    seen = np.zeros((offsets, labels), np.bool_)
    for value in range(len(groups) - 1):
        for place in range(groups[value], groups[value + 1]):
            for offset in range(offsets):
                row = types[place] * offsets + offset
                for pair in range(word_begins[row], word_begins[row + 1]):
                    sums[offset, word_labels[pair]] += word_counts[pair]
                    seen[offset, word_labels[pair]] = True
        _take(sums, seen, value, begins, found, counts, fill)


def transitions(
    documents: Indices,
    tags: npt.NDArray[np.int16],
    weights: npt.NDArray[np.float64],
    labels: int,
) -> npt.NDArray[np.float64]:
    """Count the weighted transitions between known labels, shape (labels, labels)."""
    counts = np.zeros((labels, labels))
    begins = np.zeros(len(tags) + 1, bool)
    begins[documents] = True
    follows = ~begins[1:-1] & (tags[1:] >= 0) & (tags[:-1] >= 0)
    owners = np.repeat(weights, np.diff(documents))[1:][follows]
    np.add.at(counts, (tags[:-1][follows], tags[1:][follows]), owners)
    return counts
