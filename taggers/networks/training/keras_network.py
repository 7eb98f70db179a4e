"""Networks in Keras, for training: what reads words, and the BiLSTM-CRF.

Only the training process imports this module, since Keras takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import layers, ops

from taggers.networks.crf_layer import CRF
from taggers.networks.network_options import BiLSTMCRFOptions, WordOptions
from taggers.networks.network_sizes import NetworkSizes
from taggers.networks.training.bilstm import BiLSTM

Floats = npt.NDArray[np.float32]
Tensor = Any

#: Receives the inputs, tags and weights of a minibatch, and returns its loss.
Step = Callable[
    [Mapping[str, npt.NDArray[Any]], npt.NDArray[np.int32], npt.NDArray[np.float32]], Tensor
]

#: Computes the loss of a minibatch: of its inputs, tags, weights, and whether it trains.
Loss = Callable[[Mapping[str, Tensor], Tensor, Tensor, bool], Tensor]


class WordNetwork:
    """A network in Keras that reads words, and its weights by name.

    Parameters
    ----------
    options : WordOptions
        The inputs for a word.
    sizes : NetworkSizes
        The sizes of inputs and outputs.
    """

    def __init__(self, options: WordOptions, sizes: NetworkSizes) -> None:
        self.options, self.sizes = options, sizes
        self._weights: dict[str, Any] = {}

    def weights(self) -> dict[str, Floats]:
        """Return a copy of the weights by name, as float32."""
        return {
            name: np.array(ops.convert_to_numpy(weight), np.float32)
            for name, weight in self._weights.items()
        }

    def assign(self, weights: Mapping[str, Floats]) -> None:
        """Replace weights of these names."""
        for name, value in weights.items():
            self._weights[name].assign(value)

    def _word_vectors(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return the vectors of the words of a minibatch, and add their inputs."""
        options, sizes = self.options, self.sizes
        parts = []
        if sizes.vectors:
            inputs["vectors"] = keras.Input((sizes.vectors,), name="vectors")
            parts.append(inputs["vectors"])
        if sizes.words:
            inputs["numbers"] = keras.Input((), dtype="int32", name="numbers")
            settings = {}
            if sizes.vectors:  # what is added to the vectors of embeddings
                penalty = keras.regularizers.L2(options.embedding_penalty)
                settings = {"embeddings_initializer": "zeros", "activity_regularizer": penalty}
            dimension = sizes.vectors or options.dimension
            learned = self._table("words", sizes.words, dimension, **settings)
            added = learned(inputs["numbers"])
            parts = [parts[0] + added] if parts else [added]
        if options.characters != "none":
            inputs["characters"] = keras.Input((None,), dtype="int32", name="characters")
            parts.append(self._character_vectors(inputs["characters"]))
        parts += self._value_vectors("features", inputs)
        return _joined(parts)

    def _table(self, name: str, rows: int, dimension: int, **settings: Any) -> Any:
        layer = layers.Embedding(rows, dimension, **settings)
        layer.build(None)
        self._weights[name] = layer.embeddings
        return layer

    def _character_vectors(self, characters: Tensor) -> Tensor:
        units = self.options.character_units
        dimension = self.options.character_dimension
        there = ops.cast(characters > 0, "float32")[..., None]
        vectors = self._table("characters", self.sizes.alphabet, dimension)(characters) * there
        lengths = ops.sum(ops.cast(characters > 0, "int32"), axis=1)
        if self.options.characters == "bilstm":
            outputs = self._bilstm(vectors, lengths, units, "characters_")
            last = ops.maximum(lengths - 1, 0)[:, None, None]
            forward = ops.take_along_axis(outputs[..., :units], last, axis=1)
            return _joined([forward[:, 0], outputs[:, 0, units:]]) * there[:, 0]
        convolution = layers.Conv1D(units, 3, padding="same")
        filtered = convolution(vectors)
        self._weights["filters"] = convolution.kernel
        self._weights["filters_bias"] = convolution.bias
        # The largest value among the characters of a word, and 0 for a border, which has none.
        return ops.max(filtered - 1e9 * (1 - there), axis=1) * there[:, 0]

    def _value_vectors(
        self, kind: str, inputs: dict[str, Tensor], *shape: int | None
    ) -> list[Tensor]:
        """Return the vectors of features or of streams, and add their input."""
        sizes, dimension = getattr(self.sizes, kind), self.options.feature_dimension
        if not sizes:
            return []
        codes = inputs[kind] = keras.Input((*shape, len(sizes)), dtype="int32", name=kind)
        return [
            self._table(f"{kind}/{name}", size, dimension)(codes[..., column])
            for column, (name, size) in enumerate(sizes.items())
        ]

    def _bilstm(self, vectors: Tensor, lengths: Tensor, units: int, prefix: str = "") -> Tensor:
        """Return the outputs of both directions, shape (B, T, 2 * units)."""
        layer = BiLSTM(units)
        outputs = layer(vectors, lengths)
        for direction, own in layer.directions.items():
            for name, weight in (
                ("input", own.cell.kernel),
                ("recurrent", own.cell.recurrent_kernel),
                ("bias", own.cell.bias),
            ):
                self._weights[f"{prefix}{direction}_{name}"] = weight
        return outputs

    def _dense(
        self, inputs: Tensor, name: str, units: int, activation: str | None = None
    ) -> Tensor:
        layer = layers.Dense(units, activation=activation)
        outputs = layer(inputs)
        self._weights[f"{name}_kernel"], self._weights[f"{name}_bias"] = layer.kernel, layer.bias
        return outputs


class Network(WordNetwork):
    """A network in Keras, and its weights by name.

    Attributes
    ----------
    model : keras.Model
        The model. Its inputs come from `taggers.networks.training.minibatches.Minibatches`.
    train : callable
        Trains on the inputs, tags and weights of a minibatch, and returns its loss.
    test : callable
        Computes the loss of a minibatch.
    """

    def __init__(self, options: BiLSTMCRFOptions, sizes: NetworkSizes) -> None:
        super().__init__(options, sizes)
        self.options: BiLSTMCRFOptions = options
        self._losses: dict[str, Callable[[Tensor, Tensor], Tensor]] = {}
        index = keras.Input((None,), dtype="int32", name="index")
        inputs: dict[str, Tensor] = {"index": index}
        lengths = ops.sum(ops.cast(index > 0, "int32"), axis=1)
        words = ops.take(self._word_vectors(inputs), index, axis=0)
        tokens = [words, *self._value_vectors("streams", inputs, None)]
        read = layers.Dropout(options.dropout)(_joined(tokens))
        hidden = layers.Dropout(options.dropout)(self._bilstm(read, lengths, options.units))
        outputs: dict[str, Tensor] = {}
        if options.sensitive_units:
            sensitive = self._dense(hidden, "sensitive", options.sensitive_units, activation="tanh")
            outputs["sensitive"] = self._dense(sensitive, "sensitivity", 1)[..., 0]
            self._losses["sensitive"] = self._sensitive_loss
            hidden = _joined([hidden, sensitive])
        crf = CRF(name="crf")
        outputs["tags"] = crf(self._dense(hidden, "scores", sizes.labels), mask=index > 0)
        self._losses["tags"] = (
            crf.marginal_cross_entropy
            if options.learning == "marginal"
            else crf.negative_log_likelihood
        )
        for name in ("transitions", "start", "end"):
            self._weights[name] = getattr(crf, name)
        self.model = keras.Model(inputs, outputs)
        decay = options.averaging
        averaging = {"use_ema": True, "ema_momentum": decay} if decay else {}
        self._optimizer = keras.optimizers.Adam(clipnorm=5.0, **averaging)
        self._optimizer.build(self.model.trainable_variables)
        self.train, self.test = training_steps(self.model, self._optimizer, self._loss)

    def _loss(
        self, inputs: Mapping[str, Tensor], tags: Tensor, weights: Tensor, training: bool
    ) -> Tensor:
        """Return the weighted mean loss of documents, with the penalties of layers."""
        tensors = {name: ops.convert_to_tensor(array) for name, array in inputs.items()}
        tags, weights = ops.convert_to_tensor(tags), ops.convert_to_tensor(weights)
        outputs = self.model(tensors, training=training)
        losses = sum(loss(tags, outputs[name]) for name, loss in self._losses.items())
        return ops.mean(losses * weights) + sum(self.model.losses, start=ops.zeros(()))

    def set_learning_rate(self, rate: float) -> None:
        """Set the learning rate of the following steps."""
        self._optimizer.learning_rate = rate

    def use_average(self) -> None:
        """Replace the weights by their exponential moving average, if there is one."""
        if self.options.averaging:
            self._optimizer.finalize_variable_values(self.model.trainable_variables)

    def _sensitive_loss(self, tags: Tensor, logits: Tensor) -> Tensor:
        """Compute the cross-entropy of whether tokens are in entities (paper 001, equation 11)."""
        tags = ops.cast(tags, "int32")
        sensitive = ops.cast(tags != self.sizes.outside, logits.dtype)
        losses = ops.softplus(logits) - sensitive * logits
        known = ops.cast(tags >= 0, logits.dtype)
        return ops.sum(losses * known, axis=-1)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return ops.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]


def training_steps(model: Any, optimizer: Any, loss: Loss) -> tuple[Step, Step]:
    """Return a function that trains on a minibatch, and one that computes its loss.

    The optimizer must have been built. The loss is a function that calls the model.

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
        {tensor.name: tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in model.inputs},
        tf.TensorSpec((None, None), tf.int32),
        tf.TensorSpec((None,), tf.float32),
    )

    def train(inputs: Mapping[str, Tensor], tags: Tensor, weights: Tensor) -> Tensor:
        variables = [variable.value for variable in model.trainable_variables]
        with tf.GradientTape() as tape:
            value = loss(inputs, tags, weights, True)
        # The gradients of tables are sparse, and Adam would add the squares of the parts of a row
        # in place of the square of their sum.
        gradients = [tf.convert_to_tensor(part) for part in tape.gradient(value, variables)]
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

    def train(inputs: Any, tags: Any, weights: Any) -> Tensor:
        model.zero_grad()
        value = loss(inputs, tags, weights, True)
        value.backward()
        gradients = [variable.value.grad for variable in model.trainable_variables]
        with torch.no_grad():
            optimizer.apply(gradients, model.trainable_variables)
        return value.detach()

    def test(inputs: Any, tags: Any, weights: Any) -> Tensor:
        with torch.no_grad():
            return loss(inputs, tags, weights, False)

    return train, test
