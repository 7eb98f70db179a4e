"""Parts of a report: calibration, histograms, proportions, confusion matrix, axes of annotation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.reports.comparison import Point, best_points
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts import confidence, errors, selected
from bootstrap.runs.folder import Run
from bootstrap.runs.records import DocumentCounts
from corpus.evaluation.measures import ConfusionCounts


@pytest.fixture
def record(finished: Path) -> RunRecord:
    return RunRecord.load(Run(finished), "run")


def counts_of(confidences: list[float], wrong: list[bool]) -> DocumentCounts:
    number = len(confidences)
    columns = np.array([[1, 0, is_wrong] for is_wrong in wrong], np.int64).reshape(-1, 3)
    ids = tuple(map(str, range(number)))
    return DocumentCounts(ids, (None,) * number, {"A": columns}, np.array(confidences))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_documents_are_grouped_by_confidence(drawn: list[tuple[float, bool]]) -> None:
    groups = confidence.calibration_of(counts_of([c for c, _ in drawn], [w for _, w in drawn]))
    assert groups is not None
    assert sum(group.documents for group in groups) == len(drawn)
    expected = 0.0
    for group in groups:
        inside = [
            (value, wrong)
            for value, wrong in drawn
            if group.low <= int(value * 10) / 10 + 1e-12 < group.high or value == group.high == 1
        ]
        assert group.documents == len(inside)
        assert group.right == sum(not wrong for _, wrong in inside)
        assert group.confidence == pytest.approx(np.mean([value for value, _ in inside]))
        expected += abs(group.right - sum(value for value, _ in inside)) / len(drawn)
    assert confidence.calibration_error(groups) == pytest.approx(expected)


def test_without_confidence_there_is_no_calibration() -> None:
    assert confidence.calibration_of(replace(counts_of([0.5], [True]), confidence=None)) is None


@pytest.mark.parametrize("number", [1, 8, 60])
def test_few_histograms_are_shown_the_first_and_the_last_among_them(number, record) -> None:
    rows = [replace(record.rows[0], iteration=place) for place in range(number)]
    chosen = [row.iteration for row in confidence.spread_out(rows)]
    assert chosen == sorted(set(chosen))
    assert (chosen[0], chosen[-1], len(chosen)) == (0, number - 1, min(number, 8))


def test_histograms_are_shares_of_the_documents_tagged(record: RunRecord) -> None:
    figure = confidence.histograms_figure(record.rows[1:])
    assert len(figure.panels) == 3
    for panel, row in zip(figure.panels, record.rows[1:], strict=True):
        (series,) = panel.series
        assert sum(value or 0 for value in series.values) == pytest.approx(1)
        assert panel.title == f"iteration {row.iteration}: {row.tagged:,} documents"


def test_proportions_are_multiples_of_the_reference(record: RunRecord) -> None:
    figure = selected.proportions_figure(record)
    ((series, guide),) = (panel.series for panel in figure.panels)
    assert guide.values == (1.0, 1.0)
    for place, name in enumerate(figure.places.names):
        key = f"{name} per token"
        ratios = [
            row.selected_proportions[key] / row.reference[key]
            for row in record.rows
            if row.selected
        ]
        assert series.values[place] == pytest.approx(np.mean(ratios))
        assert (series.low[place], series.high[place]) == pytest.approx((min(ratios), max(ratios)))


def test_the_matrix_has_every_gold_and_every_predicted_entity(record: RunRecord) -> None:
    recorded = record.errors[record.best]
    assert recorded is not None
    matrix, confused = errors.confusion(record, recorded)
    assert matrix.rows.names[-1] == matrix.columns.names[-1] == errors.NONE
    table = np.array(matrix.counts)
    assert sum(int(row[2]) for row in confused.rows) == table.sum() - np.trace(table)  # type: ignore[arg-type]
    counts = record.counts[record.best].class_counts()
    for place, name in enumerate(matrix.rows.names[:-1]):
        true, false, missed = counts[name]
        assert table[place].sum() == true + missed
        assert table[:, place].sum() == true + false
    assert table[-1, -1] == 0


def test_the_table_of_errors_adds_up(record: RunRecord) -> None:
    recorded = record.errors[record.best]
    assert recorded is not None
    table = errors.errors_table(record, recorded)
    total, *others = table.rows
    columns = [column.title for column in table.columns]
    kinds = errors.kinds_of(recorded)
    for place, title in enumerate(columns[1:], 1):
        assert total[place] == sum(int(row[place]) for row in others)  # type: ignore[arg-type]
        if title in kinds:
            assert total[place] == kinds[title]
    for row in others:
        values = dict(zip(columns, row, strict=True))
        gold = ("correct", "missed", "wrong class", "wrong border")
        assert values["gold entities"] == sum(values[kind] for kind in gold)  # type: ignore[misc]


def test_of_the_iterations_after_the_same_annotations_the_best_is_taken() -> None:
    drawn = [(100, 0.5), (125, 0.7), (125, 0.8), (125, 0.8), (150, 0.6)]
    counts = ConfusionCounts(1, 0, 0)
    points = [Point(place, documents, 1, counts, f1) for place, (documents, f1) in enumerate(drawn)]
    assert [point.iteration for point in best_points(points, "documents")] == [0, 2, 4]
