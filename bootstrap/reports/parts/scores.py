"""Scores of a run, the agreement of its models, and the time of its stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bootstrap.reports.comparison import best_points
from bootstrap.reports.content import Block, Folded, Pair, Paragraph, pair
from bootstrap.reports.estimates import ALL, ScoreEstimates, estimate_scores
from bootstrap.reports.figures import (
    AXES,
    Axis,
    Figure,
    Panel,
    Series,
    by_class,
    one_panel,
    score_axis,
    stacked,
)
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.tables import Cell, Column, Estimate, Table, columns, shown_range
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.outcome import decision_lines
from corpus.errors import quoted

_INTERVAL = "95 % confidence interval over documents"
_SCORES = columns("estimate", "F1", "precision", "recall")
_SHOWN_CLASSES = 3  # that have a column in the table of iterations


def score_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the scores of each iteration."""
    lines = [Paragraph(line) for line in decision_lines(record.rows)]
    table = iterations_table(record.rows, record.best, record.estimates).without_empty()
    is_active = any(row.queried for row in record.rows)
    others = ("documents", "tokens") if is_active else ()
    figures = [Pair(scores_figure(record, axis)) for axis in others]
    return (*lines, Pair(scores_figure(record), table), *figures)


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
    interval = f" (95 %: {shown_range(scores.f1)})" if scores.f1.interval else ""
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


def scores_figure(record: RunRecord, axis: str = "iteration") -> Figure:
    """Build the figure of precision, recall and F1.

    Parameters
    ----------
    record : RunRecord
        The run.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis. The best iteration after the same annotations is shown.
    """
    points = best_points(record.points, axis)
    places = tuple(getattr(point, axis) for point in points)
    scores = [record.estimates(point.iteration)[ALL] for point in points]
    f1, precision, recall = zip(*map(score_cells, scores), strict=True)
    iterations = [point.iteration for point in points]
    best = iterations.index(record.best)
    series = [
        Series.from_values("F1", f1, places, notes=((best, f"{f1[best].value:.3f}"),)),
        Series.from_values("precision", [score.value for score in precision], places, style=1),
        Series.from_values("recall", [score.value for score in recall], places, style=2),
    ]
    by_iteration = axis == "iteration"
    return Figure(
        "scores" if by_iteration else f"scores-{axis}",
        "Scores on validation" + ("" if by_iteration else f" by {axis} annotated"),
        f"Strict entities: offsets and class match. Around F1: {_INTERVAL}. The number is the F1 "
        f"of the best iteration, {record.best}.",
        iteration_axis(record) if by_iteration else Axis(AXES[axis], whole=True),
        score_axis("score", series),
        one_panel(*series),
    )


def iterations_table(
    rows: Sequence[IterationMetrics],
    best: int | None,
    estimates: Callable[[int], Mapping[str, ScoreEstimates]] | None = None,
) -> Table:
    """Build the table of iterations, in which the best one is marked."""
    classes = tuple(rows[0].classes) if rows else ()
    several_taggers = len({row.tagger for row in rows}) > 1
    is_active = any(row.queried for row in rows)

    def score(name: str, row: IterationMetrics) -> Cell:
        score: Cell = getattr(row if estimates is None else estimates(row.iteration)[ALL], name)
        return score

    table = Table.from_items(
        "iterations",
        "Iterations",
        rows,
        [
            ("iteration", "count", lambda row: row.iteration),
            ("tagger", "text", lambda row: row.tagger if several_taggers else None),
            ("annotated", "count", lambda row: row.human_documents if is_active else None),
            ("tokens", "count", lambda row: row.human_tokens if is_active else None),
            ("F1", "estimate", lambda row: score("f1", row)),
            ("precision", "estimate", lambda row: score("precision", row)),
            ("recall", "estimate", lambda row: score("recall", row)),
            *(
                (f"{quoted(name)} F1", "score", lambda row, name=name: row.classes[name].f1)
                for name in (classes if len(classes) <= _SHOWN_CLASSES else ())
            ),
            ("training documents", "count", lambda row: row.training_documents),
            ("selected", "count", lambda row: row.selected),
            ("confident", "count", lambda row: row.confident),
            ("deviation", "number", lambda row: row.deviation),
            ("agreement", "score", lambda row: row.agreement),
            ("kappa", "score", lambda row: row.kappa),
            ("seconds", "seconds", lambda row: sum(row.seconds.values())),
        ],
        "★ marks the best iteration on validation, whose model is used. Small: 95 % intervals.",
    )
    return replace(table, marked=frozenset({(best, 0)} if best is not None else ()))


def score_cells(scores: ScoreEstimates) -> tuple[Estimate, Estimate, Estimate]:
    """Return the cells of F1, precision and recall with their intervals."""
    return scores.f1, scores.precision, scores.recall


def _ranked_classes(estimates: Mapping[str, ScoreEstimates]) -> list[str]:
    """Return the classes of gold entities by F1, the highest first."""
    names = [name for name, scores in estimates.items() if name != ALL and scores.gold]
    return sorted(names, key=lambda name: (-estimates[name].f1.value, name))


def _f1_of(
    estimates: Mapping[str, ScoreEstimates], names: Sequence[str], absent: float | None = None
) -> list[float | None]:
    """Return the F1 of classes."""
    return [estimates[name].f1.value if name in estimates else absent for name in names]


def _classes_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class, of the first and the best iteration; None without any."""
    best, before = record.estimates(record.best), record.estimates(0)
    names = _ranked_classes(best)
    if not names:
        return None
    title, scores = f"iteration {record.best} (best)", [best[name].f1 for name in names]
    series = [Series.from_values(title, scores, mark="points")]
    if record.best:
        values = _f1_of(before, names, absent=0.0)
        series.append(Series.from_values("iteration 0", values, mark="points", style=5))
    caption = (
        f"Classes by F1, the highest at the top. Lines: {_INTERVAL}; they are long where there "
        "are few entities."
    )
    return by_class("classes", "F1 of each class", caption, names, "F1 on validation", series)


def classes_table(record: RunRecord) -> Table:
    """Build the table of the scores of each class in the best iteration."""
    best, first = record.estimates(record.best), record.estimates(0)
    names = [ALL, *_ranked_classes(best)]
    rows: list[tuple[Cell, ...]] = []
    for name in (*names, *sorted({*best} - {*names})):
        scores = best[name]
        change = scores.f1.value - first[name].f1.value if name and name in first else None
        title = quoted(name) if name else "all"
        rows.append((title, scores.gold, *score_cells(scores), change))
    titles = (Column("class"), Column("gold entities", "count"), *_SCORES)
    return Table(
        "classes",
        f"Classes in iteration {record.best}",
        (*titles, Column("F1 since iteration 0", "signed")),
        tuple(rows),
    )


def _class_curves_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class and iteration: a panel for each class; None without any."""
    names = _ranked_classes(record.estimates(record.best))
    if not names or len(record.rows) < 2:
        return None
    iterations = [record.estimates(row.iteration) for row in record.rows]
    panels = []
    for name in names:
        f1 = [scores[name].f1 if name in scores else Estimate(0.0) for scores in iterations]
        panels.append(Panel(quoted(name), (Series.from_values("F1", f1),)))
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
        (quoted(name), row.iteration, scores.gold, *score_cells(scores))
        for name in record.classes
        for row in record.rows
        if (scores := record.estimates(row.iteration).get(name))
    ]
    return Table(
        "class-scores",
        "Classes in each iteration",
        (Column("class"), *columns("count", "iteration", "gold entities"), *_SCORES),
        tuple(rows),
    )


def _test_figure(record: RunRecord) -> Figure | None:
    """Build the figure of F1 by class on the test documents; None without classes."""
    estimates, validation = estimate_scores(record.test[record.best]), record.estimates(record.best)
    names = _ranked_classes(estimates)
    if not names:
        return None
    scores = [estimates[name].f1 for name in names]
    title = "F1 of each class on the test documents"
    caption = (
        f"The model of iteration {record.best}, which the validation documents selected. Lines: "
        f"{_INTERVAL}."
    )
    series = [
        Series.from_values("test", scores, mark="points", style=1),
        Series.from_values("validation", _f1_of(validation, names), mark="points", style=5),
    ]
    return by_class("test", title, caption, names, "F1", series)


def _test_table(record: RunRecord) -> Table:
    """Build the table of the scores on test documents: of all iterations, and by class."""
    rows: list[tuple[Cell, ...]] = []
    for iteration, counts in record.test.items():
        estimates = estimate_scores(counts)
        names = [ALL, *_ranked_classes(estimates)] if iteration == record.best else [ALL]
        for name in names:
            scores = estimates[name]
            rows.append(
                (iteration, quoted(name) if name else "all", scores.gold, *score_cells(scores))
            )
    titles = (Column("iteration", "count"), Column("class"), Column("gold entities", "count"))
    return Table("test", "Scores on the test documents", (*titles, *_SCORES), tuple(rows))


def progress_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the agreement of consecutive models, if there are several, and the seconds."""
    rows = [(row.iteration, row.seconds) for row in record.rows]
    seconds = seconds_pair("Time on the clock, stage upon stage.", iteration_names(record), rows)
    return (*pair(_agreement(record), None), seconds)


def _agreement(record: RunRecord) -> Figure | None:
    """Build the figure of agreement, whose numbers the table of iterations has."""
    rows = [row for row in record.rows if row.agreement is not None]
    if not rows:
        return None
    places = tuple(row.iteration for row in rows)
    series = (
        Series.from_values("agreement", [row.agreement for row in rows], places),
        Series.from_values("Cohen's kappa", [row.kappa for row in rows], places, style=1),
    )
    return Figure(
        "agreement",
        "Agreement with the previous iteration",
        "Share of validation tokens with the same tag, and Cohen's kappa, which leaves out what is "
        "expected by chance. Near 1, the predictions hardly change any more.",
        iteration_axis(record),
        score_axis("agreement", series),
        one_panel(*series),
    )


def seconds_pair(
    caption: str, places: Axis, rows: Sequence[tuple[Cell, Mapping[str, float]]]
) -> Pair:
    """Return the seconds of each stage; places with a name are rows, and iterations are not.

    `rows` has the cell and the seconds of each place. The stages are in the order of their first
    occurrence.
    """
    by_iteration = places.title == "iteration"
    stages = tuple(dict.fromkeys(stage for _, seconds in rows for stage in seconds))
    columns_of_stages = [[seconds.get(stage, 0) for _, seconds in rows] for stage in stages]
    figure = Figure(
        "seconds",
        "Seconds of each stage",
        caption,
        places,
        Axis("seconds", low=0.0),
        one_panel(*stacked(stages, columns_of_stages)),
        rows=not by_iteration,
    )
    first = Column(places.title, "count" if by_iteration else "text")
    table = Table(
        "seconds",
        "Seconds",
        (first, *columns("seconds", *stages, "all")),
        tuple((cell, *map(seconds.get, stages), sum(seconds.values())) for cell, seconds in rows),
    )
    return Pair(figure, table)
