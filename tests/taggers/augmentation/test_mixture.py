"""The weights of a mixture are at a maximum of the posterior probability."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taggers.augmentation.classified import mixture_weights


def log_posterior(weights: np.ndarray, likelihoods: np.ndarray, counts: np.ndarray) -> float:
    prior = np.log(weights).sum() / len(weights)
    return float(counts @ np.log(likelihoods @ weights) + prior)


def test_ambiguous_mentions_follow_the_others() -> None:
    likelihoods = np.array([[1.0, 0.0], [0.3, 0.3]])
    weights = mixture_weights(likelihoods, np.array([9, 4]))
    assert weights[0] > 0.9


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 10**6))
def test_no_other_weights_are_much_better(components: int, mentions: int, state: int) -> None:
    rng = np.random.default_rng(state)
    likelihoods = rng.random((mentions, components)) + 0.05
    counts = rng.integers(1, 5, mentions)
    weights = mixture_weights(likelihoods, counts)
    assert weights.sum() == pytest.approx(1)
    start = np.full(components, 1 / components)
    best = log_posterior(weights, likelihoods, counts)
    assert best >= log_posterior(start, likelihoods, counts) - 1e-9
    others = rng.dirichlet(np.ones(components), 200)
    # Fifteen rounds end near the maximum.
    assert all(log_posterior(other, likelihoods, counts) < best + 0.3 for other in others)
