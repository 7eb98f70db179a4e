"""The curves of an experiment: the scores of its variants by iteration, and by annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from statistics import fmean

from bootstrap.experiments.results.comparison import AtDocuments, Spread, compare_at
from bootstrap.experiments.results.run_results import Point, RunResult
from bootstrap.reports.content import Block, Pair
from bootstrap.reports.figure_names import AXES
from bootstrap.reports.figures import Axis, Figure, Panel, Series, score_axis
from bootstrap.reports.tables import Cell, Column, Table

#: The finished runs of each variant.
Groups = Mapping[str, Sequence[RunResult]]

#: The iterations of the runs of a variant that are shown at one place.
Steps = Sequence[Sequence[Point]]

_RANGE = (
    "A line is the mean of the runs of a variant, and its band goes from the lowest to the highest"
)
_MEASURES: dict[str, Callable[[Point], float]] = {
    "F1": lambda point: point.counts.f1,
    "precision": lambda point: point.counts.precision,
    "recall": lambda point: point.counts.recall,
}
#: What people had annotated at an iteration, by axis.
_PLACES: dict[str, Callable[[Point], int]] = {
    "iteration": lambda point: point.iteration,
    "documents": lambda point: point.documents,
    "tokens": lambda point: point.tokens,
}


def score_blocks(groups: Groups, numbers: Sequence[int]) -> tuple[Block, ...]:
    """Build the figures and tables of the curves of variants.

    Parameters
    ----------
    groups : mapping of str to sequence of RunResult
        The finished runs of each variant, at least one.
    numbers : sequence of int
        Numbers of annotated documents at which the variants are compared in a table.

    Returns
    -------
    tuple of Block
        Curves by what people annotated, if that differs, and by iteration.
    """
    results = [result for found in groups.values() for result in found]
    annotated = {point.documents for result in results for point in result.points}
    several = max(len(result.points) for result in results) > 1
    blocks: list[Block] = []
    if len(annotated) > 1:
        by_documents = _scores_figure(groups, "documents")
        at = compare_at(results, numbers)
        blocks.append(Pair(by_documents, _at_table(at)) if at else by_documents)
        blocks.append(_scores_figure(groups, "tokens"))
    if several:
        blocks.append(Pair(_scores_figure(groups, "iteration"), _scores_table(groups)))
    return tuple(blocks)


def _scores_figure(groups: Groups, axis: str) -> Figure:
    """Build the figure of the scores of variants on one axis."""
    title, is_iteration = AXES[axis][1], axis == "iteration"
    curves = {variant: _steps(results, axis) for variant, results in groups.items()}
    beyond = _without_iterations(curves) if is_iteration else _beyond(curves, axis)
    ends = _ends([steps for variant, steps in curves.items() if variant not in beyond], axis)
    panels = []
    for name, measure in _MEASURES.items():
        series = [
            _guide(variant, steps, measure, style, ends)
            if variant in beyond
            else _curve(variant, steps, measure, style, axis)
            for style, (variant, steps) in enumerate(curves.items())
        ]
        panels.append(Panel(name, tuple(series)))
    caption = f"Strict entities on the test documents. {_RANGE}."
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
    values = [
        value
        for panel in panels
        for each in panel.series
        for value in (*each.values, *each.low, *each.high)
    ]
    return Figure(
        "scores" if is_iteration else f"scores-{axis}",
        f"Scores by {title}",
        caption,
        Axis(title, low=-0.3, high=longest - 0.7, whole=True)
        if is_iteration
        else Axis(title, whole=True),
        score_axis("score", values),
        tuple(panels),
    )


def _without_iterations(curves: Mapping[str, Steps]) -> set[str]:
    """Return the variants that have one model, if others have several iterations."""
    alone = {variant for variant, steps in curves.items() if len(steps) == 1}
    return set() if len(alone) == len(curves) else alone


def _beyond(curves: Mapping[str, Steps], axis: str) -> set[str]:
    """Return the variants that begin with more annotations than those of active learning end with.

    On the same axis, they would leave no room for the others.
    """
    growing = [steps for steps in curves.values() if len(steps) > 1]
    if not growing:
        return set()
    _, last = _ends(growing, axis)
    return {variant for variant, steps in curves.items() if _ends([steps], axis)[0] > last}


def _ends(curves: Iterable[Steps], axis: str) -> tuple[float, float]:
    """Return the first and the last place of curves."""
    places = [_PLACES[axis](point) for steps in curves for step in steps for point in step]
    return min(places), max(places)


def _curve(
    variant: str, steps: Steps, measure: Callable[[Point], float], style: int, axis: str
) -> Series:
    spreads = [Spread.of([measure(point) for point in step]) for step in steps]
    return Series(
        variant,
        tuple(range(len(steps)))
        if axis == "iteration"
        else tuple(fmean(_PLACES[axis](point) for point in step) for step in steps),
        tuple(each.mean for each in spreads),
        style=style,
        low=tuple(each.lowest for each in spreads),
        high=tuple(each.highest for each in spreads),
    )


def _guide(
    variant: str,
    steps: Steps,
    measure: Callable[[Point], float],
    style: int,
    ends: tuple[float, float],
) -> Series:
    """Return a line at the mean of the last iterations, to compare with."""
    mean = fmean(measure(point) for point in steps[-1])
    return Series(variant, ends, (mean, mean), "guide", style)


def _steps(results: Sequence[RunResult], axis: str) -> Steps:
    """Return the iterations of runs that are shown at one place, in the order of the places.

    By iteration, a run that has ended keeps its last one. The mean of those that go on would rise
    where a worse run ends.
    """
    of_runs = [
        list(result.points) if axis == "iteration" else result.best_points(axis)
        for result in results
    ]
    if axis == "iteration":
        longest = max(map(len, of_runs))
        return [[run[min(number, len(run) - 1)] for run in of_runs] for number in range(longest)]
    return [[point for point in step if point is not None] for step in zip_longest(*of_runs)]


def _scores_table(groups: Groups) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for variant, results in groups.items():
        for number, step in enumerate(_steps(results, "iteration")):
            f1 = Spread.of([point.counts.f1 for point in step])
            cells.append(
                (
                    variant,
                    number,
                    sum(point.iteration == number for point in step),
                    fmean(point.documents for point in step),
                    f1.mean,
                    (f1.lowest, f1.highest) if f1.number > 1 else None,
                    fmean(point.counts.precision for point in step),
                    fmean(point.counts.recall for point in step),
                )
            )
    columns = (
        Column("variant"),
        Column("iteration", "count"),
        Column("runs that reached it", "count"),
        Column("annotated documents", "count"),
        Column("F1", "score"),
        Column("F1 range", "interval"),
        Column("precision", "score"),
        Column("recall", "score"),
    )
    return Table("scores", "Scores in each iteration", columns, tuple(cells))


def _at_table(rows: Sequence[AtDocuments]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (
            row.variant,
            row.documents,
            row.tokens,
            row.f1.mean,
            (row.f1.lowest, row.f1.highest) if row.f1.number > 1 else None,
        )
        for row in rows
    ]
    columns = (
        Column("variant"),
        Column("annotated documents", "count"),
        Column("annotated tokens", "count"),
        Column("F1", "score"),
        Column("F1 range", "interval"),
    )
    return Table("scores-documents", "Scores by annotated documents", columns, tuple(cells))
