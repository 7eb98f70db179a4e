"""Pictures of runs."""

from __future__ import annotations

import html
import io
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.plotting import plot_format, plot_runs
from corpus.errors import InputError

Command = Callable[..., Any]
Rows = list[IterationMetrics]


@pytest.fixture(scope="module")
def rows(make_metrics: Callable[..., IterationMetrics]) -> Rows:
    return [
        make_metrics(iteration=number, precision=0.9, recall=0.5 + number / 10, f1=f1)
        for number, f1 in enumerate([0.6, 0.8, 0.7])
    ]


def drawn(format: str, **runs: Any) -> bytes:
    file = io.BytesIO()
    plot_runs(runs, file, format)
    return file.getvalue()


def comments(picture: bytes) -> str:
    """Return what an SVG says: matplotlib draws letters as shapes and writes the text beside."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(picture, parser)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    found = [item.text or "" for item in root.iter() if callable(item.tag)]
    return html.unescape("\n".join(found)).replace(r"\$", "$")


def assert_png(picture: bytes) -> None:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 600 and height > 300


def test_a_png_is_a_png(rows: Rows) -> None:
    assert_png(drawn("png", run=rows))


def test_an_svg_says_what_it_shows(rows: Rows) -> None:
    said = comments(drawn("svg", mine=rows))
    for text in ("mine", "precision", "recall", "F1", "iteration", "0.800"):
        assert text in said
    assert "0.700" not in said


def test_several_runs_stand_on_one_axis(rows: Rows) -> None:
    said = comments(drawn("svg", first=rows, second=rows[:1]))
    for text in (
        "F1 of first",
        "recall of first",
        "F1 of second",
        "precision of second",
        "0.800",
        "0.600",
    ):
        assert text in said


def test_the_same_runs_give_the_same_picture(rows: Rows) -> None:
    for format in ("png", "svg"):
        assert drawn(format, run=rows) == drawn(format, run=rows)


@pytest.mark.parametrize(
    ("axis", "title", "places"),
    [
        ("iteration", "iteration (0: the initial model)", [0, 1, 2]),
        ("documents", "annotated documents", [100, 125, 150]),
        ("tokens", "annotated tokens", [2000, 2700, 3500]),
    ],
)
def test_runs_are_compared_by_what_was_annotated(
    axis: str,
    title: str,
    places: list[int],
    make_metrics: Callable[..., IterationMetrics],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[Any] = []
    save = Figure.savefig

    def remembered(self: Figure, *arguments: Any, **others: Any) -> None:
        lines.extend(self.axes[0].lines)
        save(self, *arguments, **others)

    monkeypatch.setattr(Figure, "savefig", remembered)
    rows = [
        make_metrics(iteration=number, f1=0.6, human_documents=documents, human_tokens=tokens)
        for number, (documents, tokens) in enumerate([(100, 2000), (125, 2700), (150, 3500)])
    ]
    file = io.BytesIO()
    plot_runs({"mine": rows}, file, "svg", axis)
    assert title in comments(file.getvalue())
    assert {tuple(line.get_xdata()) for line in lines} == {tuple(places)}


@pytest.mark.parametrize("name", ["costs $5", "$x_{$", "a_b^c", r"\frac", "_hidden", "<&>"])
def test_the_name_of_a_run_is_no_formula(name: str, rows: Rows) -> None:
    assert name in comments(drawn("svg", **{name: rows}))
    assert f"F1 of {name}" in comments(drawn("svg", **{name: rows, "b": rows}))


def test_a_picture_is_png_or_svg() -> None:
    assert plot_format(Path("a.PNG")) == "png"
    assert plot_format(Path("a.b.svg")) == "svg"
    for name in ("a.pdf", "a", "png"):
        with pytest.raises(InputError, match=r"expected a file name ending in \.png or \.svg"):
            plot_format(Path(name))


def test_the_command_draws_runs(
    finished: Path, copied: Path, tmp_path: Path, command: Command
) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    one, two = tmp_path / "new" / "one.png", tmp_path / "two.SVG"
    done = command("plot", finished, "-o", one)
    assert (done.code, done.out) == (0, f"{one} shows run\n")
    assert_png(one.read_bytes())
    done = command("plot", finished, copied, "--output", two)
    assert (done.code, done.out) == (0, f"{two} shows run, copied\n")
    assert "F1 of copied" in comments(two.read_bytes())
    again = command("plot", finished, finished / ".." / "run", "-o", tmp_path / "same.svg")
    assert again.code == 0
    assert f"F1 of {finished}" in comments((tmp_path / "same.svg").read_bytes())


def test_what_cannot_be_drawn_is_refused(
    finished: Path, copied: Path, tmp_path: Path, command: Command
) -> None:
    shutil.rmtree(copied / "iterations")
    for arguments, message in [
        (
            (finished, "-o", tmp_path / "x.pdf"),
            "x.pdf: expected a file name ending in .png or .svg",
        ),
        ((tmp_path, "-o", tmp_path / "x.png"), "is not the folder of a run"),
        ((finished, copied, "-o", tmp_path / "x.png"), "copied has no finished iteration yet"),
    ]:
        refused = command("plot", *arguments)
        assert (refused.code, refused.out) == (2, "")
        assert message in refused.err
        assert len(refused.err.splitlines()) == 1
    assert not list(tmp_path.glob("*x.*"))


def figure_of(monkeypatch: pytest.MonkeyPatch, **runs: Any) -> Any:
    """Return the figure of a picture, as it was when it was saved."""
    figures: list[Any] = []
    save = Figure.savefig

    def keep(figure: Any, *arguments: Any, **options: Any) -> None:
        save(figure, *arguments, **options)
        figures.append(figure)

    monkeypatch.setattr(Figure, "savefig", keep)
    drawn("png", **runs)
    return figures[0]


def test_a_run_of_one_iteration_shows_all_measures(
    monkeypatch: pytest.MonkeyPatch, rows: Rows
) -> None:
    (axes,) = figure_of(monkeypatch, run=rows[:1]).axes
    assert len(axes.lines) == 3
    assert all(line.get_marker() != "None" for line in axes.lines)
    low, high = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if low <= tick <= high] == [0]


@pytest.mark.parametrize("number", [1, 8])
def test_the_legend_covers_no_line(
    number: int, monkeypatch: pytest.MonkeyPatch, rows: Rows
) -> None:
    figure = figure_of(monkeypatch, **{f"run {place}": rows for place in range(number)})
    (legend,), (axes,) = figure.legends, figure.axes
    box = legend.get_window_extent()
    assert box.x0 >= axes.get_window_extent().x1
    assert box.y0 >= 0
    assert len(legend.get_texts()) == 3 * number
