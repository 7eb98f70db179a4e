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
from taggers.base import Detail, Progress
from taggers.crf import lattice
from taggers.crf.channels import Channel, Channels
from taggers.crf.lattice_decoder import Decoded, ScoreDecoder, StreamScores, word_scores
from taggers.crf.weights import (
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
from taggers.crf.word_rows import WordRows
from taggers.features.templates import Templates
from taggers.privacy.identities import traces_of_values
from taggers.privacy.pruning import Pruning
from taggers.string_table import EMPTY
from taggers.threads import one_thread

if TYPE_CHECKING:
    from taggers.model_folder import ModelFiles

#: The type of probabilities for each precision.
REALS: dict[str, type[np.floating]] = {"single": np.float32, "double": np.float64}

_ARRAYS = ("hashes", "patients", "begins", "state_labels", "state", "transition")

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
        self._scores = WordScores(weights, templates, real)
        self._channels = Channels(templates)

    def decode(
        self, batch: Batch, *, detail: Detail = "document", progress: Progress | None = None
    ) -> Decoded:
        """Compute the best labels of the tokens of a batch that has all streams."""
        words = self._scores.words
        rows = words.rows(batch.vocabulary)
        channels = self._channels.from_batch(batch)
        streams = [self._scores.stream_scores(channel) for channel in channels]
        score = word_scores(words.table, rows[batch.word_ids], streams)
        decoder = ScoreDecoder(self.weights.transition, np.dtype(self._real), self.labels)
        documents = kernel_array(batch.document_offsets)
        with one_thread():
            return decoder.decode_scores(documents, score, detail=detail, progress=progress)

    def pruned(self, pruning: Pruning, templates: Templates) -> WordTypeCRF:
        """Return a CRF without the values of few patients, optionally without their text.

        `templates` become the templates of the pruned model.
        """
        weights = self.weights
        if pruning.min_patients > 1:
            weights = prune(weights, pruning.keeps(weights.patients))
        hashes, key = pruning.with_hashes(weights.hashes, weights.key)
        weights = replace(
            weights,
            hashes=hashes,
            names=EMPTY if pruning.hash_names else weights.names,
            patients=pruning.known(weights.patients),
            key=key,
        )
        return WordTypeCRF(templates, self.labels, weights, self._real)

    def traces(self, words: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words have values of their own, and which have parts that all have weights.

        The values of a word come from features and streams that are the word itself.
        """
        return traces_of_values(words, self.templates, self._scores.has)

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model: arrays in NumPy's format."""
        arrays = {name: getattr(self.weights, name) for name in _ARRAYS}
        arrays |= {"names": self.weights.names.text, "name_ends": self.weights.names.ends}
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


class WordScores:
    """The scores that words and streams add to the tokens around them.

    Attributes
    ----------
    words : WordRows
        The scores of words, shape (rows, offsets, labels padded), up to `KEPT` bytes. The first two
        rows stand for the begin and the end of a document.
    """

    def __init__(self, weights: Weights, templates: Templates, real: npt.DTypeLike) -> None:
        self._weights = weights
        self._templates = templates
        self._offsets = 2 * templates.window + 1
        self._places = middle(self._offsets, weights.offsets)
        self._value_index = HashIndex(weights.hashes, weights.key)
        self._real = real
        borders = self._added(self._value_index.positions(border_hashes())[:, None], self._places)
        self.words = WordRows(self._compute, borders, KEPT)

    def _compute(self, words: Sequence[str], scores: lattice.Reals) -> None:
        hashes = value_hashes(values_of(words, self._templates), self._templates)
        codes = self._value_index.positions(hashes.reshape(-1)).reshape(hashes.shape)
        scores[:] = self._added(codes, self._places)

    def has(self, name: str, values: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which values of a feature or stream have weights."""
        return np.asarray(self._value_index.positions(hash_values(name, values)) >= 0)

    def stream_scores(self, channel: Channel) -> StreamScores:
        """Compute the scores that the values of a stream add."""
        offsets = np.array(channel.offsets, np.int64)
        codes = self._value_index.positions(hash_values(channel.name, channel.stream.vocabulary))
        table = self._added(codes[:, None], offsets + self._weights.offsets // 2)
        return StreamScores(kernel_array(channel.stream.values), offsets, table)

    def _added(self, codes: npt.NDArray[np.int32], places: npt.NDArray[np.int64]) -> lattice.Reals:
        """Return the sums of the weights of the values in each row, at these places."""
        weights = self._weights
        table = empty_table(len(codes), len(places), weights.labels, self._real)
        where = places, weights.offsets
        add_weights(codes, *where, weights.begins, weights.state_labels, weights.state, table)
        return table
