"""The gain of a run, counted on documents that did not choose the iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.outcome import outcome_of
from corpus.evaluation import ConfusionCounts

Row = Callable[..., IterationMetrics]
Counts = tuple[int, int, int]


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
        row((8, 0, 2), (7, 0, 3), stopped="maximum"),  # the right half's choice
    ]
    outcome = outcome_of(rows)
    assert outcome.first == (10, 0, 10)
    assert outcome.best == (8 + 6, 0, 2 + 4)
    assert outcome.iteration == 1
    assert outcome.stopped == "maximum"


def test_what_is_best_by_chance_is_not_counted_where_it_was_chosen(row: Row) -> None:
    """Two iterations that are each lucky in one half: together they gained nothing."""
    rows = [row((5, 0, 5), (5, 0, 5)), row((9, 0, 1), (1, 0, 9)), row((1, 0, 9), (9, 0, 1))]
    outcome = outcome_of(rows)
    assert outcome.best == (2, 0, 18)
    assert outcome.best.f1 < outcome.first.f1


def test_without_iterations_nothing_is_gained(row: Row) -> None:
    outcome = outcome_of([row((5, 1, 2), (3, 1, 2), stopped="exhausted")])
    assert outcome.first == outcome.best == (8, 2, 4)
    assert (outcome.iteration, outcome.stopped) == (0, "exhausted")
