"""A CRF that computes features and scores once per word type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import kernel_array
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import hash_values
from corpus.storage.arrays import array_bytes
from taggers.crf import lattice
from taggers.crf.channels import Channels
from taggers.crf.linear_chain import LinearChain
from taggers.crf.weights import (
    FeatureValues,
    Weights,
    add_weights,
    border_hashes,
    empty_table,
    middle,
    prune,
    read_weights,
    value_hashes,
    values_of,
)
from taggers.crf.word_cache import WordCache
from taggers.features.templates import Templates
from taggers.privacy.identities import traces_of_values
from taggers.privacy.pruning import Pruning
from taggers.string_table import EMPTY

if TYPE_CHECKING:
    from taggers.model_folder import ModelFiles

#: The type of probabilities for each precision.
REALS: dict[str, type[np.floating]] = {"single": np.float32, "double": np.float64}

#: Memory for the cached score table of words, in bytes.
KEPT = 128 * 2**20


class WordTypeCRF:
    """A linear-chain CRF that computes scores once per word type.

    Parameters
    ----------
    templates : Templates
        The feature templates of the model.
    labels : tuple of str
        The labels of the model.
    weights : Weights
        The weights of the model.
    real : dtype
        The type of probabilities in tagging: float32, or float64, which takes twice the time.

    Attributes
    ----------
    words : WordCache
        The scores that words add to the tokens around them, shape (rows, offsets, labels padded),
        up to `KEPT` bytes. The first two rows stand for the begin and the end of a document.
    """

    def __init__(
        self,
        templates: Templates,
        labels: tuple[str, ...],
        weights: Weights,
        real: type[np.floating] = np.float32,
    ) -> None:
        self.templates = templates
        self.labels = labels
        self.weights = weights
        self._real = real
        self._places = middle(2 * templates.window + 1, weights.offsets)
        self._value_index = HashIndex(weights.values.hashes, weights.values.key)
        borders = self._added(self._value_index.positions(border_hashes())[:, None], self._places)
        self.words = WordCache(self._compute, borders, KEPT)
        self._channels = Channels(templates)

    def _compute(self, words: Sequence[str], scores: lattice.Reals) -> None:
        hashes = value_hashes(values_of(words, self.templates), self.templates)
        codes = self._value_index.positions(hashes.reshape(-1)).reshape(hashes.shape)
        scores[:] = self._added(codes, self._places)

    def _added(self, codes: npt.NDArray[np.int32], places: npt.NDArray[np.int64]) -> lattice.Reals:
        """Return the sums of the weights of the values in each row, at these places."""
        weights = self.weights
        table = empty_table(len(codes), len(places), weights.labels, self._real)
        where = places, weights.offsets, weights.state_offsets, weights.state_labels
        add_weights(codes, *where, weights.state, table)
        return table

    def chain(self, batch: Batch) -> LinearChain:
        """Return the scores of the labels of a batch that has all streams."""
        words = self.words.rows(batch.vocabulary)[batch.word_ids]
        streams = []
        for template, stream in self._channels.from_batch(batch):
            offsets = np.array(template.offsets, np.int64)
            hashes = hash_values(template.name, stream.vocabulary)
            codes = self._value_index.positions(hashes)[:, None]
            table = self._added(codes, offsets + self.weights.offsets // 2)
            streams.append((kernel_array(stream.values), offsets, table))

        def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
            lattice.gather(words, packing.where, self.words.table, 0, 1, scores)
            for values, offsets, table in streams:
                lattice.gather_stream(values, packing.where, offsets, table, scores)

        return LinearChain(
            self.labels,
            kernel_array(batch.document_offsets),
            score,
            self.weights.transition,
            np.dtype(self._real),
        )

    def pruned(self, pruning: Pruning, templates: Templates) -> WordTypeCRF:
        """Return a CRF without the values of few patients, optionally without their text.

        `templates` become the templates of the pruned model.
        """
        weights = self.weights
        if pruning.min_patients > 1:
            weights = prune(weights, pruning.keeps(weights.values.patients))
        values = weights.values
        names = EMPTY if pruning.hash_names else values.names
        hashes, key = pruning.with_hashes(values.hashes, values.key)
        values = FeatureValues(hashes, names, pruning.known(values.patients), key)
        return WordTypeCRF(templates, self.labels, replace(weights, values=values), self._real)

    def traces(self, words: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words have values of their own, and which have parts that all have weights.

        The values of a word come from features and streams that are the word itself.
        """
        return traces_of_values(
            words,
            self.templates,
            lambda name, values: self._value_index.positions(hash_values(name, values)) >= 0,
        )

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model: arrays in NumPy's format."""
        weights, values = self.weights, self.weights.values
        arrays = {name: getattr(weights, name) for name in ("state_labels", "state", "transition")}
        arrays |= {"begins": weights.state_offsets}
        arrays |= {"hashes": values.hashes, "patients": values.patients}
        arrays |= {"names": values.names.text, "name_ends": values.names.ends}
        return {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}

    @classmethod
    def from_model(cls, model: ModelFiles, precision: str, templates: Templates) -> Self:
        """Read a CRF from the files of a model.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns.
        """
        labels = model.engine_labels()
        weights = read_weights(model, len(labels), 2 * templates.reach + 1)
        return cls(templates, labels, weights, REALS[precision])
