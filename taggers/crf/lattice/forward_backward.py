"""The forward and the backward algorithm over packed documents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from taggers.crf.lattice.packing import Reals
from taggers.crf.lattice.paths import padded_transition

_SAFE = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 350.0}


def safe(transition: npt.NDArray[np.float64], real: np.dtype[np.floating]) -> bool:
    """Return whether underflow in this type cannot affect results.

    Probabilities below the smallest positive number, exp(-103) or exp(-745), are lost in each step
    before it is normalised. A path that was lost can gain on the best path by at most one
    transition, since the best path may then take the same labels. The sum of the largest
    differences between transitions to and from a label must therefore stay well below these
    exponents.

    Parameters
    ----------
    transition : ndarray of float64, shape (L, L)
        Scores from a label to the following one.
    real : dtype
        float32 or float64.
    """
    return bool(np.ptp(transition, axis=0).max() + np.ptp(transition, axis=1).max() <= _SAFE[real])


def exponential_transition(
    transition: npt.NDArray[np.float64], real: np.dtype[np.floating]
) -> Reals:
    """Exponentiate transitions relative to the largest; to and from padding labels it is 0."""
    padded = np.zeros_like(padded_transition(transition, real))
    padded[: len(transition), : len(transition)] = np.exp(transition - transition.max())
    return padded


@compiled("real[:, ::1], real[::1]")
def lower_by_largest(scores: Array, largest: Array) -> None:
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
def forward(steps: Array, emission: Array, transition: Array, alpha: Array, scale: Array) -> None:
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
def backward(
    steps: Array,
    emission: Array,
    transposed: Array,
    weights: Array,
    alpha: Array,
    scale: Array,
    expected: Array,
) -> None:
    """Convert `alpha` to marginals times the weight of their document, and count transitions.

    ``alpha[t].T @ (emission * beta / scale)[t + 1]`` is added to `expected`, unless its shape is
    (0, 0). Multiplied by the transitions, it is the expected count of each transition. `emission`
    is overwritten.
    """
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
def log_sums(steps: Array, scale: Array, largest: Array, top: float, log_z: Array) -> None:
    """Compute log Z of each document.

    `largest` and `top` are the values subtracted from the scores of tokens and from transitions.
    """
    for step in range(len(steps) - 1):
        shift = 0.0 if step == 0 else top
        for row in range(steps[step + 1] - steps[step]):
            token = steps[step] + row
            value = np.log(scale[token]) + np.float64(largest[token]) + shift
            log_z[row] = value if step == 0 else log_z[row] + value
