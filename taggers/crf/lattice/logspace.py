"""Forward-backward on logarithms, for transitions that differ too much for `lattice`.

It is slower, but numerically stable for any finite weights.
"""

from __future__ import annotations

import numpy as np

from corpus.kernels.compiled import Array, compiled


@compiled("float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def log_forward_backward(scores: Array, transition: Array, alpha: Array, beta: Array) -> float:
    """Compute the logarithms of the forward and backward sums of a document, and return log Z.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, L)
        Scores of each label at each token; at least one token.
    transition : ndarray of float64, shape (L, L)
        From a label to the following one.
    alpha, beta : ndarray of float64, shape (n, L)
        Outputs: ``alpha[t, y] + beta[t, y] - log Z`` is the logarithm of a marginal.
    """
    number, labels = scores.shape
    for label in range(labels):  # an assignment of slices takes seconds to compile
        alpha[0, label] = scores[0, label]
    for token in range(1, number):
        for label in range(labels):
            most = alpha[token - 1, 0] + transition[0, label]
            for origin in range(1, labels):
                most = max(most, alpha[token - 1, origin] + transition[origin, label])
            total = 0.0
            for origin in range(labels):
                total += np.exp(alpha[token - 1, origin] + transition[origin, label] - most)
            alpha[token, label] = most + np.log(total) + scores[token, label]
    for label in range(labels):
        beta[number - 1, label] = 0.0
    for token in range(number - 2, -1, -1):
        for origin in range(labels):
            most = transition[origin, 0] + scores[token + 1, 0] + beta[token + 1, 0]
            for label in range(1, labels):
                value = transition[origin, label] + scores[token + 1, label]
                most = max(most, value + beta[token + 1, label])
            total = 0.0
            for label in range(labels):
                value = transition[origin, label] + scores[token + 1, label]
                total += np.exp(value + beta[token + 1, label] - most)
            beta[token, origin] = most + np.log(total)
    most = alpha[number - 1, 0]
    for label in range(1, labels):
        most = max(most, alpha[number - 1, label])
    total = 0.0
    for label in range(labels):
        total += np.exp(alpha[number - 1, label] - most)
    return float(most + np.log(total))
