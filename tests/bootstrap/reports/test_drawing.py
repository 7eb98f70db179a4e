"""Figures as files: PNG, SVG and PDF, and as elements of a page."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as Drawing

from bootstrap.reports import drawing as drawings
from bootstrap.reports.drawing import draw, drawing_format, inline_svg
from bootstrap.reports.figures import (
    Axis,
    Figure,
    Matrix,
    Panel,
    Series,
    one_panel,
    score_axis,
)
from corpus.errors import InputError

PLACES = Axis("iteration", whole=True)
VALUES = Axis("score", low=0.0, high=1.0)


def figure(*series: Series, **others: Any) -> Figure:
    values: dict[str, Any] = {"places": PLACES, "values": VALUES, "panels": one_panel(*series)}
    return Figure("a", "A title", "A caption.", **(values | others))


def line(name: str = "F1", **others: Any) -> Series:
    return Series(name, (0, 1, 2), (0.5, None, 0.7), **others)


def matrix(*names: str) -> Matrix:
    return Matrix("m", "t", "", Axis("gold", names), Axis("predicted", names), ((3, 1), (0, 0)))


def drawn(shown: Figure | Matrix, format: str = "svg") -> bytes:
    file = io.BytesIO()
    draw(shown, file, format)
    return file.getvalue()


def texts(picture: str | bytes, kind: str = "text") -> list[str]:
    """Return the letters of an SVG, or its tooltips."""
    root = ElementTree.fromstring(picture)
    return [element.text or "" for element in root.iter(f"{{http://www.w3.org/2000/svg}}{kind}")]


def plot_of(shown: Figure, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the plot of a figure of matplotlib, as it was when it was saved."""
    kept: list[Any] = []
    monkeypatch.setattr(Drawing, "savefig", lambda self, *_, **__: kept.append(self))
    draw(shown, io.BytesIO(), "png")
    (plot,) = kept[0].axes
    return plot


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_the_same_figure_is_the_same_file_of_its_format(format: str) -> None:
    picture = drawn(figure(line()), format)
    assert picture == drawn(figure(line()), format)
    if format == "png":
        assert picture.startswith(b"\x89PNG\r\n\x1a\n") and picture.endswith(b"IEND\xaeB`\x82")
        width, height = struct.unpack(">II", picture[16:24])
        assert width > 600 and height > 300
    elif format == "pdf":
        assert picture.startswith(b"%PDF-")
    else:
        assert {"A title", "iteration", "score"} <= set(texts(picture))


def test_a_drawing_shows_the_points_the_bands_and_the_notes(monkeypatch) -> None:
    series = Series(
        "F1", (0, 1), (0.5, 0.7), low=(0.4, 0.6), high=(0.6, 0.8), notes=((1, "0.700"),)
    )
    plot = plot_of(figure(series), monkeypatch)
    assert plot.lines[0].get_xdata().tolist() == [0, 1]
    assert plot.lines[0].get_ydata().tolist() == [0.5, 0.7]
    (band,) = plot.collections
    (path,) = band.get_paths()
    assert {(0, 0.4), (1, 0.6), (0, 0.6), (1, 0.8)} <= set(map(tuple, path.vertices.tolist()))
    assert [text.get_text() for text in plot.texts] == ["0.700"]


def test_rows_go_down_and_series_stand_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Axis("class", names=("A", "B"))
    points = [
        Series(name, (0, 1), (0.5, 0.7), "points", style, (0.4, 0.6), (0.6, 0.8))
        for style, name in enumerate("xy")
    ]
    plot = plot_of(figure(*points, places=names, rows=True), monkeypatch)
    low, high = plot.get_ylim()
    assert low > high  # the first row is at the top
    assert [tick.get_text() for tick in plot.get_yticklabels()] == ["A", "B"]
    first, second = (plotted.get_ydata() for plotted in plot.lines)
    assert (first < second).all() and abs(first - second).max() < 0.5
    assert len(plot.collections) == 2


def test_stacked_bars_stand_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Axis("iteration", names=("0", "1"))
    bars = [
        Series(name, (0, 1), values, "stack", style)
        for style, (name, values) in enumerate({"a": (1, 2), "b": (3, 0), "c": (4, 4)}.items())
    ]
    plot = plot_of(figure(*bars, places=names, values=Axis("errors")), monkeypatch)
    assert [(bar.get_y(), bar.get_height()) for bar in plot.patches] == [
        (0, 1), (0, 2), (1, 3), (2, 0), (4, 4), (2, 4)
    ]  # fmt: skip


@pytest.mark.parametrize("mark", ["line", "points", "bars", "stack", "guide"])
@pytest.mark.parametrize(("rows", "panels"), [(True, 1), (False, 2), (False, 7)])
def test_every_mark_is_drawn_with_its_numbers_as_tooltips(mark, rows, panels) -> None:
    shown = figure(
        places=Axis("class", names=("A", "B", "C")),
        rows=rows,
        panels=tuple(Panel(f"panel {n}", (line(mark=mark),)) for n in range(panels)),
    )
    picture = inline_svg(shown)
    assert f"panel {panels - 1}" in texts(picture)
    known = ["F1, A: 0.500", "F1, C: 0.700"]
    assert texts(picture, "title") == ([] if mark == "guide" else known * panels)


def test_a_tooltip_has_the_interval_and_a_cell_its_classes() -> None:
    series = Series("F1", (0, 1), (0.5, 0.7), low=(0.4, None), high=(0.6, None))
    assert texts(inline_svg(figure(series)), "title") == [
        "F1, iteration 0: 0.500 (0.400 to 0.600)",
        "F1, iteration 1: 0.700",
    ]
    cells = texts(inline_svg(matrix("A", "B")), "title")
    assert cells == ["gold A, predicted A: 3", "gold A, predicted B: 1"]


def test_colours_of_a_page_are_its_variables() -> None:
    names = Axis("class", names=("A", "B", "C"))
    bars = [line(str(style), style=style, mark="stack") for style in range(9)]
    for shown in (figure(line()), figure(*bars, places=names), matrix("A", "B")):
        picture = inline_svg(shown)
        assert "var(--ink)" in picture and "var(--c0)" in picture
        assert not any(color in picture for color in drawings._VARIABLES)
        assert " id=" not in picture.replace("<path id=", "").replace("<clipPath id=", "").replace(
            "<pattern id=", ""
        )


@pytest.mark.parametrize(
    "name",
    ["costs $5", "$x_{$", "a_b^c", r"\frac", "_hidden", "<&>", "a\nb\x07c", "\u202e", "方案"],
)
@pytest.mark.filterwarnings("error")
def test_a_name_is_no_formula_and_no_markup(name: str) -> None:
    expected = {"a\nb\x07c": r"a\nb\x07c", "\u202e": r"\u202e"}.get(name, name)
    for shown in (
        figure(line(name), line("b", style=1)),
        figure(line(), places=Axis("class", names=(name, "b", "c")), rows=True),
        matrix(name, "b"),
    ):
        assert expected in texts(drawn(shown)) and expected in texts(inline_svg(shown))


def test_long_names_are_cut() -> None:
    said = texts(inline_svg(figure(line("long_" * 30), line("b", style=1))))
    assert max(map(len, said)) <= 30 and any(text.endswith("…") for text in said)


def test_a_file_of_a_figure_is_png_svg_or_pdf() -> None:
    for name, format in {"a.PNG": "png", "a.b.svg": "svg", "a.pdf": "pdf"}.items():
        assert drawing_format(Path(name)) == format
    for name in ("a.jpg", "a", "png"):
        with pytest.raises(InputError, match=r"expected a file name ending in \.png, \.svg or \.p"):
            drawing_format(Path(name))


@given(st.lists(st.none() | st.floats(0, 1), max_size=9))
def test_an_axis_of_scores_holds_them_and_has_few_round_ticks(values: list[float | None]) -> None:
    axis = score_axis("score", [Series.from_values("", values)])
    assert axis.low is not None and axis.high is not None and axis.step is not None
    assert 0 <= axis.low < axis.high <= 1
    assert all(axis.low <= value <= axis.high for value in values if value is not None)
    ticks = (axis.high - axis.low) / axis.step
    assert ticks == pytest.approx(round(ticks)) and 1 <= round(ticks) <= 7
    assert axis.low / axis.step == pytest.approx(round(axis.low / axis.step))


def test_every_figure_of_a_page_is_a_file_too(finished, parse, tmp_path, command) -> None:
    for name in parse(finished / "report.html").names("figure"):
        done = command("plot", finished, "--what", name, "-o", tmp_path / f"{name}.svg")
        assert done.code == 0, done
        assert texts((tmp_path / f"{name}.svg").read_bytes())
