"""A long short-term memory over packed sequences, with its gradients.

The sequences are sorted by length, so that the tokens at one place of all sequences that are long
enough are neighbours (see `taggers.crf.lattice.Packing`). A place costs one product with the
recurrent weights (Hochreiter and Schmidhuber 1997, with the forget gates of Gers et al. 2000).

Gates are in the order of Keras: input, forget, cell and output.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

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


@compiled(vectorised=True)
def tanh_fraction(x: Any) -> tuple[Any, Any]:
    """Return a fraction that is the hyperbolic tangent, with an absolute error of about 4e-7."""
    x = x if x < _SATURATED else _SATURATED  # these comparisons become one instruction each
    x = x if x > -_SATURATED else -_SATURATED
    z = x * x
    p = (((z * _P4 + _P3) * z + _P2) * z + _P1) * z + _P0
    q = (((z * _Q4 + _Q3) * z + _Q2) * z + _Q1) * z + _ONE
    return x * p, q


@compiled(vectorised=True)
def _add(gates: Array, word: Array, context: Array) -> None:
    for index in range(len(gates)):
        gates[index] += word[index] + context[index]


@compiled(vectorised=True)
def _activate(gates: Array, cells: Array, outputs: Array) -> None:
    """Update the cells and outputs of a token by its gates before their activation functions."""
    # sigmoid(x) = (1 + tanh(x / 2)) / 2. Fractions are joined: division takes longest.
    units = len(cells)
    inputs, forgets = gates[:units], gates[units : 2 * units]
    candidates, outs = gates[2 * units : 3 * units], gates[3 * units :]
    for unit in range(units):
        i, i_by = tanh_fraction(_HALF * inputs[unit])
        f, f_by = tanh_fraction(_HALF * forgets[unit])
        c, c_by = tanh_fraction(candidates[unit])
        o, o_by = tanh_fraction(_HALF * outs[unit])
        added_by = i_by * c_by
        added = (i_by + i) * c * f_by
        cell = _HALF * ((f_by + f) * cells[unit] * added_by + added) / (f_by * added_by)
        cells[unit] = cell
        h, h_by = tanh_fraction(cell)
        outputs[unit] = _HALF * (o_by + o) * h / (o_by * h_by)


@compiled(vectorised=True)
def _keep(gates: Array, tangent: bool, states: Array) -> None:
    """Store the activations of gates, which are sigmoids or hyperbolic tangents."""
    factor = _ONE if tangent else _HALF
    for index in range(len(gates)):
        x, x_by = tanh_fraction(factor * gates[index])
        states[index] = factor * x / x_by + (_ONE - factor)


@compiled(
    "UniTuple(float32[:, ::1], 2), UniTuple(int32[::1], 2), float32[:, ::1], int64[::1], boolean, "
    "float32[:, ::1], float32[:, :, ::1]"
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
    outputs : ndarray of float32, shape (M, U)
        Overwritten.
    states : ndarray of float32, shape (5, M, U) or (5, 0, U)
        Overwritten by the activations of the gates and by the cells; without rows, they are not
        kept.
    """
    (word_table, context_table), (words, contexts) = tables, rows
    units, sequences = len(recurrent), steps[1] - steps[0]
    begin, end = 4 * units * reverse, 4 * units * (reverse + 1)
    gates = np.zeros((sequences, 4 * units), np.float32)
    cells = np.zeros((sequences, units), np.float32)
    before, going = 0, 0
    for step in range(len(steps) - 1):
        place = len(steps) - 2 - step if reverse else step
        first, after = steps[place], steps[place + 1]
        active = after - first
        going = min(going, active)  # the other gates are still 0: their sequences begin here
        np.dot(outputs[before : before + going], recurrent, gates[:going])
        for row in range(active):
            # All of a token at once, as long as its gates are in the processor's cache.
            own, token = gates[row], first + row
            word, context = word_table[words[token]], context_table[contexts[token]]
            _add(own, word[begin:end], context[begin:end])
            _activate(own, cells[row], outputs[token])
            if states.shape[1]:
                for gate in range(4):
                    of_gate = own[gate * units : (gate + 1) * units]
                    _keep(of_gate, gate == 2, states[gate, token])
                states[4, token] = cells[row]
        before, going = first, active


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
    number, units = of_outputs.shape
    of_hidden, of_cells = of_outputs.copy(), np.zeros_like(of_outputs)
    of_gates = np.empty((number, 4, units), np.float32)
    of_recurrent = np.zeros_like(recurrent)
    places = [slice(*ends) for ends in pairwise(steps.tolist())]
    latest = places if reverse else places[::-1]
    for here, earlier in zip(latest, [*latest[1:], slice(0, 0)], strict=False):
        into, kept, candidate, out, cell = states[:, here]
        going = min(here.stop - here.start, earlier.stop - earlier.start)
        own, before = of_gates[here], slice(earlier.start, earlier.start + going)
        squashed, of_output, of_cell = np.tanh(cell), of_hidden[here], of_cells[here]
        of_cell += of_output * out * (1 - squashed * squashed)
        own[:, 0] = of_cell * candidate * into * (1 - into)
        own[going:, 1] = 0
        own[:going, 1] = (of_cell * kept * (1 - kept))[:going] * states[4, before]
        own[:, 2] = of_cell * into * (1 - candidate * candidate)
        own[:, 3] = of_output * squashed * out * (1 - out)
        of_cells[before] = (of_cell * kept)[:going]
        joined = own[:going].reshape(going, 4 * units)
        of_hidden[before] += joined @ recurrent.T
        of_recurrent += outputs[before].T @ joined
    return of_gates, of_recurrent
