"""The gain of a run, counted on documents that did not choose the iteration, and its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bootstrap.runs.metrics import IterationMetrics, TrialMetrics
from bootstrap.runs.outcome import (
    LEAST_UNITS,
    Outcome,
    decision_lines,
    f1_gain_interval,
    gain_lines,
    outcome_of,
    outcome_on_test,
)
from bootstrap.runs.records import DocumentCounts
from corpus.evaluation.measures import ConfusionCounts

Row = Callable[..., IterationMetrics]
Counts = tuple[int, int, int]
Array = npt.NDArray[np.int64]


def counts_of(*rows: Counts) -> DocumentCounts:
    """Make the counts of documents, which belong to the halves in turn."""
    names = tuple(f"d{number}" for number in range(len(rows)))
    return DocumentCounts(names, (None,) * len(rows), {"PERSON": np.array(rows, np.int64)})


def few(rows: Sequence[IterationMetrics]) -> Callable[[int], DocumentCounts]:
    """Return the counts of two documents, one in each half: too few for an interval."""
    return lambda iteration: counts_of(*rows[iteration].halves)


@pytest.fixture(scope="module")
def row(make_metrics: Callable[..., IterationMetrics]) -> Row:
    """Make the metrics of an iteration from the counts of its halves."""

    def make(left: Counts, right: Counts, **others: Any) -> IterationMetrics:
        both = ConfusionCounts(*map(sum, zip(left, right, strict=True)))
        halves = (ConfusionCounts(*left), ConfusionCounts(*right))
        return make_metrics(halves=halves, f1=both.f1, **others)

    return make


def test_each_half_chooses_for_the_other(row: Row) -> None:
    rows = [
        row((5, 0, 5), (5, 0, 5)),
        row((9, 0, 1), (6, 0, 4)),  # the left half's choice
        row((8, 0, 2), (7, 0, 3)),  # the right half's choice
    ]
    outcome = outcome_of(rows, few(rows), stopped="maximum")
    assert outcome.first == (10, 0, 10)
    assert outcome.best == (8 + 6, 0, 2 + 4)
    assert outcome.iteration == 1
    assert outcome.stopped == "maximum"


def test_what_is_best_by_chance_is_not_counted_where_it_was_chosen(row: Row) -> None:
    """Two iterations that are each lucky in one half: together they gained nothing."""
    rows = [row((5, 0, 5), (5, 0, 5)), row((9, 0, 1), (1, 0, 9)), row((1, 0, 9), (9, 0, 1))]
    outcome = outcome_of(rows, few(rows))
    assert outcome.best == (2, 0, 18)
    assert outcome.best.f1 < outcome.first.f1


def test_without_iterations_nothing_is_gained(row: Row) -> None:
    rows = [row((5, 1, 2), (3, 1, 2))]
    outcome = outcome_of(rows, few(rows), stopped="exhausted")
    assert outcome.first == outcome.best == (8, 2, 4)
    assert (outcome.iteration, outcome.stopped) == (0, "exhausted")


def test_the_interval_is_that_of_the_iterations_that_the_other_half_selects(row: Row) -> None:
    rng = np.random.default_rng(0)
    tables = [
        np.stack([right, np.zeros(40, np.int64), 3 - right], axis=1)
        for right in (rng.integers(0, 4, 40) for _ in range(3))
    ]
    counts = [counts_of(*map(tuple, table.tolist())) for table in tables]

    def half(number: int, side: int) -> Counts:
        first, second, third = tables[number][side::2].sum(axis=0).tolist()
        return first, second, third

    rows = [row(half(number, 0), half(number, 1)) for number in range(3)]
    outcome = outcome_of(rows, counts.__getitem__)
    left, right = (int(np.argmax([half(n, side)[0] for n in range(3)])) for side in (0, 1))
    after = np.where(np.arange(40)[:, None] % 2 == 0, tables[right], tables[left])
    assert tuple(after.sum(axis=0)) == outcome.best
    assert outcome.interval == f1_gain_interval([tables[0]], [after], np.arange(40))
    other = np.roll(tables[0], 1, axis=0)  # the seed alone, where iteration 0 is augmented
    augmented = outcome_of(rows, counts.__getitem__, counts_of(*map(tuple, other.tolist())))
    assert augmented.interval == f1_gain_interval([other], [after], np.arange(40))


def test_what_contributed_adds_up_to_the_gain(row: Row) -> None:
    """Round 1 is chosen by both halves; without its pseudo-labels, F1 would be lower."""
    alone = TrialMetrics(
        name="annotated_alone",
        selected=0,
        precision=0.0,
        recall=0.0,
        f1=0.0,
        halves=(ConfusionCounts(7, 0, 3), ConfusionCounts(6, 0, 4)),
        chosen=False,
    )
    rows = [
        row((6, 0, 4), (5, 0, 5), augmented=True),
        row((9, 0, 1), (8, 0, 2), queried=5, trials=[alone]),
    ]
    outcome = outcome_of(rows, few(rows), counts_of((4, 0, 6), (4, 0, 6)))
    assert outcome.steps == (
        ("replaced mentions", (11, 0, 9)),
        ("active learning", (13, 0, 7)),
        ("self-training", outcome.best),
    )
    assert gain_lines(outcome, "the seed alone")[1] == (
        "What contributed: replaced mentions +0.138, active learning +0.078, self-training +0.131."
    )


def test_the_test_documents_score_the_final_model_and_the_seed_alone(row: Row) -> None:
    rows = [row((5, 0, 5), (5, 0, 5)), row((9, 0, 1), (6, 0, 4))]
    tested = {0: counts_of((5, 0, 5)), 1: counts_of((6, 0, 4))}
    seed, final = counts_of((4, 0, 6)), counts_of((7, 0, 3))
    outcome = outcome_on_test(rows, tested.get, seed, final)
    assert outcome and (outcome.first, outcome.best) == ((4, 0, 6), (7, 0, 3))
    names = ["replaced mentions", "self-training", "training on validation as well"]
    assert [name for name, _ in outcome.steps] == names
    line = "Strict entity F1 went from 0.571 with the seed alone to 0.824 on the test documents"
    assert gain_lines(outcome, "the seed alone")[0].startswith(line)
    assert outcome_on_test(rows, {0: seed}.get) is None


def test_a_best_iteration_0_is_named_in_the_headline(row: Row) -> None:
    rows = [row((7, 0, 3), (7, 0, 3)), row((6, 0, 4), (6, 0, 4))]
    outcome = outcome_of(rows, few(rows), counts_of((4, 0, 6), (4, 0, 6)))
    first, contributed, _ = gain_lines(outcome, "the seed alone")
    assert "Self-training gained nothing: iteration 0 has the best model." in first
    assert contributed.endswith("replaced mentions +0.252, self-training +0.000.")


def test_too_few_documents_have_no_interval(row: Row) -> None:
    rows = [row((5, 0, 5), (5, 0, 5)), row((6, 0, 4), (6, 0, 4))]
    outcome = outcome_of(rows, few(rows))
    assert outcome.interval is None
    assert gain_lines(outcome, "the seed alone")[0] == (
        "Strict entity F1 went from 0.667 with the seed alone to 0.750 (+0.083; the validation "
        "notes are too few for an interval)."
    )


@pytest.mark.parametrize(
    ("last", "interval", "sentence"),
    [
        ((8, 0, 2), (0.1, 0.4), "The run raised strict entity F1 from 0.667 with the seed "),
        ((2, 0, 8), (-0.5, -0.1), "The run lowered strict entity F1 from 0.667 with the "),
        ((6, 0, 4), (-0.1, 0.2), "No significant gain: strict entity F1 "),
        ((6, 0, 4), None, "Strict entity F1 went from 0.667 with the seed alone to 0.750 (+0.083"),
        ((5, 0, 5), (0.0, 0.0), "The run gained nothing: strict entity F1 is 0.667 with the "),
    ],
)
def test_the_gain_is_told_with_its_certainty(last, interval, sentence) -> None:
    first = ConfusionCounts(5, 0, 5)
    outcome = Outcome(first, ConfusionCounts(*last), 1, "maximum", interval)
    lines = gain_lines(outcome, "the seed alone")
    assert lines[0].startswith(sentence)
    if interval and last != first:
        assert f"95 % interval {interval[0]:+.3f} to {interval[1]:+.3f}" in lines[0]


def drawn(number: int, random_state: int, rate: float) -> Array:
    """Draw the counts of documents with three entities, of which a model finds some."""
    rng = np.random.default_rng(random_state)
    right = rng.binomial(3, rate, number)
    return np.stack([right, rng.binomial(1, 0.2, number), 3 - right], axis=1).astype(np.int64)


def resampled(before: Array, after: Array, units: Array) -> tuple[float, float]:
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
    interval = f1_gain_interval([before], [after], units, resamples=20_000)
    assert interval == pytest.approx(resampled(before, after, units), abs=0.012)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_the_same_model_gains_nothing_for_certain(rate: float) -> None:
    counts = drawn(50, 1, rate) if rate else np.zeros((50, 3), np.int64)
    assert f1_gain_interval([counts], [counts], np.arange(50)) == (0.0, 0.0)


def test_too_few_patients_have_no_interval() -> None:
    counts = drawn(90, 1, 0.5)
    assert f1_gain_interval([counts], [counts], np.arange(90) % (LEAST_UNITS - 1)) is None
    assert f1_gain_interval([counts], [counts], np.arange(90) % LEAST_UNITS) is not None
    nothing = np.zeros((0, 3), np.int64)
    assert f1_gain_interval([nothing], [nothing], np.zeros(0, np.int64)) is None


def test_every_comparison_is_described_by_its_f1(make_metrics) -> None:
    (trial,) = make_metrics().trials
    seeds = [
        replace(trial, name="seed_alone", f1=0.5, chosen=False),
        replace(trial, name="augmented", f1=0.55),
    ]
    strategies = [replace(trial, f1=0.6), replace(trial, name="agreement", f1=0.58, chosen=False)]
    rows = [
        make_metrics(iteration=0, trials=seeds),
        make_metrics(iteration=1, trials=strategies),
        make_metrics(iteration=2, trials=[]),
    ]
    assert decision_lines(rows) == [
        "Training (iteration 0): validation F1 of the seed alone 0.500, the seed with replaced "
        "mentions 0.550; chosen: the seed with replaced mentions.",
        "Selection (iteration 1): validation F1 of confident_documents 0.600, agreement 0.580; "
        "chosen: confident_documents.",
    ]
