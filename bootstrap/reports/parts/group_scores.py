"""Scores of groups of runs: curves on one axis, classes, and differences with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean

import numpy as np
import numpy.typing as npt

from bootstrap.reports.estimates import ALL, Estimate, ScoreEstimates, estimate_scores
from bootstrap.reports.figure_names import AXES
from bootstrap.reports.figures import (
    Axis,
    Figure,
    Panel,
    Series,
    difference_axis,
    one_panel,
    score_axis,
)
from bootstrap.reports.groups import GroupRecord, RunRecord
from bootstrap.reports.parts.scores import MEASURES, best_by, ranked_classes
from bootstrap.reports.tables import Cell, Column, Table
from bootstrap.runs.gain import mean_f1_difference_interval
from bootstrap.runs.metrics import IterationMetrics

_RANGE = (
    "A line is the mean of the runs of a name, and its band goes from the lowest to the highest"
)


#: What is shown of runs that have ended, by annotations and by iteration.
_ENDED = (
    "Where some have ended, it is that of those that go on.",
    "A run that has ended keeps the scores of its last iteration.",
)


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of some values, and the lowest and the highest of them."""

    mean: float
    low: float
    high: float
    number: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of values, of which there is at least one."""
        return cls(fmean(values), min(values), max(values), len(values))


def legend_name(group: GroupRecord) -> str:
    """Return the name of a group in a legend, with the number of its runs if there are several."""
    number = len(group.records)
    return group.name if number == 1 else f"{group.name} (mean and range of {number} runs)"


def _series(
    group: GroupRecord,
    places: Sequence[float],
    spreads: Sequence[Spread],
    style: int,
    **others: str,
) -> Series:
    several = len(group.records) > 1
    return Series(
        legend_name(group),
        tuple(places),
        tuple(each.mean for each in spreads),
        style=style,
        low=tuple(each.low for each in spreads) if several else (),
        high=tuple(each.high for each in spreads) if several else (),
        **others,  # type: ignore[arg-type]
    )


def steps_of(group: GroupRecord, axis: str) -> list[list[IterationMetrics]]:
    """Return the iterations of the runs of a group that are shown at one place.

    Parameters
    ----------
    group : GroupRecord
        The group.
    axis : {"iteration", "documents", "tokens"}
        The axis. By annotations, the best of the iterations of a run after the same annotations
        is taken, and the places of the runs are matched in order.

    Returns
    -------
    list of list of IterationMetrics
        For each place, the iterations of the runs. By iteration, a run that has ended keeps its
        last one: the mean of those that go on would rise where a worse run ends. By annotations,
        only runs that have reached the place are shown.
    """
    attribute, _ = AXES[axis]
    runs = [
        list(record.rows) if axis == "iteration" else best_by(record, attribute)
        for record in group.records
    ]
    if axis == "iteration":
        longest = max(map(len, runs))
        return [[rows[min(number, len(rows) - 1)] for rows in runs] for number in range(longest)]
    return [[row for row in step if row is not None] for step in zip_longest(*runs)]


def scores_figure(groups: Sequence[GroupRecord], axis: str = "iteration") -> Figure:
    """Build the figure of F1, precision and recall of groups on one axis."""
    attribute, title = AXES[axis]
    curves = [(group, steps_of(group, axis)) for group in groups]
    panels, values = [], []
    for measure, name in MEASURES.items():
        series = []
        for style, (group, steps) in enumerate(curves):
            places = (
                range(len(steps))
                if axis == "iteration"
                else [fmean(getattr(row, attribute) for row in step) for step in steps]
            )
            spreads = [Spread.of([getattr(row, measure) for row in step]) for step in steps]
            values += [end for each in spreads for end in (each.low, each.high)]
            series.append(_series(group, places, spreads, style))
        panels.append(Panel(name, tuple(series)))
    longest = max(len(steps) for _, steps in curves)
    several = any(len(group.records) > 1 for group in groups)
    lines = [
        "Strict entities on validation.",
        *([f"{_RANGE}. {_ENDED[axis == 'iteration']}"] if several else []),
        *(
            ["Of the iterations after the same annotations, the best is shown."]
            if axis != "iteration"
            else []
        ),
    ]
    return Figure(
        "scores" if axis == "iteration" else f"scores-{axis}",
        f"Scores by {title}",
        " ".join(lines),
        Axis(title, low=-0.3, high=longest - 0.7, whole=True)
        if axis == "iteration"
        else Axis(title, whole=True),
        score_axis("score", values),
        tuple(panels),
    )


def scores_table(groups: Sequence[GroupRecord]) -> Table:
    """Build the table of the scores of groups in each iteration."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for number, step in enumerate(steps_of(group, "iteration")):
            f1 = Spread.of([row.f1 for row in step])
            rows.append(
                (
                    group.name,
                    number,
                    sum(row.iteration == number for row in step),
                    fmean(row.human_documents for row in step),
                    fmean(row.human_tokens for row in step),
                    f1.mean,
                    (f1.low, f1.high) if f1.number > 1 else None,
                    fmean(row.precision for row in step),
                    fmean(row.recall for row in step),
                )
            )
    return Table(
        "scores",
        "Scores in each iteration",
        (
            Column("name"),
            Column("iteration", "count"),
            Column("runs that reached it", "count"),
            Column("annotated documents", "count"),
            Column("annotated tokens", "count"),
            Column("F1", "score"),
            Column("F1 range", "interval"),
            Column("precision", "score"),
            Column("recall", "score"),
        ),
        tuple(rows),
    )


def _class_f1(group: GroupRecord, name: str) -> Spread:
    found = []
    for record in group.records:
        estimates = record.estimates[record.best]
        found.append(estimates[name].f1.value if name in estimates else 0.0)
    return Spread.of(found)


def _class_names(groups: Sequence[GroupRecord]) -> list[str]:
    record = groups[0].records[0]
    return ranked_classes(record.estimates[record.best])


def classes_figure(groups: Sequence[GroupRecord]) -> Figure | None:
    """Build the figure of F1 by class in the best iterations of groups; None without classes."""
    names = _class_names(groups)
    if not names:
        return None
    series = [
        _series(
            group,
            range(len(names)),
            [_class_f1(group, name) for name in names],
            style,
            mark="points",
        )
        for style, group in enumerate(groups)
    ]
    return Figure(
        "classes",
        "F1 of each class",
        f"In the best iteration of each run. Classes by the F1 of {groups[0].name}.",
        Axis("class", names=tuple(names)),
        Axis("F1 on validation", low=0.0, high=1.0),
        one_panel(*series),
        rows=True,
    )


def classes_table(groups: Sequence[GroupRecord]) -> Table:
    """Build the table of F1 by class; the best group of each class is marked."""
    rows: list[tuple[Cell, ...]] = []
    marked = set()
    record = groups[0].records[0]
    for number, name in enumerate(_class_names(groups)):
        means = [_class_f1(group, name).mean for group in groups]
        marked |= {
            (number, 2 + place)
            for place, value in enumerate(means)
            if len(groups) > 1 and value == max(means) > 0
        }
        rows.append((name, record.estimates[record.best][name].gold, *means))
    return Table(
        "classes",
        "F1 of each class",
        (
            Column("class"),
            Column("gold entities", "count"),
            *(Column(group.name, "score") for group in groups),
        ),
        tuple(rows),
        frozenset(marked),
        "★ marks the highest of each class. The best iteration of each run on validation.",
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the mean F1 of a group and the first one.

    Parameters
    ----------
    value : float
        F1 of the group less that of the first.
    interval : (float, float) or None
        The 95 % interval by the paired bootstrap over documents.
    """

    value: float
    interval: tuple[float, float] | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def difference_of(first: GroupRecord, other: GroupRecord) -> Difference:
    """Compare the held-out F1 of two groups that are scored on the same documents."""
    sides = [
        [_in_order(record, record.held_out) for record in group.records] for group in (first, other)
    ]
    record = first.records[0]
    units = _in_order(record, record.counts[0].units)
    interval = mean_f1_difference_interval(sides[0], sides[1], units)
    return Difference(held_out_f1(other).mean - held_out_f1(first).mean, interval)


def _in_order(record: RunRecord, column: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return what belongs to validation documents in the order of their ids."""
    return column[np.argsort(np.array(record.counts[0].ids, object), kind="stable")]


def held_out_f1(group: GroupRecord) -> Spread:
    """Return the F1 of runs on documents that did not select their iteration."""
    return Spread.of([record.outcome.best.f1 for record in group.records])


def differences_figure(groups: Sequence[GroupRecord]) -> Figure | None:
    """Build the figure of the differences to the first group; None if there is one group."""
    if len(groups) < 2:
        return None
    found = [difference_of(groups[0], group) for group in groups[1:]]
    places = tuple(range(len(found)))
    values = tuple(each.value for each in found)
    ends = [each.interval or (each.value, each.value) for each in found]
    return Figure(
        "differences",
        f"Difference of F1 to {groups[0].name}",
        "Line: 95 % interval, by resampling the same documents for both. Where it crosses 0, the "
        "difference is within the noise of the validation documents.",
        Axis("name", names=tuple(group.name for group in groups[1:])),
        difference_axis(f"F1 less that of {groups[0].name}", ends),
        one_panel(
            Series(
                "difference",
                places,
                values,
                "points",
                0,
                low=tuple(low for low, _ in ends),
                high=tuple(high for _, high in ends),
            ),
            Series("no difference", (-0.5, len(found) - 0.5), (0.0, 0.0), "guide", 6),
        ),
        rows=True,
    )


def test_figure(groups: Sequence[GroupRecord]) -> Figure:
    """Build the figure of F1 on the test documents."""
    series = []
    for style, group in enumerate(groups):
        spread = Spread.of([each.f1.value for each in _test_scores(group)])
        series.append(_series(group, (style,), (spread,), style, mark="points"))
        if len(group.records) == 1:
            (only,) = _test_scores(group)
            if only.f1.interval:
                low, high = only.f1.interval
                series[-1] = Series(
                    group.name, (style,), (only.f1.value,), "points", style, (low,), (high,)
                )
    found = [end for each in series for end in (*each.values, *each.low, *each.high)]
    return Figure(
        "test",
        "F1 on the test documents",
        "The iteration that the validation documents selected. Lines: the range of several runs, "
        "or the 95 % interval of one over documents.",
        Axis("name", names=tuple(group.name for group in groups)),
        score_axis("F1", found),
        one_panel(*series),
        rows=True,
    )


def _test_scores(group: GroupRecord) -> list[ScoreEstimates]:
    return [estimate_scores(record.test[record.best])[ALL] for record in group.records]


def test_table(groups: Sequence[GroupRecord]) -> Table:
    """Build the table of the scores on the test documents, with a row for each run."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for record, scores in zip(group.records, _test_scores(group), strict=True):
            documents = len(record.test[record.best].ids)
            rows.append(
                (record.name, record.best, documents, scores.f1, scores.precision, scores.recall)
            )
    return Table(
        "test",
        "Scores on the test documents",
        (
            Column("run"),
            Column("iteration", "count"),
            Column("test documents", "count"),
            Column("F1", "estimate"),
            Column("precision", "estimate"),
            Column("recall", "estimate"),
        ),
        tuple(rows),
    )


def spread_estimate(group: GroupRecord, value_of: Callable[[RunRecord], float]) -> Estimate:
    """Return the mean of a value of runs, with their range as its interval if there are several."""
    spread = Spread.of([value_of(record) for record in group.records])
    return Estimate(spread.mean, (spread.low, spread.high) if spread.number > 1 else None)
