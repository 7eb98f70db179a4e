"""LSTMs over packed documents, and the convolution over characters, against plain NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf import lattice
from taggers.networks.forward import _convolved
from taggers.networks.lstm import run_lstm, tanh_fraction
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


def test_the_hyperbolic_tangent_is_that_of_single_precision() -> None:
    x = np.concatenate([np.linspace(-12, 12, 20_001), [-1e30, 1e30, 0.0]]).astype(np.float32)
    tangents = np.array([number / by for number, by in map(tanh_fraction, x)])
    np.testing.assert_allclose(tangents, np.tanh(x.astype(np.float64)), rtol=5e-7, atol=5e-7)
    assert tangents[-1] == 0


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
    tables = tuple(rng.normal(size=(rows, 8 * units)).astype(np.float32) for rows in (5, 3))
    recurrent = rng.normal(size=(units, 4 * units)).astype(np.float32)
    side = slice(4 * units, None) if reverse else slice(4 * units)
    for packing in lattice.pack(offsets, 1000):
        tokens, steps = packing.positions, packing.steps
        outputs = np.full((packing.tokens, units), 7, np.float32)
        states = np.zeros((5, 0, units), np.float32)
        rows = words[tokens], contexts[tokens]
        with one_thread():
            run_lstm(tables, rows, recurrent, steps, reverse, outputs, states)
        for row, document in enumerate(packing.documents):
            own_tokens = slice(*offsets[document : document + 2])
            gates = tables[0][words[own_tokens], side] + tables[1][contexts[own_tokens], side]
            expected = plain_lstm(gates.astype(np.float64), recurrent.astype(np.float64), reverse)
            places = steps[: len(expected)] + row
            np.testing.assert_allclose(outputs[places], expected, atol=5e-6)


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
    weights = {
        "characters": rng.normal(size=(8, 3)).astype(np.float32),
        "filters": rng.normal(size=(3, 3, filters)).astype(np.float32),
        "filters_bias": rng.normal(size=filters).astype(np.float32),
    }
    table = weights["characters"].astype(np.float64) @ weights["filters"]
    outputs = _convolved(weights, codes)
    for row, length in enumerate(lengths):
        values = []
        for place in range(length):
            value = weights["filters_bias"] + table[1, codes[row, place]]
            if place > 0:
                value = value + table[0, codes[row, place - 1]]
            if place + 1 < length:
                value = value + table[2, codes[row, place + 1]]
            values.append(value)
        expected = np.max(values, axis=0) if values else np.zeros(filters)
        np.testing.assert_allclose(outputs[row], expected, rtol=1e-4, atol=1e-5)
