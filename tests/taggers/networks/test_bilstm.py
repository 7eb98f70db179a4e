"""The layer of a bidirectional LSTM with a packed recurrence, against that of Keras."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

from taggers.networks.training.bilstm import BiLSTM  # noqa: E402 - Keras may be missing


def outputs_and_gradients(layer, vectors, lengths, upstream):
    """Return the outputs at tokens, and the gradients of vectors and of weights by name."""
    there = (np.arange(vectors.shape[1]) < lengths[:, None])[..., None]
    given_vectors = tf.constant(vectors)
    with tf.GradientTape() as tape:
        tape.watch(given_vectors)
        outputs = layer(given_vectors, tf.constant(lengths)) * there
        loss = tf.reduce_sum(outputs * upstream)
    weights = {variable.path: variable.value for variable in layer.trainable_variables}
    gradients = tape.gradient(loss, [given_vectors, *weights.values()])
    return outputs.numpy(), [gradient.numpy() for gradient in gradients]


@settings(max_examples=30)
@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=5),
    padding=st.integers(0, 2),
    units=st.integers(1, 9),
    dimension=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_outputs_and_gradients_are_those_of_keras(lengths, padding, units, dimension, seed) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.array(lengths, np.int32)
    shape = len(lengths), lengths.max() + padding, dimension
    vectors = rng.normal(size=shape).astype(np.float32)
    upstream = rng.normal(size=(*shape[:2], 2 * units)).astype(np.float32)
    packed, plain = BiLSTM(units, packed=True), BiLSTM(units, packed=False)
    for layer in (packed, plain):
        layer.build(shape)
    for own, other in zip(packed.weights, plain.weights, strict=True):
        value = rng.normal(size=own.shape).astype(np.float32)
        own.assign(value)
        other.assign(value)
    arguments = vectors, lengths, upstream
    actual, gradients = outputs_and_gradients(packed, *arguments)
    expected, as_well = outputs_and_gradients(plain, *arguments)
    np.testing.assert_allclose(actual, expected, atol=5e-6)
    for gradient, other in zip(gradients, as_well, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-4, atol=1e-4)


def test_padding_has_no_influence_and_no_gradient() -> None:
    rng = np.random.default_rng(0)
    layer = BiLSTM(3, packed=True)
    vectors = rng.normal(size=(2, 5, 4)).astype(np.float32)
    lengths = np.array([2, 4], np.int32)
    upstream = np.ones((2, 5, 6), np.float32)
    actual, gradients = outputs_and_gradients(layer, vectors, lengths, upstream)
    changed = vectors.copy()
    changed[0, 2:], changed[1, 4:] = 7, 7
    again, _ = outputs_and_gradients(layer, changed, lengths, upstream)
    np.testing.assert_array_equal(again, actual)
    assert not gradients[0][0, 2:].any()
    assert not gradients[0][1, 4:].any()
    assert gradients[0][1, :4].all()


def test_a_gpu_and_other_backends_run_the_layers_of_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BiLSTM(2).packed
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind])
    assert not BiLSTM(2).packed
    monkeypatch.undo()
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    assert not BiLSTM(2).packed
