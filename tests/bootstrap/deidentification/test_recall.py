"""The threshold of a recall is the lowest one that reaches it, and is measured on other notes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.deidentification.recall import MOST, Coverage, estimated


def coverage_of(needed: list[float], others: list[float], notes: int, rng_seed: int) -> Coverage:
    rng = np.random.default_rng(rng_seed)
    return Coverage(
        np.array(needed),
        rng.random(len(needed)) < 0.5,
        np.full(len(needed), "PERSON", object),
        rng.integers(notes, size=len(needed)),
        np.array(others),
        rng.integers(notes, size=len(others)),
        rng.integers(max(notes // 2, 1), size=notes),
    )


shares = st.one_of(st.just(-1.0), st.floats(0, 1))


@given(
    st.lists(shares, min_size=1, max_size=60),
    st.lists(shares, max_size=60),
    st.integers(1, 10),
    st.integers(0, 9),
    st.floats(0.05, 0.99),
)
def test_the_threshold_is_the_lowest(
    needed: list[float], others: list[float], notes: int, seed: int, target: float
) -> None:
    coverage = coverage_of(needed, others, notes, seed)
    threshold, reaches = coverage.threshold(target)
    steps = [0.0, *(np.nextafter(value, 2) for value in sorted(needed) if 0 <= value < MOST)]
    enough = [step for step in steps if coverage.lower_bound(step) >= target]
    assert reaches == bool(enough)
    if enough:
        assert threshold == enough[0]
    else:
        assert coverage.recall(threshold) == max(map(coverage.recall, steps))
    assert coverage.lower_bound(threshold) <= coverage.recall(threshold)


def test_mentions_of_one_patient_count_less_than_those_of_many() -> None:
    needed, notes = np.array([-1.0] * 90 + [0.5] * 10), np.arange(100)
    others = np.zeros(0), np.zeros(0, np.int64)
    direct = (np.ones(100, bool), np.full(100, "PERSON", object))
    apart = Coverage(needed, *direct, notes, *others, notes)
    together = Coverage(needed, *direct, notes // 10, *others, np.arange(10))
    assert together.lower_bound(0.1) < apart.lower_bound(0.1) < apart.recall(0.1) == 0.9
    assert (apart.leaking(0.1), together.leaking(0.1), apart.leaking(0.6)) == (10, 1, 0)


def test_each_half_is_measured_with_the_threshold_of_the_other() -> None:
    # One half needs a threshold above 0.9, the other one none.
    patients = np.array([0, 1])
    owners = np.array([0] * 50 + [1] * 50)
    needed = np.where(owners == 0, -1.0, 0.9)
    direct = (np.ones(100, bool), np.full(100, "PERSON", object))
    coverage = Coverage(needed, *direct, owners, np.array([0.5, 0.5]), np.array([0, 1]), patients)
    estimate = estimated(coverage, 0.9)
    assert estimate.threshold > 0.9 and estimate.reaches
    assert (estimate.recall, estimate.removed, estimate.leaking) == (0.5, 0.5, 1)
    without = estimated(coverage, None)
    assert (without.threshold, without.recall, without.removed) == (0.0, 0.5, 0.0)
