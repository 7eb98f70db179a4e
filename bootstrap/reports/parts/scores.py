"""Scores of a run: figures and tables of precision, recall and F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bootstrap.reports.content import Block, Folded, Pair, Paragraph, pair
from bootstrap.reports.estimates import ALL, ScoreEstimates, estimate_scores
from bootstrap.reports.figures import AXES, Axis, Figure, Panel, Series, one_panel, score_axis
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.tables import Cell, Column, Estimate, Table, columns
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.outcome import decision_lines

_INTERVAL = "95 % confidence interval over documents"
_SCORES = columns("estimate", "F1", "precision", "recall")
_SHOWN_CLASSES = 3  # that have a column in the table of iterations


def score_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the scores of each iteration."""
    lines = [Paragraph(line) for line in decision_lines(record.rows)]
    table = iterations_table(record.rows, record.best, record.estimates).without_empty()
    others: list[Block] = []
    if any(row.queried for row in record.rows):
        others = [Pair(scores_figure(record, axis)) for axis in ("documents", "tokens")]
    return (*lines, Pair(scores_figure(record), table), *others)


def class_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the scores of each class, in the best iteration and in each."""
    curves = pair(_class_curves_figure(record), _class_scores_table(record))
    return (
        *pair(_classes_figure(record), classes_table(record)),
        Folded("Each class in each iteration", curves),
    )


def test_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the scores on the test documents; nothing unless they were read."""
    if not record.test:
        return ()
    scores = estimate_scores(record.test[record.best])[ALL]
    low, high = scores.f1.interval or (scores.f1.value, scores.f1.value)
    interval = f" (95 %: {low:.3f}–{high:.3f})" if scores.f1.interval else ""
    line = (
        f"On {len(record.test[record.best].ids):,} test documents, which chose nothing, the model "
        f"of iteration {record.best} has F1 {scores.f1.value:.3f}{interval}, precision "
        f"{scores.precision.value:.3f} and recall {scores.recall.value:.3f}."
    )
    return (Paragraph(line), *pair(_test_figure(record), _test_table(record)))


def iteration_axis(record: RunRecord) -> Axis:
    """Return the axis of the iterations of a run."""
    return Axis("iteration", low=-0.3, high=len(record.rows) - 0.7, whole=True)


def iteration_names(record: RunRecord) -> Axis:
    """Return the axis of the iterations of a run, for bars."""
    return Axis("iteration", names=tuple(str(row.iteration) for row in record.rows))


def estimates_series(
    name: str, places: Sequence[float], estimates: Sequence[Estimate], style: int, **others: Any
) -> Series:
    """Return the series of scores with their intervals, if they have any."""
    values = tuple(estimate.value for estimate in estimates)
    series = Series(name, tuple(places), values, style=style, **others)
    if not any(estimate.interval for estimate in estimates):
        return series
    ends = [estimate.interval or (None, None) for estimate in estimates]
    return replace(series, low=tuple(low for low, _ in ends), high=tuple(high for _, high in ends))


def scores_figure(record: RunRecord, axis: str = "iteration") -> Figure:
    """Build the figure of precision, recall and F1.

    Parameters
    ----------
    record : RunRecord
        The run.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis. Of the iterations after the same annotations, the best is shown.
    """
    by_iteration = axis == "iteration"
    attribute = axis if by_iteration else f"human_{axis}"
    rows = record.rows if by_iteration else best_by(record, attribute)
    places = [getattr(row, attribute) for row in rows]
    scores = [record.estimates[row.iteration][ALL] for row in rows]
    notes = tuple(
        (number, f"{scores[number].f1.value:.3f}")
        for number, row in enumerate(rows)
        if row.iteration == record.best
    )
    series = [
        estimates_series("F1", places, [each.f1 for each in scores], 0, notes=notes),
        Series("precision", tuple(places), tuple(each.precision.value for each in scores), style=1),
        Series("recall", tuple(places), tuple(each.recall.value for each in scores), style=2),
    ]
    ends = [end for each in series for end in (*each.values, *each.low, *each.high)]
    return Figure(
        "scores" if by_iteration else f"scores-{axis}",
        "Scores on validation" + ("" if by_iteration else f" by {axis} annotated"),
        f"Strict entities: offsets and class match. Around F1: {_INTERVAL}. The number is the F1 "
        f"of the best iteration, {record.best}.",
        iteration_axis(record) if by_iteration else Axis(AXES[axis], whole=True),
        score_axis("score", ends),
        one_panel(*series),
    )


def best_by(record: RunRecord, attribute: str) -> list[IterationMetrics]:
    """Return the best of the iterations with the same value of an attribute, in order."""
    best: dict[int, IterationMetrics] = {}
    for row in sorted(record.rows, key=lambda row: (row.f1, -row.iteration)):
        best[getattr(row, attribute)] = row
    return [best[value] for value in sorted(best)]


def iterations_table(
    rows: Sequence[IterationMetrics],
    best: int | None,
    estimates: Mapping[int, Mapping[str, ScoreEstimates]] | None = None,
) -> Table:
    """Build the table of iterations.

    Parameters
    ----------
    rows : sequence of IterationMetrics
        The iterations.
    best : int or None
        The best of them, which is marked.
    estimates : mapping of int to mapping, optional
        Their scores with intervals.
    """
    classes = tuple(rows[0].classes) if rows else ()
    shown = classes if len(classes) <= _SHOWN_CLASSES else ()
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        scores = row if estimates is None else estimates[row.iteration][ALL]
        cells.append(
            (
                row.iteration,
                row.tagger if len({each.tagger for each in rows}) > 1 else None,
                *((row.human_documents, row.human_tokens) if _is_active(rows) else (None, None)),
                scores.f1,
                scores.precision,
                scores.recall,
                *(row.classes[name].f1 for name in shown),
                row.training_documents,
                row.selected,
                row.confident,
                row.deviation,
                row.agreement,
                row.kappa,
                sum(row.seconds.values()),
            )
        )
    titles = (
        Column("iteration", "count"),
        Column("tagger"),
        *columns("count", "annotated", "tokens"),
        *_SCORES,
        *columns("score", *(f"{name} F1" for name in shown)),
        *columns("count", "training documents", "selected", "confident"),
        Column("deviation", "number"),
        *columns("score", "agreement", "kappa"),
        Column("seconds", "seconds"),
    )
    caption = (
        "★ marks the best iteration on validation, whose model is used. Small: 95 % intervals."
    )
    marked = frozenset({(best, 0)} if best is not None else ())
    return Table("iterations", "Iterations", titles, tuple(cells), marked, caption)


def _is_active(rows: Sequence[IterationMetrics]) -> bool:
    return any(row.queried for row in rows)


def score_cells(scores: ScoreEstimates) -> tuple[Estimate, Estimate, Estimate]:
    """Return the cells of F1, precision and recall with their intervals."""
    return scores.f1, scores.precision, scores.recall


def _ranked_classes(estimates: Mapping[str, ScoreEstimates]) -> list[str]:
    """Return the classes of gold entities by F1, the highest first."""
    names = [name for name, scores in estimates.items() if name != ALL and scores.gold]
    return sorted(names, key=lambda name: (-estimates[name].f1.value, name))


def _classes_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class, of the first and the best iteration; None without any."""
    best, first = record.estimates[record.best], record.estimates[0]
    names = _ranked_classes(best)
    if not names:
        return None
    places, scores = range(len(names)), [best[name].f1 for name in names]
    series = [estimates_series(f"iteration {record.best} (best)", places, scores, 0, mark="points")]
    if record.best:
        before = tuple(first[name].f1.value if name in first else 0.0 for name in names)
        series.append(Series("iteration 0", tuple(places), before, "points", 5))
    return Figure(
        "classes",
        "F1 of each class",
        f"Classes by F1, the highest at the top. Lines: {_INTERVAL}; they are long where there "
        "are few entities.",
        Axis("class", names=tuple(names)),
        Axis("F1 on validation", low=0.0, high=1.0),
        one_panel(*series),
        rows=True,
    )


def classes_table(record: RunRecord) -> Table:
    """Build the table of the scores of each class in the best iteration."""
    best, first = record.estimates[record.best], record.estimates[0]
    names = [ALL, *_ranked_classes(best)]
    rows: list[tuple[Cell, ...]] = []
    for name in (*names, *sorted({*best} - {*names})):
        scores = best[name]
        change = scores.f1.value - first[name].f1.value if name in first else None
        rows.append((name or "all", scores.gold, *score_cells(scores), change))
    titles = (Column("class"), Column("gold entities", "count"), *_SCORES)
    return Table(
        "classes",
        f"Classes in iteration {record.best}",
        (*titles, Column("F1 since iteration 0", "signed")),
        tuple(rows),
    )


def _class_curves_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class and iteration: a panel for each class; None without any."""
    names = _ranked_classes(record.estimates[record.best])
    if not names or len(record.rows) < 2:
        return None
    panels = []
    for name in names:
        found = [
            record.estimates[row.iteration][name].f1
            if name in record.estimates[row.iteration]
            else Estimate(0.0)
            for row in record.rows
        ]
        panels.append(Panel(name, (estimates_series("F1", range(len(found)), found, 0),)))
    return Figure(
        "class-curves",
        "F1 of each class in each iteration",
        f"The axes of all plots are the same. Bands: {_INTERVAL}.",
        iteration_axis(record),
        Axis("F1", low=0.0, high=1.0),
        tuple(panels),
    )


def _class_scores_table(record: RunRecord) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, row.iteration, scores.gold, *score_cells(scores))
        for name in record.classes
        for row in record.rows
        if (scores := record.estimates[row.iteration].get(name))
    ]
    return Table(
        "class-scores",
        "Classes in each iteration",
        (Column("class"), *columns("count", "iteration", "gold entities"), *_SCORES),
        tuple(rows),
    )


def _test_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class on the test documents; None without classes."""
    estimates, validation = estimate_scores(record.test[record.best]), record.estimates[record.best]
    names = _ranked_classes(estimates)
    if not names:
        return None
    places = tuple(range(len(names)))
    values = tuple(validation[name].f1.value if name in validation else None for name in names)
    return Figure(
        "test",
        "F1 of each class on the test documents",
        f"The model of iteration {record.best}, which the validation documents selected. Lines: "
        f"{_INTERVAL}.",
        Axis("class", names=tuple(names)),
        Axis("F1", low=0.0, high=1.0),
        one_panel(
            estimates_series(
                "test", places, [estimates[name].f1 for name in names], 1, mark="points"
            ),
            Series("validation", places, values, "points", 5),
        ),
        rows=True,
    )


def _test_table(record: RunRecord) -> Table:
    """Build the table of the scores on test documents: of all iterations, and by class."""
    rows: list[tuple[Cell, ...]] = []
    for iteration, counts in record.test.items():
        estimates = estimate_scores(counts)
        names = [ALL, *_ranked_classes(estimates)] if iteration == record.best else [ALL]
        for name in names:
            scores = estimates[name]
            rows.append((iteration, name or "all", scores.gold, *score_cells(scores)))
    titles = (Column("iteration", "count"), Column("class"), Column("gold entities", "count"))
    return Table("test", "Scores on the test documents", (*titles, *_SCORES), tuple(rows))
