"""The probabilities of the classes of n-grams, without the library that trained the network.

What a word adds to a convolution depends on the word alone, and what a context adds to the hidden
layer depends on the place of the n-gram's border. Both are computed once, not for each n-gram.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from taggers.crf.word_cache import WordCache
from taggers.features.templates import Templates
from taggers.networks.forward import KEPT, context_vectors, word_vectors
from taggers.networks.vocabulary import Codes
from taggers.networks.word_inputs import WordInputs
from taggers.ngrams.windows import CHANNELS, windows_of

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_PIECE = 64 * 2**20  # bytes of what is gathered for n-grams at once


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What the tokens of a batch add to the convolutions.

    Parameters
    ----------
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of the tokens of documents.
    words, contexts : ndarray of int32, shape (N + 1,)
        The row of each token in the tables; the last one is that of a border.
    word_table, context_table : ndarray of float32, shape (rows, channels, 2, F)
        What a word, or a combination of streams, adds to each filter, as the first and the
        second of a pair.
    """

    document_offsets: Indices
    words: Codes
    word_table: Floats
    contexts: Codes
    context_table: Floats


class Forward:
    """The forward computation of a network.

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        The weights of `taggers.ngrams.training.Network`.
    inputs, templates : WordInputs and Templates
        The inputs of the network, and its features.
    length : int
        The words of a channel.
    """

    def __init__(
        self,
        weights: Mapping[str, Floats],
        inputs: WordInputs,
        templates: Templates,
        length: int,
    ) -> None:
        self._weights, self._inputs, self._templates = weights, inputs, templates
        self._length = length
        self._filters = np.stack([weights[f"{name}_filters"] for name in CHANNELS])
        self._biases = [weights[f"{name}_bias"] for name in CHANNELS]
        self._hidden = np.split(weights["hidden_kernel"], len(CHANNELS))
        border = self._parts(word_vectors(weights, inputs.border()))
        self._words = WordCache(self._parts_of, border, KEPT)

    def _parts_of(self, words: Sequence[str], parts: Floats) -> None:
        arrays = self._inputs.arrays(words, self._templates)
        parts[:] = self._parts(word_vectors(self._weights, arrays))

    def _parts(self, vectors: Floats) -> Floats:
        """Return what words add to the convolutions, shape (V, channels, first or second, F)."""
        parts: Floats = np.einsum(
            "vd,csdf->vcsf", vectors, self._filters[:, :, : vectors.shape[1]], optimize=True
        )
        return parts

    def prepared(self, batch: Batch) -> Prepared:
        """Compute what each token of a batch adds to the convolutions, once for all n-grams."""
        # The last row is that of a border.
        words = np.append(self._words.rows(batch.vocabulary)[batch.word_ids], np.int32(0))
        codes = self._inputs.stream_codes(batch)
        codes = np.concatenate([codes, np.zeros((1, codes.shape[1]), np.int32)])
        contexts, vectors = context_vectors(self._weights, self._inputs, codes)
        filters = self._filters[:, :, self._filters.shape[2] - vectors.shape[1] :]
        table = np.einsum("vd,csdf->vcsf", vectors, filters, optimize=True)
        return Prepared(batch.document_offsets, words, self._words.table, contexts, table)

    @property
    def piece(self) -> int:
        """The n-grams whose probabilities are computed at once, which limits the memory."""
        units = len(self._weights["hidden_bias"])
        of_ngram = 2 * self._length * self._filters.shape[3] + len(CHANNELS) * units
        return max(1, _PIECE // (4 * int(of_ngram)))

    def probabilities(
        self, prepared: Prepared, first: Indices, last: Indices
    ) -> npt.NDArray[np.float64]:
        """Compute the probabilities of the classes of n-grams, shape (K, C + 1).

        The first class is that of n-grams that are no entity.
        """
        begins, of_left = np.unique(first, return_inverse=True)
        finishes, of_right = np.unique(last, return_inverse=True)
        left, own, right = range(len(CHANNELS))
        hidden = self._added(prepared, begins, begins, left)[of_left]
        hidden += self._added(prepared, finishes, finishes, right)[of_right]
        hidden += self._added(prepared, first, last, own)
        hidden += self._weights["hidden_bias"]
        np.maximum(hidden, 0, out=hidden)
        scores = hidden @ self._weights["classes_kernel"] + self._weights["classes_bias"]
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        probabilities: npt.NDArray[np.float64] = scores.astype(np.float64)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _added(self, prepared: Prepared, first: Indices, last: Indices, channel: int) -> Floats:
        """Return what a channel of n-grams adds to the hidden layer, shape (K, units)."""
        tokens = windows_of(first, last, prepared.document_offsets, self._length)[:, channel]
        parts = prepared.word_table[prepared.words[tokens], channel]  # a border, -1, is the last
        if self._inputs.streams:
            parts = parts + prepared.context_table[prepared.contexts[tokens], channel]
        pairs = parts[:, :-1, 0] + parts[:, 1:, 1]
        pairs = pairs[:, : pairs.shape[1] // 2 * 2].reshape(len(pairs), -1, 2, pairs.shape[2])
        pooled = np.maximum(pairs.max(axis=2) + self._biases[channel], 0)
        added: Floats = pooled.reshape(len(pooled), -1) @ self._hidden[channel]
        return added
