"""The share of names among tokens, estimated on notes drawn with a known share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from taggers.dictionaries.word_usage import name_share


def census(words: int) -> np.ndarray:
    """Shares of names as people bear them: a few are very common, most are rare."""
    shares = 1 / np.arange(1, words + 1) ** 1.1
    return shares / shares.sum()


def in_notes(
    rng: np.random.Generator, shares: np.ndarray, share: float, tokens: int, clump: int = 1
) -> np.ndarray:
    """Draw names at a share of the tokens; each is written `clump` times where it is written."""
    return clump * rng.multinomial(round(share * tokens / clump), shares)


@pytest.mark.parametrize("share", [0.0003, 0.003, 0.03, 0.3])
@pytest.mark.parametrize("words", [300, 3000, 30_000])
def test_the_share_of_names_is_found(share: float, words: int) -> None:
    rng = np.random.default_rng(words)
    shares, tokens = census(words), 1_000_000
    counts = in_notes(rng, shares, share, tokens)
    assert name_share(shares, counts, tokens) == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("others", [0.01, 0.1])
def test_words_with_other_meanings_do_not_move_it(share: float, others: float) -> None:
    """Some words are written up to 30,000 times for another reason: the sum would be far off."""
    rng = np.random.default_rng(3)
    shares, tokens = census(3000), 2_000_000
    counts = in_notes(rng, shares, share, tokens)
    also = rng.random(len(shares)) < others
    counts = counts + also * np.exp(rng.uniform(np.log(10), np.log(30_000), len(shares))).astype(
        int
    )
    assert counts.sum() / tokens > 1.5 * share
    assert name_share(shares, counts, tokens) == pytest.approx(share, rel=0.5)


def reference_likelihood(shares: np.ndarray, counts: np.ndarray, tokens: int) -> dict[float, float]:
    """Compute the likelihood of every candidate share by SciPy's negative binomial distribution."""
    scales = np.exp(-16 + np.arange(161) / 10)
    shapes = np.array([0.1, 0.3, 1.0])[:, None]
    others = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])[:, None, None]
    mean = (shares * tokens * scales[:, None])[:, None, :]
    # SciPy's parameters: the number of failures before a number of successes.
    names = nbinom.pmf(counts, shapes, shapes / (shapes + mean))  # (scales, shapes, words)
    mixed = (1 - others) * names[:, None] + others / ((counts + 1) * (counts + 2))
    best = np.log(mixed).sum(axis=-1).max(axis=(1, 2))
    return dict(zip(scales.tolist(), best.tolist(), strict=True))


@given(
    st.lists(st.tuples(st.integers(-150, 150), st.integers(0, 200)), min_size=1, max_size=12),
    st.integers(1, 10**6),
)
def test_it_is_the_most_likely_of_all_shares(words: list[tuple[int, int]], tokens: int) -> None:
    """Their logarithms are multiples of 0.05 here: others are taken together with near ones."""
    shares = np.exp([0.05 * step for step, _ in words]) / tokens
    counts = np.array([count for _, count in words])
    actual = name_share(shares, counts, tokens)
    if not counts.any():
        assert actual == 0
        return
    likelihood = reference_likelihood(shares, counts, tokens)
    if actual == 0:
        assert likelihood[min(likelihood)] >= max(likelihood.values()) - 1e-6
        return
    nearest = min(likelihood, key=lambda scale: abs(math.log(scale / actual)))
    assert nearest == pytest.approx(actual)
    assert likelihood[nearest] >= max(likelihood.values()) - 1e-6


@pytest.mark.parametrize("tokens", [1, 10**6, 10**12])
def test_where_no_word_occurs_there_are_no_names(tokens: int) -> None:
    assert name_share(census(50), np.zeros(50, np.int64), tokens) == 0


@pytest.mark.filterwarnings("error")
def test_words_that_nobody_bears_say_nothing() -> None:
    rng = np.random.default_rng(6)
    shares, tokens = census(300), 10**6
    counts = in_notes(rng, shares, 0.01, tokens)
    more, seen = np.append(shares, [0.0, 0.0]), np.append(counts, [0, 5000])
    assert name_share(more, seen, tokens) == name_share(shares, counts, tokens) > 0
    assert name_share(np.zeros(2), np.array([0, 3]), 10) == 0
