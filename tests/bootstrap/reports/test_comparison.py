"""Mean, spread and paired differences, compared with plain computations, and curves."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace

import numpy as np
import pytest

from bootstrap.reports.comparison import Point, RunResult, compare, compare_at
from bootstrap.reports.figures import Series
from bootstrap.reports.parts.comparison import curves_figure
from bootstrap.runs.records import DocumentCounts
from corpus.evaluation.measures import ConfusionCounts

DOCUMENTS = 30


def result(
    variant: str, split: str, state: int, rng: np.random.Generator, documents: int = 0
) -> RunResult:
    """A run with random counts in documents of two classes, whose best iteration is the last."""
    classes = {name: rng.integers(0, 6, (DOCUMENTS, 3)) for name in ("A", "B")}
    ids = tuple(f"{split}{number}" for number in range(DOCUMENTS))
    tested = DocumentCounts(ids, (None,) * DOCUMENTS, classes)
    total = ConfusionCounts(*tested.all_classes.sum(axis=0).tolist())
    start = documents or 100
    points = (
        Point(0, start, 10 * start, ConfusionCounts(1, 1, 1), 0.1),
        Point(1, start + 50, 10 * start + 500, total, 0.2),
    )
    return RunResult(variant, split, state, 1, points, tested, 2.0)


@pytest.fixture
def results() -> list[RunResult]:
    rng = np.random.default_rng(0)
    return [
        result(variant, split, state, rng)
        for variant, state, split in itertools.product(("first", "second"), range(3), ("l", "r"))
    ]


def test_rows_are_mean_spread_and_paired_differences(results: list[RunResult]) -> None:
    first, second = compare(results)
    values = {
        variant: [run.f1 for run in results if run.variant == variant]
        for variant in ("first", "second")
    }
    assert first.difference is None
    for row in (first, second):
        scores = values[row.variant]
        assert row.f1.number == 6
        assert row.f1.mean == pytest.approx(statistics.mean(scores))
        assert row.f1.deviation == pytest.approx(statistics.stdev(scores))
        assert (row.f1.lowest, row.f1.highest) == (min(scores), max(scores))
    pairs = [b - a for a, b in zip(values["first"], values["second"], strict=True)]
    spread = second.difference.spread
    assert spread.mean == pytest.approx(statistics.mean(pairs))
    assert spread.deviation == pytest.approx(statistics.stdev(pairs))
    assert (spread.lowest, spread.highest) == pytest.approx((min(pairs), max(pairs)))


def test_classes_and_counts_are_those_of_all_runs(results: list[RunResult]) -> None:
    row = compare(results)[1]
    of_second = [run for run in results if run.variant == "second"]
    total = np.sum([run.counts for run in of_second], axis=0)
    assert row.counts == ConfusionCounts(*total.tolist())
    for name in ("A", "B"):
        mean = statistics.mean(run.classes()[name].f1 for run in of_second)
        assert row.classes[name] == pytest.approx(mean)


def test_the_interval_is_that_of_the_mean_difference_over_test_documents(results) -> None:
    """Compared with drawing documents one by one."""
    row = compare(results)[1]
    rng = np.random.default_rng(5)
    means = []
    for _ in range(2000):
        drawn = rng.integers(0, 2 * DOCUMENTS, 2 * DOCUMENTS)
        of_split = {"l": drawn[drawn < DOCUMENTS], "r": drawn[drawn >= DOCUMENTS] - DOCUMENTS}
        f1 = {}
        for run in results:
            counts = run.tested.all_classes[of_split[run.split]].sum(axis=0)
            f1[run.variant, run.pair] = ConfusionCounts(*counts.tolist()).f1
        pairs = {pair for _, pair in f1}
        means.append(np.mean([f1["second", pair] - f1["first", pair] for pair in pairs]))
    assert row.difference.interval == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.004)


def test_only_pairs_are_compared(results: list[RunResult]) -> None:
    """Runs of one variant that are not finished yet have no pair."""
    unfinished = [
        run for run in results if run.variant == "first" or run.pair in {("l", 0), ("r", 2)}
    ]
    row = compare(unfinished)[1]
    assert row.f1.number == 2
    assert row.difference.spread.number == 2
    rng = np.random.default_rng(1)
    alone = compare([results[0], result("other", "l", 9, rng)])[1]
    assert alone.difference is None


def test_a_class_counts_in_the_runs_in_which_it_occurs() -> None:
    """Not as 0 in a fold that has none of it."""
    rng = np.random.default_rng(3)
    present, without = result("v", "fold-0", 0, rng), result("v", "fold-1", 0, rng)
    perfect = np.tile([1, 0, 0], (DOCUMENTS, 1))
    absent = np.zeros((DOCUMENTS, 3), np.int64)
    present = replace(present, tested=replace(present.tested, classes={"RARE": perfect}))
    without = replace(without, tested=replace(without.tested, classes={"RARE": absent}))
    (row,) = compare([present, without])
    assert row.classes == {"RARE": 1.0}


def test_variants_are_compared_at_numbers_of_documents() -> None:
    rng = np.random.default_rng(2)
    early, late = result("early", "l", 0, rng), result("late", "l", 0, rng, documents=140)
    rows = compare_at([early, late], [1000, 100, 149, 150])
    assert [(variant, point.documents) for variant, (point,) in rows] == [
        *(("early", number) for number in (100, 150)),
        *(("late", number) for number in (140, 190)),
    ]
    assert [point.counts.f1 for _, (point,) in rows] == [0.5, early.f1, 0.5, late.f1]


# Curves


def curve_result(variant: str, state: int, points: list[tuple[int, int]]) -> RunResult:
    """A run whose iterations have these annotated documents and true positives, of ten entities.

    The fewer true positives, the higher is validation F1.
    """
    tested = DocumentCounts(("t",), (None,), {"A": np.zeros((1, 3), np.int64)})
    iterations = tuple(
        Point(
            number,
            documents,
            10 * documents,
            ConfusionCounts(true, 10 - true, 10 - true),
            1 - true / 10,
        )
        for number, (documents, true) in enumerate(points)
    )
    return RunResult(variant, "test", state, len(points) - 1, iterations, tested, 1.0)


def series_of(axis: str, groups: dict[str, list[RunResult]]) -> dict[str, Series]:
    """Return the series of F1 on an axis."""
    figure = curves_figure([run for runs in groups.values() for run in runs], "tests", axis)
    assert figure.panels[0].title == "F1"
    return {series.name: series for series in figure.panels[0].series}


def test_curves_are_mean_and_range_at_each_number_of_documents() -> None:
    runs = [
        curve_result("active", 0, [(10, 2), (20, 4), (30, 6)]),
        curve_result("active", 1, [(10, 4), (20, 8), (30, 6)]),
    ]
    series = series_of("documents", {"active": runs})["active"]
    assert series.places == (10, 20, 30)
    assert np.allclose([value or 0 for value in series.values], [0.3, 0.6, 0.6])
    assert np.allclose([value or 0 for value in series.low], [0.2, 0.4, 0.6])
    assert np.allclose([value or 0 for value in series.high], [0.4, 0.8, 0.6])


def test_of_the_iterations_after_the_same_annotations_the_best_on_validation_is_shown() -> None:
    runs = [curve_result("hybrid", 0, [(10, 2), (20, 9), (20, 5), (20, 7), (20, 5)])]
    series = series_of("documents", {"hybrid": runs})["hybrid"]
    assert (series.places, series.values) == ((10, 20), (0.2, 0.5))
    at = [runs[0].at(number) for number in (9, 10, 19, 20, 99)]
    assert [point and point.iteration for point in at] == [None, 0, 0, 2, 2]


def test_a_variant_with_far_more_annotations_is_a_line_to_compare_with() -> None:
    """On the axis, it would leave no room for the others."""
    series = series_of(
        "documents",
        {
            "active": [curve_result("active", 0, [(10, 2), (30, 6)])],
            "alone": [curve_result("alone", 0, [(10, 2)])],
            "all": [curve_result("all", 0, [(5000, 9)])],
        },
    )
    assert (series["all"].mark, series["all"].places) == ("guide", (10, 30))
    assert series["all"].values == (0.9, 0.9)
    assert (series["alone"].mark, series["alone"].places) == ("line", (10,))


def test_a_run_that_has_ended_keeps_its_last_scores() -> None:
    """The mean of those that go on would rise where a worse run ends."""
    runs = [
        curve_result("trained", 0, [(10, 2), (10, 4)]),
        curve_result("trained", 1, [(10, 6), (10, 8), (10, 8), (10, 9)]),
    ]
    series = series_of("iteration", {"trained": runs})["trained"]
    assert series.places == (0, 1, 2, 3)
    assert np.allclose([value or 0 for value in series.values], [0.4, 0.6, 0.6, 0.65])
    assert np.allclose([value or 0 for value in series.low], [0.2, 0.4, 0.4, 0.4])


def test_by_iteration_a_variant_with_one_model_is_a_line_to_compare_with() -> None:
    series = series_of(
        "iteration",
        {
            "trained": [curve_result("trained", 0, [(10, 2), (10, 4), (10, 5)])],
            "all": [
                curve_result("all", state, [(5000, true)]) for state, true in enumerate((7, 9))
            ],
        },
    )
    assert (series["all"].mark, series["all"].places) == ("guide", (0, 2))
    assert np.allclose([value or 0 for value in series["all"].values], [0.8, 0.8])
