"""Tables of the scores that the words of a training set add to the tokens around them.

Some features have few values and weights for nearly every label, and many of them are functions of
another one: whether a word has digits follows from its shape. The weights of such features are
summed once for each of their joint values, and the sum is added to each word as one row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from taggers.crf import lattice
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import add_expected, add_weights, empty_table, middle

Codes = npt.NDArray[np.int32]

_FEW = 8  # the minimum number of words per joint value
_DENSE = 4  # the number of row elements that take as long to add as one sparse weight


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """Features whose weights are summed together."""

    codes: Codes  # the feature values of each joint value, shape (J, members)
    words: Codes  # the joint value of each word, shape (T,)
    table: lattice.Reals  # the scores that the joint values add, shape (J, O, P)
    expected: lattice.Reals  # their expected counts


class WordTable:
    """The scores that words add, and the expected counts of words.

    Attributes
    ----------
    scores, expected : ndarray of float, shape (T + 2, O, P)
        The scores that each word, and each border, adds at each offset, and its expected counts.
    """

    def __init__(self, training: TrainingSet, real: npt.DTypeLike) -> None:
        codes, state = training.codes, training.state
        places = middle(2 * training.window + 1, training.offsets)
        self._state = places, training.offsets, state.offsets, state.labels
        self._labels = training.labels
        self.scores = empty_table(len(codes), len(places), training.labels, real)
        self.expected = np.zeros_like(self.scores)
        weights = np.diff(state.offsets).reshape(-1, training.offsets)[:, places].sum(axis=1)
        joint, alone = _grouped(codes, weights, len(places) * self.scores.shape[2] // _DENSE)
        self._joint = [self._joined(codes[:, columns]) for columns in joint]
        self._alone = np.ascontiguousarray(codes[:, alone])

    def _joined(self, codes: Codes) -> _Joint:
        values, words = np.unique(codes, axis=0, return_inverse=True)
        table = np.zeros((len(values), *self.scores.shape[1:]), self.scores.dtype)
        numbers = np.asarray(words, np.int32).reshape(-1)
        return _Joint(np.ascontiguousarray(values), numbers, table, np.zeros_like(table))

    def fill(self, weights: npt.NDArray[np.float64]) -> None:
        """Sum the weights, shape (K,), into `scores`, and reset `expected`."""
        self.scores[:, :, : self._labels] = 0
        self.expected[:] = 0
        for joint in self._joint:
            joint.table[:] = 0
            add_weights(joint.codes, *self._state, weights, joint.table)
            _add_rows(joint.words, joint.table, self.scores)
        add_weights(self._alone, *self._state, weights, self.scores)

    def collect(self, gradient: npt.NDArray[np.float64]) -> None:
        """Add the expected counts of the words to the gradient of the weights, shape (K,)."""
        for joint in self._joint:
            joint.expected[:] = 0
            _sum_rows(joint.words, self.expected, joint.expected)
            add_expected(joint.codes, *self._state, joint.expected, gradient)
        add_expected(self._alone, *self._state, self.expected, gradient)


def _grouped(
    codes: Codes, weights: npt.NDArray[np.int64], enough: int
) -> tuple[list[list[int]], list[int]]:
    """Select groups of columns that are worth summing together, and the remaining columns."""
    # A group is a column with few values and the columns that are functions of it, with at least
    # `enough` weights per word.
    left = list(range(codes.shape[1]))
    words = max(len(codes), 1)
    cost = [float(np.where(column >= 0, weights[column], 0).sum()) / words for column in codes.T]
    groups: list[list[int]] = []
    while True:
        group: list[int] = []
        for key in left:
            if len(np.unique(codes[:, key])) * _FEW <= len(codes):
                members = [column for column in left if _follows(codes[:, column], codes[:, key])]
                group = max(group, members, key=lambda columns: sum(cost[one] for one in columns))
        if sum(cost[column] for column in group) < enough:
            return groups, left
        groups.append(group)
        left = [column for column in left if column not in group]


def _follows(column: npt.NDArray[np.int32], key: npt.NDArray[np.int32]) -> bool:
    """Return whether a column is a function of the key."""
    first = np.full(int(key.max(initial=-1)) + 2, -2, np.int32)
    first[key] = column
    return bool((first[key] == column).all())


@compiled("int32[::1], real[:, :, ::1], real[:, :, ::1]")
def _add_rows(words: Array, rows: Array, table: Array) -> None:
    for word in range(len(words)):
        row = rows[words[word]]
        into = table[word]
        for offset in range(row.shape[0]):
            for label in range(row.shape[1]):
                into[offset, label] += row[offset, label]


@compiled("int32[::1], real[:, :, ::1], real[:, :, ::1]")
def _sum_rows(words: Array, table: Array, rows: Array) -> None:
    for word in range(len(words)):
        into = rows[words[word]]
        row = table[word]
        for offset in range(row.shape[0]):
            for label in range(row.shape[1]):
                into[offset, label] += row[offset, label]
