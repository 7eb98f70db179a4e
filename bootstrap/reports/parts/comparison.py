"""The sections of a page that compares runs: figures, tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from statistics import fmean

from bootstrap.reports.comparison import (
    Difference,
    Point,
    Row,
    RunResult,
    Spread,
    best_points,
    by_variant,
    compare_at,
)
from bootstrap.reports.content import Block, Folded, Pair, Section, Tile
from bootstrap.reports.estimates import ALL, estimate_scores
from bootstrap.reports.figures import (
    AXES,
    Axis,
    Figure,
    Panel,
    Series,
    by_class,
    difference_axis,
    one_panel,
    score_axis,
)
from bootstrap.reports.tables import Cell, Column, Estimate, Kind, Table, columns
from corpus.errors import quoted

#: The measures of an iteration: their titles, and how they are computed.
MEASURES: dict[str, Callable[[Point], float]] = {
    "F1": lambda point: point.counts.f1,
    "precision": lambda point: point.counts.precision,
    "recall": lambda point: point.counts.recall,
}
_TILES = 4  # variants among the key figures, beside the first

#: The iterations of the runs of a variant that are shown at one place.
Steps = Sequence[Sequence[Point]]


def comparison_sections(
    results: Sequence[RunResult],
    rows: Sequence[Row],
    scored: str,
    at_documents: Sequence[int] = (),
) -> list[Section]:
    """Build the sections that compare at least one run.

    Parameters
    ----------
    results, rows
        The runs and their comparison.
    scored : str
        The documents that they are scored on, such as ``"test documents"``.
    at_documents : sequence of int
        Numbers of annotated documents at which the variants are compared in a table.
    """
    sections = {
        "Comparison": (
            *comparison_pair(results, rows, scored),
            *_differences(rows, scored),
            Folded("Each run", (_runs_table(results),)),
        ),
        "Scores": _scores(results, scored, at_documents),
        "Classes": _classes(results, rows, scored),
    }
    return [Section(title, blocks) for title, blocks in sections.items() if blocks]


# What comes first


def outcome_lines(rows: Sequence[Row], scored: str, bounds: Collection[str] = ()) -> list[str]:
    """Return sentences about the best variant, and whether its difference is certain.

    `bounds` names the variants of all annotations, which the others are measured by.
    """
    ranked = sorted(
        [row for row in rows if row.variant not in bounds] or rows, key=lambda row: -row.f1.mean
    )
    best, first = ranked[0], rows[0]
    lines = [f"The highest F1 on the {scored} is {best.f1.mean:.3f}: {best.variant}."]
    if best.difference:
        lines.append(f"Its difference to {first.variant} is {_difference_words(best, scored)}.")
    elif best is first and len(ranked) > 1 and ranked[1].difference:
        second = ranked[1]
        words = f"with a difference of {_difference_words(second, scored)}"
        lines.append(f"{second.variant} follows with {second.f1.mean:.3f}, {words}.")
    lines += [
        f"The upper bound, {row.variant}, has {row.f1.mean:.3f}."
        for row in rows
        if row.variant in bounds and row is not best
    ]
    return lines


def _difference_words(row: Row, scored: str) -> str:
    assert row.difference
    words = f"{round(row.difference.spread.mean, 3) + 0.0:+.3f}"
    if row.difference.interval is None:
        return f"{words}; the {scored} are too few for an interval"
    low, high = row.difference.interval
    words += f" (95 % interval {low:+.3f} to {high:+.3f})"
    return words if low > 0 or high < 0 else f"{words}, which is within the noise"


def tiles_of(rows: Sequence[Row]) -> tuple[Tile, ...]:
    """Return the F1 of the first variant and of the best ones."""
    best = sorted(rows[1:], key=lambda row: -row.f1.mean)[:_TILES]
    return tuple(
        Tile(
            row.variant,
            f"{row.f1.mean:.3f}",
            f"{row.f1.lowest:.3f}–{row.f1.highest:.3f} in {row.f1.number} runs"
            if row.f1.range
            else "",
        )
        for row in (rows[0], *best)
    )


# Variants


def comparison_pair(
    results: Sequence[RunResult], rows: Sequence[Row], scored: str, name: str = "variants"
) -> tuple[Block, ...]:
    """Return the figure of the F1 of variants with the table of all their figures."""
    alone = {variant: runs[0].tested for variant, runs in by_variant(results).items()}
    scores = [
        row.f1.estimate if row.f1.range else estimate_scores(alone[row.variant])[ALL].f1
        for row in rows
    ]
    series = Series.from_values("mean F1", scores, mark="points")
    figure = Figure(
        name,
        f"F1 on the {scored}",
        "Line: the range of several runs, or the 95 % interval of a single run over documents.",
        Axis("name", names=tuple(row.variant for row in rows)),
        score_axis("F1", [series]),
        one_panel(series),
        rows=True,
    )
    return (Pair(figure, _variants_table(rows, scored, name)),)


def _variants_table(rows: Sequence[Row], scored: str, name: str) -> Table:
    def of_difference(figure: Callable[[Difference], Cell]) -> Callable[[Row], Cell]:
        return lambda row: figure(row.difference) if row.difference else None

    table = Table.from_items(
        name,
        f"Scores on the {scored}",
        rows,
        [
            ("name", "text", lambda row: row.variant),
            ("runs", "count", lambda row: row.f1.number),
            ("F1", "estimate", lambda row: row.f1.estimate),
            ("sd", "score", lambda row: row.f1.known_deviation),
            ("difference", "signed", of_difference(lambda change: change.spread.mean)),
            ("difference sd", "score", of_difference(lambda change: change.spread.known_deviation)),
            ("95 % interval", "interval", of_difference(lambda change: change.interval)),
            ("precision", "score", lambda row: row.counts.precision),
            ("recall", "score", lambda row: row.counts.recall),
            ("annotated documents", "count", lambda row: row.documents),
            ("annotated tokens", "count", lambda row: row.tokens),
            ("seconds", "seconds", lambda row: row.seconds),
        ],
        "★ marks the best scores, each with the iteration that other documents selected. Small: "
        "the range of the runs; sd: standard deviation. The difference is to the first; its 95 % "
        "interval is from resampled documents, and takes the models as they are. Annotated: in "
        "all, also after the selected iteration.",
    )
    return table.with_best("F1", "precision", "recall").without_empty()


def _differences(rows: Sequence[Row], scored: str) -> tuple[Block, ...]:
    """Return the figure of the differences to the first variant, if there are any."""
    compared = [(row.variant, row.difference) for row in rows if row.difference]
    if not compared:
        return ()
    values = [
        Estimate(mean := difference.spread.mean, difference.interval or (mean, mean))
        for _, difference in compared
    ]
    series = Series.from_values("mean difference", values, mark="points")
    figure = Figure(
        "differences",
        f"Difference of F1 to {rows[0].variant}",
        f"Line: 95 % interval of the mean difference, by resampling the {scored} for all runs "
        "alike. Where it crosses 0, the difference is within the noise of these documents.",
        Axis("name", names=tuple(variant for variant, _ in compared)),
        difference_axis("difference of F1", series),
        one_panel(
            series, Series("no difference", (-0.5, len(values) - 0.5), (0.0, 0.0), "guide", 6)
        ),
        rows=True,
    )
    return (Pair(figure),)


def _runs_table(results: Sequence[RunResult]) -> Table:
    return Table.from_items(
        "runs",
        "Each run",
        results,
        [
            ("name", "text", lambda result: result.variant),
            ("random state", "count", lambda result: result.random_state),
            ("split", "text", lambda result: result.split or None),
            ("iterations", "count", lambda result: result.points[-1].iteration),
            ("best iteration", "count", lambda result: result.best),
            ("F1", "score", lambda result: result.f1),
            ("precision", "score", lambda result: result.counts.precision),
            ("recall", "score", lambda result: result.counts.recall),
            ("seconds", "seconds", lambda result: result.seconds),
        ],
    ).without_empty()


# Scores


def _scores(
    results: Sequence[RunResult], scored: str, at_documents: Sequence[int]
) -> tuple[Block, ...]:
    """Return the curves by what people annotated, if that differs, and by iteration."""
    blocks: list[Block] = []
    if len({point.documents for result in results for point in result.points}) > 1:
        rows, title = compare_at(results, at_documents), "Scores by annotated documents"
        at = Table.from_items("scores-documents", title, rows, _POINTS[:4]) if rows else None
        blocks.append(Pair(curves_figure(results, scored, "documents"), at))
        blocks.append(Pair(curves_figure(results, scored, "tokens")))
    if max(len(result.points) for result in results) > 1:
        blocks.append(Pair(curves_figure(results, scored), _scores_table(results)))
    return tuple(blocks)


def curves_figure(results: Sequence[RunResult], scored: str, axis: str = "iteration") -> Figure:
    """Build the figure of the scores of variants on some documents, on an axis of `AXES`."""
    title, is_iteration = AXES[axis], axis == "iteration"
    curves = {variant: _steps(runs, axis) for variant, runs in by_variant(results).items()}
    beyond = _shown_as_lines(curves, axis)
    ends = _ends([steps for variant, steps in curves.items() if variant not in beyond], axis)
    panels = []
    for name, measure in MEASURES.items():
        series = []
        for style, (variant, steps) in enumerate(curves.items()):
            if variant in beyond:  # a line at the mean, to compare with
                height = fmean(measure(point) for point in steps[-1])
                series.append(Series(variant, ends, (height, height), "guide", style))
            else:
                series.append(_curve(variant, steps, measure, style, axis))
        panels.append(Panel(name, tuple(series)))
    caption = (
        f"Strict entities on the {scored}. A line is the mean of runs, and its band goes from the "
        "lowest to the highest."
    )
    caption += (
        " A run that has ended keeps the scores of its last iteration."
        if is_iteration
        else " Of the iterations after the same annotations, the best on validation is shown."
    )
    if beyond:
        names = ", ".join(variant for variant in curves if variant in beyond)
        mean = "the mean of a model" if is_iteration else "the mean with far more annotations"
        caption += f" A line from side to side is {mean}: {names}."
    longest = max(len(steps) for steps in curves.values())
    return Figure(
        "scores" if is_iteration else f"scores-{axis}",
        f"Scores by {title}",
        caption,
        Axis(title, low=-0.3, high=longest - 0.7, whole=True)
        if is_iteration
        else Axis(title, whole=True),
        score_axis("score", [series for panel in panels for series in panel.series]),
        tuple(panels),
    )


def _shown_as_lines(curves: Mapping[str, Steps], axis: str) -> set[str]:
    """Return the variants that would not fit on an axis."""
    # They have one model, if others have several iterations. Or they begin with more annotations
    # than active learning ends with, and would leave no room for the others.
    growing = [steps for steps in curves.values() if len(steps) > 1]
    if not growing:
        return set()
    if axis == "iteration":
        return {variant for variant, steps in curves.items() if len(steps) == 1}
    _, last = _ends(growing, axis)
    return {variant for variant, steps in curves.items() if _ends([steps], axis)[0] > last}


def _ends(curves: Iterable[Steps], axis: str) -> tuple[float, float]:
    """Return the first and the last place of curves."""
    places = [getattr(point, axis) for steps in curves for step in steps for point in step]
    return min(places), max(places)


def _curve(
    variant: str, steps: Steps, measure: Callable[[Point], float], style: int, axis: str
) -> Series:
    scores = [Spread.from_values([measure(point) for point in step]).estimate for step in steps]
    by_iteration = axis == "iteration"
    places = [fmean(getattr(point, axis) for point in step) for step in steps]
    return Series.from_values(variant, scores, None if by_iteration else places, style=style)


def _steps(results: Sequence[RunResult], axis: str) -> Steps:
    """Return the iterations of runs that are shown at one place, in the order of the places."""
    # By iteration, a run that has ended keeps its last one. Otherwise, the mean would rise where a
    # worse run ends.
    if axis == "iteration":
        runs = [result.points for result in results]
        longest = max(map(len, runs))
        return [[run[min(number, len(run) - 1)] for run in runs] for number in range(longest)]
    best = [best_points(result.points, axis) for result in results]
    return [[point for point in step if point is not None] for step in zip_longest(*best)]


#: A variant and points of its runs, and a column of a table of them.
_Points = tuple[str, Sequence[Point]]
_Column = tuple[str, Kind, Callable[[_Points], Cell]]


def _mean(figure: Callable[[Point], float]) -> Callable[[_Points], float]:
    return lambda row: fmean(map(figure, row[1]))


def _f1_of(row: _Points) -> Estimate:
    return Spread.from_values([point.counts.f1 for point in row[1]]).estimate


#: The columns of the points of several runs.
_POINTS: list[_Column] = [
    ("name", "text", lambda row: row[0]),
    ("annotated documents", "count", _mean(lambda point: point.documents)),
    ("annotated tokens", "count", _mean(lambda point: point.tokens)),
    ("F1", "estimate", _f1_of),
    ("precision", "score", _mean(lambda point: point.counts.precision)),
    ("recall", "score", _mean(lambda point: point.counts.recall)),
]


def _scores_table(results: Sequence[RunResult]) -> Table:
    groups = by_variant(results)
    steps = [(name, step) for name in groups for step in _steps(groups[name], "iteration")]
    name, *others = _POINTS

    def reached(row: _Points) -> int:
        last = max(point.iteration for point in row[1])
        return sum(point.iteration == last for point in row[1])

    columns: list[_Column] = [
        name,
        ("iteration", "count", lambda row: max(point.iteration for point in row[1])),
        ("runs that reached it", "count", reached),
        *others,
    ]
    return Table.from_items("scores", "Scores in each iteration", steps, columns)


# Classes


def _classes(results: Sequence[RunResult], rows: Sequence[Row], scored: str) -> tuple[Block, ...]:
    """Return F1 by class; the classes in the order of the F1 of the first variant."""
    names = sorted(rows[0].classes, key=lambda name: (-rows[0].classes[name], name))
    if not names:
        return ()
    caption = f"The mean of the runs of a name. Classes by the F1 of {rows[0].variant}."
    series = [
        Series.from_values(
            row.variant, [row.classes[name] for name in names], mark="points", style=style
        )
        for style, row in enumerate(rows)
    ]
    figure = by_class("classes", "F1 of each class", caption, names, f"F1 on the {scored}", series)
    gold = dict.fromkeys(names, 0)
    for result in {result.split: result for result in results}.values():
        for name, counts in result.classes().items():
            gold[name] += counts.true_positives + counts.false_negatives
    scores = {name: [row.classes[name] for row in rows] for name in names}
    marked = {
        (number, 2 + place)
        for number, of_class in enumerate(scores.values())
        for place, score in enumerate(of_class)
        if len(rows) > 1 and score == max(of_class) > 0
    }
    titles = (Column("class"), Column("gold entities", "count"))
    table = Table(
        "classes",
        "F1 of each class",
        (*titles, *columns("score", *(row.variant for row in rows))),
        tuple((quoted(name), gold[name], *of_class) for name, of_class in scores.items()),
        frozenset(marked),
        "★ marks the highest of each class.",
    )
    return (Pair(figure, table),)
