"""The scores of labels that a trained network computes, without the library that trained it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import kernel_array
from corpus.ragged import number_used, offsets_of, owners_of
from taggers.crf import lattice
from taggers.crf.word_rows import WordRows
from taggers.features.templates import Templates
from taggers.networks.lstm import run_lstm
from taggers.networks.network_sizes import DIRECTIONS
from taggers.networks.vocabulary import Codes
from taggers.networks.word_inputs import WordArrays, WordInputs

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

#: Memory for the cached gates of words, in bytes.
KEPT = 256 * 2**20

_PIECE = 1 << 12  # characters that an LSTM reads at once


class Forward:
    """The forward computation of a network.

    The product of the input weights with the vector of a word depends on the word alone, so that
    it is computed once per word type and kept between batches.

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        The weights of `taggers.networks.training.keras_network.Network.weights`.
    inputs, templates : WordInputs and Templates
        The inputs of the network, and its features and streams.

    Attributes
    ----------
    words : WordRows
        What words add to the gates of the LSTM, shape (rows, 8 * U); row 0 is a border.
    """

    def __init__(self, weights: Weights, inputs: WordInputs, templates: Templates) -> None:
        self._weights = weights
        self._inputs = inputs
        self._templates = templates
        self._lstm = BiLSTM(weights)
        kernel, bias = weights["scores_kernel"], weights["scores_bias"]
        padding = -len(bias) % lattice.LANES
        self._layers = (
            weights.get("sensitive_kernel", np.zeros((0, 0), np.float32)),
            weights.get("sensitive_bias", np.zeros(0, np.float32)),
            np.pad(kernel, ((0, 0), (0, padding))),
            np.pad(bias, (0, padding), constant_values=np.float32(lattice.NEVER)),
        )
        border = self._lstm.gates(word_vectors(weights, inputs.border()))
        self.words = WordRows(self._gates_of, border, KEPT)

    def _gates_of(self, words: Sequence[str]) -> Floats:
        vectors = word_vectors(self._weights, self._inputs.arrays(words, self._templates))
        return self._lstm.gates(vectors)

    def contexts(self, codes: Codes) -> tuple[Codes, Floats]:
        """Compute what the streams of tokens add to the gates of the LSTM.

        Parameters
        ----------
        codes : ndarray of int32, shape (N, S)
            The code of each stream.

        Returns
        -------
        rows : ndarray of int32, shape (N,)
            The row of each token in the table.
        table : ndarray of float32, shape (rows, 8 * U)
            One row for each combination of values that occurs.
        """
        tables = [self._weights[f"streams/{name}"] for name in self._inputs.streams]
        rows, parts = np.zeros(len(codes), np.int32), [np.zeros((1, 0), np.float32)]
        for column, table in enumerate(tables):
            # The combinations are renumbered after each stream, so that numbers cannot overflow.
            joint = rows.astype(np.int64) * len(table) + codes[:, column]
            used, rows = number_used(joint, len(parts[0]) * len(table))
            before, own = np.divmod(used, len(table))
            parts = [*(part[before] for part in parts), table[own]]
        return rows, self._lstm.context_gates(np.hstack(parts))

    def score(
        self,
        packing: lattice.Packing,
        words: Codes,
        contexts: Codes,
        context_table: Floats,
        scores: lattice.Reals,
    ) -> None:
        """Compute the scores of the labels of packed tokens.

        Parameters
        ----------
        packing : Packing
            The documents.
        words, contexts : ndarray of int32, shape (N,)
            The rows of each token in `words` and in `context_table`.
        context_table : ndarray of float32, shape (rows, 8 * U)
            See `contexts`.
        scores : ndarray of float32, shape (packed tokens, P)
            Overwritten; P is the number of labels with padding, whose score is `lattice.NEVER`.
        """
        tokens = _positions(packing)
        tables = self.words.table, kernel_array(context_table)
        hidden = self._lstm.run(packing.steps, tables, (words[tokens], contexts[tokens]))
        hidden_kernel, hidden_bias, kernel, bias = self._layers
        width = hidden.shape[1]
        np.matmul(hidden, kernel[:width], out=scores)
        if len(hidden_bias):
            sensitive = hidden @ hidden_kernel
            sensitive += hidden_bias
            scores += np.tanh(sensitive, out=sensitive) @ kernel[width:]
        scores += bias
        start, end = self._weights["start"], self._weights["end"]
        scores[: packing.steps[1], : len(start)] += start
        scores[_lasts(packing), : len(end)] += end


class BiLSTM:
    """A bidirectional LSTM with U units in each direction.

    Its input is the joined vectors of a word and of its context.

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        The weights of the network.
    prefix : str
        The prefix of the names of the weights of the LSTM.
    """

    def __init__(self, weights: Weights, prefix: str = "") -> None:
        kernels, biases, recurrent = (
            [weights[f"{prefix}{direction}_{name}"] for direction in DIRECTIONS]
            for name in ("input", "bias", "recurrent")
        )
        self._kernel = np.hstack(kernels)
        self._bias = np.concatenate(biases)
        self._recurrent = [kernel_array(weights) for weights in recurrent]

    def gates(self, vectors: Floats) -> Floats:
        """Compute what the first part of the input adds to the gates, with the biases.

        Parameters
        ----------
        vectors : ndarray of float32, shape (V, D)

        Returns
        -------
        ndarray of float32, shape (V, 8 * U)
            The gates of the forward and of the backward direction.
        """
        gates: Floats = vectors @ self._kernel[: vectors.shape[1]]
        gates += self._bias
        return gates

    def context_gates(self, vectors: Floats) -> Floats:
        """Compute what the last part of the input adds to the gates, shape (V, 8 * U)."""
        gates: Floats = vectors @ self._kernel[len(self._kernel) - vectors.shape[1] :]
        return gates

    def run(
        self,
        steps: npt.NDArray[np.int64],
        tables: tuple[Floats, Floats],
        rows: tuple[Codes, Codes],
    ) -> Floats:
        """Compute the outputs of packed tokens, shape (M, 2 * U)."""
        units = len(self._recurrent[0])
        outputs, no_states = (
            np.empty((number, width * units), np.float32)
            for number, width in ((len(rows[0]), 2), (0, 5))
        )
        for reverse, recurrent in enumerate(self._recurrent):
            run_lstm(tables, rows, recurrent, steps, bool(reverse), outputs, no_states)
        return outputs


def word_vectors(weights: Weights, arrays: WordArrays) -> Floats:
    """Compute the vectors of words, which are the part of the input that depends on them alone.

    Returns
    -------
    ndarray of float32, shape (V, D)
    """
    parts = []
    if "words" in weights:
        learned = weights["words"][arrays.numbers]
        parts.append(arrays.vectors + learned if arrays.vectors.shape[1] else learned)
    elif arrays.vectors.shape[1]:
        parts.append(arrays.vectors)
    if "characters" in weights:
        compute = _convolved if "filters" in weights else _read_by_lstm
        parts.append(compute(weights, arrays.characters))
    tables = [table for name, table in weights.items() if name.startswith("features/")]
    parts += [table[arrays.features[:, column]] for column, table in enumerate(tables)]
    return np.hstack(parts)


def _convolved(weights: Weights, characters: Codes) -> Floats:
    """Compute the largest value of each filter over the characters of each word; 0 for none."""
    before, own, after = weights["characters"] @ weights["filters"]  # each of shape (codes, F)
    before[0] = after[0] = 0  # there is no character before the first and after the last one
    present = characters > 0
    neighbours = np.pad(characters, ((0, 0), (1, 1)))
    values = before[neighbours[:, :-2][present]]
    values += own[characters[present]]
    values += after[neighbours[:, 2:][present]]
    lengths = present.sum(axis=1)
    filled = lengths > 0
    outputs = np.zeros((len(characters), values.shape[1]), np.float32)
    if len(values):
        first = (np.cumsum(lengths) - lengths)[filled]
        outputs[filled] = np.maximum.reduceat(values, first) + weights["filters_bias"]
    return outputs


def _read_by_lstm(weights: Weights, characters: Codes) -> Floats:
    """Compute the last outputs of an LSTM over the characters of each word; 0 for none."""
    lstm = BiLSTM(weights, "characters_")
    present = characters > 0
    offsets = offsets_of(present.sum(axis=1))
    codes, table = characters[present], lstm.gates(weights["characters"])
    units = table.shape[1] // 8
    outputs = np.zeros((len(characters), 2 * units), np.float32)
    for packing in lattice.pack(offsets, _PIECE):
        rows = codes[_positions(packing)]
        nothing = np.zeros_like(table[:1]), np.zeros_like(rows)
        read = lstm.run(packing.steps, (table, nothing[0]), (rows, nothing[1]))
        last = _lasts(packing)
        outputs[packing.documents] = np.hstack([read[last, :units], read[: len(last), units:]])
    return outputs


def _positions(packing: lattice.Packing) -> npt.NDArray[np.int64]:
    """Return the position of each packed token in the batch."""
    return packing.first[packing.rows] + owners_of(packing.steps)


def _lasts(packing: lattice.Packing) -> npt.NDArray[np.int64]:
    """Return the last packed token of each document."""
    return packing.steps[packing.lengths - 1] + np.arange(len(packing.lengths))
