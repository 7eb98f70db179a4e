"""Settings of embeddings by the size of the text: less work for more text, within limits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taggers.embeddings.automatic import (
    CLUSTERINGS,
    KS,
    MIN_WORDS,
    ks_for,
    min_count_for,
    training_options,
)

SIZES = st.integers(0, 10**9)


def test_minimum_counts_grow_between_a_small_and_a_large_corpus() -> None:
    sizes = (0, 400_000, 1_000_000, 2_200_000, 4_700_000, 10_000_000, 10**9)
    assert [min_count_for(size) for size in sizes] == [2, 2, 2, 3, 4, 5, 5]


@given(SIZES, SIZES)
def test_more_text_is_read_less_often(one: int, other: int) -> None:
    fewer, more = (training_options(size, 5, 0) for size in sorted((one, other)))
    assert 3 <= more.epochs <= fewer.epochs <= 30
    assert 2 <= fewer.min_count <= more.min_count <= 5
    assert fewer.dimension <= more.dimension


@given(st.integers(0, 20_000_000))
def test_the_tokens_of_all_epochs_are_bounded(tokens: int) -> None:
    assert tokens * training_options(tokens, 1, 0).epochs <= 60_000_000


@given(st.integers(0, 100_000))
def test_clusters_have_five_words_or_more_on_average(words: int) -> None:
    ks = ks_for(words)
    assert ks == [k for k in KS if 5 * k <= words and words >= MIN_WORDS]
    assert bool(ks) == (words >= MIN_WORDS)


def test_clusterings_are_named_by_window_and_number() -> None:
    assert len(CLUSTERINGS) == len(set(CLUSTERINGS)) == 8
    assert {"digits-w1-k16", "digits-w5-k1024"} <= set(CLUSTERINGS)
