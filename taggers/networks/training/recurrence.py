"""The recurrence of a bidirectional LSTM over minibatches, and its gradients.

Keras runs an LSTM as a loop of small operations, whose calls take longer than their computations.
Here, what is left of an LSTM once its input is multiplied by the input weights is one compiled loop
over the positions of a minibatch, in each direction (Hochreiter and Schmidhuber 1997, with the
forget gates of Gers et al. 2000).
"""

from __future__ import annotations

import numpy as np

from corpus.kernels.compiled import Array, compiled
from taggers.networks.hyperbolic import tanh_in_place

_ONE, _HALF = np.float32(1), np.float32(0.5)


@compiled(vectorised=True)
def _activate(gates: Array, cell: Array, hidden: Array, before: Array) -> None:
    """Apply the activation functions of a token, and update its cell and its output.

    `gates` holds the input, forget, cell and output gates one after the other, and their
    activations afterwards.
    """
    units = len(cell)
    for unit in range(2 * units):
        gates[unit] *= _HALF
    for unit in range(3 * units, 4 * units):
        gates[unit] *= _HALF
    tanh_in_place(gates)
    for unit in range(2 * units):  # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2
        gates[unit] = _HALF * gates[unit] + _HALF
    for unit in range(3 * units, 4 * units):
        gates[unit] = _HALF * gates[unit] + _HALF
    for unit in range(units):
        cell[unit] = gates[units + unit] * before[unit] + gates[unit] * gates[2 * units + unit]
        hidden[unit] = cell[unit]
    tanh_in_place(hidden)
    for unit in range(units):
        hidden[unit] *= gates[3 * units + unit]


@compiled(vectorised=True)
def _derive(
    gates: Array, cell: Array, before: Array, of_hidden: Array, of_cell: Array, of_gates: Array
) -> None:
    """Compute the gradient of the gates of a token from those of its output and its cell.

    `gates` holds their activations. The gradient of the cell is replaced by that of the cell
    before.
    """
    units = len(cell)
    # The hyperbolic tangents of the cell, until they are overwritten.
    squashed = of_gates[3 * units :]
    for unit in range(units):
        squashed[unit] = cell[unit]
    tanh_in_place(squashed)
    for unit in range(units):
        into, kept = gates[unit], gates[units + unit]
        candidate, out = gates[2 * units + unit], gates[3 * units + unit]
        value = squashed[unit]
        whole = of_cell[unit] + of_hidden[unit] * out * (_ONE - value * value)
        of_gates[unit] = whole * candidate * into * (_ONE - into)
        of_gates[units + unit] = whole * before[unit] * kept * (_ONE - kept)
        of_gates[2 * units + unit] = whole * into * (_ONE - candidate * candidate)
        of_gates[3 * units + unit] = of_hidden[unit] * value * out * (_ONE - out)
        of_cell[unit] = whole * kept


@compiled(
    "float32[:, :, ::1], float32[:, :, ::1], int32[::1], float32[:, :, ::1], float32[:, :, ::1]"
)
def run_lstm(gates: Array, recurrent: Array, lengths: Array, cells: Array, outputs: Array) -> None:
    """Run a bidirectional LSTM of U units in each direction over B sequences.

    Parameters
    ----------
    gates : ndarray of float32, shape (B, T, 8 * U)
        The products of the input with the input weights, and the biases: the input, forget, cell
        and output gates, those of the forward direction first. Overwritten by their activations;
        undefined after the end of a sequence.
    recurrent : ndarray of float32, shape (2, U, 4 * U)
        The recurrent weights of each direction.
    lengths : ndarray of int32, shape (B,)
        The number of tokens of each sequence.
    cells, outputs : ndarray of float32, shape (B, T, 2 * U)
        Overwritten by the cells and the outputs; 0 after the end of a sequence.
    """
    number, places, width = gates.shape
    units = width // 8
    hidden = np.empty((number, units), np.float32)
    added = np.empty((number, 4 * units), np.float32)
    nothing = np.zeros(units, np.float32)
    for direction in range(2):
        weights = recurrent[direction]
        half = slice(direction * units, (direction + 1) * units)
        wide = slice(4 * direction * units, 4 * (direction + 1) * units)
        hidden[:] = 0
        for step in range(places):
            place = places - 1 - step if direction else step
            before = place + 1 if direction else place - 1
            np.dot(hidden, weights, added)
            for row in range(number):
                cell, output = cells[row, place, half], outputs[row, place, half]
                if place >= lengths[row]:
                    cell[:] = 0
                    output[:] = 0
                    continue
                own = gates[row, place, wide]
                for gate in range(4 * units):
                    own[gate] += added[row, gate]
                _activate(own, cell, output, cells[row, before, half] if step else nothing)
                hidden[row] = output


@compiled(
    "float32[:, :, ::1], float32[:, :, ::1], int32[::1], float32[:, :, ::1], float32[:, :, ::1], "
    "float32[:, :, ::1], float32[:, :, ::1], float32[:, :, ::1]"
)
def differentiate_lstm(
    activations: Array,
    recurrent: Array,
    lengths: Array,
    cells: Array,
    outputs: Array,
    of_outputs: Array,
    of_gates: Array,
    of_recurrent: Array,
) -> None:
    """Compute the gradients of a bidirectional LSTM.

    Parameters
    ----------
    activations, recurrent, lengths, cells, outputs
        What `run_lstm` received and computed; `activations` are its gates.
    of_outputs : ndarray of float32, shape (B, T, 2 * U)
        The gradient of the outputs.
    of_gates : ndarray of float32, shape (B, T, 8 * U)
        Overwritten by the gradient of the gates; 0 after the end of a sequence.
    of_recurrent : ndarray of float32, shape (2, U, 4 * U)
        Overwritten by the gradient of the recurrent weights.
    """
    number, places, width = activations.shape
    units = width // 8
    of_hidden = np.empty((number, units), np.float32)
    of_cell = np.empty((number, units), np.float32)
    step_gates = np.empty((number, 4 * units), np.float32)
    nothing = np.zeros(units, np.float32)
    previous = np.zeros((number, units), np.float32)
    product = np.empty((units, 4 * units), np.float32)
    for direction in range(2):
        transposed = np.ascontiguousarray(recurrent[direction].T)
        half = slice(direction * units, (direction + 1) * units)
        wide = slice(4 * direction * units, 4 * (direction + 1) * units)
        of_hidden[:] = 0
        of_cell[:] = 0
        of_recurrent[direction] = 0
        for step in range(places):
            place = step if direction else places - 1 - step
            before = place + 1 if direction else place - 1
            first = step == places - 1
            for row in range(number):
                if place >= lengths[row]:
                    step_gates[row] = 0
                    previous[row] = 0
                    of_gates[row, place, wide] = 0
                    continue
                upstream = of_outputs[row, place, half]
                for unit in range(units):
                    of_hidden[row, unit] += upstream[unit]
                _derive(
                    activations[row, place, wide],
                    cells[row, place, half],
                    nothing if first else cells[row, before, half],
                    of_hidden[row],
                    of_cell[row],
                    step_gates[row],
                )
                of_gates[row, place, wide] = step_gates[row]
                previous[row] = nothing if first else outputs[row, before, half]
            np.dot(step_gates, transposed, of_hidden)
            np.dot(previous.T, step_gates, product)
            of_recurrent[direction] += product
