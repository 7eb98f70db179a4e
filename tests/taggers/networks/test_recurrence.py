"""LSTMs over packed documents and the convolution over characters, against plain NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf import lattice
from taggers.networks.recurrence import by_panel, convolve_characters, padded, run_lstm
from taggers.networks.tiles import panels
from taggers.threads import one_thread


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def plain_lstm(inputs, recurrent, reverse):
    """Run an LSTM over the gates of a document, with the order of gates of Keras."""
    units = len(recurrent)
    cell, hidden, outputs = np.zeros(units), np.zeros(units), np.zeros((len(inputs), units))
    for place in range(len(inputs))[:: -1 if reverse else 1]:
        i, f, c, o = np.split(inputs[place] + hidden @ recurrent, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
        hidden = sigmoid(o) * np.tanh(cell)
        outputs[place] = hidden
    return outputs


@given(
    lengths=st.lists(st.integers(0, 7), min_size=1, max_size=30),
    units=st.integers(1, 40),
    reverse=st.booleans(),
    seed=st.integers(0, 99),
)
def test_packed_documents_have_the_outputs_of_each_alone(lengths, units, reverse, seed) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = rng.integers(0, 5, offsets[-1]).astype(np.int32)
    contexts = rng.integers(0, 3, offsets[-1]).astype(np.int32)
    tables = [rng.normal(size=(rows, 8 * units)).astype(np.float32) for rows in (5, 3)]
    recurrent = rng.normal(size=(units, 4 * units)).astype(np.float32)
    half = np.repeat(np.array([0.5, 0.5, 1, 0.5], np.float32), units)
    sides = [np.hsplit(table * np.tile(half, 2), 2) for table in tables]
    halved = [np.hstack([by_panel(each) for each in pair]) for pair in sides]
    halved_recurrent = panels(by_panel(recurrent * half))
    side = slice(4 * units, None) if reverse else slice(4 * units)
    for packing in lattice.pack(offsets, 1000):
        outputs = np.full((packing.tokens, 2 * padded(units)), 7, np.float32)
        where = packing.first, packing.steps
        with one_thread():
            run_lstm(words, contexts, *where, *halved, halved_recurrent, reverse, outputs)
        own, other = np.hsplit(outputs, 2)[:: -1 if reverse else 1]
        assert (other == 7).all()
        for row, document in enumerate(packing.documents):
            tokens = slice(*offsets[document : document + 2])
            gates = tables[0][words[tokens], side] + tables[1][contexts[tokens], side]
            expected = plain_lstm(gates.astype(np.float64), recurrent.astype(np.float64), reverse)
            places = packing.steps[: len(expected)] + row
            np.testing.assert_allclose(own[places, :units], expected, atol=5e-6)
            assert not own[places, units:].any()


@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    filters=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_the_convolution_is_the_largest_value_over_the_characters(lengths, filters, seed) -> None:
    rng = np.random.default_rng(seed)
    codes = np.zeros((len(lengths), 6), np.int32)
    for row, length in enumerate(lengths):
        codes[row, :length] = rng.integers(1, 8, length)
    table = rng.normal(size=(3, 8, filters)).astype(np.float32)
    bias = rng.normal(size=filters).astype(np.float32)
    found = np.full((len(lengths), filters), 7, np.float32)
    convolve_characters(codes, table, bias, found)
    for row, length in enumerate(lengths):
        values = []
        for place in range(length):
            value = bias + table[1, codes[row, place]]
            if place > 0:
                value = value + table[0, codes[row, place - 1]]
            if place + 1 < length:
                value = value + table[2, codes[row, place + 1]]
            values.append(value)
        expected = np.max(values, axis=0) if values else np.zeros(filters)
        np.testing.assert_allclose(found[row], expected, rtol=1e-6)
