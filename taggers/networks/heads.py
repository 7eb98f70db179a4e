"""The layers after the BiLSTM: the scores of labels, and the head whose hidden layer they read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from taggers.crf import lattice
from taggers.networks.hyperbolic import tanh_in_place
from taggers.networks.tiles import PANEL, ROWS, add_product, panels

Floats = npt.NDArray[np.float32]

_BLOCK = 8 * ROWS  # rows whose products are in the nearest cache


@compiled(
    "float32[:, ::1], float32[:, :, ::1], float32[:, ::1], float32[:, :, ::1], "
    "float32[:, :, :, ::1], float32[:, ::1], float32[:, ::1]"
)
def _score(
    outputs: Array,
    hidden_weights: Array,
    hidden_bias: Array,
    weights: Array,
    weights_of_hidden: Array,
    bias: Array,
    scores: Array,
) -> None:
    """Compute scores from the outputs of the LSTM, and from a hidden layer of them.

    Weights and biases are divided into panels (see `taggers.networks.tiles.panels`), and so is the
    hidden layer: each of its panels has its own weights in the scores. It may have none.
    """
    columns = scores.shape[1]
    hidden = np.empty((len(hidden_weights), _BLOCK, PANEL), np.float32)
    sums = np.empty((_BLOCK, PANEL), np.float32)
    for first in range(0, len(outputs), _BLOCK):
        last = min(first + _BLOCK, len(outputs))
        for layer in range(len(hidden_weights)):
            hidden[layer] = hidden_bias[layer]
            add_product(outputs, first, last, hidden_weights, layer, hidden[layer])
            tanh_in_place(hidden[layer].reshape(-1))
        for panel in range(len(weights)):
            sums[:] = bias[panel]
            add_product(outputs, first, last, weights, panel, sums)
            for layer in range(len(hidden_weights)):
                of_layer = weights_of_hidden[layer]
                add_product(hidden[layer], 0, last - first, of_layer, panel, sums)
            begin = panel * PANEL
            for row in range(last - first):
                for column in range(begin, min(begin + PANEL, columns)):
                    scores[first + row, column] = sums[row, column - begin]


class Heads:
    """The layers after the BiLSTM.

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        The weights of the network.
    columns : ndarray of int64, shape (2 * U,)
        The columns of the outputs of the LSTM that its units have; the others are padding.
    width : int
        The columns of the outputs of the LSTM.
    """

    def __init__(self, weights: Mapping[str, Floats], columns: npt.NDArray[np.int64], width: int):
        kernel, bias = weights["scores_kernel"], weights["scores_bias"]
        padding = -len(bias) % lattice.LANES
        kernel = np.pad(kernel, ((0, 0), (0, padding)))
        bias = np.append(bias, np.full(padding, lattice.NEVER, np.float32))
        hidden = weights.get("sensitive_kernel", np.zeros((len(columns), 0), np.float32))
        hidden_bias = panels(weights.get("sensitive_bias", np.zeros(0, np.float32))[None])
        of_hidden = np.zeros((len(hidden_bias) * PANEL, kernel.shape[1]), np.float32)
        of_hidden[: hidden.shape[1]] = kernel[len(columns) :]
        layers = [panels(part) for part in np.split(of_hidden, len(hidden_bias) or 1)]
        self._layers = (
            panels(_placed(hidden, columns, width)),
            np.ascontiguousarray(hidden_bias[:, 0]),
            panels(_placed(kernel[: len(columns)], columns, width)),
            np.stack(layers),
            np.ascontiguousarray(panels(bias[None])[:, 0]),
        )

    def score(self, outputs: Floats, scores: lattice.Reals) -> None:
        """Compute the scores of labels and of padding.

        Parameters
        ----------
        outputs : ndarray of float32, shape (N, width)
            The outputs of the LSTM.
        scores : ndarray of float32, shape (N, P)
            Overwritten. The score of the labels that pad the others is `lattice.NEVER`.
        """
        _score(outputs, *self._layers, scores)


def _placed(kernel: Floats, rows: npt.NDArray[np.int64], height: int) -> Floats:
    """Return a matrix with the rows of a kernel at their places, and zeros elsewhere."""
    placed = np.zeros((height, kernel.shape[1]), np.float32)
    placed[rows] = kernel
    return placed
