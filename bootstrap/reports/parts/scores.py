"""Scores of a run: figures and tables of precision, recall and F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bootstrap.reports.estimates import ALL, Estimate, ScoreEstimates, estimate_scores
from bootstrap.reports.figure_names import AXES
from bootstrap.reports.figures import Axis, Figure, Panel, Series, one_panel, score_axis
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.tables import Cell, Column, Table
from bootstrap.runs.metrics import IterationMetrics

#: The measures of a figure of one run: their titles.
MEASURES = {"f1": "F1", "precision": "precision", "recall": "recall"}
_INTERVAL = "95 % confidence interval over documents"
_SCORE_COLUMNS = (
    Column("F1", "estimate"),
    Column("precision", "estimate"),
    Column("recall", "estimate"),
)


def iteration_axis(record: RunRecord) -> Axis:
    """Return the axis of the iterations of a run."""
    return Axis("iteration", low=-0.3, high=len(record.rows) - 0.7, whole=True)


def iteration_names(record: RunRecord) -> tuple[str, ...]:
    """Return the names of the iterations of a run."""
    return tuple(str(row.iteration) for row in record.rows)


def series_of(
    name: str,
    places: Sequence[float],
    estimates: Sequence[Estimate],
    style: int,
    **others: object,
) -> Series:
    """Return the series of scores with their intervals."""
    has_intervals = any(each.interval for each in estimates)
    return Series(
        name,
        tuple(places),
        tuple(each.value for each in estimates),
        style=style,
        low=tuple(each.low for each in estimates) if has_intervals else (),
        high=tuple(each.high for each in estimates) if has_intervals else (),
        **others,  # type: ignore[arg-type]
    )


def scores_figure(record: RunRecord, axis: str = "iteration") -> Figure:
    """Build the figure of precision, recall and F1.

    Parameters
    ----------
    record : RunRecord
        The run.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis. Of the iterations after the same annotations, the best is shown.
    """
    attribute, title = AXES[axis]
    shown = record.rows if axis == "iteration" else best_by(record, attribute)
    places = [getattr(row, attribute) for row in shown]
    series, values = [], []
    for style, (measure, name) in enumerate(MEASURES.items()):
        found = [getattr(record.estimates[row.iteration][ALL], measure) for row in shown]
        plain = [Estimate(each.value) for each in found]
        best = [number for number, row in enumerate(shown) if row.iteration == record.best]
        notes = tuple((number, f"{found[number].value:.3f}") for number in best)
        is_f1 = measure == "f1"
        values += [each.value for each in found]
        values += [end for each in found if is_f1 for end in each.interval or ()]
        series.append(
            series_of(name, places, found if is_f1 else plain, style, notes=notes if is_f1 else ())
        )
    return Figure(
        "scores" if axis == "iteration" else f"scores-{axis}",
        "Scores on validation" + ("" if axis == "iteration" else f" by {axis} annotated"),
        f"Strict entities: offsets and class match. Around F1: {_INTERVAL}. The number is the F1 "
        f"of the best iteration, {record.best}.",
        iteration_axis(record) if axis == "iteration" else Axis(title, whole=True),
        score_axis("score", values),
        one_panel(*series),
    )


def best_by(record: RunRecord, attribute: str) -> list[IterationMetrics]:
    """Return the best of the iterations with the same value of an attribute, in order."""
    best: dict[int, IterationMetrics] = {}
    for row in sorted(record.rows, key=lambda row: (row.f1, -row.iteration)):
        best[getattr(row, attribute)] = row
    return [best[value] for value in sorted(best)]


def iterations_table(record: RunRecord) -> Table:
    """Build the table of the iterations; the best is marked."""
    rows = record.rows
    several = len({row.tagger for row in rows}) > 1
    active = any(row.queried for row in rows)
    optional = [
        *([Column("tagger")] if several else []),
        *([Column("annotated", "count"), Column("tokens", "count")] if active else []),
    ]
    columns = (
        Column("iteration", "count"),
        *optional,
        *_SCORE_COLUMNS,
        Column("training documents", "count"),
        Column("selected", "count"),
        Column("confident", "count"),
        Column("deviation", "number"),
        Column("agreement", "score"),
        Column("kappa", "score"),
        Column("seconds", "seconds"),
        Column("stopped"),
    )
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        annotated = (row.human_documents, row.human_tokens) if active else ()
        cells.append(
            (
                row.iteration,
                *([row.tagger] if several else []),
                *annotated,
                *score_cells(record.estimates[row.iteration][ALL]),
                row.training_documents,
                row.selected,
                row.confident,
                row.deviation,
                row.agreement,
                row.kappa,
                sum(row.seconds.values()),
                row.stopped or "",
            )
        )
    return Table(
        "iterations",
        "Iterations",
        columns,
        tuple(cells),
        frozenset({(record.best, 0)}),
        "★ marks the best iteration on validation, whose model is used. Small: 95 % intervals.",
    )


def score_cells(scores: ScoreEstimates) -> tuple[Estimate, Estimate, Estimate]:
    """Return the cells of F1, precision and recall with their intervals."""
    return scores.f1, scores.precision, scores.recall


def ranked_classes(estimates: Mapping[str, ScoreEstimates]) -> list[str]:
    """Return the classes of gold entities by F1, the highest first."""
    names = [name for name, scores in estimates.items() if name != ALL and scores.gold]
    return sorted(names, key=lambda name: (-estimates[name].f1.value, name))


def classes_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class, of the first and the best iteration; None without any."""
    best, first = record.estimates[record.best], record.estimates[0]
    names = ranked_classes(best)
    if not names:
        return None
    before = [first[name].f1.value if name in first else 0.0 for name in names]
    series = [
        series_of(
            f"iteration {record.best} (best)",
            range(len(names)),
            [best[name].f1 for name in names],
            0,
            mark="points",
        )
    ]
    if record.best:
        places = tuple(range(len(names)))
        series.append(Series("iteration 0", places, tuple(before), "points", 5))
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
    names = ranked_classes(best)
    others = sorted({*best, *record.classes} - {*names, ALL})
    rows: list[tuple[Cell, ...]] = []
    for name in (ALL, *names, *others):
        if name not in best:
            continue
        scores = best[name]
        change = scores.f1.value - first[name].f1.value if name in first else None
        rows.append((name or "all", scores.gold, *score_cells(scores), change))
    return Table(
        "classes",
        f"Classes in iteration {record.best}",
        (
            Column("class"),
            Column("gold entities", "count"),
            *_SCORE_COLUMNS,
            Column("F1 since iteration 0", "signed"),
        ),
        tuple(rows),
    )


def class_curves_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class and iteration: a panel for each class; None without any."""
    names = ranked_classes(record.estimates[record.best])
    if not names or len(record.rows) < 2:
        return None
    panels = []
    for name in names:
        found = [
            estimates[name].f1 if name in estimates else Estimate(0.0)
            for estimates in record.estimates
        ]
        panels.append(Panel(name, (series_of("F1", range(len(found)), found, 0),)))
    return Figure(
        "class-curves",
        "F1 of each class in each iteration",
        f"The axes of all plots are the same. Bands: {_INTERVAL}.",
        iteration_axis(record),
        Axis("F1", low=0.0, high=1.0),
        tuple(panels),
    )


def class_scores_table(record: RunRecord) -> Table:
    """Build the table of the scores of each class in each iteration."""
    rows: list[tuple[Cell, ...]] = []
    for name in record.classes:
        for iteration, estimates in enumerate(record.estimates):
            if name in estimates:
                scores = estimates[name]
                rows.append((name, iteration, scores.gold, *score_cells(scores)))
    return Table(
        "class-scores",
        "Classes in each iteration",
        (
            Column("class"),
            Column("iteration", "count"),
            Column("gold entities", "count"),
            *_SCORE_COLUMNS,
        ),
        tuple(rows),
    )


def test_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class on the test documents; None without classes."""
    estimates = estimate_scores(record.test[record.best])
    names = ranked_classes(estimates)
    if not names:
        return None
    found = [estimates[name].f1 for name in names]
    validation = record.estimates[record.best]
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
            series_of("test", places, found, 1, mark="points"),
            Series("validation", places, values, "points", 5),
        ),
        rows=True,
    )


def test_table(record: RunRecord) -> Table:
    """Build the table of the scores on test documents: of all iterations, and by class."""
    rows: list[tuple[Cell, ...]] = []
    for iteration, counts in record.test.items():
        estimates = estimate_scores(counts)
        names = [ALL, *ranked_classes(estimates)] if iteration == record.best else [ALL]
        for name in names:
            scores = estimates[name]
            rows.append((iteration, name or "all", scores.gold, *score_cells(scores)))
    return Table(
        "test",
        "Scores on the test documents",
        (
            Column("iteration", "count"),
            Column("class"),
            Column("gold entities", "count"),
            *_SCORE_COLUMNS,
        ),
        tuple(rows),
    )
