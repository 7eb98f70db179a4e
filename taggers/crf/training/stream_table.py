"""Tables of the scores that the streams of a training set add to tokens.

Many tokens have the same values of all streams around them. The weights of these values are summed
once for each of their joint values, and the sum is added to each token as one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE
from corpus.ragged import number_used, owners_of
from taggers.crf.training.training_set import TrainingSet, TrainingStream
from taggers.crf.weights import add_expected, add_weights, empty_table

Codes = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]

#: The offset of a joint value, which stands for all values around a token.
OWN: Indices = np.zeros(1, np.int64)

_FEW = 4  # the minimum number of tokens per joint value


@dataclass(frozen=True, slots=True, eq=False)
class JointColumns:
    """Columns whose values are numbered together.

    Parameters
    ----------
    columns : tuple of TrainingStream
        At least one, each with a single offset and its values shifted by it.
    numbers : ndarray of int32, shape (N,)
        The joint value of each token; negative for no value in any column.
    values : ndarray of int32, shape (J, columns)
        The value of each column in each joint value; negative for no value.
    """

    columns: tuple[TrainingStream, ...]
    numbers: Codes
    values: Codes

    def with_column(self, column: TrainingStream) -> Self:
        """Add a column: number the pairs of joint values and its values that occur."""
        own = len(column.codes) + 1  # with no value
        pairs = (self.numbers + np.int64(1)) * own + column.values + 1
        used, numbers = number_used(pairs, (len(self.values) + 1) * own)
        before, value = np.divmod(used, own)
        # The value before the first joint value, -1, indexes the last row.
        rows = np.vstack([self.values, np.full((1, len(self.columns)), NO_VALUE, np.int32)])
        values = np.column_stack([rows[before - 1], value.astype(np.int32) - np.int32(1)])
        columns = (*self.columns, column)
        if len(used) and used[0] == 0:  # no value in any column
            return type(self)(columns, numbers - np.int32(1), values[1:])
        return type(self)(columns, numbers, values)


def join_columns(columns: Sequence[TrainingStream]) -> list[JointColumns]:
    """Join columns in order, as long as few joint values occur.

    Parameters
    ----------
    columns : sequence of TrainingStream
        All with the same tokens.

    Returns
    -------
    list of JointColumns
        Each column is in one of them.
    """
    joined: list[JointColumns] = []
    for column in columns:
        if joined:
            both = joined[-1].with_column(column)
            if len(both.values) * _FEW <= len(column.values):
                joined[-1] = both
                continue
        own = np.arange(len(column.codes), dtype=np.int32)[:, None]
        joined.append(JointColumns((column,), column.values, own))
    return joined


class StreamTable:
    """The scores that joint values of streams add to tokens, and their expected counts.

    Attributes
    ----------
    numbers : ndarray of int32, shape (N,)
        The joint value of each token; negative for no value.
    scores, expected : ndarray of float, shape (J, 1, P)
        The scores that each joint value adds, and its expected counts.
    """

    def __init__(self, joint: JointColumns, training: TrainingSet, real: npt.DTypeLike) -> None:
        self.numbers = joint.numbers
        self.scores = empty_table(len(joint.values), 1, training.labels, real)
        self.expected = np.zeros_like(self.scores)
        self._labels = training.labels
        pairs = zip(joint.columns, joint.values.T, strict=True)
        self._codes = [
            (
                np.append(column.codes, np.int32(NO_VALUE))[values][:, None],
                column.offsets + training.reach,
            )
            for column, values in sorted(pairs, key=lambda pair: pair[0].offsets[0])
        ]
        self._state = training.offsets, training.state.offsets, training.state.labels

    def fill(self, weights: npt.NDArray[np.float64]) -> None:
        """Sum the weights, shape (K,), into `scores`, and reset `expected`."""
        self.scores[:, :, : self._labels] = 0
        self.expected[:] = 0
        for codes, places in self._codes:
            add_weights(codes, places, *self._state, weights, self.scores)

    def collect(self, gradient: npt.NDArray[np.float64]) -> None:
        """Add the expected counts of the values to the gradient of the weights, shape (K,)."""
        for codes, places in self._codes:
            add_expected(codes, places, *self._state, self.expected, gradient)


def stream_tables(training: TrainingSet, real: npt.DTypeLike) -> list[StreamTable]:
    """Build the tables of the streams of a training set, joined by ascending number of values."""
    columns = [
        TrainingStream(_shifted(stream.values, training.document_offsets, at), stream.codes, at)
        for stream in training.streams
        for at in stream.offsets[:, None]
    ]
    columns.sort(key=lambda column: len(column.codes))
    return [StreamTable(joint, training, real) for joint in join_columns(columns)]


def _shifted(values: Codes, document_offsets: Indices, offset: Indices) -> Codes:
    """Return the value at an offset, shape (1,), from each token; none outside its document."""
    if not offset.any():
        return values
    owners, tokens = owners_of(document_offsets), np.arange(len(values)) + offset
    inside = (tokens >= document_offsets[owners]) & (tokens < document_offsets[owners + 1])
    return np.where(inside, values[np.where(inside, tokens, 0)], np.int32(NO_VALUE))
