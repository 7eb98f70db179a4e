"""The gain of a run, counted on documents that did not choose the iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.gain import f1_gain_interval
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.outcome import Outcome, gain_lines, outcome_of
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
        row((8, 0, 2), (7, 0, 3)),  # the right half's choice
    ]
    outcome = outcome_of(rows, stopped="maximum")
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
    outcome = outcome_of([row((5, 1, 2), (3, 1, 2))], stopped="exhausted")
    assert outcome.first == outcome.best == (8, 2, 4)
    assert (outcome.iteration, outcome.stopped) == (0, "exhausted")


def counts_of(*rows: Counts) -> DocumentCounts:
    """Make the counts of documents, which belong to the halves in turn."""
    names = tuple(f"d{number}" for number in range(len(rows)))
    return DocumentCounts(names, (None,) * len(rows), {"PERSON": np.array(rows, np.int64)})


def test_the_interval_is_that_of_the_iterations_that_the_other_half_selects(row: Row) -> None:
    rng = np.random.default_rng(0)
    tables = [
        np.stack([found, np.zeros(40, np.int64), 3 - found], axis=1)
        for found in (rng.integers(0, 4, 40) for _ in range(3))
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
    assert outcome.interval == f1_gain_interval(tables[0], after, np.arange(40))
    assert outcome.counted
    other = np.roll(tables[0], 1, axis=0)  # the seed alone, where iteration 0 is augmented
    found = outcome_of(rows, counts.__getitem__, counts_of(*map(tuple, other.tolist())))
    assert found.interval == f1_gain_interval(other, after, np.arange(40))


def test_why_there_is_no_interval(row: Row) -> None:
    """Runs of earlier versions have no counts of each document, however many there are."""
    rows = [row((5, 0, 5), (5, 0, 5)), row((6, 0, 4), (6, 0, 4))]
    few = counts_of(*[(2, 0, 2)] * 5)
    for counts, words in (
        (lambda number: few, "(+0.083; the validation notes are too few for an interval)"),
        (lambda number: None, "(+0.083)"),
        (lambda number: None if number else few, "(+0.083)"),
        (None, "(+0.083)"),
    ):
        outcome = outcome_of(rows, counts)
        assert outcome.interval is None
        (line, _) = gain_lines(outcome, "the seed alone")
        assert line == f"Strict entity F1 went from 0.667 with the seed alone to 0.750 {words}."


@pytest.mark.parametrize(
    ("last", "interval", "sentence"),
    [
        ((8, 0, 2), (0.1, 0.4), "The run raised strict entity F1 from 0.667 with the seed "),
        ((2, 0, 8), (-0.5, -0.1), "The run lowered strict entity F1 from 0.667 with the "),
        (
            (6, 0, 4),
            (-0.1, 0.2),
            "No significant gain: strict entity F1 ",
        ),
        ((6, 0, 4), None, "Strict entity F1 went from 0.667 with the seed alone to 0.750 (+0.083"),
        ((5, 0, 5), (0.0, 0.0), "The run gained nothing: strict entity F1 is 0.667 with the "),
    ],
)
def test_the_gain_is_told_with_its_certainty(
    last: Counts, interval: tuple[float, float] | None, sentence: str
) -> None:
    first = ConfusionCounts(5, 0, 5)
    outcome = Outcome(first, ConfusionCounts(*last), 1, "maximum", interval)
    lines = gain_lines(outcome, "the seed alone")
    assert lines[0].startswith(sentence)
    if interval and last != first:
        assert f"95 % interval {interval[0]:+.3f} to {interval[1]:+.3f}" in lines[0]
