"""A conditional random field as a layer of Keras 3, on any backend.

The layer is the last one of a network: it receives a score for each label of each token, and adds
the transitions between labels (Lafferty et al., 2001; Lample et al., 2016). Its methods compute
the partition function and marginals by forward-backward, and the best sequence by Viterbi (Sutton
and McCallum, 2012, chapter 4). This module imports nothing but Keras.

All of them are one recursion over the tokens. A **message** arrives at a token: for each label, a
score of what precedes the token. The message that leaves it depends on the sum of its scores and
of the message that arrived. Backward messages are the messages of the reversed sequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

#: The tag of a token that is not known. All its labels are summed over (Tsuboi et al., 2008).
UNKNOWN = -1
#: The tag of a position after the end of a sequence.
PADDING = -2

_EXCLUDED = -1e9  # the score of a label that is not the known one
_PLAIN_SPREAD = 70.0  # of transitions whose exponentials need not be lifted
_LIFT = 30.0  # at most: exp(2 * 30) * L and its inverse are float32
_LOWEST = -85.0  # exp(-85) is float32

Tensor = Any


@keras.saving.register_keras_serializable(package="taggers.networks")
class CRF(keras.layers.Layer):  # type: ignore[misc]
    """A linear-chain conditional random field.

    `call` adds the scores of boundaries. All other methods receive the scores that `call` returned.
    Sequences are padded at their ends: a mask is true at the tokens of a sequence and false after
    them. A sequence may be empty, that is, wholly masked. T is at least 1.

    Sums are computed in the dtype of the weights, also where the layer before computes in half
    precision, and are accurate for scores of any size. Transitions that are lower than the
    largest one by more than 115 count as 115 lower in sums, which forbids them, and have no
    gradient.

    The layer does not pass its mask on. A loss of Keras would multiply the mask of its input
    with the loss of each sequence, which is of another shape. The losses of this layer find the
    padding in the tags.

    Parameters
    ----------
    boundaries : bool
        Whether labels have scores for being first and last in a sequence.
    **kwargs
        Arguments of `keras.layers.Layer`.

    Attributes
    ----------
    transitions : keras.Variable, shape (L, L)
        Scores from a label to the following one.
    start, end : keras.Variable, shape (L,)
        Scores of the first and of the last label, with `boundaries`.
    """

    def __init__(self, boundaries: bool = True, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.boundaries = boundaries
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create the weights for scores of shape (B, T, L)."""
        labels = input_shape[-1]
        self.transitions = self.add_weight((labels, labels), "zeros", name="transitions")
        if self.boundaries:
            self.start = self.add_weight((labels,), "zeros", name="start")
            self.end = self.add_weight((labels,), "zeros", name="end")

    def call(self, scores: Tensor, mask: Tensor = None) -> Tensor:
        """Return the scores plus boundary scores, shape (B, T, L); 0 at masked positions."""
        scores, mask = self._masked(scores, mask)
        if not self.boundaries:
            return scores
        place, last = ops.arange(ops.shape(mask)[1]), _lengths(mask)[:, None] - 1
        first = ops.cast(mask & (place == 0), scores.dtype)[..., None]
        final = ops.cast(place == last, scores.dtype)[..., None]
        return scores + first * self.start + final * self.end

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor = None) -> None:
        """Return None: the mask ends here."""

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the layer, serialisable as JSON."""
        return {**super().get_config(), "boundaries": self.boundaries}

    def log_partition(self, scores: Tensor, mask: Tensor = None) -> Tensor:
        """Return the logarithm of the sum over all tag sequences, shape (B,); 0 if empty."""
        scores, mask = self._masked(scores, mask)
        return ops.sum(self._log_factors(scores, mask), axis=1)

    def log_likelihood(self, scores: Tensor, tags: Tensor, mask: Tensor = None) -> Tensor:
        """Compute the logarithm of the probability of tags.

        Parameters
        ----------
        scores : tensor, shape (B, T, L)
            What `call` returned.
        tags : tensor of integers, shape (B, T)
            Labels in [0, L). Where a tag is negative, the probabilities of all labels are summed.
        mask : tensor of bool, shape (B, T), optional
            True at tokens. Without it, sequences have no padding.

        Returns
        -------
        tensor, shape (B,)
            0 for sequences that are empty or have no known tags.
        """
        scores, mask = self._masked(scores, mask)
        scores, tags = _relative(scores), ops.cast(tags, "int32")[..., None]
        possible = (tags == ops.arange(scores.shape[-1], dtype="int32")) | (tags < 0)
        observed = ops.where(possible, scores, _EXCLUDED)
        # One recursion over both is faster than two.
        both = self._log_factors(ops.concatenate([observed, scores]), ops.concatenate([mask, mask]))
        number = ops.shape(scores)[0]
        # The difference of each token is more accurate than the difference of the sums.
        return ops.sum(both[:number] - both[number:], axis=1)

    def marginals(self, scores: Tensor, mask: Tensor = None) -> Tensor:
        """Return the probability of each label of each token, shape (B, T, L); 0 where masked."""
        scores, mask = self._masked(scores, mask)
        probabilities = ops.exp(self._log_marginals(scores, mask))
        return ops.where(mask[..., None], probabilities, 0.0)

    def decode(self, scores: Tensor, mask: Tensor = None) -> Tensor:
        """Compute the best tag sequences by the Viterbi algorithm.

        Of equally good sequences, the one with the lowest label at its end is returned, then the
        one with the lowest label before that.

        Parameters
        ----------
        scores : tensor, shape (B, T, L)
            What `call` returned.
        mask : tensor of bool, shape (B, T), optional
            True at tokens.

        Returns
        -------
        tensor of int32, shape (B, T)
            Labels; `PADDING` at masked positions.
        """
        scores, mask = self._masked(scores, mask)
        transitions = ops.convert_to_tensor(self.transitions)

        def best_before(paths: Tensor) -> Tensor:
            return ops.max(_relative(paths)[..., None] + transitions, axis=-2)

        def from_best(paths: Tensor) -> Tensor:
            return ops.take(ops.transpose(transitions), ops.argmax(paths, axis=-1), axis=0)

        scores, lengths = _relative(scores), _lengths(mask)
        paths = reversed_sequences(_relative(scores + _messages(scores, best_before)), lengths)
        best = reversed_sequences(paths + _messages(paths, from_best), lengths)
        return ops.where(mask, ops.cast(ops.argmax(best, axis=-1), "int32"), PADDING)

    def negative_log_likelihood(self, tags: Tensor, scores: Tensor) -> Tensor:
        """Compute the loss of sequences, for ``compile(loss=crf.negative_log_likelihood)``.

        Parameters
        ----------
        tags : tensor, shape (B, T)
            Labels in [0, L), `UNKNOWN`, and `PADDING` after the end of a sequence.
        scores : tensor, shape (B, T, L)
            What `call` returned.

        Returns
        -------
        tensor, shape (B,)
        """
        return -self.log_likelihood(scores, tags, ops.cast(tags, "int32") != PADDING)

    def marginal_cross_entropy(self, tags: Tensor, scores: Tensor) -> Tensor:
        """Compute the cross-entropy of marginals, summed over the known tags of each sequence.

        It is minus the logarithm of the product of the tokens' marginal probabilities, where
        `negative_log_likelihood` has the probability of the sequence (paper 003, section 3.5.2).
        Its parameters are the same.
        """
        tags = ops.cast(tags, "int32")
        scores, mask = self._masked(scores, tags != PADDING)
        logarithms = self._log_marginals(scores, mask)
        known = tags[..., None] == ops.arange(scores.shape[-1], dtype="int32")
        return -ops.sum(ops.where(known, logarithms, 0.0), axis=(1, 2))

    def _masked(self, scores: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores that are 0 where masked, and a mask."""
        scores = ops.cast(scores, self.variable_dtype)
        mask = ops.ones_like(scores[..., 0], "bool") if mask is None else ops.cast(mask, "bool")
        return ops.where(mask[..., None], scores, 0.0), mask

    def _log_sums(self) -> tuple[Callable[[Tensor, Tensor], Tensor], Tensor, Tensor]:
        """Return a function of sums and exponentials, the exponentials, and a constant left out."""
        # The function is a matrix product instead of a sum of exponentials for each pair of labels,
        # several times faster. The exponentials of both factors are lifted as far as float32
        # allows where the transitions are so different that an improbable label may matter.
        transitions = ops.convert_to_tensor(self.transitions)
        fixed = ops.stop_gradient(transitions)
        top = ops.max(fixed)
        lift = ops.clip(top - ops.min(fixed) - _PLAIN_SPREAD, 0.0, _LIFT)
        exponentials = ops.maximum(ops.exp(transitions - (top - lift)), math.exp(_LOWEST))

        def message(sums: Tensor, exponentials: Tensor) -> Tensor:
            return ops.log(ops.matmul(ops.exp(_relative(sums) + lift), exponentials))

        return message, exponentials, top - 2 * lift

    def _log_factors(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Compute numbers that sum to the logarithm of the partition function, shape (B, T)."""
        message, exponentials, constant = self._log_sums()
        centred = _relative(scores)
        sums = centred + _messages(centred, lambda sums: message(sums, exponentials))
        # What `_relative` subtracts in a message is a constant there, and added here as one.
        before = ops.stop_gradient(ops.max(sums, axis=-1)) + constant
        place, last = ops.arange(ops.shape(mask)[1]), _lengths(mask)[:, None] - 1
        factors = ops.where(place == last, ops.logsumexp(sums, axis=-1), before)
        factors = factors + ops.stop_gradient(ops.max(scores, axis=-1))
        return ops.where(mask, factors, 0.0)

    def _log_marginals(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Compute the logarithms of marginals, shape (B, T, L); undefined where masked."""
        message, exponentials, _ = self._log_sums()
        scores, lengths, transposed = _relative(scores), _lengths(mask), ops.transpose(exponentials)
        before = _messages(scores, lambda sums: message(sums, exponentials))
        reverse = reversed_sequences(scores, lengths)
        after = _messages(reverse, lambda sums: message(sums, transposed))
        return ops.log_softmax(before + scores + reversed_sequences(after, lengths), axis=-1)


class _Cell:
    """A cell of `keras.layers.RNN` whose outputs are the messages that arrive at tokens."""

    def __init__(self, labels: int, dtype: str, message: Callable[[Tensor], Tensor]) -> None:
        self.state_size = self.output_size = labels
        self.compute_dtype = dtype
        self._message = message

    def call(self, scores: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        return states[0], [self._message(scores + states[0])]

    __call__ = call


def _messages(scores: Tensor, message: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the messages that arrive at each token, shape (B, T, L); 0 at the first."""
    # A message leaves each token, computed from the sums of its scores and the arriving message.
    # `ops.scan` is no faster, and TensorFlow cannot differentiate it with XLA.
    dtype = keras.backend.standardize_dtype(scores.dtype)
    cell = _Cell(scores.shape[-1], dtype, message)
    return keras.layers.RNN(cell, return_sequences=True, dtype=dtype, name="messages")(scores)


def _relative(scores: Tensor) -> Tensor:
    """Subtract the largest score of each token, a constant to gradients."""
    return scores - ops.stop_gradient(ops.max(scores, axis=-1, keepdims=True))


def _lengths(mask: Tensor) -> Tensor:
    return ops.sum(ops.cast(mask, "int32"), axis=1)


def reversed_sequences(scores: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each sequence in its place, so that padding stays at the end."""
    number = ops.shape(scores)[1]
    places = (lengths[:, None] - 1 - ops.arange(number, dtype="int32")) % number
    return ops.take_along_axis(scores, places[..., None], axis=1)
