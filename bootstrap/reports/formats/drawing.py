"""Figures drawn with matplotlib, as PNG, SVG or PDF."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from bootstrap.reports.figures import STYLES, Axis, Figure, Matrix, Panel, Series, shares_of_rows
from corpus.errors import InputError, shown

#: The supported suffixes of files of figures.
SUFFIXES = (".png", ".svg", ".pdf")

#: Patterns stand out in white on their colours.
_RC: Any = {
    "svg.hashsalt": "bootstrap",  # equal figures are equal files
    "font.size": 11,
    "hatch.color": "white",
    "hatch.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_GUIDE = (0, (5, 4))


def drawing_format(path: Path) -> str:
    """Return the format of a file of a figure by its suffix.

    Raises
    ------
    InputError
        If the suffix is not one of `SUFFIXES`.
    """
    if path.suffix.lower() not in SUFFIXES:
        *most, last = SUFFIXES
        raise InputError(
            f"{shown(path)}: expected a file name ending in {', '.join(most)} or {last}"
        )
    return path.suffix.lower()[1:]


def draw(figure: Figure | Matrix, file: BinaryIO, format: str) -> None:
    """Draw a figure.

    Parameters
    ----------
    figure : Figure or Matrix
        What to draw.
    file : binary file
        The file to write to.
    format : {"png", "svg", "pdf"}
        The format.
    """
    import matplotlib as mpl  # noqa: PLC0415 - slow to load
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure as Drawing  # noqa: PLC0415

    with mpl.rc_context(_RC), warnings.catch_warnings():
        # Signs of a name that the font lacks are boxes; the name is beside the figure, too.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawing = Drawing(figsize=_size(figure), layout="constrained")
        FigureCanvasAgg(drawing)
        if isinstance(figure, Matrix):
            _draw_matrix(drawing, figure)
        else:
            _draw_panels(drawing, figure)
        drawing.suptitle(_literal(figure.title), fontsize=13, fontweight="bold")
        # Without dates, so that equal figures are equal files.
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
        drawing.savefig(file, format=format, dpi=150, metadata=metadata)


def _literal(text: str) -> str:
    """Return text that matplotlib takes for no formula."""
    return text.replace("$", r"\$")


def _grid(figure: Figure) -> tuple[int, int]:
    """Return the number of rows and columns of the panels."""
    columns = min(len(figure.panels), 3 if len(figure.panels) <= 3 else 4)
    return math.ceil(len(figure.panels) / columns), columns


def _size(figure: Figure | Matrix) -> tuple[float, float]:
    """Return the width and the height of a drawing in inches."""
    if isinstance(figure, Matrix):
        side = 3.5 + 0.38 * len(figure.rows)
        return side + 1.5, side
    keys = len(figure.legend) if len(figure.legend) > 1 else 0
    if figure.rows:
        return 11, max(3.5, 2.2 + 0.3 * len(figure.places.names), 1.5 + 0.3 * keys)
    rows, columns = _grid(figure)
    if rows == columns == 1:
        return 11, max(5.5, 1.5 + 0.3 * keys)
    return 4.2 * columns + 1, max(1.2 + (2.4 if rows > 1 else 4.2) * rows, 1.5 + 0.3 * keys)


# Panels


def _draw_panels(drawing: Any, figure: Figure) -> None:
    rows, columns = _grid(figure)
    grid = drawing.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    plots = [plot for row in grid for plot in row]
    for plot in plots[len(figure.panels) :]:
        plot.set_axis_off()
    drawn: dict[str, Any] = {}
    for plot, panel in zip(plots, figure.panels, strict=False):
        drawn |= _draw_panel(plot, figure, panel)
    for row in grid:
        _label(row[0], figure, across=False)
    for plot in grid[-1]:
        _label(plot, figure, across=True)
    if len(figure.legend) > 1:
        names = map(_literal, drawn)
        # Where it covers nothing.
        drawing.legend(drawn.values(), names, loc="outside right upper", frameon=False)


def _label(plot: Any, figure: Figure, *, across: bool) -> None:
    axis = figure.values if across == figure.rows else figure.places
    if across:
        plot.set_xlabel(_literal(axis.title))
    elif not figure.rows:
        plot.set_ylabel(_literal(axis.title))


def _draw_panel(plot: Any, figure: Figure, panel: Panel) -> dict[str, Any]:
    """Draw a panel, and return what stands for each series in the legend."""
    below: dict[float, float] = {}
    drawn = {}
    for number, series in enumerate(panel.series):
        if series.mark in ("bars", "stack"):
            drawn[series.name] = _draw_bars(plot, figure, panel, number, below)
        else:
            drawn[series.name] = _draw_points(plot, figure, panel, series)
    places, values = (plot.yaxis, plot.xaxis) if figure.rows else (plot.xaxis, plot.yaxis)
    _set_axis(places, figure.places)
    _set_axis(values, figure.values)
    plot.grid(alpha=0.25, axis="both" if not figure.places.names else "x" if figure.rows else "y")
    plot.set_axisbelow(True)
    if panel.title:
        plot.set_title(_literal(panel.title), fontsize=11)
    if figure.rows and not plot.yaxis_inverted():
        plot.invert_yaxis()
    return drawn


def _set_axis(axis: Any, description: Axis) -> None:
    from matplotlib.ticker import (  # noqa: PLC0415
        FuncFormatter,
        MaxNLocator,
        MultipleLocator,
        PercentFormatter,
    )

    limit = axis.axes.set_xlim if axis.axis_name == "x" else axis.axes.set_ylim
    if description.names:
        last = len(description.names) - 1
        step = 4 if axis.axis_name == "x" and last >= 15 else 1
        places = range(0, last + 1, step)
        axis.set_ticks(places, [_literal(description.names[place]) for place in places])
        limit(-0.6, last + 0.6)
        return
    limit(description.low, description.high)
    if description.whole:
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    elif description.step:
        axis.set_major_locator(MultipleLocator(description.step))
    elif description.percent:
        axis.set_major_formatter(PercentFormatter(1, decimals=0))


def _draw_bars(
    plot: Any, figure: Figure, panel: Panel, number: int, below: dict[float, float]
) -> Any:
    series = panel.series[number]
    style = STYLES[series.style % len(STYLES)]
    stacked = series.mark == "stack"
    width = 0.75 if stacked else 0.8 / len(panel.series)
    shift = 0.0 if stacked else (number - (len(panel.series) - 1) / 2) * width
    bar = plot.barh if figure.rows else plot.bar
    start = "left" if figure.rows else "bottom"
    values = [value or 0 for value in series.values]
    bars = bar(
        [place + shift for place in series.places],
        values,
        width,
        **{start: [below.get(place, 0) if stacked else 0 for place in series.places]},
        color=style.color,
        edgecolor="white",
        linewidth=0.6 if stacked else 0,
        hatch=style.hatch if stacked else None,
    )
    if stacked:
        for place, value in zip(series.places, values, strict=True):
            below[place] = below.get(place, 0) + value
    return bars


def shifted_places(figure: Figure, panel: Panel, series: Series) -> tuple[float, ...]:
    """Return the places of points, beside those of other series of the same rows."""
    others = [each for each in panel.series if each.mark == "points"]
    if not figure.places.names or series.mark != "points" or len(others) < 2:
        return series.places
    taken = [place for each in others for place in each.places]
    if len(set(taken)) == len(taken):
        return series.places  # each point has a row of its own
    step = min(0.22, 0.7 / len(others))
    shift = (others.index(series) - (len(others) - 1) / 2) * step
    return tuple(place + shift for place in series.places)


def _draw_points(plot: Any, figure: Figure, panel: Panel, series: Series) -> Any:
    style = STYLES[series.style % len(STYLES)]
    places = shifted_places(figure, panel, series)
    values = [math.nan if value is None else value for value in series.values]
    across, up = (values, places) if figure.rows else (places, values)
    guide = series.mark == "guide"
    small = len(figure.panels) > 3
    look = {
        "line": (0, style.dash) if style.dash else "-",
        "points": "none",
        "guide": _GUIDE,
    }[series.mark]
    (drawn,) = plot.plot(
        across,
        up,
        linestyle=look,
        color=style.color,
        linewidth=1.3 if guide else 1.5 if small else 2.2,
        marker="" if guide else style.marker,  # a line alone would not show a single point
        markersize=4 if small else 6,
        markerfacecolor="white" if style.symbol.startswith("empty") else style.color,
    )
    _draw_intervals(plot, figure, series, places)
    for index, text in series.notes:
        plot.annotate(
            _literal(text),
            (across[index], up[index]),
            textcoords="offset points",
            xytext=(0, 8),
            ha="center",
            fontweight="bold",
        )
    return drawn


def _draw_intervals(plot: Any, figure: Figure, series: Series, places: Sequence[float]) -> None:
    if not series.low:
        return
    color = STYLES[series.style % len(STYLES)].color
    known = [
        (place, low, high)
        for place, low, high in zip(places, series.low, series.high, strict=True)
        if low is not None and high is not None
    ]
    if series.mark == "line" and len(series.places) > 1:
        columns = list(zip(*known, strict=True))
        if columns:
            fill = plot.fill_betweenx if figure.rows else plot.fill_between
            fill(*columns, color=color, alpha=0.16, linewidth=0)
        return
    draw_lines = plot.hlines if figure.rows else plot.vlines
    for place, low, high in known:
        draw_lines(place, low, high, color=color, alpha=0.45, linewidth=2.5)


# Matrices


def _draw_matrix(drawing: Any, matrix: Matrix) -> None:
    plot = drawing.subplots()
    shares = shares_of_rows(matrix)
    plot.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    plot.set_xticks(range(len(matrix.columns)), map(_literal, matrix.columns), rotation=90)
    plot.set_yticks(range(len(matrix.rows)), map(_literal, matrix.rows))
    plot.tick_params(labelsize=9, length=0)
    plot.set_xlabel(_literal(matrix.column_title))
    plot.set_ylabel(_literal(matrix.row_title))
    for row, counts in enumerate(matrix.counts):
        for column, count in enumerate(counts):
            if count:
                color = "white" if shares[row][column] > 0.55 else "black"
                plot.text(
                    column, row, f"{count:,}", ha="center", va="center", fontsize=8, color=color
                )
