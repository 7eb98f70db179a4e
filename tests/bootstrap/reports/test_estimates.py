"""Scores with intervals: those of resampling documents one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bootstrap.reports.estimates import ALL, estimate_scores
from bootstrap.runs.records import DocumentCounts
from corpus.evaluation.measures import ConfusionCounts


def drawn(number: int, random_state: int, *, patients: int | None = None) -> DocumentCounts:
    rng = np.random.default_rng(random_state)
    return DocumentCounts(
        tuple(f"d{place}" for place in range(number)),
        tuple(f"p{place % patients}" if patients else None for place in range(number)),
        {
            "AGE": rng.integers(0, 2, (number, 3)),
            "NAME": np.stack([rng.binomial(4, rate, number) for rate in (0.7, 0.1, 0.2)], 1),
        },
    )


@pytest.mark.parametrize("patients", [None, 20])
def test_intervals_are_those_of_resampling(patients: int | None) -> None:
    counts = drawn(60, 1, patients=patients)
    estimates = estimate_scores(counts)
    assert list(estimates) == [ALL, "AGE", "NAME"]
    rng, units = np.random.default_rng(5), counts.units
    for name, column in {ALL: counts.all_classes, **counts.classes}.items():
        scores = []
        for _ in range(3000):
            chosen = rng.integers(0, units.max() + 1, units.max() + 1)
            rows = np.concatenate([np.flatnonzero(units == unit) for unit in chosen])
            total = ConfusionCounts(*column[rows].sum(axis=0).tolist())
            scores.append((total.precision, total.recall, total.f1))
        lows, highs = np.quantile(scores, [0.025, 0.975], axis=0)
        for place, estimate in enumerate(
            (estimates[name].precision, estimates[name].recall, estimates[name].f1)
        ):
            assert estimate.interval == pytest.approx((lows[place], highs[place]), abs=0.025)
            low, high = estimate.interval or (1.0, 0.0)
            assert low <= estimate.value <= high


def test_samples_in_which_a_score_is_undefined_are_left_out() -> None:
    """One entity in twenty documents, found: where it is drawn, recall is 1."""
    counts = np.zeros((20, 3), np.int64)
    counts[3, 0] = 1
    ids = tuple(map(str, range(20)))
    estimates = estimate_scores(DocumentCounts(ids, (None,) * 20, {"A": counts}))
    assert estimates["A"].recall.interval == (1.0, 1.0)
    nothing = estimate_scores(DocumentCounts(ids, (None,) * 20, {"A": counts * 0}))
    assert nothing["A"].f1.interval is None
