"""The scores of labels that a trained network computes, without the library that trained it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled, kernel_array
from corpus.ragged import number_used, offsets_of
from taggers.crf import lattice
from taggers.crf.word_cache import WordCache
from taggers.features.templates import Templates
from taggers.networks.lstm import run_lstm, tanh_fraction
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
    words : WordCache
        What words add to the gates of the LSTM, shape (rows, 8 * U); row 0 is a border.
    """

    def __init__(self, weights: Weights, inputs: WordInputs, templates: Templates) -> None:
        self._weights = weights
        self._inputs = inputs
        self._templates = templates
        self._lstm = BiLSTM(weights)
        kernel, bias = weights["scores_kernel"], weights["scores_bias"]
        padding = -len(bias) % lattice.LANES
        kernel = np.pad(kernel, ((0, 0), (0, padding)))
        bias = np.pad(bias, (0, padding), constant_values=np.float32(lattice.NEVER))
        width, nothing = self._lstm.width, np.zeros((self._lstm.width, 0), np.float32)
        hidden_kernel = weights.get("sensitive_kernel", nothing)
        # The scores of the outputs of the LSTM, and the hidden layer, are one product.
        self._joined = np.hstack([kernel[:width], hidden_kernel]).reshape(2, width // 2, -1)
        self._bias = np.append(bias, weights.get("sensitive_bias", nothing[0]))
        self._of_hidden = kernel[width:]
        border = self._lstm.gates(word_vectors(weights, inputs.border()))
        self.words = WordCache(self._gates_of, border, KEPT)

    def _gates_of(self, words: Sequence[str], gates: Floats) -> None:
        vectors = word_vectors(self._weights, self._inputs.arrays(words, self._templates))
        self._lstm.gates(vectors, gates)

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
        rows, vectors = context_vectors(self._weights, self._inputs, codes)
        return rows, self._lstm.context_gates(vectors)

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
        tokens = packing.positions
        tables = self.words.table, kernel_array(context_table)
        hidden = self._lstm.run(packing.steps, tables, (words[tokens], contexts[tokens]))
        forward, backward = hidden @ self._joined
        join_directions(forward, backward, self._bias, scores)
        scores += forward[:, scores.shape[1] :] @ self._of_hidden
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

    @property
    def width(self) -> int:
        """The number of outputs of both directions, 2 * U."""
        return 2 * len(self._recurrent[0])

    def gates(self, vectors: Floats, into: Floats | None = None) -> Floats:
        """Compute what the first part of the input adds to the gates.

        Parameters
        ----------
        vectors : ndarray of float32, shape (V, D)
        into : ndarray of float32, shape (V, 8 * U), optional
            Where to store the result.

        Returns
        -------
        ndarray of float32, shape (V, 8 * U)
            The gates of the forward and of the backward direction.
        """
        gates: Floats = np.matmul(vectors, self._kernel[: vectors.shape[1]], out=into)
        return gates

    def context_gates(self, vectors: Floats) -> Floats:
        """Compute what the last part of the input adds to the gates, with the biases."""
        gates: Floats = vectors @ self._kernel[len(self._kernel) - vectors.shape[1] :]
        gates += self._bias
        return gates

    def run(
        self,
        steps: npt.NDArray[np.int64],
        tables: tuple[Floats, Floats],
        rows: tuple[Codes, Codes],
    ) -> Floats:
        """Compute the outputs of each direction for packed tokens, shape (2, M, U)."""
        outputs, no_states = (
            np.empty((*shape, self.width // 2), np.float32) for shape in ((2, len(rows[0])), (5, 0))
        )
        for reverse, recurrent in enumerate(self._recurrent):
            run_lstm(tables, rows, recurrent, steps, bool(reverse), outputs[reverse], no_states)
        return outputs


@compiled("float32[:, ::1], float32[:, ::1], float32[::1], float32[:, ::1]", vectorised=True)
def join_directions(forward: Array, backward: Array, bias: Array, scores: Array) -> None:
    """Compute the scores of labels, and in place of `forward` the hidden layer behind them."""
    labels = scores.shape[1]
    for row in range(len(scores)):
        own, other = forward[row], backward[row]
        _sum(own[:labels], other[:labels], bias[:labels], scores[row])
        _sum_tangent(own[labels:], other[labels:], bias[labels:])


@compiled(vectorised=True)
def _sum(forward: Array, backward: Array, bias: Array, scores: Array) -> None:
    for label in range(len(scores)):
        scores[label] = forward[label] + backward[label] + bias[label]


@compiled(vectorised=True)
def _sum_tangent(forward: Array, backward: Array, bias: Array) -> None:
    for unit in range(len(forward)):
        tangent, by = tanh_fraction(forward[unit] + backward[unit] + bias[unit])
        forward[unit] = tangent / by


def context_vectors(weights: Weights, inputs: WordInputs, codes: Codes) -> tuple[Codes, Floats]:
    """Compute the vectors of the streams of tokens.

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        The weights of a network.
    inputs : WordInputs
        Its inputs.
    codes : ndarray of int32, shape (N, S)
        The code of each stream.

    Returns
    -------
    rows : ndarray of int32, shape (N,)
        The row of each token in the table.
    table : ndarray of float32, shape (rows, D)
        One row for each combination of values that occurs.
    """
    tables = [weights[f"streams/{name}"] for name in inputs.streams]
    rows, parts = np.zeros(len(codes), np.int32), [np.zeros((1, 0), np.float32)]
    for column, table in enumerate(tables):
        # The combinations are renumbered after each stream, so that numbers cannot overflow.
        joint = rows.astype(np.int64) * len(table) + codes[:, column]
        used, rows = number_used(joint, len(parts[0]) * len(table))
        before, own = np.divmod(used, len(table))
        parts = [*(part[before] for part in parts), table[own]]
    return rows, np.hstack(parts)


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
    tables = weights["characters"] @ weights["filters"]  # each of shape (codes, F)
    tables[1] += weights["filters_bias"]
    tables[:, 0] = 0  # there is no character before the first and after the last one
    outputs = np.empty((len(characters), tables.shape[2]), np.float32)
    convolve(np.pad(characters, ((0, 0), (1, 1))), kernel_array(tables), outputs)
    return outputs


@compiled("int32[:, ::1], float32[:, :, ::1], float32[:, ::1]", vectorised=True)
def convolve(characters: Array, tables: Array, outputs: Array) -> None:
    """Compute the largest sum of what each character and its neighbours add to each filter.

    Words begin with the code 0 and end at the next one.
    """
    for word in range(len(characters)):
        codes, most = characters[word], outputs[word]
        for place in range(1, len(codes) - 1):
            if place > 1 and not codes[place]:
                break
            before, own = tables[0, codes[place - 1]], tables[1, codes[place]]
            after = tables[2, codes[place + 1]]
            for index in range(len(most)):
                value = before[index] + own[index] + after[index]
                most[index] = value if place == 1 else max(most[index], value)


def _read_by_lstm(weights: Weights, characters: Codes) -> Floats:
    """Compute the last outputs of an LSTM over the characters of each word; 0 for none."""
    lstm = BiLSTM(weights, "characters_")
    present = characters > 0
    offsets = offsets_of(present.sum(axis=1))
    codes, table = characters[present], lstm.gates(weights["characters"])
    context = lstm.context_gates(np.zeros((1, 0), np.float32))
    outputs = np.zeros((len(characters), lstm.width), np.float32)
    for packing in lattice.pack(offsets, _PIECE):
        rows = codes[packing.positions]
        forward, backward = lstm.run(packing.steps, (table, context), (rows, np.zeros_like(rows)))
        last = _lasts(packing)
        outputs[packing.documents] = np.hstack([forward[last], backward[: len(last)]])
    return outputs


def _lasts(packing: lattice.Packing) -> npt.NDArray[np.int64]:
    """Return the last packed token of each document."""
    return packing.steps[packing.lengths - 1] + np.arange(len(packing.lengths))
