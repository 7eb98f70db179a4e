"""Forward-backward on logarithms, for transitions that differ too much for `lattice`.

It is slower, but numerically stable for any finite weights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def log_forward_backward(scores: Floats, transition: Floats) -> tuple[Floats, Floats, float]:
    """Compute the logarithms of the forward and backward sums of a document.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, L)
        Scores of each label at each token; at least one token.
    transition : ndarray of float64, shape (L, L)
        From a label to the following one.

    Returns
    -------
    alpha, beta : ndarray of float64, shape (n, L)
        ``alpha[t, y] + beta[t, y] - log_z`` is the logarithm of a marginal.
    log_z : float
    """
    alpha, beta = scores.copy(), np.zeros_like(scores)
    for token in range(1, len(scores)):
        alpha[token] += log_sum(alpha[token - 1][:, None] + transition, axis=0)
    for token in range(len(scores) - 2, -1, -1):
        beta[token] = log_sum(transition + scores[token + 1] + beta[token + 1], axis=1)
    return alpha, beta, float(log_sum(alpha[-1], axis=0))


def log_sum(values: Floats, axis: int) -> Floats:
    """Add finite numbers in logarithmic form along an axis; no numbers add up to minus infinity."""
    if not values.shape[axis]:
        return np.full(np.delete(values.shape, axis), -np.inf)
    most = values.max(axis=axis, keepdims=True)
    summed: Floats = np.log(np.exp(values - most).sum(axis=axis)) + most.squeeze(axis)
    return summed
