"""The weights of a linear-chain CRF, added up by word type.

A feature depends on one word at one offset, so that what a word adds to the scores of the tokens
around it is added up once for each word type, and gathered for each token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from corpus.kernels.hashing import Hashes, hash_values
from taggers.crf import lattice
from taggers.features import BEGIN, END, Words
from taggers.string_table import EMPTY, StringTable
from taggers.templates import Templates

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: The feature of the places before and after a document: no stream can have this name.
BORDER = "[border]"


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weights of a CRF.

    Parameters
    ----------
    labels : int
        How many there are, L.
    offsets : int
        Number of offsets around a token, its own in the middle: odd.
    hashes : ndarray of uint64, shape (V,)
        The values of all features.
    names : StringTable
        What they are, such as ``lower=dr``; none where a model is not to tell. A value is one of
        a feature of words, or of what stands beside them.
    seen : ndarray of int32, shape (V,)
        Training documents in which each value occurs.
    begins : ndarray of int64, shape (V * offsets + 1,)
        State weights ``begins[v * offsets + o]`` to the next are of value v at offset o.
    state_labels : ndarray of int16, shape (K,)
        The label of each state weight.
    state : ndarray of float64, shape (K,)
        State weights.
    transition : ndarray of float64, shape (L, L)
        From a label to the following one.
    """

    labels: int
    offsets: int
    hashes: Hashes
    names: StringTable
    seen: npt.NDArray[np.int32]
    begins: Indices
    state_labels: npt.NDArray[np.int16]
    state: Floats
    transition: Floats


def sorted_weights(
    hashes: Hashes,
    places: Indices,
    labels: Indices,
    state: Floats,
    *,
    transition: Floats,
    offsets: int,
    names: Sequence[str] = (),
) -> Weights:
    """Sort state weights into the order of `Weights`.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (K,)
        The value of each weight.
    places, labels : ndarray of int64, shape (K,)
        The offset, counted from 0, and the label of each.
    state : ndarray of float64, shape (K,)
        The weights.
    transition, offsets
        As in `Weights`.
    names : sequence of str, optional
        The value of each weight, such as ``lower=dr``.
    """
    values, first, codes = np.unique(hashes, return_index=True, return_inverse=True)
    rows = codes.reshape(-1) * offsets + places
    order = np.lexsort((labels, rows))
    held = np.bincount(rows, minlength=len(values) * offsets)
    return Weights(
        len(transition),
        offsets,
        values,
        StringTable.of([names[index] for index in first.tolist()]) if names else EMPTY,
        np.zeros(len(values), np.int32),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(held)]),
        labels[order].astype(np.int16),
        state[order],
        transition,
    )


def prune(weights: Weights, values: npt.NDArray[np.bool_] | None = None) -> Weights:
    """Drop state weights of 0, and values that have no other.

    Parameters
    ----------
    weights : Weights
        Of a model.
    values : ndarray of bool, shape (V,), optional
        Which values to keep; all of them by default.
    """
    kept = weights.state != 0
    if values is not None:
        kept = kept & np.repeat(np.repeat(values, weights.offsets), np.diff(weights.begins))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    held = np.diff(before[weights.begins]).reshape(-1, weights.offsets)
    some: npt.NDArray[np.bool_] = np.asarray(held.any(axis=1))
    return Weights(
        weights.labels,
        weights.offsets,
        weights.hashes[some],
        weights.names.take(some),
        weights.seen[some],
        np.concatenate([np.zeros(1, np.int64), np.cumsum(held[some])]),
        weights.state_labels[kept],
        weights.state[kept],
        weights.transition,
    )


@compiled(
    "int32[::1], int64[::1], int16[::1], int64[::1], int64, int64[::1], int16[::1], "
    "float64[::1], int64, float64[::1]"
)
def carry_over(
    codes: Array,
    begins: Array,
    labels: Array,
    number: Array,
    shift: int,
    old_begins: Array,
    old_labels: Array,
    old_weights: Array,
    old_offsets: int,
    weights: Array,
) -> None:
    """Copy the weights that another model has for the same value, offset and label.

    Parameters
    ----------
    codes : ndarray of int32, shape (V,)
        The number of each value in the other model, negative where it lacks it.
    begins, labels : ndarray
        Of the state weights, as in `Weights`.
    number : ndarray of int64, shape (L,)
        The number of each label in the other model, negative where it lacks it.
    shift : int
        By how many words the window of the other model is wider.
    old_begins, old_labels, old_weights, old_offsets
        Those of the other model.
    weights : ndarray of float64, shape (K,)
        What is copied to.
    """
    offsets = (len(begins) - 1) // max(len(codes), 1)
    for value in range(len(codes)):
        for offset in range(offsets):
            place = offset + shift
            if codes[value] < 0 or place < 0 or place >= old_offsets:
                continue
            old = np.int64(codes[value]) * old_offsets + place
            row = value * offsets + offset
            for pair in range(begins[row], begins[row + 1]):
                for candidate in range(old_begins[old], old_begins[old + 1]):
                    if old_labels[candidate] == number[labels[pair]]:
                        weights[pair] = old_weights[candidate]


def values_of(types: Sequence[str], templates: Templates) -> list[list[str]]:
    """Compute the value that each feature has for each word."""
    words = Words(types)
    return [templates.feature(each.name)(words) for each in templates.features]


def value_hashes(values: Sequence[Sequence[str]], features: Sequence[str]) -> Hashes:
    """Hash values.

    Parameters
    ----------
    values : sequence of sequence of str
        Of each feature, the value of each word.
    features : sequence of str
        Their names.

    Returns
    -------
    ndarray of uint64, shape (words, features)
    """
    columns = [hash_values(name, column) for name, column in zip(features, values, strict=True)]
    return np.stack(columns, axis=1)


def border_hashes() -> Hashes:
    """Hash the places before and after a document, as if they were words of one feature."""
    return hash_values(BORDER, [BEGIN, END])


@compiled("int32[:, ::1], int64[::1], int64, int64[::1], int16[::1], float64[::1], real[:, :, ::1]")
def add_weights(
    codes: Array,
    places: Array,
    stride: int,
    begins: Array,
    labels: Array,
    weights: Array,
    table: Array,
) -> None:
    """Add the weights of the values of each word to its row of the table.

    Parameters
    ----------
    codes : ndarray of int32, shape (T, F)
        Values of each word, negative where there is no weight for it.
    places : ndarray of int64, shape (O,)
        Which of the offsets that weights are for are those of the table.
    stride : int
        How many offsets weights are for.
    begins, labels, weights
        As in `Weights`.
    table : ndarray of float, shape (T, O, P)
        Of words, offsets and labels.
    """
    for word in range(len(codes)):
        for column in range(codes.shape[1]):
            code = codes[word, column]
            if code >= 0:
                for offset in range(len(places)):
                    row = table[word, offset]
                    first = np.int64(code) * stride + places[offset]
                    for pair in range(begins[first], begins[first + 1]):
                        row[labels[pair]] += weights[pair]


@compiled("int32[:, ::1], int64[::1], int64, int64[::1], int16[::1], real[:, :, ::1], float64[::1]")
def add_expected(
    codes: Array,
    places: Array,
    stride: int,
    begins: Array,
    labels: Array,
    table: Array,
    expected: Array,
) -> None:
    """Add what is expected of each word to the weights of its values: transposed `add_weights`."""
    for word in range(len(codes)):
        for column in range(codes.shape[1]):
            code = codes[word, column]
            if code >= 0:
                for offset in range(len(places)):
                    row = table[word, offset]
                    first = np.int64(code) * stride + places[offset]
                    for pair in range(begins[first], begins[first + 1]):
                        expected[pair] += row[labels[pair]]


def middle(offsets: int, stride: int) -> Indices:
    """Return the places of a window in the middle of a wider one, as in `add_weights`."""
    return np.arange(offsets) + (stride - offsets) // 2


def empty_table(words: int, offsets: int, labels: int, real: npt.DTypeLike) -> lattice.Reals:
    """Allocate a table of word scores: 0, and a score for padding labels that is never reached."""
    padded = -(-labels // lattice.LANES) * lattice.LANES
    table = np.zeros((words, offsets, padded), real)
    table[:, offsets // 2, labels:] = lattice.NEVER
    return table
