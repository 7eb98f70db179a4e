"""LSTMs over packed documents, whose input is the product of weights with each word type.

The product of the input weights with the vector of a word depends on the word alone, so that it is
computed once per word type. What is left for each token is the product with the recurrent weights,
for all documents of a packing at a time, and the activation functions.
"""

from __future__ import annotations

import numpy as np

from corpus.kernels.compiled import Array, compiled

#: Beyond this absolute value, the hyperbolic tangent is 1 in single precision.
_SATURATED = np.float32(7.9)

#: Coefficients of x P(x²) / Q(x²), the minimax approximation of tanh(x) up to `_SATURATED`, with a
#: relative error of 6e-9 before rounding. They minimise the largest of the relative errors at 4,000
#: Chebyshev nodes, by least squares that are weighted anew until the errors are equal.
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
_ONE, _HALF = np.float32(1), np.float32(0.5)


@compiled("float32[::1]", vectorised=True)
def tanh_in_place(values: Array) -> None:
    """Replace values by their hyperbolic tangents, with an absolute error of about 4e-7."""
    for index in range(len(values)):
        x = values[index]
        x = -_SATURATED if x < -_SATURATED else x
        x = _SATURATED if x > _SATURATED else x
        z = x * x
        p = ((((_P4 * z + _P3) * z + _P2) * z + _P1) * z) + _P0
        q = ((((_Q4 * z + _Q3) * z + _Q2) * z + _Q1) * z) + _ONE
        values[index] = x * p / q


@compiled(vectorised=True)
def _update(gates: Array, cell: Array, output: Array) -> None:
    """Update the cell of one document, and compute its output.

    `gates` holds the input, forget, cell and output gates one after the other, before activation.
    Those with a sigmoid are halved: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2.
    """
    units = len(cell)
    tanh_in_place(gates)
    for unit in range(units):
        kept = (_HALF * gates[units + unit] + _HALF) * cell[unit]
        cell[unit] = kept + (_HALF * gates[unit] + _HALF) * gates[2 * units + unit]
        output[unit] = cell[unit]
    tanh_in_place(output)
    for unit in range(units):
        output[unit] *= _HALF * gates[3 * units + unit] + _HALF


@compiled(
    "int32[::1], int32[::1], int64[::1], int64[::1], float32[:, ::1], float32[:, ::1], "
    "float32[:, ::1], boolean, float32[:, ::1]"
)
def run_lstm(
    words: Array,
    contexts: Array,
    first: Array,
    steps: Array,
    word_table: Array,
    context_table: Array,
    recurrent: Array,
    reverse: bool,
    outputs: Array,
) -> None:
    """Run an LSTM of U units over packed documents, in one direction.

    Parameters
    ----------
    words, contexts : ndarray of int32, shape (N,)
        The rows of each token in `word_table` and in `context_table`.
    first, steps : ndarray of int64
        A packing (see `taggers.crf.lattice.Packing`).
    word_table, context_table : ndarray of float32, shape (rows, 8 * U)
        What a word and the context of a token add to the gates of the LSTM of each direction.
    recurrent : ndarray of float32, shape (U, 4 * U)
        Recurrent weights of this direction.
    reverse : bool
        Whether documents are read from their ends.
    outputs : ndarray of float32, shape (packed tokens, 2 * U)
        The half of this direction is overwritten.
    """
    units = len(recurrent)
    begin = 4 * units if reverse else 0
    half = units if reverse else 0
    places = len(steps) - 1
    documents = steps[1] - steps[0]
    cell = np.zeros((documents, units), np.float32)
    hidden = np.zeros((documents, units), np.float32)
    gates = np.empty((documents, 4 * units), np.float32)
    for step in range(places):
        place = places - 1 - step if reverse else step
        active = steps[place + 1] - steps[place]  # the longest documents come first
        np.dot(hidden[:active], recurrent, gates[:active])
        for row in range(active):
            token = first[row] + place
            added = word_table[words[token], begin : begin + 4 * units]
            more = context_table[contexts[token], begin : begin + 4 * units]
            into = gates[row]
            for gate in range(4 * units):
                into[gate] += added[gate] + more[gate]
            _update(into, cell[row], hidden[row])
            output = outputs[steps[place] + row, half : half + units]
            for unit in range(units):
                output[unit] = hidden[row, unit]


@compiled("int32[:, ::1], float32[:, :, ::1], float32[::1], float32[:, ::1]")
def convolve_characters(characters: Array, table: Array, bias: Array, outputs: Array) -> None:
    """Compute the largest value of each filter over the characters of each word.

    Parameters
    ----------
    characters : ndarray of int32, shape (V, C)
        The codes of the characters of words; 0 after the last one.
    table : ndarray of float32, shape (3, codes, F)
        What a character adds to the filters at the next position, at its own, and at the one
        before.
    bias : ndarray of float32, shape (F,)
        The biases of the filters.
    outputs : ndarray of float32, shape (V, F)
        Overwritten; 0 for words without characters.
    """
    filters = len(bias)
    value = np.empty(filters, np.float32)
    for word in range(len(characters)):
        codes = characters[word]
        best = outputs[word]
        for index in range(filters):
            best[index] = -np.inf if codes[0] else 0
        for place in range(len(codes)):
            if codes[place] == 0:
                break
            own = table[1, codes[place]]
            for index in range(filters):
                value[index] = bias[index] + own[index]
            if place > 0:
                before = table[0, codes[place - 1]]
                for index in range(filters):
                    value[index] += before[index]
            if place + 1 < len(codes) and codes[place + 1]:
                after = table[2, codes[place + 1]]
                for index in range(filters):
                    value[index] += after[index]
            for index in range(filters):
                best[index] = max(best[index], value[index])
