"""LSTMs over packed documents, whose input is the product of weights with each word type.

The product of the input weights with the vector of a word depends on the word alone, so that it is
computed once per word type. What is left for each token is the product with the recurrent weights
and the activation functions, which are computed a tile at a time (see `taggers.networks.tiles`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.extending import intrinsic

from corpus.kernels.compiled import Array, compiled
from taggers.networks.hyperbolic import tanh_fraction
from taggers.networks.tiles import LANES, PANEL, ROWS, VECTORS, Tile, Vector

_BLOCK = 4 * ROWS  # documents whose tiles read a panel one after the other
_HALF = np.float32(0.5)


def by_panel(gates: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Order the columns of gates by panel, and pad units with zeros.

    A panel has the four gates of `LANES` units. Units whose gates are zero have zero outputs.

    Parameters
    ----------
    gates : ndarray of float32, shape (..., 4 * U)
        The input, forget, cell and output gates of U units, one after the other.

    Returns
    -------
    ndarray of float32, shape (..., 4 * padded(U))
    """
    *shape, columns = gates.shape
    units = columns // 4
    apart = gates.reshape(*shape, 4, units)
    unused = np.zeros((*shape, 4, padded(units) - units), np.float32)
    panels = np.concatenate([apart, unused], axis=-1).reshape(*shape, 4, -1, LANES)
    return np.ascontiguousarray(panels.swapaxes(-3, -2).reshape(*shape, 4 * padded(units)))


def padded(units: int) -> int:
    """Return a number of units, rounded up to a multiple of `LANES`."""
    return units + -units % LANES


def _activated(gates: list[Vector], cell: Vector) -> tuple[Vector, Vector]:
    """Compute the cells and the outputs of units from their gates and their previous cells.

    Gates with a sigmoid are halved: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2. All activation functions
    are fractions, of which a product needs only one division.
    """
    (i, i_by), (f, f_by), (c, c_by), (o, o_by) = map(tanh_fraction, gates)
    added = (i + i_by) * _HALF * c / (i_by * c_by)
    cell = (f + f_by) * _HALF * cell / f_by + added
    output, output_by = tanh_fraction(cell)
    return cell, (o + o_by) * _HALF * output / (o_by * output_by)


def _lstm_tile(rows: int) -> Any:
    """Return a function that computes the outputs of the units of a panel for some documents."""

    @intrinsic
    def compute_tile(typing: Any, arrays: Any, numbers: Any) -> Any:
        """Compute a tile.

        Parameters
        ----------
        arrays
            The arguments of `run_lstm` that are arrays, but `steps`, and the cells of documents.
        numbers
            The first document and the panel; the place of its token; the packed tokens of the
            previous and of this step; the columns where the gates and outputs of this direction
            begin; the number of previous outputs.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile = Tile(context, builder, rows)
            unpacked = [
                [builder.extract_value(each, number) for number in range(len(kinds))]
                for kinds, each in zip(signature.args, arguments, strict=True)
            ]
            own = tile.arrays(signature.args[0], unpacked[0])
            words, contexts, first, word_table, context_table, recurrent, cells, outputs = own
            document, panel, place, before, now, gates, half, depth = unpacked[1]
            gates = tile.plus(gates, tile.times(panel, PANEL))
            units = tile.times(panel, LANES)
            documents = [tile.plus(document, number) for number in range(rows)]
            for row, number in enumerate(documents):
                token = tile.plus(tile.item(first, number), place)
                of_word = tile.at(tile.row(word_table, tile.item(words, token)), gates)
                of_context = tile.at(tile.row(context_table, tile.item(contexts, token)), gates)
                pairs = [(tile.load(of_word, v), tile.load(of_context, v)) for v in range(VECTORS)]
                tile.set_sums(row, [word + context for word, context in pairs])
            previous = [tile.at(tile.row(outputs, tile.plus(n, before)), half) for n in documents]
            tile.add_product(previous, tile.row(recurrent, panel), depth)
            for row, number in enumerate(documents):
                address = tile.at(tile.row(cells, number), units)
                cell, output = _activated(tile.sums(row), tile.load(address))
                tile.store(cell, address)
                line = tile.row(outputs, tile.plus(number, now))
                tile.store(output, tile.at(line, tile.plus(half, units)))
            return context.get_dummy_value()

        return types.void(arrays, numbers), generate

    return compute_tile


_compute_tile, _compute_row = _lstm_tile(ROWS), _lstm_tile(1)


@compiled(
    "int32[::1], int32[::1], int64[::1], int64[::1], float32[:, ::1], float32[:, ::1], "
    "float32[:, :, ::1], boolean, float32[:, ::1]"
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
    """Run an LSTM of U units, P with padding, over packed documents in one direction.

    Parameters
    ----------
    words, contexts : ndarray of int32, shape (N,)
        The rows of each token in `word_table` and in `context_table`.
    first, steps : ndarray of int64
        A packing (see `taggers.crf.lattice.Packing`).
    word_table, context_table : ndarray of float32, shape (rows, 8 * P)
        What a word and the context of a token add to the gates of the LSTM of each direction, by
        panel (see `by_panel`). Gates with a sigmoid are halved.
    recurrent : ndarray of float32, shape (P / LANES, U, 4 * LANES)
        The panels of the recurrent weights of this direction.
    reverse : bool
        Whether documents are read from their ends.
    outputs : ndarray of float32, shape (packed tokens, 2 * P)
        The half of this direction is overwritten.
    """
    panels, units = recurrent.shape[:2]
    gates = panels * PANEL if reverse else 0
    half = panels * LANES if reverse else 0
    places = len(steps) - 1
    cells = np.zeros((steps[1] - steps[0], panels * LANES), np.float32)
    arrays = words, contexts, first, word_table, context_table, recurrent, cells, outputs
    before, going = 0, 0
    for step in range(places):
        place = places - 1 - step if reverse else step
        now, active = steps[place], steps[place + 1] - steps[place]  # the longest come first
        going = min(going, active)
        for begin, end, depth in ((0, going, units), (going, active, 0)):
            for block in range(begin, end, _BLOCK):
                last = min(block + _BLOCK, end)
                for panel in range(panels):
                    row = block
                    while row + ROWS <= last:
                        numbers = row, panel, place, before, now, gates, half, depth
                        _compute_tile(arrays, numbers)
                        row += ROWS
                    while row < last:
                        numbers = row, panel, place, before, now, gates, half, depth
                        _compute_row(arrays, numbers)
                        row += 1
        before, going = now, active


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
