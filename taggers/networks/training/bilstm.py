"""A bidirectional LSTM layer, which packs sequences where TensorFlow trains on CPUs.

Keras runs an LSTM as a loop of small operations, whose calls take longer than their computations.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import layers, ops

from corpus.kernels.compiled import kernel_array
from taggers.networks.crf_layer import reversed_sequences
from taggers.networks.lstm import differentiate_lstm, run_lstm
from taggers.networks.network_sizes import DIRECTIONS

Tensor = Any
Floats = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int32]


class BiLSTM(layers.Layer):  # type: ignore[misc]
    """A bidirectional LSTM over sequences whose padding comes last.

    It computes what two `keras.layers.LSTM` compute; the second one reads each sequence from its
    end.

    Parameters
    ----------
    units : int
        The units of each direction, U.
    packed : bool, optional
        Whether `taggers.networks.lstm` runs the LSTM, instead of Keras. Default: with TensorFlow,
        where there is no GPU.

    Attributes
    ----------
    directions : dict of str to keras.layers.LSTM
        The layers that hold the weights, by ``"forward"`` and ``"backward"``.
    """

    def __init__(self, units: int, *, packed: bool | None = None) -> None:
        super().__init__()
        self.units = units
        self.packed = _on_cpu_with_tensorflow() if packed is None else packed
        self.directions = {
            name: layers.LSTM(units, return_sequences=True, name=name) for name in DIRECTIONS
        }

    def build(self, shape: tuple[int | None, ...], *_: Any) -> None:
        """Create the weights for vectors of shape (B, T, D)."""
        for layer in self.directions.values():
            layer.build(shape)

    def compute_output_shape(
        self, shape: tuple[int | None, ...], *_: Any
    ) -> tuple[int | None, ...]:
        """Return the shape of the outputs for vectors of a shape."""
        return (*shape[:-1], 2 * self.units)

    def call(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return the outputs of both directions.

        Parameters
        ----------
        vectors : tensor, shape (B, T, D)
        lengths : tensor of int32, shape (B,)
            The number of tokens of each sequence.

        Returns
        -------
        tensor, shape (B, T, 2 * U)
            Undefined after the end of a sequence.
        """
        if self.packed:
            return self._run_packed(vectors, lengths)
        forward, backward = self.directions.values()
        # Padding comes last for both directions, so that no mask is needed, which would cost time
        # at each step.
        reverse = reversed_sequences(backward(reversed_sequences(vectors, lengths)), lengths)
        return ops.concatenate([forward(vectors), reverse], axis=-1)

    def _run_packed(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        kernel, recurrent, bias = (
            ops.concatenate([getattr(layer.cell, name) for layer in self.directions.values()], axis)
            for name, axis in (("kernel", 1), ("recurrent_kernel", 0), ("bias", 0))
        )
        # One product of two matrices is faster than a product for each sequence.
        tokens = ops.reshape(vectors, (-1, vectors.shape[-1]))
        gates = ops.matmul(tokens, kernel) + bias
        gates = ops.reshape(gates, (*ops.shape(vectors)[:2], 8 * self.units))
        recurrent = ops.reshape(recurrent, (2, self.units, 4 * self.units))
        return _recurrence(gates, recurrent, lengths)


def _on_cpu_with_tensorflow() -> bool:
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf  # noqa: PLC0415 - only where it is the backend

    return not tf.config.list_physical_devices("GPU")


def _recurrence(gates: Tensor, recurrent: Tensor, lengths: Tensor) -> Tensor:
    """Return the outputs of an LSTM as an operation of TensorFlow with a gradient."""
    import tensorflow as tf  # noqa: PLC0415 - only where it is the backend

    shape = (*gates.shape[:2], gates.shape[2] // 4)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def outputs_of(gates: Tensor, recurrent: Tensor) -> tuple[Tensor, Any]:
        states, packed, outputs = tf.numpy_function(
            _run, [gates, recurrent, lengths], [tf.float32] * 3
        )

        def gradient(of_outputs: Tensor) -> tuple[Tensor, Tensor]:
            read = [states, recurrent, lengths, packed, of_outputs]
            of_gates, of_recurrent = tf.numpy_function(_differentiate, read, [tf.float32] * 2)
            return (
                tf.ensure_shape(of_gates, gates.shape),
                tf.ensure_shape(of_recurrent, recurrent.shape),
            )

        return tf.ensure_shape(outputs, shape), gradient

    return outputs_of(gates, recurrent)


def _run(gates: Floats, recurrent: Floats, lengths: Codes) -> tuple[Floats, Floats, Floats]:
    """Return the states and outputs of packed tokens, and the outputs of all positions."""
    tokens, steps = _packed(lengths, gates.shape[1])
    units, number = recurrent.shape[1], len(tokens)
    states = np.empty((2, 5, number, units), np.float32)
    outputs = np.empty((2, number, units), np.float32)
    table = kernel_array(gates.reshape(-1, 8 * units))
    tables = table, np.zeros((1, 8 * units), np.float32)
    rows = tokens.astype(np.int32), np.zeros(number, np.int32)
    for direction, own in enumerate(recurrent):
        into = outputs[direction], states[direction]
        run_lstm(tables, rows, kernel_array(own), steps, bool(direction), *into)
    positions = np.zeros((len(table), 2 * units), np.float32)
    positions[tokens] = np.hstack(outputs)  # type: ignore[call-overload]
    return states, outputs, positions.reshape(*gates.shape[:2], -1)


def _differentiate(
    states: Floats, recurrent: Floats, lengths: Codes, outputs: Floats, of_positions: Floats
) -> tuple[Floats, Floats]:
    """Return the gradients of gates and of recurrent weights."""
    number, places = of_positions.shape[:2]
    units = recurrent.shape[1]
    tokens, steps = _packed(lengths, places)
    of_outputs = of_positions.reshape(-1, 2, units)[tokens]
    of_gates = np.zeros((number * places, 2, 4, units), np.float32)
    of_recurrent = np.empty_like(recurrent)
    for direction, weights in enumerate(recurrent):
        of_gates[tokens, direction], of_recurrent[direction] = differentiate_lstm(
            states[direction],
            weights,
            steps,
            outputs[direction],
            of_outputs[:, direction],
            reverse=bool(direction),
        )
    return of_gates.reshape(number, places, -1), of_recurrent


def _packed(lengths: Codes, places: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the positions of packed tokens among padded sequences, and the steps of `run_lstm`."""
    order = np.argsort(-lengths, kind="stable")
    place = np.arange(lengths.max(initial=0))[:, None]
    there = place < lengths[order]
    return (order * places + place)[there], np.append(0, there.sum(axis=1).cumsum())
