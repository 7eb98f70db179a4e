"""The network of the BiLSTM-CRF in Keras, for training.

Only the training process imports this module, since Keras takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import layers, ops

from taggers.networks.crf_layer import CRF
from taggers.networks.training.bilstm import BiLSTM
from taggers.networks.training.steps import Step, steps_of

Floats = npt.NDArray[np.float32]
Tensor = Any


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes and options of a network; the options are those of `BiLSTMCRFOptions`.

    Parameters
    ----------
    labels : int
        The number of labels, L.
    outside : int
        The label of tokens outside of all entities.
    vectors : int
        The dimension of the vectors of embeddings; 0 for none.
    words : int
        The rows of the table of learned vectors; 0 for no table.
    alphabet : int
        The number of codes of characters.
    features, streams : mapping of str to int
        The number of codes of each feature and stream, by name.
    """

    labels: int
    outside: int
    vectors: int
    words: int
    alphabet: int
    features: Mapping[str, int]
    streams: Mapping[str, int]
    dimension: int
    embedding_penalty: float
    characters: str
    character_dimension: int
    character_units: int
    feature_dimension: int
    units: int
    sensitive_units: int
    learning: str
    dropout: float
    averaging: float


@dataclass(slots=True)
class Network:
    """A network in Keras, and its weights by name.

    Parameters
    ----------
    plan : Plan
        Its sizes and options.

    Attributes
    ----------
    model : keras.Model
        The model. Its inputs are those of `taggers.networks.training.minibatches.Minibatches`.
    train : callable
        Trains on the inputs, tags and weights of a minibatch, and returns its loss.
    test : callable
        Computes the loss of a minibatch.
    """

    plan: Plan
    model: Any = field(init=False)
    train: Step = field(init=False)
    test: Step = field(init=False)
    _losses: dict[str, Callable[[Tensor, Tensor], Tensor]] = field(init=False, default_factory=dict)
    _optimizer: Any = field(init=False)
    _weights: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        plan = self.plan
        index = keras.Input((None,), dtype="int32", name="index")
        inputs: dict[str, Tensor] = {"index": index}
        lengths = ops.sum(ops.cast(index > 0, "int32"), axis=1)
        words = ops.take(self._word_vectors(inputs), index, axis=0)
        tokens = [words, *self._context_vectors(inputs)]
        read = layers.Dropout(plan.dropout)(_joined(tokens))
        hidden = layers.Dropout(plan.dropout)(self._bilstm(read, lengths, plan.units))
        outputs: dict[str, Tensor] = {}
        if plan.sensitive_units:
            sensitive = self._dense(hidden, "sensitive", plan.sensitive_units, activation="tanh")
            outputs["sensitive"] = self._dense(sensitive, "sensitivity", 1)[..., 0]
            self._losses["sensitive"] = self._sensitive_loss
            hidden = _joined([hidden, sensitive])
        crf = CRF(name="crf")
        outputs["tags"] = crf(self._dense(hidden, "scores", plan.labels), mask=index > 0)
        self._losses["tags"] = (
            crf.marginal_cross_entropy
            if plan.learning == "marginal"
            else crf.negative_log_likelihood
        )
        for name in ("transitions", "start", "end"):
            self._weights[name] = getattr(crf, name)
        self.model = keras.Model(inputs, outputs)
        averaging = {"use_ema": True, "ema_momentum": plan.averaging} if plan.averaging else {}
        self._optimizer = keras.optimizers.Adam(clipnorm=5.0, **averaging)
        self._optimizer.build(self.model.trainable_variables)
        self.train, self.test = steps_of(self.model, self._optimizer, self._loss)

    def _loss(
        self, inputs: Mapping[str, Tensor], tags: Tensor, weights: Tensor, training: bool
    ) -> Tensor:
        """Return the weighted mean loss of documents, with the penalties of layers."""
        outputs = self.model(inputs, training=training)
        losses = sum(loss(tags, outputs[name]) for name, loss in self._losses.items())
        return ops.mean(losses * weights) + sum(self.model.losses, start=ops.zeros(()))

    def weights(self) -> dict[str, Floats]:
        """Return a copy of the weights by name, as float32."""
        return {
            name: np.array(ops.convert_to_numpy(each), np.float32)
            for name, each in self._weights.items()
        }

    def assign(self, weights: Mapping[str, Floats]) -> None:
        """Replace weights of these names."""
        for name, value in weights.items():
            self._weights[name].assign(value)

    def set_learning_rate(self, rate: float) -> None:
        """Set the learning rate of the following steps."""
        self._optimizer.learning_rate = rate

    def use_average(self) -> None:
        """Replace the weights by their exponential moving average, if there is one."""
        if self.plan.averaging:
            self._optimizer.finalize_variable_values(self.model.trainable_variables)

    def _word_vectors(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return the vectors of the words of a minibatch, and add their inputs."""
        plan, parts = self.plan, []
        if plan.vectors:
            inputs["vectors"] = keras.Input((plan.vectors,), name="vectors")
            parts.append(inputs["vectors"])
        if plan.words:
            inputs["numbers"] = keras.Input((), dtype="int32", name="numbers")
            learned = self._table("words", plan.words, plan.vectors or plan.dimension)
            added = learned(inputs["numbers"])
            parts = [parts[0] + added] if parts else [added]
        if plan.characters != "none":
            inputs["characters"] = keras.Input((None,), dtype="int32", name="characters")
            parts.append(self._character_vectors(inputs["characters"]))
        if plan.features:
            inputs["features"] = keras.Input((len(plan.features),), dtype="int32", name="features")
            parts += self._value_vectors("features", plan.features, inputs["features"])
        return _joined(parts)

    def _table(self, name: str, rows: int, dimension: int) -> Any:
        """Return a table of vectors: of all words, or of what is added to their embeddings."""
        added = bool(self.plan.vectors)
        layer = layers.Embedding(
            rows,
            dimension,
            embeddings_initializer="zeros" if added else "uniform",
            activity_regularizer=keras.regularizers.L2(self.plan.embedding_penalty)
            if added
            else None,
        )
        layer.build(None)
        self._weights[name] = layer.embeddings
        return layer

    def _character_vectors(self, characters: Tensor) -> Tensor:
        plan = self.plan
        embedding = layers.Embedding(plan.alphabet, plan.character_dimension)
        embedding.build(None)
        self._weights["characters"] = embedding.embeddings
        there = ops.cast(characters > 0, "float32")[..., None]
        vectors = embedding(characters) * there
        lengths = ops.sum(ops.cast(characters > 0, "int32"), axis=1)
        if plan.characters == "bilstm":
            outputs = self._bilstm(vectors, lengths, plan.character_units, "characters_")
            last = ops.maximum(lengths - 1, 0)[:, None, None]
            forward = ops.take_along_axis(outputs[..., : plan.character_units], last, axis=1)
            ends = [forward[:, 0], outputs[:, 0, plan.character_units :]]
            return _joined(ends) * there[:, 0]
        convolution = layers.Conv1D(plan.character_units, 3, padding="same")
        filtered = convolution(vectors)
        self._weights["filters"] = convolution.kernel
        self._weights["filters_bias"] = convolution.bias
        # The largest value among the characters of a word, and 0 for a border, which has none.
        return ops.max(filtered - 1e9 * (1 - there), axis=1) * there[:, 0]

    def _context_vectors(self, inputs: dict[str, Tensor]) -> list[Tensor]:
        """Return the vectors of the streams, and add their input."""
        if not self.plan.streams:
            return []
        shape = (None, len(self.plan.streams))
        inputs["streams"] = keras.Input(shape, dtype="int32", name="streams")
        return self._value_vectors("streams", self.plan.streams, inputs["streams"])

    def _value_vectors(self, kind: str, sizes: Mapping[str, int], codes: Tensor) -> list[Tensor]:
        found = []
        for column, (name, size) in enumerate(sizes.items()):
            layer = layers.Embedding(size, self.plan.feature_dimension)
            layer.build(None)
            self._weights[f"{kind}/{name}"] = layer.embeddings
            found.append(layer(codes[..., column]))
        return found

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

    def _sensitive_loss(self, tags: Tensor, logits: Tensor) -> Tensor:
        """Compute the cross-entropy of whether tokens are in entities (paper 001, equation 11)."""
        tags = ops.cast(tags, "int32")
        sensitive = ops.cast(tags != self.plan.outside, logits.dtype)
        losses = ops.softplus(logits) - sensitive * logits
        known = ops.cast(tags >= 0, logits.dtype)
        return ops.sum(losses * known, axis=-1)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return ops.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
