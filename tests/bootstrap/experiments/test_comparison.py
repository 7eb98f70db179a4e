"""Mean, spread and paired differences, compared with plain computations."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace

import numpy as np
import pytest

from bootstrap.experiments.results.comparison import compare, compare_at
from bootstrap.experiments.results.run_results import Point, RunResult
from bootstrap.runs.document_counts import DocumentCounts
from corpus.scores import ConfusionCounts

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
        variant: [each.f1 for each in results if each.variant == variant]
        for variant in ("first", "second")
    }
    assert first.difference is None
    for row in (first, second):
        found = values[row.variant]
        assert row.f1.number == 6
        assert row.f1.mean == pytest.approx(statistics.mean(found))
        assert row.f1.deviation == pytest.approx(statistics.stdev(found))
        assert (row.f1.lowest, row.f1.highest) == (min(found), max(found))
    pairs = [b - a for a, b in zip(values["first"], values["second"], strict=True)]
    assert second.difference is not None
    spread = second.difference.spread
    assert spread.mean == pytest.approx(statistics.mean(pairs))
    assert spread.deviation == pytest.approx(statistics.stdev(pairs))
    assert (spread.lowest, spread.highest) == pytest.approx((min(pairs), max(pairs)))


def test_classes_and_counts_are_those_of_all_runs(results: list[RunResult]) -> None:
    row = compare(results)[1]
    of_second = [each for each in results if each.variant == "second"]
    total = np.sum([each.counts for each in of_second], axis=0)
    assert row.counts == ConfusionCounts(*total.tolist())
    for name in ("A", "B"):
        mean = statistics.mean(each.classes()[name].f1 for each in of_second)
        assert row.classes[name] == pytest.approx(mean)


def test_the_interval_is_that_of_the_mean_difference_over_test_documents(
    results: list[RunResult],
) -> None:
    """Compared with drawing documents one by one."""
    row = compare(results)[1]
    rng = np.random.default_rng(5)
    means = []
    for _ in range(2000):
        drawn = rng.integers(0, 2 * DOCUMENTS, 2 * DOCUMENTS)
        of_split = {"l": drawn[drawn < DOCUMENTS], "r": drawn[drawn >= DOCUMENTS] - DOCUMENTS}
        f1 = {}
        for each in results:
            counts = each.tested.all_classes[of_split[each.split]].sum(axis=0)
            f1[each.variant, each.pair] = ConfusionCounts(*counts.tolist()).f1
        pairs = {pair for _, pair in f1}
        means.append(np.mean([f1["second", pair] - f1["first", pair] for pair in pairs]))
    assert row.difference is not None
    assert row.difference.interval == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.004)


def test_only_pairs_are_compared(results: list[RunResult]) -> None:
    """Runs of one variant that are not finished yet have no pair."""
    unfinished = [
        each for each in results if each.variant == "first" or each.pair in {("l", 0), ("r", 2)}
    ]
    row = compare(unfinished)[1]
    assert row.f1.number == 2
    assert row.difference is not None
    assert row.difference.spread.number == 2
    rng = np.random.default_rng(1)
    alone = compare([results[0], result("other", "l", 9, rng)])[1]
    assert alone.difference is None


def test_a_class_counts_in_the_runs_in_which_it_occurs() -> None:
    """Not as 0 in a fold that has none of it."""
    rng = np.random.default_rng(3)
    found, without = result("v", "fold-0", 0, rng), result("v", "fold-1", 0, rng)
    perfect = np.tile([1, 0, 0], (DOCUMENTS, 1))
    absent = np.zeros((DOCUMENTS, 3), np.int64)
    found = replace(found, tested=replace(found.tested, classes={"RARE": perfect}))
    without = replace(without, tested=replace(without.tested, classes={"RARE": absent}))
    (row,) = compare([found, without])
    assert row.classes == {"RARE": 1.0}


def test_variants_are_compared_at_numbers_of_documents() -> None:
    rng = np.random.default_rng(2)
    early, late = result("early", "l", 0, rng), result("late", "l", 0, rng, documents=140)
    rows = compare_at([early, late], [1000, 100, 149, 150])
    assert [(row.variant, row.documents) for row in rows] == [
        *(("early", number) for number in (100, 150)),
        *(("late", number) for number in (140, 190)),
    ]
    assert [row.f1.mean for row in rows] == [0.5, early.f1, 0.5, late.f1]
    assert [row.tokens for row in rows] == [1000, 1500, 1400, 1900]
