"""Figures as plain data, which the page and `bootstrap.reports.formats.drawing` render alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["line", "points", "bars", "stack", "guide"]
Number = float | int


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a series: it differs from others by more than its colour.

    Parameters
    ----------
    color : str
        A colour of the palette of Okabe and Ito, which people with any colour vision tell apart,
        the light ones darkened for contrast.
    dash : tuple of int
        Lengths of dashes and gaps; empty for a solid line.
    symbol : str
        The marker in ECharts.
    marker : str
        The same marker in matplotlib, white inside if the name of the symbol begins with "empty".
    hatch : str
        The pattern of bars that stand on others, in matplotlib; the page has the same ones.
    """

    color: str
    dash: tuple[int, ...]
    symbol: str
    marker: str
    hatch: str


#: The looks of series, in order; further series begin again with other dashes and markers.
STYLES = (
    Style("#0072B2", (), "circle", "o", ""),
    Style("#D55E00", (7, 3), "rect", "s", "//"),
    Style("#007A5E", (2, 3), "triangle", "^", ".."),
    Style("#AA4499", (9, 3, 2, 3), "diamond", "D", "xx"),
    Style("#8C6D00", (5, 5), "pin", "v", "--"),
    Style("#3399CC", (12, 3), "emptyCircle", "o", "||"),
    Style("#222222", (3, 1), "emptyRect", "s", "\\\\"),
    Style("#7A4B2A", (1, 2), "emptyTriangle", "^", "++"),
    Style("#6B6B6B", (9, 2, 2, 2, 2, 2), "emptyDiamond", "D", "oo"),
)


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
        Its limits; by default those of the data.
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
        How they are drawn: connected, alone, as bars, as bars on those of the series before, or as
        a line without markers to compare with.
    style : int
        An index of `STYLES`; higher numbers begin again.
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

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        lengths = {len(self.places), len(self.values)}
        lengths |= {len(ends) for ends in (self.low, self.high) if ends}
        if len(lengths) > 1:
            raise ValueError(f"{self.name}: columns of different lengths")


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of a figure.

    Parameters
    ----------
    title : str
        Its title; empty if the figure has one panel.
    series : tuple of Series
        What it shows.
    """

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    Parameters
    ----------
    name : str
        Its name in a report.
    title : str
        What it shows, in a few words.
    caption : str
        How to read it.
    places, values : Axis
        The axis of the places of points, and that of their values.
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

    @property
    def legend(self) -> tuple[Series, ...]:
        """The first series of each name, in order."""
        found: dict[str, Series] = {}
        for panel in self.panels:
            for series in panel.series:
                found.setdefault(series.name, series)
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of pairs of names, shown as a shaded table.

    Parameters
    ----------
    name, title, caption : str
        As of a figure.
    rows, columns : tuple of str
        The names.
    counts : tuple of tuple of int
        A count for each row and column.
    row_title, column_title : str
        What the rows and the columns are.
    """

    name: str
    title: str
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    row_title: str
    column_title: str


def shares_of_rows(matrix: Matrix) -> list[list[float]]:
    """Compute the share of each count in its row; 0 in a row without counts."""
    return [[count / max(sum(row), 1) for count in row] for row in matrix.counts]


def one_panel(*series: Series) -> tuple[Panel, ...]:
    """Return the panels of a figure with one plot."""
    return (Panel("", series),)


def score_axis(title: str, values: Sequence[Number | None]) -> Axis:
    """Return an axis of scores that fits values: its ends and ticks are round numbers."""
    known = [value for value in values if value is not None] or [0.0, 1.0]
    lowest, highest = min(known), max(known)
    wide = max((highest - lowest) * 0.05, 0.005)
    lowest, highest = max(lowest - wide, 0.0), min(highest + wide, 1.0)
    step = next(step for step in _STEPS if (highest - lowest) / step <= _TICKS)
    low, high = math.floor(lowest / step + 1e-9), math.ceil(highest / step - 1e-9)
    return Axis(title, low=round(low * step, 4), high=round(high * step, 4), step=step)


def difference_axis(title: str, intervals: Sequence[tuple[float, float]]) -> Axis:
    """Return an axis of differences with 0 in its middle, that fits intervals."""
    reach = max((abs(end) for interval in intervals for end in interval), default=0.0)
    step = next(step for step in _STEPS if reach / step <= _TICKS)
    reach = round(max(math.ceil(reach / step - 1e-9), 1) * step, 4)
    return Axis(title, low=-reach, high=reach, step=step)


#: The distances of the ticks of an axis of scores, and the largest number of them.
_STEPS, _TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2), 5
