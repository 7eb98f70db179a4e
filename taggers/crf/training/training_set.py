"""The training set of a CRF in numeric form: word types, feature values and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import vstack

from corpus.batch import Batch, Stream
from corpus.kernels.compiled import kernel_array
from corpus.kernels.hash_index import number_distinct
from corpus.kernels.hashing import Hashes, hash_values
from corpus.patients import NOBODY, patient_numbers
from corpus.ragged import count_by_row, used_only
from taggers.crf.channels import Channels
from taggers.crf.training.observed_counts import (
    Pairs,
    count_pairs,
    transitions,
)
from taggers.crf.weights import FeatureValues, Weights, border_hashes, value_hashes, values_of
from taggers.features.templates import Template, Templates
from taggers.features.words import BEGIN, END
from taggers.privacy.patient_counts import Counts, patients_of_values
from taggers.string_table import StringTable

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStream:
    """A stream of a training set.

    Parameters
    ----------
    values : ndarray of int32, shape (N,)
        The value of each token, numbered from 0; negative for no value.
    codes : ndarray of int32, shape (V,)
        The numbers of these values among all values of a `TrainingSet`.
    offsets : ndarray of int64, shape (O,)
        Offsets from the token.
    """

    values: Codes
    codes: Codes
    offsets: Indices


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """The documents of a training set in numeric form.

    Parameters
    ----------
    words : ndarray of int32, shape (N,)
        Word types, the most frequent first.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tags : ndarray of int16, shape (N,)
        Labels; negative if unknown.
    weights : ndarray of float64, shape (D,)
        The weight of each document.
    codes : ndarray of int32, shape (T + 2, F + 1)
        The feature values of each word. The last two rows are the positions before and after a
        document.
    streams : tuple of TrainingStream
        The streams of tokens, in addition to their words.
    values : FeatureValues
        The values that `codes` and the streams number.
    state : Pairs
        Counts of the pairs of values and labels. Each pair has a state weight.
    transition : ndarray of float64, shape (L, L)
        Counts of transitions in documents whose labels are all known, weighted by document.
    window, reach : int
        The largest offset of words, and the largest of words or streams.
    """

    words: Codes
    document_offsets: Indices
    tags: npt.NDArray[np.int16]
    weights: Floats
    codes: Codes
    streams: tuple[TrainingStream, ...]
    values: FeatureValues
    state: Pairs
    transition: Floats
    window: int
    reach: int

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return len(self.transition)

    @property
    def offsets(self) -> int:
        """The number of offsets around a token that have weights."""
        return 2 * self.reach + 1

    @classmethod
    def from_batch(
        cls, train: Batch, templates: Templates, *, min_frequency: float = 0.0
    ) -> tuple[TrainingSet, tuple[str, ...]]:
        """Build the training set of a batch with all streams of the templates.

        Returns
        -------
        TrainingSet
        labels : tuple of str
            The labels that occur; there must be one.
        """
        known = np.unique(train.tags[train.tags >= 0])
        number = np.full(len(train.labels) + 1, -1, np.int16)  # the last one is for tag -1
        number[known] = np.arange(len(known), dtype=np.int16)
        tags, document_offsets = number[train.tags], kernel_array(train.document_offsets)
        weights = np.ones(len(train)) if train.weights is None else train.weights.astype(np.float64)
        # Words are sorted by frequency and then by hash, so that the training set does not depend
        # on the order of the vocabulary.
        counts = np.bincount(train.word_ids, minlength=len(train.vocabulary))
        order = np.lexsort((hash_values("word", train.vocabulary), -counts))
        words = _ranks(order)[train.word_ids]
        counter = _Counter(train, tags, len(known), templates)
        codes, counts = counter.words(words, [train.vocabulary[word] for word in order.tolist()])
        state, streams = [counts], []
        for template, stream in Channels(templates).from_batch(train):
            if (stream.values >= 0).any():
                numbered, counts = counter.stream(template, stream)
                streams.append(numbered)
                state.append(counts)
        complete = np.where(partial(document_offsets, tags), 0.0, weights)
        training_set = cls(
            words,
            document_offsets,
            tags,
            weights,
            codes,
            tuple(streams),
            FeatureValues(
                np.concatenate(counter.hashes),
                StringTable.from_strings(counter.names),
                np.concatenate(counter.patients),
            ),
            Pairs.from_matrix(vstack(state, format="csr"), min_frequency),
            transitions(document_offsets, tags, complete, len(known)),
            templates.window,
            templates.reach,
        )
        return training_set, tuple(train.labels[label] for label in known.tolist())

    def weights_of(self, x: Floats) -> Weights:
        """Return the weights of a parameter vector of `Likelihood`."""
        number = len(self.state.labels)
        return Weights(
            self.labels,
            self.offsets,
            self.values,
            self.state.offsets,
            self.state.labels,
            x[:number],
            x[number:].reshape(self.labels, self.labels),
        )


class _Counter:
    """A counter that numbers the values of features and streams, and counts them with labels."""

    def __init__(
        self, train: Batch, tags: npt.NDArray[np.int16], labels: int, templates: Templates
    ) -> None:
        self.hashes: list[Hashes] = []
        self.names: list[str] = []
        self.patients: list[Counts] = []
        document_offsets = kernel_array(train.document_offsets)
        self._owned = document_offsets, patient_numbers(train)
        self._tagged = document_offsets, tags
        self._templates = templates
        self._labels = labels
        self._stride = 2 * templates.reach + 1

    def words(self, words: Codes, types: Sequence[str]) -> tuple[Codes, Any]:
        """Count the feature values of words, and the positions before and after documents."""
        templates = self._templates
        values = values_of(types, templates)
        codes = self._coded(value_hashes(values, templates), values)
        number = len(self.names)
        window = range(-templates.window, templates.window + 1)
        offsets = [*(template.offsets for template in templates.features), window]
        counts = count_pairs(
            words, *self._tagged, codes, offsets, shape=(number, self._stride, self._labels)
        )
        numbers = patients_of_values(words, *self._owned, codes, number)
        document_offsets, patients = self._owned
        some = patients[np.diff(document_offsets) > 0]
        numbers[-2:] = len(np.unique(some[some != NOBODY]))
        self.patients.append(numbers)
        return codes, counts

    def stream(self, template: Template, stream: Stream) -> tuple[TrainingStream, Any]:
        """Count the values of a stream that has any."""
        used, values = used_only(stream.values, len(stream.vocabulary))
        types = [stream.vocabulary[index] for index in used.tolist()]
        hashes = hash_values(template.name, types)
        order = np.argsort(hashes)
        values = np.append(_ranks(order), np.int32(-1))[values]
        size = len(types)
        codes = np.arange(size, dtype=np.int32) + np.int32(len(self.names))
        self.hashes.append(hashes[order])
        self.names += [f"{template.name}={types[index]}" for index in order.tolist()]
        own = np.append(np.arange(size, dtype=np.int32), np.full(2, -1, np.int32))[:, None]
        shape = size, self._stride, self._labels
        counts = count_pairs(values, *self._tagged, own, [template.offsets], shape=shape)
        self.patients.append(patients_of_values(values, *self._owned, own, size))
        return TrainingStream(values, codes, np.array(template.offsets, np.int64)), counts

    def _coded(self, hashes: Hashes, values: Sequence[Sequence[str]]) -> Codes:
        """Assign numbers to the values of features, and to the ends of documents."""
        types = len(hashes)
        features = [template.name for template in self._templates.features]
        codes = np.full((types + 2, len(features) + 1), -1, np.int32)
        for column, name in enumerate(features):
            # Numbered in the order of words, so that values of frequent words are close in memory.
            present = np.flatnonzero(list(map(bool, values[column])))
            numbers, first = number_distinct(hashes[present, column])
            codes[present, column] = numbers + np.int32(len(self.names))
            self.hashes.append(hashes[present[first], column])
            self.names += [f"{name}={values[column][index]}" for index in present[first].tolist()]
        codes[types:, len(features)] = len(self.names) + np.arange(2)
        self.hashes.append(border_hashes())
        self.names += [BEGIN, END]
        return codes


def _ranks(order: Indices) -> Codes:
    """Return the rank of each number in an order."""
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def partial(document_offsets: Indices, tags: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
    """Return which documents have partial annotation: tokens with an unknown label."""
    return count_by_row(tags < 0, document_offsets) > 0
