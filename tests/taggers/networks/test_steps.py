"""The training step of TensorFlow, against Adam on whole gradients in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

keras = pytest.importorskip("keras")
pytest.importorskip("tensorflow")

from keras import layers, ops  # noqa: E402 - Keras may be missing

from taggers.networks.training.keras_network import training_steps  # noqa: E402

RATE, CLIP, EPSILON = 0.02, 1.5, 1e-7
ROWS, DIMENSION, STEPS = 4, 2, 5


def squared_errors(table, index, tags, weights):
    """Compute the loss that the test trains with, and its gradient: sums of rows should be tags."""
    errors = table[index].sum(axis=1) - tags
    gradient = np.zeros_like(table)
    for row, error, weight in zip(index, errors, weights, strict=True):
        np.add.at(gradient, row, 2 * weight * error / len(index))
    return (weights * (errors**2).sum(axis=1)).mean(), gradient


def adam(gradients):
    """Return the change of each step of Adam with clipped norms (Kingma and Ba 2015)."""
    first = second = 0
    for step, gradient in enumerate(gradients, start=1):
        clipped = gradient * min(1, CLIP / np.linalg.norm(gradient))
        first = 0.9 * first + 0.1 * clipped
        second = 0.999 * second + 0.001 * clipped**2
        spread = np.sqrt(second / (1 - 0.999**step))
        yield -RATE * first / (1 - 0.9**step) / (spread + EPSILON)


def test_steps_are_those_of_adam_where_words_occur_several_times() -> None:
    """The gradient of a table is a sparse one, with a part for each occurrence of a row."""
    rng = np.random.default_rng(0)
    index = keras.Input((None,), dtype="int32", name="index")
    table = layers.Embedding(ROWS, DIMENSION)
    model = keras.Model({"index": index}, ops.sum(table(index), axis=1))
    optimizer = keras.optimizers.Adam(RATE, clipnorm=CLIP, epsilon=EPSILON)
    optimizer.build(model.trainable_variables)

    def loss(inputs, tags, weights, training):
        errors = model(inputs, training=training) - ops.cast(tags, "float32")
        return ops.mean(weights * ops.sum(errors**2, axis=1))

    train, test = training_steps(model, optimizer, loss)
    expected = table.embeddings.numpy().astype(np.float64)
    gradients: list[np.ndarray] = []
    for _ in range(STEPS):
        words = rng.integers(0, ROWS - 1, (3, 4)).astype(np.int32)  # the last row never occurs
        tags = rng.integers(-3, 4, (3, DIMENSION)).astype(np.int32)
        weights = rng.uniform(0.5, 2, 3).astype(np.float32)
        value, gradient = squared_errors(expected, words, tags, weights)
        assert float(test({"index": words}, tags, weights)) == pytest.approx(value, rel=1e-4)
        assert float(train({"index": words}, tags, weights)) == pytest.approx(value, rel=1e-4)
        gradients.append(gradient)
        *_, change = adam(gradients)
        expected += change
        np.testing.assert_allclose(table.embeddings.numpy(), expected, atol=1e-5)
