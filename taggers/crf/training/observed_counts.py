"""Counts of pairs of feature values and labels, and of transitions, in a training set.

A CRF has a weight for each feature value, offset and label that occur together (paper 003, section
3.4.2). They are counted in two stages, first for words and then for feature values, so that each
token is visited once for any number of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from corpus.ragged import owners_of

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Counts of pairs of a row and a label, ordered by both.

    Parameters
    ----------
    offsets : ndarray of int64, shape (rows + 1,)
        Row r has the pairs ``offsets[r]`` to ``offsets[r + 1]``.
    labels : ndarray of int16, shape (K,)
        The label of each pair.
    counts : ndarray of float64, shape (K,)
        The count of each pair.
    """

    offsets: Indices
    labels: npt.NDArray[np.int16]
    counts: npt.NDArray[np.float64]

    @classmethod
    def from_matrix(cls, counts: Any, least: float = 0.0) -> Pairs:
        """Select the pairs with at least a count from a sparse matrix of rows and labels."""
        counts.data[counts.data < least] = 0
        counts.eliminate_zeros()
        return cls(counts.indptr.astype(np.int64), counts.indices.astype(np.int16), counts.data)


def count_pairs(
    words: npt.NDArray[np.int32],
    document_offsets: Indices,
    tags: npt.NDArray[np.int16],
    codes: npt.NDArray[np.int32],
    offsets: Sequence[Sequence[int]],
    *,
    shape: tuple[int, int, int],
) -> Any:
    """Count the pairs of a feature value at an offset and a label.

    Parameters
    ----------
    words : ndarray of int32, shape (N,)
        The word of each token; tokens with a negative number are not counted.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tags : ndarray of int16, shape (N,)
        The label of each token; negative if unknown.
    codes : ndarray of int32, shape (T + 2, F)
        The feature values of each word; negative for no value. The last two rows are the positions
        before and after a document.
    offsets : sequence of sequence of int
        For each feature, the offsets from the token at which it applies.
    shape : tuple of int
        Number of values, offsets in the window, and labels.

    Returns
    -------
    csr_array of float64, shape (values * offsets, labels)
        Counts in rows ``value * offsets + offset``; its indices are sorted.
    """
    values, stride, labels = shape
    tokens = np.flatnonzero(tags >= 0)
    owners = owners_of(document_offsets)[tokens]
    first, last = document_offsets[owners], document_offsets[owners + 1]
    rows, columns, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for place in range(stride):
        offset = place - stride // 2
        used = [column for column, own in enumerate(offsets) if offset in own]
        others = tokens + offset
        near = words[np.clip(others, 0, len(words) - 1)]
        near = np.where(others < first, len(codes) - 2, near)
        near = np.where(others >= last, len(codes) - 1, near)
        some = near >= 0
        by_word = _counted(near[some], tags[tokens][some], (len(codes), labels))
        types, column = np.nonzero(codes[:, used] >= 0)
        by_value = _counted(codes[:, used][types, column], types, (values, len(codes))) @ by_word
        by_value = by_value.tocoo()
        rows.append(by_value.coords[0] * np.int64(stride) + place)
        columns.append(by_value.coords[1])
        counts.append(by_value.data)
    where = np.concatenate(rows), np.concatenate(columns)
    pairs = csr_array((np.concatenate(counts), where), shape=(values * stride, labels))
    pairs.sort_indices()
    return pairs


def _counted(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], shape: tuple[int, int]
) -> Any:
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def transitions(
    document_offsets: Indices,
    tags: npt.NDArray[np.int16],
    weights: npt.NDArray[np.float64],
    labels: int,
) -> npt.NDArray[np.float64]:
    """Count the weighted transitions between known labels, shape (labels, labels)."""
    counts = np.zeros((labels, labels))
    begins = np.zeros(len(tags) + 1, bool)
    begins[document_offsets] = True
    follows = ~begins[1:-1] & (tags[1:] >= 0) & (tags[:-1] >= 0)
    owners = np.repeat(weights, np.diff(document_offsets))[1:][follows]
    np.add.at(counts, (tags[:-1][follows], tags[1:][follows]), owners)
    return counts
