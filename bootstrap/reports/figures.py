"""Figures as plain data, which `bootstrap.reports.drawing` draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from bootstrap.reports.tables import Estimate
from corpus.errors import quoted

Mark = Literal["line", "points", "bars", "stack", "guide"]
Number = float | int

#: The horizontal axes of scores: their titles.
AXES = {
    "iteration": "iteration",
    "documents": "documents that people annotated",
    "tokens": "tokens that people annotated",
}


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Parameters
    ----------
    title : str
        Its quantity and unit.
    names : tuple of str
        Names of the places 0, 1, 2 and so on; empty for numbers.
    low, high : float, optional
        Its limits; by default the limits of the data.
    whole : bool
        Whether only whole numbers are labelled.
    percent : bool
        Whether numbers are shares, shown as percentages.
    step : float, optional
        The distance of its ticks.
    """

    title: str
    names: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False
    percent: bool = False
    step: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one name.

    Parameters
    ----------
    name : str
        The name in the legend.
    places : tuple of float
        Where each of its P points is on the axis of places.
    values : tuple of float or None
        The value of each point; None leaves a gap.
    mark : {"line", "points", "bars", "stack", "guide"}
        How they are drawn: connected, alone, as bars, as bars stacked on the previous series, or as
        a line without markers to compare with.
    style : int
        The number of its colour, dashes, marker and pattern; high numbers begin again.
    low, high : tuple of float or None
        The ends of an interval of each point: a band around lines, whiskers of points.
    notes : tuple of (int, str)
        Texts beside points, by their index.
    """

    name: str
    places: tuple[Number, ...]
    values: tuple[Number | None, ...]
    mark: Mark = "line"
    style: int = 0
    low: tuple[Number | None, ...] = ()
    high: tuple[Number | None, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()

    @classmethod
    def from_values(
        cls,
        name: str,
        values: Sequence[Number | Estimate | None],
        places: Sequence[Number] | None = None,
        **others: Any,
    ) -> Self:
        """Return points at places, or at 0, 1, 2 and so on; estimates with their intervals."""
        numbers = tuple(value.value if isinstance(value, Estimate) else value for value in values)
        ends = [value.interval if isinstance(value, Estimate) else None for value in values]
        if any(ends):
            low, high = zip(*(interval or (None, None) for interval in ends), strict=True)
            others |= {"low": low, "high": high}
        return cls(name, tuple(range(len(values)) if places is None else places), numbers, **others)

    @property
    def numbers(self) -> list[Number]:
        """All values and ends of intervals that are known."""
        return [value for value in (*self.values, *self.low, *self.high) if value is not None]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of a figure; its title is empty if the figure has no other."""

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    Parameters
    ----------
    name : str
        Its name in a report, which ``bootstrap plot --what`` takes.
    title : str
        What it shows, in a few words.
    caption : str
        How to read it.
    places, values : Axis
        The axes of the places of points and of their values.
    panels : tuple of Panel
        Its plots, which share both axes.
    rows : bool
        Whether the places are rows, the first at the top, and values go to the right.
    """

    name: str
    title: str
    caption: str
    places: Axis
    values: Axis
    panels: tuple[Panel, ...]
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of pairs of names, as a shaded grid.

    Parameters
    ----------
    name, title, caption : str
        As of a figure.
    rows, columns : Axis
        What the rows and the columns are, and their names.
    counts : tuple of tuple of int
        A count for each row and column.
    """

    name: str
    title: str
    caption: str
    rows: Axis
    columns: Axis
    counts: tuple[tuple[int, ...], ...]


def one_panel(*series: Series) -> tuple[Panel, ...]:
    """Return the panels of a figure with one plot."""
    return (Panel("", series),)


def by_class(  # noqa: PLR0917 - the parts of a figure
    name: str,
    title: str,
    caption: str,
    classes: Sequence[str],
    values: str,
    series: Sequence[Series],
) -> Figure:
    """Return a figure of scores with a row for each class; `values` is the title of their axis."""
    places = Axis("class", names=tuple(map(quoted, classes)))
    scores = Axis(values, low=0.0, high=1.0)
    return Figure(name, title, caption, places, scores, one_panel(*series), rows=True)


def stacked(names: Sequence[str], columns: Sequence[Sequence[Number]]) -> tuple[Series, ...]:
    """Return a stack of bars at the places 0, 1, 2 and so on: a series for each name."""
    return tuple(
        Series.from_values(name, column, mark="stack", style=style)
        for style, (name, column) in enumerate(zip(names, columns, strict=True))
    )


#: The distances of the ticks of an axis of scores, and the largest number of them.
_STEPS, _TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2), 5


def score_axis(title: str, series: Iterable[Series]) -> Axis:
    """Return an axis of scores that fits points: its ends and ticks are round numbers."""
    known = [number for points in series for number in points.numbers] or [0.0, 1.0]
    lowest, highest = min(known), max(known)
    wide = max((highest - lowest) * 0.05, 0.005)
    lowest, highest = max(lowest - wide, 0.0), min(highest + wide, 1.0)
    step = next(step for step in _STEPS if (highest - lowest) / step <= _TICKS)
    low, high = math.floor(lowest / step + 1e-9), math.ceil(highest / step - 1e-9)
    return Axis(title, low=round(low * step, 4), high=round(high * step, 4), step=step)


def difference_axis(title: str, series: Series) -> Axis:
    """Return an axis of differences with 0 in its middle, that fits points."""
    reach = max(map(abs, series.numbers))
    step = next(step for step in _STEPS if reach / step <= _TICKS)
    reach = round(max(math.ceil(reach / step - 1e-9), 1) * step, 4)
    return Axis(title, low=-reach, high=reach, step=step)
