"""The interval of the gain: resampled by patient, paired, and equal to resampling one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runs.gain import LEAST_UNITS, distinct_rows, f1_gain_interval
from corpus.scores import ConfusionCounts

Counts = npt.NDArray[np.int64]


def drawn(number: int, random_state: int, rate: float) -> Counts:
    """Draw the counts of documents with three entities, of which a model finds some."""
    rng = np.random.default_rng(random_state)
    found = rng.binomial(3, rate, number)
    return np.stack([found, rng.binomial(1, 0.2, number), 3 - found], axis=1).astype(np.int64)


def resampled(before: Counts, after: Counts, units: Counts) -> tuple[float, float]:
    """Resample the units one by one, as the definition says."""
    rng = np.random.default_rng(7)
    number = units.max() + 1
    gains = []
    for _ in range(4000):
        chosen = rng.integers(0, number, number)
        rows = np.concatenate([np.flatnonzero(units == unit) for unit in chosen])
        first, last = (
            ConfusionCounts(*counts[rows].sum(axis=0).tolist()).f1 for counts in (before, after)
        )
        gains.append(last - first)
    low, high = np.quantile(gains, [0.025, 0.975])
    return low, high


@pytest.mark.parametrize("per_unit", [1, 4])
def test_the_interval_is_that_of_resampling(per_unit: int) -> None:
    before, after = drawn(80, 1, 0.5), drawn(80, 2, 0.7)
    units = np.arange(80) // per_unit
    found = f1_gain_interval(before, after, units, resamples=20_000)
    assert found == pytest.approx(resampled(before, after, units), abs=0.012)


def test_the_same_model_gains_nothing_for_certain() -> None:
    counts = drawn(50, 1, 0.5)
    assert f1_gain_interval(counts, counts, np.arange(50)) == (0.0, 0.0)


def test_models_that_err_alike_have_a_narrow_interval() -> None:
    """One more entity in each tenth document is certain, unless the errors are drawn apart."""
    before = drawn(100, 1, 0.5)
    after = before.copy()
    places = np.flatnonzero(before[:, 2] > 0)[::5]
    after[places] += [1, 0, -1]
    shuffled = after[np.random.default_rng(0).permutation(100)]
    low, high = f1_gain_interval(before, after, np.arange(100)) or (0, 0)
    apart = f1_gain_interval(before, shuffled, np.arange(100)) or (0, 0)
    assert 0 < low < high
    assert apart[0] < 0 < apart[1] and apart[1] - apart[0] > 2 * (high - low)


def test_the_interval_contains_the_gain_and_turns_with_the_models() -> None:
    before, after = drawn(60, 3, 0.6), drawn(60, 4, 0.65)
    units = np.arange(60)
    low, high = f1_gain_interval(before, after, units) or (0, 0)
    assert f1_gain_interval(after, before, units) is not None
    backwards = f1_gain_interval(after, before, units)
    assert backwards == pytest.approx((-high, -low), abs=0.02)
    first, last = (ConfusionCounts(*counts.sum(axis=0).tolist()).f1 for counts in (before, after))
    assert low < last - first < high
    assert f1_gain_interval(before, after, units) == (low, high)  # the same again


def test_too_few_patients_have_no_interval() -> None:
    counts = drawn(90, 1, 0.5)
    assert f1_gain_interval(counts, counts, np.arange(90) % (LEAST_UNITS - 1)) is None
    assert f1_gain_interval(counts, counts, np.arange(90) % LEAST_UNITS) is not None
    nothing = np.zeros((0, 3), np.int64)
    assert f1_gain_interval(nothing, nothing, np.zeros(0, np.int64)) is None


def test_documents_without_entities_are_no_gain() -> None:
    nothing = np.zeros((20, 3), np.int64)
    assert f1_gain_interval(nothing, nothing, np.arange(20)) == (0.0, 0.0)


@given(
    st.integers(1, 9).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 3) | st.integers(0, 2**40), min_size=columns, max_size=columns),
            min_size=1,
            max_size=12,
        )
    )
)
def test_distinct_rows_are_those_of_numpy(rows: list[list[int]]) -> None:
    """Whether a row fits into one integer or not."""
    found, numbers = distinct_rows(np.array(rows, np.int64))
    expected, counted = np.unique(np.array(rows, np.int64), axis=0, return_counts=True)
    assert found.tolist() == expected.tolist()
    assert numbers.tolist() == counted.tolist()
