"""The training step of a network, for each backend of Keras that trains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import numpy.typing as npt

Tensor = Any

#: Receives the inputs, tags and weights of a minibatch, and returns its loss.
Step = Callable[
    [Mapping[str, npt.NDArray[Any]], npt.NDArray[np.int32], npt.NDArray[np.float32]], Tensor
]

#: Computes the loss of a minibatch from tensors: inputs, tags, weights, and whether it trains.
Loss = Callable[[Mapping[str, Tensor], Tensor, Tensor, bool], Tensor]


def steps_of(model: Any, optimizer: Any, loss: Loss) -> tuple[Step, Step]:
    """Return a function that trains on a minibatch, and one that computes its loss.

    Parameters
    ----------
    model : keras.Model
        The model whose trainable variables are changed.
    optimizer : keras.optimizers.Optimizer
        It must have been built.
    loss : callable
        Computes the loss by means of the model.

    Returns
    -------
    train, test : callable
    """
    if keras.backend.backend() == "torch":
        return _torch_steps(model, optimizer, loss)
    return _tensorflow_steps(model, optimizer, loss)


def _tensorflow_steps(model: Any, optimizer: Any, loss: Loss) -> tuple[Step, Step]:
    import tensorflow as tf  # noqa: PLC0415 - only where it is the backend

    # With a signature, TensorFlow traces a step once and not for several shapes.
    signature = (
        {each.name: tf.TensorSpec(each.shape, each.dtype) for each in model.inputs},
        tf.TensorSpec((None, None), tf.int32),
        tf.TensorSpec((None,), tf.float32),
    )

    def train(inputs: Mapping[str, Tensor], tags: Tensor, weights: Tensor) -> Tensor:
        variables = [each.value for each in model.trainable_variables]
        with tf.GradientTape() as tape:
            value = loss(inputs, tags, weights, True)
        # The gradients of tables are sparse, and Adam would add the squares of the parts of a row
        # in place of the square of their sum.
        gradients = [tf.convert_to_tensor(each) for each in tape.gradient(value, variables)]
        optimizer.apply(gradients, model.trainable_variables)
        return value

    def test(inputs: Mapping[str, Tensor], tags: Tensor, weights: Tensor) -> Tensor:
        return loss(inputs, tags, weights, False)

    return (
        tf.function(train, input_signature=signature, autograph=False),
        tf.function(test, input_signature=signature, autograph=False),
    )


def _torch_steps(model: Any, optimizer: Any, loss: Loss) -> tuple[Step, Step]:
    import torch  # noqa: PLC0415 - only where it is the backend

    def value_of(
        inputs: Mapping[str, npt.NDArray[Any]], tags: Any, weights: Any, training: bool
    ) -> Tensor:
        tensors = {name: keras.ops.convert_to_tensor(each) for name, each in inputs.items()}
        tags, weights = keras.ops.convert_to_tensor(tags), keras.ops.convert_to_tensor(weights)
        return loss(tensors, tags, weights, training)

    def train(inputs: Any, tags: Any, weights: Any) -> Tensor:
        model.zero_grad()
        value = value_of(inputs, tags, weights, True)
        value.backward()
        gradients = [each.value.grad for each in model.trainable_variables]
        with torch.no_grad():
            optimizer.apply(gradients, model.trainable_variables)
        return value.detach()

    def test(inputs: Any, tags: Any, weights: Any) -> Tensor:
        with torch.no_grad():
            return value_of(inputs, tags, weights, False)

    return train, test
