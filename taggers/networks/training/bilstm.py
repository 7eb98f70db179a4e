"""A bidirectional LSTM layer, whose recurrence is compiled where TensorFlow trains on CPUs."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import layers, ops

from corpus.kernels.compiled import kernel_array
from taggers.networks.training.recurrence import differentiate_lstm, run_lstm

Tensor = Any
Floats = npt.NDArray[np.float32]

#: The directions, as the prefixes of the names of their weights.
_DIRECTIONS = ("forward", "backward")


class BiLSTM(layers.Layer):  # type: ignore[misc]
    """A bidirectional LSTM over sequences whose padding comes last.

    It computes what two `keras.layers.LSTM` compute, of which the second one reads each sequence
    from its end.

    Parameters
    ----------
    units : int
        The units of each direction, U.
    compiled : bool, optional
        Whether the recurrence is computed by `taggers.networks.training.recurrence` and not by
        Keras. Default: with TensorFlow, where there is no GPU.

    Attributes
    ----------
    directions : dict of str to keras.layers.LSTM
        The layers that hold the weights, by ``"forward"`` and ``"backward"``.
    """

    def __init__(self, units: int, *, compiled: bool | None = None) -> None:
        super().__init__()
        self.units = units
        self.compiled = _on_cpu_with_tensorflow() if compiled is None else compiled
        self.directions = {
            name: layers.LSTM(units, return_sequences=True, name=name) for name in _DIRECTIONS
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
        if self.compiled:
            return self._run_compiled(vectors, lengths)
        forward, backward = self.directions.values()
        # Padding comes last for both directions, so that no mask is needed, which would cost time
        # at each step.
        reverse = _reversed(backward(_reversed(vectors, lengths)), lengths)
        return ops.concatenate([forward(vectors), reverse], axis=-1)

    def _run_compiled(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        kernel, recurrent, bias = (
            ops.concatenate([getattr(layer.cell, name) for layer in self.directions.values()], axis)
            for name, axis in (("kernel", 1), ("recurrent_kernel", 0), ("bias", 0))
        )
        # The product of two matrices is faster than that of a matrix with each sequence.
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
    """Return the outputs of an LSTM as an operation of TensorFlow with a gradient.

    See `taggers.networks.training.recurrence.run_lstm`.
    """
    import tensorflow as tf  # noqa: PLC0415 - only where it is the backend

    shape = (*gates.shape[:2], gates.shape[2] // 4)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def outputs_of(gates: Tensor, recurrent: Tensor) -> tuple[Tensor, Any]:
        activations, cells, outputs = tf.numpy_function(
            _run, [gates, recurrent, lengths], [tf.float32] * 3
        )

        def gradient(of_outputs: Tensor) -> tuple[Tensor, Tensor]:
            read = [activations, recurrent, lengths, cells, outputs, of_outputs]
            of_gates, of_recurrent = tf.numpy_function(_differentiate, read, [tf.float32] * 2)
            return (
                tf.ensure_shape(of_gates, gates.shape),
                tf.ensure_shape(of_recurrent, recurrent.shape),
            )

        return tf.ensure_shape(outputs, shape), gradient

    return outputs_of(gates, recurrent)


def _run(
    gates: Floats, recurrent: Floats, lengths: npt.NDArray[np.int32]
) -> tuple[Floats, Floats, Floats]:
    """Return activations, cells and outputs."""
    activations = np.array(gates)  # TensorFlow's own array must not be overwritten
    cells, outputs = np.empty((2, *gates.shape[:2], gates.shape[2] // 4), np.float32)
    run_lstm(activations, kernel_array(recurrent), kernel_array(lengths), cells, outputs)
    return activations, cells, outputs


def _differentiate(*arrays: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the gradients of gates and of recurrent weights; see `differentiate_lstm`."""
    activations, recurrent, lengths, cells, outputs, of_outputs = map(kernel_array, arrays)
    of_gates, of_recurrent = np.empty_like(activations), np.empty_like(recurrent)
    differentiate_lstm(
        activations, recurrent, lengths, cells, outputs, of_outputs, of_gates, of_recurrent
    )
    return of_gates, of_recurrent


def _reversed(vectors: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each sequence in its place, so that padding stays at the end."""
    number = ops.shape(vectors)[1]
    places = (lengths[:, None] - 1 - ops.arange(number, dtype="int32")) % number
    return ops.take_along_axis(vectors, places[..., None], axis=1)
