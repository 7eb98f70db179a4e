"""The weights of a linear-chain CRF, summed by word type.

A feature depends on one word at one offset. The scores that a word adds to the tokens around it are
therefore summed once for each word type, and gathered for each token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.kernels.compiled import Array, compiled, kernel_array
from corpus.kernels.hashing import MOST_KEY, Hashes, hash_values
from corpus.ragged import offsets_of, owners_of
from corpus.storage.arrays import Expected, weights_of_shape
from taggers.crf import lattice
from taggers.features.templates import Templates
from taggers.features.words import BEGIN, END, Words
from taggers.privacy.patient_counts import Counts, expected_counts
from taggers.string_table import StringTable, read_strings

if TYPE_CHECKING:
    from taggers.model_folder import ModelFiles

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: The feature of the positions before and after a document. No stream can have this name.
BORDER = "[border]"


@dataclass(frozen=True, slots=True, eq=False)
class FeatureValues:
    """The distinct values of features and streams.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Hashes of the values.
    names : StringTable
        The values as text, such as ``lower=dr``; empty if a model keeps only hashes.
    patients : ndarray of int32, shape (V,)
        The number of patients of each value; see `taggers.privacy.patient_counts`.
    key : int
        The key of the hashes; 0 for none.
    """

    hashes: Hashes
    names: StringTable
    patients: Counts
    key: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weights of a CRF.

    Parameters
    ----------
    labels : int
        Number of labels, L.
    offsets : int
        Number of offsets around a token, its own in the middle. An odd number.
    values : FeatureValues
        The values that have weights.
    state_offsets : ndarray of int64, shape (V * offsets + 1,)
        State weights ``state_offsets[i]`` to ``state_offsets[i + 1]`` belong to value v at offset
        o, where ``i = v * offsets + o``.
    state_labels : ndarray of int16, shape (K,)
        The label of each state weight.
    state : ndarray of float64, shape (K,)
        State weights.
    transition : ndarray of float64, shape (L, L)
        Weights of transitions, from a label to the following one.
    """

    labels: int
    offsets: int
    values: FeatureValues
    state_offsets: Indices
    state_labels: npt.NDArray[np.int16]
    state: Floats
    transition: Floats


def read_weights(model: ModelFiles, labels: int, offsets: int) -> Weights:
    """Read the weights of a model, and check that compiled functions can follow their indices.

    Parameters
    ----------
    model : ModelFiles
        The files of the model; see `taggers.crf.wordtype.WordTypeCRF.files`.
    labels, offsets : int
        As in `Weights`.

    Raises
    ------
    InputError
        If an array is missing or invalid.
    """

    def read(name: str, expected: Expected) -> npt.NDArray[Any]:
        return kernel_array(model.array(name, expected, mapped=True))

    hashes = kernel_array(model.hashes("hashes", mapped=True))
    state = read("state", weights_of_shape(None, dtypes="float64"))
    rows = len(hashes) * offsets
    state_offsets = read("begins", Expected("int64", (rows + 1,), 0, len(state), "ascending"))
    if state_offsets[0] != 0 or state_offsets[-1] != len(state):
        raise InputError(
            f"begins.npy leads from {state_offsets[0]:,} to {state_offsets[-1]:,}; expected 0 to "
            f"{len(state):,}, the number of weights"
        )
    state_labels = read("state_labels", Expected("int16", state.shape, 0, labels - 1))
    first = np.zeros(len(state) + 1, bool)
    first[state_offsets] = True
    if (~first[1:-1] & (state_labels[1:] <= state_labels[:-1])).any():
        raise InputError("state_labels.npy has labels of a value that do not ascend")
    values = FeatureValues(
        hashes,
        read_strings(model, "names", "name_ends", len(hashes)),
        read("patients", expected_counts(len(hashes))),
        model.fields.integer("key", least=0, most=MOST_KEY),
    )
    transition = read("transition", weights_of_shape(labels, labels, dtypes="float64"))
    return Weights(labels, offsets, values, state_offsets, state_labels, state, transition)


def prune(weights: Weights, values: npt.NDArray[np.bool_] | None = None) -> Weights:
    """Remove zero state weights, and values without nonzero weights.

    Parameters
    ----------
    weights : Weights
        The weights of a model.
    values : ndarray of bool, shape (V,), optional
        Which values to keep; all of them by default.
    """
    kept = weights.state != 0
    if values is not None:
        kept = kept & np.repeat(np.repeat(values, weights.offsets), np.diff(weights.state_offsets))
    before = offsets_of(kept)
    held = np.diff(before[weights.state_offsets]).reshape(-1, weights.offsets)
    some: npt.NDArray[np.bool_] = np.asarray(held.any(axis=1))
    old = weights.values
    return replace(
        weights,
        values=FeatureValues(old.hashes[some], old.names.take(some), old.patients[some], old.key),
        state_offsets=offsets_of(held[some].reshape(-1)),
        state_labels=weights.state_labels[kept],
        state=weights.state[kept],
    )


def averaged(parts: Sequence[Weights], shares: Sequence[float]) -> Weights:
    """Return the weighted mean of the weights of CRFs with the same labels and documents.

    The CRF that has them is the logarithmic opinion pool of the others; see
    `taggers.ensemble.pooling`. The shares sum to 1. A weight that a CRF lacks counts as 0.
    """
    labels, offsets = parts[0].labels, max(part.offsets for part in parts)
    hashes = np.concatenate([part.values.hashes for part in parts])
    patients = np.concatenate([part.values.patients for part in parts])
    names = [name for part in parts for name in part.values.names.strings()]
    distinct, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    begins = offsets_of([len(part.values.hashes) for part in parts])[:-1]
    keys = []
    for part, begin in zip(parts, begins.tolist(), strict=True):
        value, place = np.divmod(owners_of(part.state_offsets), part.offsets)
        place += (offsets - part.offsets) // 2
        keys.append((numbers[begin + value] * offsets + place) * labels + part.state_labels)
    pairs, owners = np.unique(np.concatenate(keys), return_inverse=True)
    state = np.concatenate([share * p.state for share, p in zip(shares, parts, strict=True)])
    rows = np.bincount(pairs // labels, minlength=len(distinct) * offsets)
    return Weights(
        labels,
        offsets,
        FeatureValues(
            distinct,
            StringTable.from_strings([names[index] for index in first]),
            patients[first],
            parts[0].values.key,
        ),
        offsets_of(rows),
        (pairs % labels).astype(np.int16),
        np.bincount(owners, state).astype(np.float64),
        np.average([part.transition for part in parts], axis=0, weights=shares),
    )


def pair_keys(state_offsets: Indices, labels: npt.NDArray[np.int16], number: int) -> Indices:
    """Return a number for each pair of a row and one of `number` labels, in ascending order."""
    return np.asarray(owners_of(state_offsets) * number + labels)


def values_of(types: Sequence[str], templates: Templates) -> list[list[str]]:
    """Compute the value that each feature has for each word."""
    words = Words(types)
    return [templates.feature(template.name)(words) for template in templates.features]


def value_hashes(values: Sequence[Sequence[str]], templates: Templates) -> Hashes:
    """Compute the hashes of what `values_of` returns, shape (words, features)."""
    columns = zip(templates.features, values, strict=True)
    return np.stack([hash_values(template.name, column) for template, column in columns], axis=1)


def border_hashes() -> Hashes:
    """Compute the hashes of the positions before and after a document, as values of a feature."""
    return hash_values(BORDER, [BEGIN, END])


@compiled("int32[:, ::1], int64[::1], int64, int64[::1], int16[::1], float64[::1], real[:, :, ::1]")
def add_weights(
    codes: Array,
    places: Array,
    stride: int,
    state_offsets: Array,
    labels: Array,
    weights: Array,
    table: Array,
) -> None:
    """Add the weights of the values of each word to its row of the table.

    Parameters
    ----------
    codes : ndarray of int32, shape (T, F)
        Values of each word; negative for a value without weights.
    places : ndarray of int64, shape (O,)
        Indices of the offsets of the table among the offsets of the weights.
    stride : int
        Number of offsets of the weights.
    state_offsets, labels, weights
        The state weights, as in `Weights`.
    table : ndarray of float, shape (T, O, P)
        Scores by word, offset and label, which are updated.
    """
    for word in range(len(codes)):
        for column in range(codes.shape[1]):
            code = codes[word, column]
            if code >= 0:
                for offset in range(len(places)):
                    row = table[word, offset]
                    first = np.int64(code) * stride + places[offset]
                    for pair in range(state_offsets[first], state_offsets[first + 1]):
                        row[labels[pair]] += weights[pair]


@compiled("int32[:, ::1], int64[::1], int64, int64[::1], int16[::1], real[:, :, ::1], float64[::1]")
def add_expected(
    codes: Array,
    places: Array,
    stride: int,
    state_offsets: Array,
    labels: Array,
    table: Array,
    expected: Array,
) -> None:
    """Add each word's expected counts to its values' counts: `add_weights` transposed."""
    for word in range(len(codes)):
        for column in range(codes.shape[1]):
            code = codes[word, column]
            if code >= 0:
                for offset in range(len(places)):
                    row = table[word, offset]
                    first = np.int64(code) * stride + places[offset]
                    for pair in range(state_offsets[first], state_offsets[first + 1]):
                        expected[pair] += row[labels[pair]]


def middle(offsets: int, stride: int) -> Indices:
    """Return the indices of a window's offsets within a wider window."""
    return np.arange(offsets) + (stride - offsets) // 2


def empty_table(words: int, offsets: int, labels: int, real: npt.DTypeLike) -> lattice.Reals:
    """Allocate a table of zero scores, in which padding labels are excluded from all paths."""
    padded = -(-labels // lattice.LANES) * lattice.LANES
    table = np.zeros((words, offsets, padded), real)
    table[:, offsets // 2, labels:] = lattice.NEVER
    return table
