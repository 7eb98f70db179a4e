"""Products of tiles, and the layers that are computed with them, against NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf import lattice
from taggers.networks.heads import Heads
from taggers.networks.hyperbolic import tanh_in_place
from taggers.networks.tiles import PANEL, add_product, panels


def test_the_hyperbolic_tangent_is_that_of_single_precision() -> None:
    x = np.concatenate([np.linspace(-12, 12, 20_001), [-1e30, 1e30, 0.0]]).astype(np.float32)
    found = x.copy()
    tanh_in_place(found)
    np.testing.assert_allclose(found, np.tanh(x.astype(np.float64)), rtol=5e-7, atol=5e-7)
    assert found[-1] == 0


@given(
    rows=st.integers(0, 25),
    first=st.integers(0, 9),
    depth=st.integers(0, 20),
    columns=st.integers(1, 2 * PANEL + 1),
    seed=st.integers(0, 99),
)
def test_the_product_of_each_panel_is_added(rows, first, depth, columns, seed) -> None:
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(first + rows + 3, depth)).astype(np.float32)
    weights = rng.normal(size=(depth, columns)).astype(np.float32)
    divided = panels(weights)
    assert divided.shape == (-(-columns // PANEL), depth, PANEL)
    before = rng.normal(size=(len(divided), rows + 2, PANEL)).astype(np.float32)
    after = before.copy()
    for panel in range(len(divided)):
        add_product(inputs, first, first + rows, divided, panel, after[panel])
    assert np.array_equal(after[:, rows:], before[:, rows:])
    added = np.hstack(list((after - before)[:, :rows]))
    expected = inputs[first : first + rows].astype(np.float64) @ weights
    np.testing.assert_allclose(added[:, :columns], expected, atol=1e-5)
    assert not added[:, columns:].any()


@given(
    tokens=st.integers(0, 120),
    units=st.integers(1, 20),
    labels=st.integers(1, 2 * PANEL),
    hidden=st.sampled_from([None, 1, PANEL, PANEL + 1]),
    seed=st.integers(0, 99),
)
def test_scores_are_those_of_the_layers(tokens, units, labels, hidden, seed) -> None:
    rng = np.random.default_rng(seed)
    width = 2 * units + 3
    columns = np.sort(rng.permutation(width)[: 2 * units])
    shapes = {"scores_kernel": (2 * units + (hidden or 0), labels), "scores_bias": (labels,)}
    if hidden:
        shapes |= {"sensitive_kernel": (2 * units, hidden), "sensitive_bias": (hidden,)}
    weights = {name: rng.normal(size=each).astype(np.float32) for name, each in shapes.items()}
    outputs = rng.normal(size=(tokens, width)).astype(np.float32)
    scores = np.full((tokens, labels + -labels % lattice.LANES), np.nan, np.float32)
    Heads(weights, columns, width).score(outputs, scores)
    read = outputs[:, columns].astype(np.float64)
    if hidden:
        layer = np.tanh(read @ weights["sensitive_kernel"] + weights["sensitive_bias"])
        read = np.hstack([read, layer])
    expected = read @ weights["scores_kernel"] + weights["scores_bias"]
    np.testing.assert_allclose(scores[:, :labels], expected, atol=2e-5)
    assert (scores[:, labels:] == lattice.NEVER).all()
