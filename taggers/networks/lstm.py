"""A long short-term memory over packed sequences, with its gradients.

The sequences are sorted by length, so that the tokens at one place of all sequences that are long
enough are neighbours (see `taggers.crf.lattice.Packing`). A place costs one product with the
recurrent weights (Hochreiter and Schmidhuber 1997, with the forget gates of Gers et al. 2000).

Gates are in the order of Keras: input, forget, cell and output.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_ONE, _HALF = np.float32(1), np.float32(0.5)

#: Beyond this absolute value, the hyperbolic tangent is 1 in single precision.
_SATURATED = np.float32(7.9)

#: Coefficients of x P(x²) / Q(x²), the minimax approximation of tanh(x) up to `_SATURATED`, with a
#: relative error of 6e-9 before rounding: the largest of the relative errors at 4,000 Chebyshev
#: nodes is as small as possible.
_P0, _P1, _P2, _P3, _P4 = map(
    np.float32,
    (
        0.9999999943496477,
        0.13450623127266648,
        0.0035789950764524374,
        2.202329626895227e-05,
        1.54280462225179e-08,
    ),
)
_Q1, _Q2, _Q3, _Q4 = map(
    np.float32,
    (0.46783951128129847, 0.026192249506468198, 0.00034236555780285194, 8.598809562987777e-07),
)


@compiled("float32[::1]", vectorised=True)
def tanh_in_place(values: Array) -> None:
    """Replace values by their hyperbolic tangents, with an absolute error of about 4e-7."""
    for index in range(len(values)):
        x = values[index]
        x = -_SATURATED if x < -_SATURATED else x
        x = _SATURATED if x > _SATURATED else x
        z = x * x
        p = (((z * _P4 + _P3) * z + _P2) * z + _P1) * z + _P0
        q = (((z * _Q4 + _Q3) * z + _Q2) * z + _Q1) * z + _ONE
        values[index] = x * p / q


@compiled(vectorised=True)
def _activate(gates: Array, cell: Array, hidden: Array) -> None:
    """Apply the activation functions of a token, and update its cell and its output."""
    units = len(cell)
    for unit in range(units):  # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2
        gates[unit] *= _HALF
        gates[units + unit] *= _HALF
        gates[3 * units + unit] *= _HALF
    tanh_in_place(gates)
    for unit in range(units):
        gates[unit] = _HALF * gates[unit] + _HALF
        gates[units + unit] = _HALF * gates[units + unit] + _HALF
        gates[3 * units + unit] = _HALF * gates[3 * units + unit] + _HALF
        cell[unit] = gates[units + unit] * cell[unit] + gates[unit] * gates[2 * units + unit]
        hidden[unit] = cell[unit]
    tanh_in_place(hidden)
    for unit in range(units):
        hidden[unit] *= gates[3 * units + unit]


@compiled(
    "UniTuple(float32[:, ::1], 2), UniTuple(int32[::1], 2), float32[:, ::1], int64[::1], boolean, "
    "float32[:, ::1], float32[:, ::1]"
)
def run_lstm(
    tables: tuple[Array, Array],
    rows: tuple[Array, Array],
    recurrent: Array,
    steps: Array,
    reverse: bool,
    outputs: Array,
    states: Array,
) -> None:
    """Run an LSTM of U units over M packed tokens in one direction.

    Parameters
    ----------
    tables : pair of ndarray of float32, shape (rows, 8 * U)
        What a word and a context add to the gates of the forward and of the backward direction.
    rows : pair of ndarray of int32, shape (M,)
        The row of each packed token in these tables.
    recurrent : ndarray of float32, shape (U, 4 * U)
        The recurrent weights of this direction.
    steps : ndarray of int64, shape (T + 1,)
        Tokens ``steps[t]`` to ``steps[t + 1]`` are at place t of their sequences.
    reverse : bool
        Whether sequences are read from their ends.
    outputs : ndarray of float32, shape (M, 2 * U)
        The half of this direction is overwritten.
    states : ndarray of float32, shape (M, 5 * U) or (0, 5 * U)
        Overwritten by the activations of the gates and by the cells; without rows, they are not
        kept.
    """
    (word_table, context_table), (words, contexts) = tables, rows
    units, sequences = len(recurrent), steps[1] - steps[0]
    side, half = (4 * units, units) if reverse else (0, 0)
    hidden = np.zeros((sequences, units), np.float32)
    cells = np.zeros((sequences, units), np.float32)
    gates = np.empty((sequences, 4 * units), np.float32)
    for step in range(len(steps) - 1):
        place = len(steps) - 2 - step if reverse else step
        first, active = steps[place], steps[place + 1] - steps[place]
        np.dot(hidden[:active], recurrent, gates[:active])
        for row in range(active):
            token, own = first + row, gates[row]
            word, context = word_table[words[token]], context_table[contexts[token]]
            for gate in range(4 * units):
                own[gate] += word[side + gate] + context[side + gate]
            _activate(own, cells[row], hidden[row])
            outputs[token, half : half + units] = hidden[row]
            if len(states):
                states[token, : 4 * units] = own
                states[token, 4 * units :] = cells[row]


def differentiate_lstm(
    states: Floats,
    recurrent: Floats,
    steps: Indices,
    outputs: Floats,
    of_outputs: Floats,
    *,
    reverse: bool = False,
) -> tuple[Floats, Floats]:
    """Compute the gradients of an LSTM by backpropagation through time.

    Parameters
    ----------
    states, recurrent, steps, outputs, reverse
        As in `run_lstm`.
    of_outputs : ndarray of float32, shape (M, U)
        The gradient of the outputs.

    Returns
    -------
    of_gates : ndarray of float32, shape (M, 4, U)
        The gradient of the gates before their activation functions.
    of_recurrent : ndarray of float32, shape (U, 4 * U)
        The gradient of the recurrent weights.
    """
    activations = states.reshape(len(states), 5, -1)
    cells, of_hidden = activations[:, 4], of_outputs.copy()
    of_gates, of_cells = np.empty_like(activations[:, :4]), np.zeros_like(of_hidden)
    of_recurrent = np.zeros_like(recurrent)
    for here, before in reversed(list(_places(steps, reverse=reverse))):
        into, kept, candidate, out, cell = activations[here].swapaxes(0, 1)
        own, going = of_gates[here], before.stop - before.start
        squashed, of_output, of_cell = np.tanh(cell), of_hidden[here], of_cells[here]
        of_cell += of_output * out * (1 - squashed * squashed)
        own[:, 0] = of_cell * candidate * into * (1 - into)
        own[going:, 1] = 0
        own[:going, 1] = (of_cell * kept * (1 - kept))[:going] * cells[before]
        own[:, 2] = of_cell * into * (1 - candidate * candidate)
        own[:, 3] = of_output * squashed * out * (1 - out)
        of_cells[before] = (of_cell * kept)[:going]
        joined = own[:going].reshape(going, 4 * len(recurrent))
        of_hidden[before] += joined @ recurrent.T
        of_recurrent += outputs[before].T @ joined
    return of_gates, of_recurrent


def _places(steps: Indices, *, reverse: bool) -> Iterator[tuple[slice, slice]]:
    """Yield the tokens at each place, and the preceding tokens of those that have one."""
    places = [slice(*ends) for ends in zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True)]
    before = slice(0, 0)
    for here in reversed(places) if reverse else places:
        going = min(before.stop - before.start, here.stop - here.start)
        yield here, slice(before.start, before.start + going)
        before = here
