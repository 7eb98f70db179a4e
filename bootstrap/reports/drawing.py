"""Figures drawn with matplotlib: as files, and as SVG inside of a page."""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from xml.etree import ElementTree

from bootstrap.reports.figures import Axis, Figure, Matrix, Number, Panel, Series
from corpus.errors import InputError, escaped

#: The supported suffixes of files of figures.
SUFFIXES = (".png", ".svg", ".pdf")

# The palette of Okabe and Ito, which people with any colour vision tell apart, the light ones
# darkened for contrast. Series differ by their dashes, markers and patterns, too.
_COLORS = (
    "#0072b2", "#d55e00", "#007a5e", "#aa4499", "#8c6d00", "#3399cc", "#222222", "#7a4b2a",
    "#6b6b6b",
)  # fmt: skip
_DASHES: tuple[tuple[int, ...], ...] = (
    (), (7, 3), (2, 3), (9, 3, 2, 3), (5, 5), (12, 3), (3, 1), (1, 2), (9, 2, 2, 2, 2, 2),
)  # fmt: skip
_MARKERS = "os^Dvos^D"  # those from the sixth on are white inside
_HATCHES = ("", "//", "--", "xx", "\\\\", "||", "++", "/", "\\")
_INK, _SOFT, _LINE, _PAPER = "#1b1f24", "#57606a", "#d8dee4", "#ffffff"
#: The variable of the page's style sheet for each colour.
_VARIABLES = {
    **{color: f"var(--c{number})" for number, color in enumerate(_COLORS)},
    **{_INK: "var(--ink)", _SOFT: "var(--soft)", _LINE: "var(--line)", _PAPER: "var(--paper)"},
}
_RC: Any = {
    "svg.hashsalt": "bootstrap",  # equal figures are equal files
    "svg.fonttype": "none",  # letters stay text
    "hatch.color": _PAPER,
    "hatch.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _SOFT,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), _INK
    ),
    **dict.fromkeys(("xtick.color", "ytick.color"), _SOFT),
}
#: Inches and points: its letters can be read where a page is 400 pixels wide.
WIDTH, FONT_SIZE = 5.4, 9.0
_LONG_NAME, _LINES = 30, 2  # longer names are broken, and then cut
_SVG = "{http://www.w3.org/2000/svg}"
_COORDINATES = {"d", "x", "y", "transform"}


def drawing_format(path: Path) -> str:
    """Return the format of a file of a figure by its suffix.

    Raises
    ------
    InputError
        If the suffix is not one of `SUFFIXES`.
    """
    if path.suffix.lower() not in SUFFIXES:
        *most, last = SUFFIXES
        raise InputError(f"{path}: expected a file name ending in {', '.join(most)} or {last}")
    return path.suffix.lower()[1:]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a figure is drawn.

    Parameters
    ----------
    width, height : float
        The size in inches; without a height, it follows from the content.
    font_size : float
        In points.
    """

    width: float = WIDTH
    height: float | None = None
    font_size: float = FONT_SIZE


_USUAL = Layout()


def draw(
    figure: Figure | Matrix,
    file: BinaryIO,
    format: str,
    *,
    title: str | None = None,
    layout: Layout = _USUAL,
) -> None:
    """Draw a figure, and write it to a file as ``"png"``, ``"svg"`` or ``"pdf"``.

    `title` replaces its own; with an empty one, it has none.

    Raises
    ------
    InputError
        If the size has no room for the labels.
    """
    _Drawing(figure, layout).save(file, format, title=figure.title if title is None else title)


@lru_cache(maxsize=64)  # most figures of a page stay the same when it is written again
def inline_svg(figure: Figure | Matrix) -> str:
    """Draw a figure as an element of a page, whose colours are variables of its style sheet.

    Points, bars and cells have their numbers as tooltips.
    """
    file, drawing = io.BytesIO(), _Drawing(figure)
    drawing.save(file, "svg")
    return _for_page(file.getvalue(), drawing.tooltips, figure.title)


def _for_page(picture: bytes, tooltips: dict[str, list[str]], title: str) -> str:
    """Add tooltips to an SVG of matplotlib, and leave out what a page has or does not need."""
    root = ElementTree.fromstring(picture)  # noqa: S314 - it is ours
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": box, "role": "img", "aria-label": escaped(f"Figure: {title}")})
    for child in [*root.findall(f"{_SVG}metadata"), *root.findall(f"{_SVG}defs")]:
        if not len(child) or child.find(f"{_SVG}style") is not None or "metadata" in child.tag:
            root.remove(child)
    for element in root.iter():
        element.text, element.tail = (element.text or "").strip(), None
        for name in _COORDINATES & element.attrib.keys():
            text = re.sub(r"\d+\.\d{2,}", lambda hit: f"{float(hit[0]):.1f}", element.attrib[name])
            element.set(name, " ".join(text.split()))
        style = element.get("style", "")
        if "fill" in element.attrib:  # of a pattern, where variables are not allowed
            style += f"; fill: {element.attrib.pop('fill')}"
        if style:
            style = re.sub("#[0-9a-f]{6}", lambda hit: _VARIABLES.get(hit[0], hit[0]), style)
            element.set("style", re.sub(r"font-family: [^;]*;?|stroke-linecap: \w*;?", "", style))
    for group in root.iter(f"{_SVG}g"):
        texts = tooltips.get(group.attrib.pop("id", ""), [])
        markers = list(group.iter(f"{_SVG}use"))
        for element, text in zip(markers or [group], texts, strict=False):
            tip = ElementTree.Element(f"{_SVG}title")
            tip.text = escaped(text)
            element.insert(0, tip)
    ElementTree.register_namespace("", _SVG[1:-1])
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ElementTree.tostring(root, encoding="unicode")


def _literal(text: str, longest: int = _LONG_NAME) -> str:
    """Return text in short lines, which matplotlib does not read as a formula."""
    lines = textwrap.wrap(escaped(text), longest, max_lines=_LINES, placeholder="…")
    return "\n".join(lines).replace("$", r"\$")


def _shown_number(value: Number, axis: Axis) -> str:
    if axis.percent:
        return f"{value:.1%}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"


def _width(text: str) -> float:
    """Estimate the width of the longest line of a text in inches: pages use their own font."""
    # Measuring it would take as long as drawing.
    return max(
        sum(0.09 if letter.isupper() or letter in "_mw@" else 0.07 for letter in line)
        for line in text.split("\n")
    )


class _Room(NamedTuple):
    """The size of the plots of a figure, and of the room for their labels, in inches."""

    left: float
    bottom: float
    height: float
    above: float = 0.0
    between: float = 0.12  # rows of plots, as a share of the height of one


class _Drawing:
    """A figure of matplotlib, and the tooltips of its parts by their ids."""

    def __init__(self, figure: Figure | Matrix, layout: Layout = _USUAL) -> None:
        self.figure: Any = figure
        self._layout = layout
        self._scale = layout.font_size / FONT_SIZE  # of the room for text
        self.tooltips: dict[str, list[str]] = {}
        self._legend: dict[str, Any] = {}

    def save(self, file: BinaryIO, format: str, title: str = "") -> None:
        """Draw the figure and write it to a file."""
        import matplotlib as mpl  # noqa: PLC0415 - slow to load
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

        width, scale = self._layout.width, self._scale
        rc = {**_RC, "font.size": self._layout.font_size}
        with mpl.rc_context(rc), warnings.catch_warnings():
            # Characters that the font lacks are drawn as boxes; the table beside has the name.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            canvas = Canvas()
            FigureCanvasAgg(canvas)
            is_matrix = isinstance(self.figure, Matrix)
            room = self._matrix(canvas) if is_matrix else self._panels(canvas)
            head = 0.25 * scale * bool(title)
            top = 0.12 + head + self._add_legend(canvas)
            left, bottom, above = (scale * side for side in (room.left, room.bottom, room.above))
            height = self._layout.height or bottom + room.height + top
            if width - left < 1 or height - bottom - top - above < 0.5:
                raise InputError(
                    f"a figure of {width:g}x{height:g} inches has no room for its labels; name a "
                    "larger size, or a smaller font"
                )
            canvas.set_size_inches(width, height)
            canvas.subplots_adjust(
                left=left / width, right=1 - 0.12 / width, bottom=bottom / height,
                top=1 - (top + above) / height, hspace=room.between, wspace=0.08,
            )  # fmt: skip
            for legend in canvas.legends:
                legend.set_bbox_to_anchor((0, 1 - head / height))
            if title:
                shown = _literal(title, 2 * _LONG_NAME)
                canvas.suptitle(
                    shown, x=0.02, y=1 - 0.05 / height, ha="left", va="top", fontweight="bold"
                )
            # Without dates, so that equal figures are equal files.
            metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
            canvas.savefig(file, format=format, dpi=200, metadata=metadata)

    def _add_legend(self, canvas: Any) -> float:
        """Add a legend if there are several series, and return its height."""
        if len(self._legend) < 2:
            return 0.0
        names = [_literal(name) for name in self._legend]
        column = self._scale * (max(map(_width, names)) + 0.65)
        columns = max(1, min(len(names), int(self._layout.width / column)))
        canvas.legend(
            self._legend.values(), names, loc="upper left", ncols=columns, frameon=False,
            handlelength=3, borderaxespad=0.2, columnspacing=1.2,
        )  # fmt: skip
        lines = max(name.count("\n") + 1 for name in names)
        return 0.05 + self._scale * 0.19 * lines * math.ceil(len(names) / columns)

    def _tip(self, artist: Any, texts: list[str]) -> None:
        name = f"tip{len(self.tooltips)}"
        artist.set_gid(name)
        self.tooltips[name] = texts

    # Panels

    def _panels(self, canvas: Any) -> _Room:
        """Draw the panels one above the other, or many in two columns."""
        figure: Figure = self.figure
        columns = 1 if len(figure.panels) <= 3 else 2
        rows = math.ceil(len(figure.panels) / columns)
        grid = canvas.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        plots = grid.ravel().tolist()
        for plot in plots[len(figure.panels) :]:
            plot.set_axis_off()
        for plot, panel in zip(plots, figure.panels, strict=False):
            self._panel(plot, panel)
        across, up = (
            (figure.values, figure.places) if figure.rows else (figure.places, figure.values)
        )
        for plot in grid[-1]:
            plot.set_xlabel(_literal(across.title, 2 * _LONG_NAME))
        for plot in grid[:, 0]:
            plot.set_ylabel("" if figure.rows else _literal(up.title))
        if figure.rows:
            names = [_literal(name) for name in figure.places.names]
            lines = max(name.count("\n") + 1 for name in names)
            height = (0.08 + 0.14 * lines) * max(len(names), 3)
            return _Room(0.2 + max(map(_width, names)), 0.45, height)
        tall = 2.6 if rows == 1 else 1.7 if columns == 1 else 1.15
        titled = bool(figure.panels[0].title)
        return _Room(0.68, 0.45, rows * tall, 0.18 * titled, 0.28 * titled * 1.7 / tall)

    def _panel(self, plot: Any, panel: Panel) -> None:
        figure: Figure = self.figure
        self._below: dict[Number, Number] = {}
        for series in panel.series:
            draw = self._bars if series.mark in ("bars", "stack") else self._points
            self._legend.setdefault(series.name, draw(plot, panel, series))
        places, values = (plot.yaxis, plot.xaxis) if figure.rows else (plot.xaxis, plot.yaxis)
        _set_axis(places, figure.places)
        _set_axis(values, figure.values)
        if figure.places.names:
            places.grid(visible=False)
        if panel.title:
            plot.set_title(_literal(panel.title), fontsize="medium")
        if figure.rows and not plot.yaxis_inverted():
            plot.invert_yaxis()

    def _texts(self, series: Series) -> Iterator[str]:
        """Yield the tooltip of each point that has a value."""
        places, values = self.figure.places, self.figure.values
        for index, (place, value) in enumerate(zip(series.places, series.values, strict=True)):
            if value is None:
                continue
            name = places.names[round(place)] if places.names else f"{places.title} {place:,g}"
            text = f"{series.name}, {name}: {_shown_number(value, values)}"
            if series.low and (low := series.low[index]) is not None:
                high = series.high[index]
                text += f" ({_shown_number(low, values)} to {_shown_number(high or 0, values)})"
            yield text

    def _bars(self, plot: Any, panel: Panel, series: Series) -> Any:
        style, stacks = series.style % len(_COLORS), series.mark == "stack"
        width = 0.75 if stacks else 0.8 / len(panel.series)
        middle = (len(panel.series) - 1) / 2
        shift = 0.0 if stacks else (panel.series.index(series) - middle) * width
        values = [value or 0 for value in series.values]
        bars = (plot.barh if self.figure.rows else plot.bar)(
            [place + shift for place in series.places],
            values,
            width,
            [self._below.get(place, 0) for place in series.places] if stacks else 0,
            color=_COLORS[style],
            edgecolor=_PAPER,
            linewidth=0.6 if stacks else 0,
            hatch=_HATCHES[style] if stacks else None,
        )
        for place, value in zip(series.places, values, strict=True):
            self._below[place] = self._below.get(place, 0) + value
        for bar, text in zip(bars, self._texts(series), strict=False):
            self._tip(bar, [text])
        return bars

    def _points(self, plot: Any, panel: Panel, series: Series) -> Any:
        style = series.style % len(_COLORS)
        places = _shifted_places(self.figure, panel, series)
        values = [math.nan if value is None else value for value in series.values]
        across, up = (values, places) if self.figure.rows else (places, values)
        dashes = _DASHES[style]
        looks = {"line": (0, dashes) if dashes else "-", "points": "none", "guide": (0, (5, 4))}
        small = len(self.figure.panels) > 3
        (line,) = plot.plot(
            across,
            up,
            linestyle=looks[series.mark],
            color=_COLORS[style],
            linewidth=1.2 if series.mark == "guide" or small else 1.8,
            marker="" if series.mark == "guide" else _MARKERS[style],
            markersize=3 if small else 4.5,
            markerfacecolor=_PAPER if style >= 5 else _COLORS[style],
        )
        if series.mark != "guide":
            self._tip(line, list(self._texts(series)))
        self._intervals(plot, series, places)
        for index, text in series.notes:
            plot.annotate(
                _literal(text), (across[index], up[index]), (0, 5), textcoords="offset points",
                ha="center", fontweight="bold",
            )  # fmt: skip
        return line

    def _intervals(self, plot: Any, series: Series, places: tuple[Number, ...]) -> None:
        ends = zip(places, series.low, series.high, strict=False)
        columns = list(zip(*(interval for interval in ends if None not in interval), strict=True))
        if not columns:
            return
        color, by_rows = _COLORS[series.style % len(_COLORS)], self.figure.rows
        if series.mark == "line" and len(series.places) > 1:
            fill = plot.fill_betweenx if by_rows else plot.fill_between
            fill(*columns, color=color, alpha=0.16, linewidth=0)
        else:
            lines = plot.hlines if by_rows else plot.vlines
            lines(*columns, color=color, alpha=0.45, linewidth=2)

    # Matrices

    def _matrix(self, canvas: Any) -> _Room:
        """Draw a matrix, shaded by the share of the row."""
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - slow to load

        matrix: Matrix = self.figure
        plot, number = canvas.subplots(), len(matrix.columns.names)
        size = min(8.0, 140 / number)
        cells = [
            (row, column, count, count / sum(counts))
            for row, counts in enumerate(matrix.counts)
            for column, count in enumerate(counts)
            if count
        ]
        for row, column, count, share in cells:
            gold, name = matrix.rows.names[row], matrix.columns.names[column]
            cell = Rectangle(
                (column - 0.5, row - 0.5), 1, 1, facecolor=_COLORS[0], alpha=0.08 + 0.8 * share,
                edgecolor=_INK if name == gold else "none",
            )  # fmt: skip
            plot.add_patch(cell)
            pair = f"{matrix.rows.title} {gold}, {matrix.columns.title} {name}"
            self._tip(cell, [f"{pair}: {count:,}"])
            plot.text(
                column, row, f"{count:,}", ha="center", va="center", fontsize=size,
                color=_PAPER if share > 0.6 else _INK,
            )  # fmt: skip
        _set_axis(plot.xaxis, matrix.columns, every=True)
        _set_axis(plot.yaxis, matrix.rows, every=True)
        plot.tick_params(labelsize=min(9.0, 190 / number), length=0)
        plot.tick_params(axis="x", rotation=90)
        plot.grid(visible=False)
        plot.invert_yaxis()
        plot.set_xlabel(f"{matrix.columns.title} →")
        plot.set_ylabel(f"← {matrix.rows.title}")
        longest = max(_width(_literal(name)) for name in matrix.rows.names) * min(1.0, 21 / number)
        return _Room(longest + 0.35, longest + 0.35, 0.19 * max(number, 5))


def _set_axis(axis: Any, description: Axis, *, every: bool = False) -> None:
    from matplotlib.ticker import (  # noqa: PLC0415 - slow to load
        FuncFormatter,
        MaxNLocator,
        MultipleLocator,
        PercentFormatter,
    )

    limit = axis.axes.set_xlim if axis.axis_name == "x" else axis.axes.set_ylim
    if description.names:
        last = len(description.names) - 1
        step = 1 if every or axis.axis_name == "y" else 1 + last // 12
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


def _shifted_places(figure: Figure, panel: Panel, series: Series) -> tuple[Number, ...]:
    """Return the places of points, beside the points of other series in the same rows."""
    others = [points for points in panel.series if points.mark == "points"]
    taken = [place for points in others for place in points.places]
    # Series of one row each need no room beside each other.
    if series.mark != "points" or not figure.places.names or len({*taken}) == len(taken):
        return series.places
    step = min(0.22, 0.7 / len(others))
    shift = (others.index(series) - (len(others) - 1) / 2) * step
    return tuple(place + shift for place in series.places)
