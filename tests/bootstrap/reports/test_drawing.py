"""Figures as files: PNG, SVG and PDF."""

from __future__ import annotations

import html
import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as Drawing

from bootstrap.reports.figures import (
    STYLES,
    Axis,
    Figure,
    Mark,
    Matrix,
    Panel,
    Series,
    one_panel,
    score_axis,
    shares_of_rows,
)
from bootstrap.reports.formats.drawing import draw, drawing_format
from corpus.errors import InputError

PLACES = Axis("iteration", whole=True)
VALUES = Axis("score", low=0.0, high=1.0)


def figure(*series: Series, **others: Any) -> Figure:
    values: dict[str, Any] = {"places": PLACES, "values": VALUES, "panels": one_panel(*series)}
    return Figure("a", "A title", "A caption.", **(values | others))


def line(name: str = "F1", **others: Any) -> Series:
    return Series(name, (0, 1, 2), (0.5, None, 0.7), **others)


def drawn(shown: Figure | Matrix, format: str = "svg") -> bytes:
    file = io.BytesIO()
    draw(shown, file, format)
    return file.getvalue()


def comments(picture: bytes) -> str:
    """Return what an SVG says: matplotlib draws letters as shapes and writes the text beside."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(picture, parser)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    found = [item.text or "" for item in root.iter() if callable(item.tag)]
    return html.unescape("\n".join(found)).replace(r"\$", "$")


def drawing_of(shown: Figure, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the matplotlib figure, as it was when it was saved."""
    kept: list[Any] = []
    save = Drawing.savefig

    def keep(drawing: Any, *arguments: Any, **options: Any) -> None:
        save(drawing, *arguments, **options)
        kept.append(drawing)

    monkeypatch.setattr(Drawing, "savefig", keep)
    drawn(shown, "png")
    return kept[0]


def test_each_format_is_what_it_says() -> None:
    png = drawn(figure(line()), "png")
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and png.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 600 and height > 300
    assert drawn(figure(line()), "pdf").startswith(b"%PDF-")
    for text in ("A title", "iteration", "score"):
        assert text in comments(drawn(figure(line())))


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_the_same_figure_is_the_same_file(format: str) -> None:
    assert drawn(figure(line()), format) == drawn(figure(line()), format)


def test_a_drawing_shows_the_points_the_bands_and_the_notes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = Series(
        "F1", (0, 1), (0.5, 0.7), low=(0.4, 0.6), high=(0.6, 0.8), notes=((1, "0.700"),)
    )
    (plot,) = drawing_of(figure(series), monkeypatch).axes
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
    shown = figure(*points, places=names, rows=True)
    (plot,) = drawing_of(shown, monkeypatch).axes
    low, high = plot.get_ylim()
    assert low > high  # the first row is at the top
    assert [tick.get_text() for tick in plot.get_yticklabels()] == ["A", "B"]
    first, second = (each.get_ydata() for each in plot.lines)
    assert (first < second).all() and abs(first - second).max() < 0.5
    assert len(plot.collections) == 4


def test_stacked_bars_stand_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Axis("iteration", names=("0", "1"))
    bars = [
        Series(name, (0, 1), values, "stack", style)
        for style, (name, values) in enumerate({"a": (1, 2), "b": (3, 0), "c": (4, 4)}.items())
    ]
    shown = figure(*bars, places=names, values=Axis("errors"))
    (plot,) = drawing_of(shown, monkeypatch).axes
    assert [(bar.get_y(), bar.get_height()) for bar in plot.patches] == [
        (0, 1), (0, 2), (1, 3), (2, 0), (4, 4), (2, 4)
    ]  # fmt: skip


@pytest.mark.parametrize("mark", ["line", "points", "bars", "stack", "guide"])
@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize("panels", [1, 2, 7])
def test_every_mark_is_drawn(mark: Mark, rows: bool, panels: int) -> None:
    names = Axis("class", names=("A", "B", "C"))
    shown = figure(
        places=names,
        rows=rows,
        panels=tuple(Panel(f"panel {n}", (line(mark=mark),)) for n in range(panels)),
    )
    assert f"panel {panels - 1}" in comments(drawn(shown))


@pytest.mark.parametrize("name", ["costs $5", "$x_{$", "a_b^c", r"\frac", "_hidden", "<&>"])
def test_a_name_is_no_formula(name: str) -> None:
    matrix = Matrix("m", name, "", (name, "b"), (name, "b"), ((1, 0), (2, 3)), "gold", "predicted")
    for shown in (
        figure(line(name), line("b", style=1)),
        figure(line(), places=Axis("class", names=(name, "b", "c")), rows=True),
        matrix,
    ):
        assert name in comments(drawn(shown))


@pytest.mark.parametrize("number", [2, 12])
def test_the_legend_covers_no_line(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = figure(*(line(f"a run {place}", style=place) for place in range(number)))
    drawing = drawing_of(shown, monkeypatch)
    (legend,), (plot,) = drawing.legends, drawing.axes
    box = legend.get_window_extent()
    assert box.x0 >= plot.get_window_extent().x1
    assert box.y0 >= 0
    assert len(legend.get_texts()) == number


def test_a_matrix_is_shaded_by_the_shares_of_its_rows() -> None:
    matrix = Matrix("m", "t", "", ("A", "B"), ("A", "B"), ((3, 1), (0, 0)), "gold", "predicted")
    assert shares_of_rows(matrix) == [[0.75, 0.25], [0, 0]]
    said = comments(drawn(matrix))
    assert "gold" in said and "predicted" in said and "3" in said


def test_a_file_of_a_figure_is_png_svg_or_pdf() -> None:
    for name, format in {"a.PNG": "png", "a.b.svg": "svg", "a.pdf": "pdf"}.items():
        assert drawing_format(Path(name)) == format
    for name in ("a.jpg", "a", "png"):
        with pytest.raises(InputError, match=r"expected a file name ending in \.png, \.svg or \.p"):
            drawing_format(Path(name))


def test_no_two_styles_differ_in_colour_alone() -> None:
    """A point or line is known by its marker and dash, and a stacked bar by its pattern."""
    assert len({(style.dash, style.symbol) for style in STYLES}) == len(STYLES)
    assert len({style.hatch for style in STYLES}) == len(STYLES)
    assert len({style.color for style in STYLES}) == len(STYLES)


def contrast(color: str) -> float:
    """Compute the contrast of a colour with white (WCAG 2, relative luminance)."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 1.05 / (0.05 + sum(map(lambda w, p: w * p, (0.2126, 0.7152, 0.0722), linear)))


def test_every_colour_stands_out_from_white() -> None:
    assert min(contrast(style.color) for style in STYLES) >= 3


def test_columns_of_a_series_have_one_length() -> None:
    with pytest.raises(ValueError, match="columns of different lengths"):
        Series("a", (0, 1), (0.5,))
    with pytest.raises(ValueError, match="columns of different lengths"):
        Series("a", (0,), (0.5,), low=(0.1, 0.2), high=(0.3, 0.4))


@given(st.lists(st.none() | st.floats(0, 1), max_size=9))
def test_an_axis_of_scores_holds_them_and_has_few_round_ticks(values: list[float | None]) -> None:
    axis = score_axis("score", values)
    assert axis.low is not None and axis.high is not None and axis.step is not None
    assert 0 <= axis.low < axis.high <= 1
    assert all(axis.low <= value <= axis.high for value in values if value is not None)
    ticks = (axis.high - axis.low) / axis.step
    assert ticks == pytest.approx(round(ticks)) and 1 <= round(ticks) <= 7
    assert axis.low / axis.step == pytest.approx(round(axis.low / axis.step))


def test_figures_of_a_run_are_those_of_the_page(
    finished: Path, parse: Callable[[Path], Any], tmp_path: Path, command: Callable[..., Any]
) -> None:
    """Each figure of the page is drawn, from the same description."""
    for name in parse(finished / "report.html").names("name"):
        done = command("plot", finished, "--what", name, "-o", tmp_path / f"{name}.svg")
        assert done.code == 0, done
        assert comments((tmp_path / f"{name}.svg").read_bytes())


@pytest.mark.filterwarnings("error")
def test_a_name_may_have_signs_that_the_font_lacks() -> None:
    drawn(figure(line("方案"), line("F1")), "png")
