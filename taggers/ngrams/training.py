"""Training of the three-channel convolutional network in Keras (paper 000, figure 4).

Only the training process imports this module, since Keras takes seconds to import.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import layers, ops

from taggers.base import Progress, Training
from taggers.networks.network_sizes import NetworkSizes
from taggers.networks.training.keras_network import WordNetwork, training_steps
from taggers.networks.training.minibatches import WORDS, Arrays, with_border
from taggers.ngrams.tccnn_options import TCCNNOptions
from taggers.ngrams.windows import CHANNELS, windows_of

Tensor = Any

_UNKNOWN = 0.05  # probability that a word of a minibatch is taken for an unknown one


class Network(WordNetwork):
    """The network in Keras.

    Each channel has a convolution over pairs of words, of which the larger of two neighbours
    remains. The channels are joined and read by a hidden layer.
    """

    def __init__(self, options: TCCNNOptions, sizes: NetworkSizes) -> None:
        super().__init__(options, sizes)
        index = keras.Input((len(CHANNELS), options.length), dtype="int32", name="index")
        inputs: dict[str, Tensor] = {"index": index}
        vectors = self._word_vectors(inputs)
        contexts = self._value_vectors("streams", inputs, len(CHANNELS), options.length)
        parts = []
        for number, name in enumerate(CHANNELS):
            convolution = layers.Conv1D(options.filters, 2, activation="relu")
            tokens = [
                ops.take(vectors, index[:, number], axis=0),
                *(values[:, number] for values in contexts),
            ]
            read = layers.Dropout(options.dropout)(ops.concatenate(tokens, axis=-1))
            parts.append(layers.Flatten()(layers.MaxPooling1D(2)(convolution(read))))
            self._weights[f"{name}_filters"] = convolution.kernel
            self._weights[f"{name}_bias"] = convolution.bias
        hidden = layers.Dense(
            options.units,
            activation="relu",
            kernel_regularizer=keras.regularizers.L2(options.penalty),
        )
        joined = hidden(layers.Concatenate()(parts))
        self._weights["hidden_kernel"], self._weights["hidden_bias"] = hidden.kernel, hidden.bias
        outputs = self._dense(layers.Dropout(options.dropout)(joined), "classes", sizes.labels)
        self.model = keras.Model(inputs, outputs)
        optimizer = keras.optimizers.Adam(options.learning_rate)
        optimizer.build(self.model.trainable_variables)
        self.train, _ = training_steps(self.model, optimizer, self._loss)

    def _loss(
        self, inputs: Mapping[str, Tensor], classes: Tensor, weights: Tensor, training: bool
    ) -> Tensor:
        """Return the weighted mean cross-entropy, with the penalties of layers."""
        tensors = {name: ops.convert_to_tensor(array) for name, array in inputs.items()}
        classes, weights = ops.convert_to_tensor(classes)[:, 0], ops.convert_to_tensor(weights)
        logits = self.model(tensors, training=training)
        losses = keras.losses.sparse_categorical_crossentropy(classes, logits, from_logits=True)
        return ops.mean(losses * weights) + sum(self.model.losses, start=ops.zeros(()))


def train_network(
    request: Mapping[str, Any], arrays: Arrays, progress: Progress
) -> tuple[Arrays, Training]:
    """Train a network in its process; see `taggers.networks.training.process`."""
    options = TCCNNOptions(**request["options"])
    keras.utils.set_random_seed(request["random_state"])
    network = Network(options, NetworkSizes(**request["sizes"]))
    rng = np.random.default_rng(request["random_state"])
    names = [field.name for field in dataclasses.fields(_NGrams)]
    ngrams = _NGrams(**{name: arrays[name] for name in names})
    words = {name: arrays[name] for name in WORDS}
    steps = math.ceil(len(ngrams.first) / options.minibatch)
    epochs = max(options.epochs, math.ceil(options.min_steps / steps))
    loss = math.nan
    for epoch in range(epochs):
        order, losses = rng.permutation(len(ngrams.first)), []
        for step in range(steps):
            rows = order[step * options.minibatch :][: options.minibatch]
            inputs = _inputs(network, ngrams, words, rows, options.length)
            if "numbers" in inputs:  # vectors are learned: of unknown words, too
                inputs["numbers"][rng.random(len(inputs["numbers"])) < _UNKNOWN] = 0
            loss = float(network.train(inputs, ngrams.classes[rows, None], ngrams.weights[rows]))
            if not math.isfinite(loss):
                outcome = f"the loss was not a number in epoch {epoch + 1}"
                return {}, Training(False, outcome, epoch, loss, failed=True)
            losses.append(loss)
            progress(epoch * steps + step + 1, epochs * steps)
        loss = float(np.mean(losses))
    return network.weights(), Training(False, "the number of epochs", epochs, loss)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _NGrams:
    """N-grams of training documents, with their classes and weights."""

    word_ids: npt.NDArray[np.int32]
    streams: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]


def _inputs(
    network: Network, ngrams: _NGrams, words: Arrays, rows: npt.NDArray[np.int64], length: int
) -> Arrays:
    """Return the inputs of a minibatch: its distinct words, and their places."""
    tokens = windows_of(ngrams.first[rows], ngrams.last[rows], ngrams.offsets, length)
    ids = np.where(tokens >= 0, ngrams.word_ids[tokens], np.int32(-1))
    used, index = np.unique(np.append(np.int32(-1), ids), return_inverse=True)
    inputs = {name: with_border(array[used[1:]]) for name, array in words.items()}
    inputs["streams"] = np.where(tokens[..., None] >= 0, ngrams.streams[tokens], np.int32(0))
    inputs["index"] = index.reshape(-1)[1:].reshape(ids.shape).astype(np.int32)
    return {tensor.name: inputs[tensor.name] for tensor in network.model.inputs}
