"""The curves of an experiment by what people annotated."""

from __future__ import annotations

import numpy as np

from bootstrap.experiments.results.curves import score_blocks
from bootstrap.experiments.results.run_results import Point, RunResult
from bootstrap.reports.content import Pair
from bootstrap.reports.figures import Figure, Series
from bootstrap.runs.document_counts import DocumentCounts
from corpus.scores import ConfusionCounts


def result(variant: str, state: int, points: list[tuple[int, int]]) -> RunResult:
    """A run whose iterations have these annotated documents and true positives, of ten entities.

    The fewer true positives, the higher is validation F1.
    """
    tested = DocumentCounts(("t",), (None,), {"A": np.zeros((1, 3), np.int64)})
    found = tuple(
        Point(
            number,
            documents,
            10 * documents,
            ConfusionCounts(true, 10 - true, 10 - true),
            1 - true / 10,
        )
        for number, (documents, true) in enumerate(points)
    )
    return RunResult(variant, "test", state, len(points) - 1, found, tested, 1.0)


def by_documents(groups: dict[str, list[RunResult]]) -> dict[str, Series]:
    """Return the series of F1 by annotated documents."""
    return series_of("scores-documents", groups)


def series_of(name: str, groups: dict[str, list[RunResult]]) -> dict[str, Series]:
    """Return the series of F1 in a figure."""
    figures = [
        block.figure if isinstance(block, Pair) else block for block in score_blocks(groups, [])
    ]
    (figure,) = [each for each in figures if isinstance(each, Figure) and each.name == name]
    assert figure.panels[0].title == "F1"
    return {series.name: series for series in figure.panels[0].series}


def test_curves_are_mean_and_range_at_each_number_of_documents() -> None:
    runs = [
        result("active", 0, [(10, 2), (20, 4), (30, 6)]),
        result("active", 1, [(10, 4), (20, 8), (30, 6)]),
    ]
    series = by_documents({"active": runs})["active"]
    assert series.places == (10, 20, 30)
    assert np.allclose([value or 0 for value in series.values], [0.3, 0.6, 0.6])
    assert np.allclose([value or 0 for value in series.low], [0.2, 0.4, 0.6])
    assert np.allclose([value or 0 for value in series.high], [0.4, 0.8, 0.6])


def test_of_the_iterations_after_the_same_annotations_the_best_on_validation_is_shown() -> None:
    runs = [result("hybrid", 0, [(10, 2), (20, 9), (20, 5), (20, 7), (20, 5)])]
    series = by_documents({"hybrid": runs})["hybrid"]
    assert (series.places, series.values) == ((10, 20), (0.2, 0.5))
    at = [runs[0].at(number) for number in (9, 10, 19, 20, 99)]
    assert [point and point.iteration for point in at] == [None, 0, 0, 2, 2]


def test_a_variant_with_far_more_annotations_is_a_line_to_compare_with() -> None:
    """On the axis, it would leave no room for the others."""
    found = by_documents(
        {
            "active": [result("active", 0, [(10, 2), (30, 6)])],
            "alone": [result("alone", 0, [(10, 2)])],
            "all": [result("all", 0, [(5000, 9)])],
        }
    )
    assert (found["all"].mark, found["all"].places) == ("guide", (10, 30))
    assert found["all"].values == (0.9, 0.9)
    assert (found["alone"].mark, found["alone"].places) == ("line", (10,))


def test_a_run_that_has_ended_keeps_its_last_scores() -> None:
    """The mean of those that go on would rise where a worse run ends."""
    runs = [
        result("trained", 0, [(10, 2), (10, 4)]),
        result("trained", 1, [(10, 6), (10, 8), (10, 8), (10, 9)]),
    ]
    series = series_of("scores", {"trained": runs})["trained"]
    assert series.places == (0, 1, 2, 3)
    assert np.allclose([value or 0 for value in series.values], [0.4, 0.6, 0.6, 0.65])
    assert np.allclose([value or 0 for value in series.low], [0.2, 0.4, 0.4, 0.4])


def test_by_iteration_a_variant_with_one_model_is_a_line_to_compare_with() -> None:
    found = series_of(
        "scores",
        {
            "trained": [result("trained", 0, [(10, 2), (10, 4), (10, 5)])],
            "all": [result("all", state, [(5000, true)]) for state, true in enumerate((7, 9))],
        },
    )
    assert (found["all"].mark, found["all"].places) == ("guide", (0, 2))
    assert np.allclose([value or 0 for value in found["all"].values], [0.8, 0.8])
