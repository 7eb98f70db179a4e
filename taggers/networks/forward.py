"""The scores of labels that a trained network computes, without the library that trained it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import kernel_array
from corpus.ragged import offsets_of
from corpus.streams import number_used
from taggers.crf import lattice
from taggers.networks.heads import Heads
from taggers.networks.numbering import Codes
from taggers.networks.recurrence import by_panel, convolve_characters, padded, run_lstm
from taggers.networks.tiles import panels
from taggers.networks.word_inputs import WordArrays, WordInputs
from taggers.templates import Templates

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

#: The directions of an LSTM, as the prefixes of the names of their weights.
DIRECTIONS = ("forward", "backward")

#: Memory for the cached gates of words, in bytes.
KEPT = 256 * 2**20

_PIECE = 1 << 13  # words whose gates are computed at once


class Forward:
    """The forward computation of a network.

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        The weights of the network (see `taggers.networks.training.keras_network.Network.weights`).
    inputs : WordInputs
        The inputs of the network.
    templates : Templates
        Its features and streams.
    """

    def __init__(self, weights: Weights, inputs: WordInputs, templates: Templates) -> None:
        self._weights = weights
        self._inputs = inputs
        self._templates = templates
        self._lstm = LSTM.of(weights)
        self._heads = Heads(weights, self._lstm.columns, self._lstm.outputs)
        self._index: dict[str, int] = {}
        self._gates = np.zeros((0, self._lstm.width), np.float32)
        self._clear()

    def _clear(self) -> None:
        self._index = {}
        self._gates = np.empty((1024, self._lstm.width), np.float32)
        border = word_vectors(self._weights, self._inputs.border())
        self._gates[:1] = self._lstm.gates(border)

    @property
    def gates(self) -> Floats:
        """What words add to the gates of the LSTM, shape (rows, 8 * P); row 0 is a border."""
        return self._gates

    def rows(self, types: Sequence[str]) -> Codes:
        """Return the row of each word in `gates`; rows of new words are added to it."""
        new = self._new(types)
        if new and (len(self._index) + len(new)) * self._gates[0].nbytes > KEPT:
            self._clear()
            new = self._new(types)
        used = len(self._index) + 1
        self._grow(used + len(new))
        for first in range(0, len(new), _PIECE):
            words = new[first : first + _PIECE]
            row = used + first
            found = word_vectors(self._weights, self._inputs.of(words, self._templates))
            self._gates[row : row + len(words)] = self._lstm.gates(found)
            self._index.update(zip(words, range(row, row + len(words)), strict=True))
        return np.fromiter(map(self._index.__getitem__, types), np.int32, len(types))

    def _new(self, types: Sequence[str]) -> list[str]:
        """Return the distinct words without a row."""
        return [word for word in dict.fromkeys(types) if word not in self._index]

    def _grow(self, rows: int) -> None:
        if rows > len(self._gates):
            more = np.empty((max(rows, 2 * len(self._gates)), self._lstm.width), np.float32)
            more[: len(self._gates)] = self._gates
            self._gates = more

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
        table : ndarray of float32, shape (rows, 8 * P)
            One row for each combination of values that occurs.
        """
        if not codes.shape[1] or not len(codes):
            return np.zeros(len(codes), np.int32), np.zeros((1, self._lstm.width), np.float32)
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
            The rows of each token in `gates` and in `context_table`.
        context_table : ndarray of float32, shape (rows, 8 * P)
            See `contexts`.
        scores : ndarray of float32, shape (packed tokens, L)
            Overwritten; L is the number of labels, padded.
        """
        hidden = self._lstm.run(packing, words, contexts, self._gates, context_table)
        self._heads.score(hidden, scores)
        labels = len(self._weights["start"])
        begins = slice(0, packing.steps[1])
        scores[begins, :labels] += self._weights["start"]
        ends = packing.steps[packing.lengths - 1] + np.arange(len(packing.lengths))
        scores[ends, :labels] += self._weights["end"]


class LSTM:
    """A bidirectional LSTM with U units in each direction, P with padding.

    Its input is the joined vectors of a word and of its context. The weights of gates with a
    sigmoid are halved, and gates are ordered by panel (see `taggers.networks.recurrence`).

    Parameters
    ----------
    kernels : sequence of ndarray of float32, shape (D, 4 * U)
        The input weights of each direction.
    biases : sequence of ndarray of float32, shape (4 * U,)
    recurrent : sequence of ndarray of float32, shape (U, 4 * U)
        The recurrent weights of each direction.
    """

    def __init__(
        self, kernels: Sequence[Floats], biases: Sequence[Floats], recurrent: Sequence[Floats]
    ) -> None:
        units = len(recurrent[0])
        half = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], np.float32), units)
        self._kernel = np.hstack([by_panel(each * half) for each in kernels])
        self._bias = np.concatenate([by_panel(each * half) for each in biases])
        self._recurrent = [panels(by_panel(each * half)) for each in recurrent]
        #: The columns of the outputs that are not padding, those of the forward direction first.
        self.columns = np.concatenate([np.arange(units), padded(units) + np.arange(units)])

    @classmethod
    def of(cls, weights: Weights, prefix: str = "") -> LSTM:
        """Return the LSTM of weights whose names have a prefix."""
        kernels, biases, recurrent = (
            [weights[f"{prefix}{direction}_{name}"] for direction in DIRECTIONS]
            for name in ("input", "bias", "recurrent")
        )
        return cls(kernels, biases, recurrent)

    @property
    def width(self) -> int:
        """The number of gates of both directions, 8 * P."""
        return len(self._bias)

    @property
    def outputs(self) -> int:
        """The number of columns of the outputs, 2 * P."""
        return self.width // 4

    def gates(self, vectors: Floats) -> Floats:
        """Compute what the first part of the input adds to the gates, with the biases."""
        found: Floats = vectors @ self._kernel[: vectors.shape[1]]
        found += self._bias
        return found

    def context_gates(self, vectors: Floats) -> Floats:
        """Compute what the last part of the input adds to the gates."""
        found: Floats = vectors @ self._kernel[len(self._kernel) - vectors.shape[1] :]
        return found

    def run(
        self,
        packing: lattice.Packing,
        words: Codes,
        contexts: Codes,
        word_table: Floats,
        context_table: Floats,
    ) -> Floats:
        """Compute the outputs of packed tokens, shape (packed tokens, 2 * P)."""
        outputs = np.empty((packing.tokens, self.outputs), np.float32)
        tables = word_table, kernel_array(context_table)
        for recurrent, reverse in zip(self._recurrent, (False, True), strict=True):
            where = packing.first, packing.steps
            run_lstm(words, contexts, *where, *tables, recurrent, reverse, outputs)
        return outputs


def word_vectors(weights: Weights, arrays: WordArrays) -> Floats:
    """Compute the vectors of words, which are the part of the input that depends on them alone.

    Parameters
    ----------
    weights : mapping of str to ndarray
        The weights of the network.
    arrays : WordArrays
        The inputs of V words.

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
    """Compute the vectors of words by the convolution over their characters."""
    table = weights["characters"] @ weights["filters"]  # (3, codes, F)
    outputs = np.empty((len(characters), table.shape[2]), np.float32)
    convolve_characters(
        kernel_array(characters), kernel_array(table), weights["filters_bias"], outputs
    )
    return outputs


def _read_by_lstm(weights: Weights, characters: Codes) -> Floats:
    """Compute the vectors of words by the last outputs of an LSTM over their characters."""
    lstm = LSTM.of(weights, "characters_")
    lengths = (characters > 0).sum(axis=1)
    codes = kernel_array(characters[characters > 0])
    offsets = offsets_of(lengths)
    table = kernel_array(lstm.gates(weights["characters"]))
    none = np.zeros(len(codes), np.int32), np.zeros((1, lstm.width), np.float32)
    found = np.zeros((len(characters), len(lstm.columns)), np.float32)
    forward, backward = np.split(lstm.columns, 2)
    for packing in lattice.pack(offsets, _PIECE):
        outputs = lstm.run(packing, codes, none[0], table, none[1])
        last = packing.steps[packing.lengths - 1] + np.arange(len(packing.lengths))
        ends = outputs[last][:, forward], outputs[: len(last)][:, backward]
        found[packing.documents] = np.hstack(ends)
    return found
