"""The forward and the backward algorithm over packed documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from taggers.crf.lattice.packing import Packing, Reals
from taggers.crf.lattice.paths import padded_transition

#: How far the sums over the differences of transitions may reach in each type; see `_safe`.
_SAFE = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 350.0}


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The sums over paths through the M tokens of a packing.

    Parameters
    ----------
    emission : ndarray of float, shape (M, P)
        The exponentials of scores; after `Transitions.backward`, ``emission * beta / scale``.
    alpha : ndarray of float, shape (M, P)
        The probability of each label given the tokens so far; after `Transitions.backward`, the
        marginals.
    scale : ndarray of float64, shape (M,)
        The sum of each token, by which `alpha` is normalised.
    log_z : ndarray of float64, shape (D,)
        The logarithm of the partition function of each document.
    """

    emission: Reals
    alpha: Reals
    scale: npt.NDArray[np.float64]
    log_z: npt.NDArray[np.float64]


class Transitions:
    """The forward-backward algorithm with the transitions of a CRF.

    Where transitions differ so much that values could be lost to underflow in single precision, it
    computes in double precision. If they could be lost there, too, a transition that is lower than
    the largest one by more than 175 counts as 175 lower, which is as good as forbidden.

    Parameters
    ----------
    transition : ndarray of float64, shape (L, L)
        Scores from a label to the following one.
    real : dtype
        The type of scores: float32 or float64.

    Attributes
    ----------
    exponential : ndarray of float, shape (P, P)
        The exponentials relative to the largest transition; 0 to and from padding labels.
    """

    def __init__(self, transition: npt.NDArray[np.float64], real: np.dtype[np.floating]) -> None:
        self._top = float(transition.max())
        relative = transition - self._top
        if not _safe(transition, real):
            real = np.dtype(np.float64)
            if not _safe(transition, real):
                relative = np.maximum(relative, -_SAFE[real] / 2)
        self.exponential = padded_transition(np.exp(relative), real)
        self._transposed = np.ascontiguousarray(self.exponential.T)

    def forward(self, packing: Packing, scores: Reals, alpha: Reals) -> Sums:
        """Sum up to each token.

        Parameters
        ----------
        packing : Packing
            The documents.
        scores, alpha : ndarray of float, shape (M, P)
            The scores of packed tokens, and an array of this shape. Both are overwritten.
        """
        if scores.dtype != self.exponential.dtype:
            scores = scores.astype(self.exponential.dtype)
            alpha = np.empty_like(scores)
        largest, scale = np.empty(packing.tokens, scores.dtype), np.empty(packing.tokens)
        log_z = np.empty(len(packing.documents))
        _lower_by_largest(scores, largest)
        np.exp(scores, out=scores)
        _forward(packing.steps, scores, self.exponential, alpha, scale)
        _log_sums(packing.steps, scale, largest, self._top, log_z)
        return Sums(scores, alpha, scale, log_z)

    def backward(
        self,
        packing: Packing,
        sums: Sums,
        weights: npt.NDArray[np.float64],
        counts: npt.NDArray[np.float64],
    ) -> None:
        """Convert ``sums.alpha`` to marginals times the weight of their document.

        Parameters
        ----------
        packing : Packing
            The documents.
        sums : Sums
            The result of `forward`.
        weights : ndarray of float64, shape (D,)
            The weights of documents.
        counts : ndarray of float64, shape (P, P) or (0, 0)
            Increased by the expected counts of transitions divided by `exponential`, unless it is
            empty.
        """
        _backward(
            packing.steps, sums.emission, self._transposed, weights, sums.alpha, sums.scale, counts
        )


def _safe(transition: npt.NDArray[np.float64], real: np.dtype[np.floating]) -> bool:
    """Return whether underflow in this type cannot affect results."""
    # Probabilities below the smallest positive number, exp(-103) or exp(-745), are lost in each
    # step before it is normalised. A path that was lost can gain on the best path by at most one
    # transition, since the best path may then take the same labels. The sum of the largest
    # differences between transitions to and from a label must therefore stay well below these
    # exponents.
    return bool(np.ptp(transition, axis=0).max() + np.ptp(transition, axis=1).max() <= _SAFE[real])


@compiled("real[:, ::1], real[::1]")
def _lower_by_largest(scores: Array, largest: Array) -> None:
    """Subtract the largest score of each row, and store it in `largest`."""
    labels = scores.shape[1]
    for token in range(len(scores)):
        row = scores[token]
        most = row[0]
        for label in range(1, labels):
            most = max(most, row[label])
        largest[token] = most
        for label in range(labels):
            row[label] -= most


@compiled("int64[::1], real[:, ::1], real[:, ::1], real[:, ::1], float64[::1]")
def _forward(steps: Array, emission: Array, transition: Array, alpha: Array, scale: Array) -> None:
    """Compute the probability of each label given the tokens so far, and each step's sum."""
    for step in range(len(steps) - 1):
        now, after = steps[step], steps[step + 1]
        number = after - now
        current = alpha[now:after]
        if step == 0:
            for row in range(number):  # an assignment of slices takes ten seconds to compile
                for label in range(current.shape[1]):
                    current[row, label] = emission[now + row, label]
        else:
            before = steps[step - 1]
            np.dot(alpha[before : before + number], transition, current)
        for row in range(number):
            total = np.float64(0)
            if step > 0:
                for label in range(current.shape[1]):
                    current[row, label] *= emission[now + row, label]
            for label in range(current.shape[1]):
                total += current[row, label]
            scale[now + row] = total
            inverse = 1 / total
            for label in range(current.shape[1]):
                current[row, label] *= inverse


@compiled(
    "int64[::1], real[:, ::1], real[:, ::1], float64[::1], real[:, ::1], float64[::1], "
    "float64[:, ::1]"
)
def _backward(
    steps: Array,
    emission: Array,
    transposed: Array,
    weights: Array,
    alpha: Array,
    scale: Array,
    expected: Array,
) -> None:
    """Convert `alpha` to marginals times the weight of their document, and count transitions."""
    # `alpha[t].T @ (emission * beta / scale)[t + 1]` is added to `expected`, unless its shape is
    # (0, 0). Multiplied by the transitions, it is the expected count of each transition. `emission`
    # is overwritten.
    labels = alpha.shape[1]
    beta = np.empty((steps[1] - steps[0], labels), alpha.dtype)
    part = np.empty((labels, labels), alpha.dtype)
    last = len(steps) - 2
    for step in range(last, -1, -1):
        now, after = steps[step], steps[step + 1]
        going = 0
        if step < last:
            going = steps[step + 2] - after
            successors = emission[after : after + going]
            if len(expected):
                np.dot(alpha[now : now + going].T, successors, part)
                for row in range(labels):
                    for label in range(labels):
                        expected[row, label] += part[row, label]
            np.dot(successors, transposed, beta[:going])
        for row in range(going, after - now):
            for label in range(labels):
                beta[row, label] = weights[row]
        for row in range(after - now):
            inverse = 1 / scale[now + row]
            for label in range(labels):
                alpha[now + row, label] *= beta[row, label]
                emission[now + row, label] *= beta[row, label] * inverse


@compiled("int64[::1], float64[::1], real[::1], float64, float64[::1]")
def _log_sums(steps: Array, scale: Array, largest: Array, top: float, log_z: Array) -> None:
    """Compute log Z of each document."""
    # `largest` and `top` are the values subtracted from the scores of tokens and from transitions.
    for step in range(len(steps) - 1):
        shift = 0.0 if step == 0 else top
        for row in range(steps[step + 1] - steps[step]):
            token = steps[step] + row
            value = np.log(scale[token]) + np.float64(largest[token]) + shift
            log_z[row] = value if step == 0 else log_z[row] + value
