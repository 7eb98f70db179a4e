"""Mixtures of kinds, estimated by expectation maximization."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_ROUNDS = 15


def mixture_weights(
    likelihoods: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Estimate the weights of the components of a mixture by expectation maximization.

    The weights are the mode of their posterior probability under a Dirichlet prior, which counts as
    one more mention that is of every kind to the same degree.

    Parameters
    ----------
    likelihoods : ndarray of float64, shape (M, K)
        The likelihood of each component for each mention. Each row has a positive one.
    counts : ndarray of int64, shape (M,)
        The number of occurrences of each mention.

    Returns
    -------
    ndarray of float64, shape (K,)
        The weights, with the sum 1.
    """
    components = likelihoods.shape[1]
    weights = np.full(components, 1 / components)
    for _ in range(_ROUNDS):
        shares = likelihoods * weights
        shares /= shares.sum(axis=1, keepdims=True)
        totals = counts @ shares + 1 / components
        weights = totals / totals.sum()
    return weights
