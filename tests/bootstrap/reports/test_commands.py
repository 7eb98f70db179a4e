"""``bootstrap report`` and ``bootstrap plot``: one run, several, and what is refused."""

from __future__ import annotations

import csv
import json
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootstrap.reports.figures import Figure
from bootstrap.reports.group_report import figure_of
from bootstrap.reports.groups import GroupRecord, RunGroup, load_groups
from bootstrap.runs.folder import Run
from bootstrap.runs.records import DocumentCounts
from corpus.storage.tables import table_bytes
from tests.bootstrap.changed_runs import rewrite_manifests
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]
Parse = Callable[[Path], Any]
Browse = Callable[..., dict[str, Any]]


@pytest.fixture
def shorter(copied: Path) -> Path:
    """An unfinished run on the same documents as `finished`, that is worse."""
    shutil.rmtree(copied / "iterations" / "003")
    for number in range(3):
        folder = copied / "iterations" / f"00{number}"
        counts = DocumentCounts.load(folder / "validation.parquet")
        worse = {}
        for name, of_class in counts.classes.items():
            worse[name] = of_class.copy()
            worse[name][::3, 2] += worse[name][::3, 0]  # every third document is missed
            worse[name][::3, 0] = 0
        table = replace(counts, classes=worse).to_table()
        (folder / "validation.parquet").write_bytes(table_bytes(table))
        total = replace(counts, classes=worse).all_classes
        metrics = json.loads((folder / "metrics.json").read_text())
        metrics["halves"] = [total[side::2].sum(axis=0).tolist() for side in (0, 1)]
        true, false, missed = total.sum(axis=0).tolist()
        metrics["f1"] = 2 * true / (2 * true + false + missed)
        (folder / "metrics.json").write_text(json.dumps(metrics))
    rewrite_manifests(copied)
    return copied


@pytest.fixture
def other(copied: Path) -> Path:
    """A run that is scored on other documents."""
    for path in (copied / "iterations").rglob("validation.parquet"):
        counts = DocumentCounts.load(path)
        renamed = replace(counts, ids=tuple(f"x{name}" for name in counts.ids))
        path.write_bytes(table_bytes(renamed.to_table()))
    rewrite_manifests(copied)
    return copied


def test_one_run_is_shown_as_in_its_folder(finished, tmp_path, command, parse) -> None:
    page = tmp_path / "new" / "page.html"
    done = command("report", finished, "-o", page)
    assert done.code == 0, done
    assert f"{page} shows run" in done.out
    assert parse(page).names("figure") == parse(finished / "report.html").names("figure")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def curves_of(groups: list[GroupRecord], axis: str = "iteration") -> Figure:
    figure = figure_of(groups, "scores", axis)
    assert isinstance(figure, Figure)
    return figure


def test_several_runs_are_on_one_axis(finished, shorter, tmp_path, command, parse) -> None:
    page = tmp_path / "page.html"
    done = command("report", f"good={finished}", f"bad={shorter}", "-o", page)
    assert done.code == 0, done
    shown = parse(page)
    names = ["variants", "differences", "scores", "classes", "errors", "seconds"]
    assert shown.names("figure") == names
    assert {"variants", "runs", "scores", "classes", "errors", "seconds", "settings"} <= set(
        shown.names("table")
    )
    assert "The highest F1 on the validation documents is" in shown.said
    assert "Unfinished, shown up to the last iteration: bad." in shown.said
    groups = load_groups([RunGroup("good", (Run(finished),)), RunGroup("bad", (Run(shorter),))])
    differences, scores = figure_of(groups, "differences"), curves_of(groups)
    difference = differences.panels[0].series[0]
    expected = Run(shorter).outcome().best.f1 - Run(finished).outcome().best.f1
    assert difference.values == (pytest.approx(expected),)
    (low,), (high,) = difference.low, difference.high
    assert low is not None and high is not None and low < expected < high < 0
    good, bad = scores.panels[0].series
    assert (good.name, bad.name) == ("good", "bad")
    assert good.values == pytest.approx([row.f1 for row in Run(finished).metrics()])


def test_runs_of_one_name_are_a_mean_and_a_range(finished: Path, shorter: Path) -> None:
    groups = load_groups([RunGroup("both", (Run(finished), Run(shorter)))])
    (series,) = curves_of(groups).panels[0].series
    whole, ended = ([row.f1 for row in Run(run).metrics()] for run in (finished, shorter))
    assert len(whole) == len(ended) + 1
    pairs = list(zip(whole, [*ended, ended[-1]], strict=True))  # it keeps its last scores
    assert series.values == pytest.approx([sum(pair) / 2 for pair in pairs])
    assert series.low == pytest.approx([min(pair) for pair in pairs])
    assert series.high == pytest.approx([max(pair) for pair in pairs])
    best = [Run(run).outcome().best.f1 for run in (finished, shorter)]
    assert [record.result("both").f1 for record in groups[0].records] == best


def test_the_axis_is_what_people_annotated_where_that_differs(
    finished: Path, shorter: Path, tmp_path: Path, command: Command, parse: Parse
) -> None:
    for number, documents in enumerate((60, 80, 80)):
        path = shorter / "iterations" / f"00{number}" / "metrics.json"
        metrics = json.loads(path.read_text())
        path.write_text(json.dumps(metrics | {"human_documents": documents, "queried": 20}))
    rewrite_manifests(shorter)
    page = tmp_path / "page.html"
    done = command("report", finished, f"active={shorter}", "-o", page)
    assert done.code == 0, done
    assert {"scores-documents", "scores-tokens"} <= set(parse(page).names("figure"))
    groups = load_groups([RunGroup("one", (Run(finished),)), RunGroup("two", (Run(shorter),))])
    one, two = curves_of(groups, "documents").panels[0].series
    assert (one.places, two.places) == ((60,), (60, 80))
    rows = Run(shorter).metrics()
    assert two.values == pytest.approx([rows[0].f1, max(rows[1].f1, rows[2].f1)])
    assert one.values == pytest.approx([max(row.f1 for row in Run(finished).metrics())])


def test_runs_on_other_documents_are_in_a_part_of_their_own(
    finished: Path, other: Path, tmp_path: Path, command: Command, parse: Parse
) -> None:
    page, tables = tmp_path / "page.html", tmp_path / "tables"
    done = command("report", finished, f"other={other}", "-o", page, "--csv", tables)
    assert done.code == 0, done
    assert "scored on 2 different sets of validation documents" in done.out
    shown = parse(page)
    assert "Part 1: Scores" in shown.said and "Part 2: Scores" in shown.said
    assert "differences" not in shown.names("figure")
    assert {"variants.csv", "variants-2.csv"} <= {path.name for path in tables.iterdir()}
    message = refusal(command, "plot", finished, other, "-o", tmp_path / "a.png")
    assert "are scored on different validation documents: they cannot be on one" in message


def test_every_table_is_csv(finished: Path, tmp_path: Path, command: Command, parse: Parse) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "tables"
    done = command("report", finished, "-o", page, "--csv", folder)
    assert done.code == 0, done
    names = {f"{name}.csv" for name in parse(page).names("table")}
    assert {path.name for path in folder.iterdir()} == names
    with (folder / "iterations.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    metrics = Run(finished).metrics()
    assert [float(row["F1"]) for row in rows] == [row.f1 for row in metrics]
    assert all(float(row["F1 (low)"]) < float(row["F1"]) < float(row["F1 (high)"]) for row in rows)


def test_scores_on_test_documents_are_shown_where_they_are_asked_for(
    finished: Path, copied: Path, tmp_path: Path, command: Command, parse: Parse
) -> None:
    page = tmp_path / "page.html"
    for arguments in (("report", copied, "--test"), ("plot", copied, "--what", "test")):
        message = refusal(command, *arguments, "-o", tmp_path / "page.svg")
        assert "has no scores on test documents" in message
    for path in (copied / "iterations").rglob("validation.parquet"):
        counts = DocumentCounts.load(path)
        # It has no confidence, and other documents.
        test = replace(counts, ids=tuple(f"t{name}" for name in counts.ids), confidence=None)
        path.with_name("test.parquet").write_bytes(table_bytes(test.to_table()))
    assert command("report", copied, "-o", page).code == 0
    assert "test" not in parse(page).names("figure")
    assert command("report", copied, "--test", "-o", page).code == 0
    shown = parse(page)
    assert {"test"} <= set(shown.names("figure")) & set(shown.names("table"))
    assert "On 120 test documents, which chose nothing" in shown.said
    assert command("plot", copied, "--what", "test", "-o", tmp_path / "a.svg").code == 0
    refused = command("report", copied, finished, "--test", "-o", page)
    assert refused.code == 2 and f"{finished} has no scores on test documents" in refused.err
    two = (f"a={copied}", f"b={tmp_path / 'again'}")
    shutil.copytree(copied, tmp_path / "again", symlinks=True)
    assert command("report", *two, "--test", "-o", page).code == 0
    assert "test" in parse(page).names("figure")


def damage(name: str, content: bytes | None) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        if content is None:
            (run / name).unlink()
        else:
            (run / name).write_bytes(content)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage("iterations/001/metrics.json", b"{"), "001/metrics.json is not JSON"),
        (damage("iterations/001/validation.parquet", None), "validation.parquet is damaged or mis"),
        (damage("iterations/003/errors.parquet", b"PAR1"), "errors.parquet is damaged"),
        (damage("environment.json", b"[]"), "environment.json is damaged or missing"),
        (damage("config.toml", b"="), "config.toml is damaged: it is not TOML"),
        (lambda run: shutil.rmtree(run / "iterations"), "has no finished iteration yet"),
    ],
)
def test_a_broken_run_is_named_in_one_line(
    finished, copied, tmp_path, command, change, message
) -> None:
    change(copied)
    for runs in ((copied,), (finished, copied)):
        said = refusal(command, "report", *runs, "-o", tmp_path / "page.html")
        assert message in said and str(copied) in said
    assert not (tmp_path / "page.html").exists()


# Figures


def test_runs_are_drawn_by_name(finished, shorter, tmp_path, command) -> None:
    one, two = tmp_path / "new" / "one.png", tmp_path / "two.SVG"
    done = command("plot", finished, "-o", one)
    assert (done.code, done.out) == (0, f"{one} shows run\n")
    assert one.read_bytes().startswith(b"\x89PNG")
    done = command("plot", finished, f"another={shorter}", "--output", two)
    assert (done.code, done.out) == (0, f"{two} shows run, another\n")
    for text in ("another", "recall", "precision", "F1"):
        assert f">{text}</text>" in two.read_text(encoding="utf-8")
    for name in ("differences", "classes", "errors", "seconds"):
        target = tmp_path / f"{name}.pdf"
        assert command("plot", finished, shorter, "--what", name, "-o", target).code == 0
        assert target.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("axis", ["documents", "tokens"])
def test_scores_have_other_axes(finished, tmp_path, command, axis) -> None:
    target = tmp_path / "a.svg"
    assert command("plot", finished, "--axis", axis, "-o", target).code == 0
    assert f"{axis} that people annotated" in target.read_text(encoding="utf-8")
    refused = command("plot", finished, "--axis", axis, "--what", "errors", "-o", target)
    assert refused.code == 2 and "is for --what scores only" in refused.err


def test_what_cannot_be_drawn_is_refused(finished, shorter, tmp_path, command) -> None:
    for arguments, message in [
        ((finished, "-o", tmp_path / "x.jpg"), "x.jpg: expected a file name ending in .png, .svg"),
        ((tmp_path, "-o", tmp_path / "x.png"), "is not the folder of a run"),
        ((finished, "--what", "differences", "-o", tmp_path / "x.png"), "has no figure diff"),
        ((finished, shorter, "--what", "confusion", "-o", tmp_path / "x.png"), "have no figure c"),
    ]:
        assert message in refusal(command, "plot", *arguments)
    assert not list(tmp_path.glob("*x.*"))


def test_a_browser_shows_several_runs_of_any_name(
    finished: Path, shorter: Path, tmp_path: Path, command: Command, browse: Browse
) -> None:
    page = tmp_path / "page.html"
    names = ("a</script><b>", "long_" * 20)
    runs = [f"{name}={run}" for name, run in zip(names, (finished, shorter), strict=True)]
    assert command("report", *runs, "-o", page).code == 0
    seen = browse(page, width=360)
    assert (seen["drawn"], seen["wide"], seen["overflow"], seen["console"]) == (6, 0, [0, 0], [])


def test_a_plot_has_the_title_and_the_size_that_are_asked_for(
    finished: Path, tmp_path: Path, command: Command
) -> None:
    def drawn(*options: str) -> str:
        done = command("plot", finished, "-o", tmp_path / "plot.svg", *options)
        assert done.code == 0, done
        return (tmp_path / "plot.svg").read_text("utf-8")

    usual, other = drawn(), drawn("--title", "Our notes", "--size", "7x4", "--font-size", "12")
    assert 'width="388.8pt"' in usual and "Scores on validation" in usual
    assert 'width="504pt" height="288pt"' in other
    assert "Our notes" in other and "Scores on validation" not in other
    assert "Scores on validation" not in drawn("--title", "")
    curves = drawn("--what", "class-curves", "--panel", "PERSON")
    assert "PERSON" in curves and "LOCATION" not in curves
    refused = command("plot", finished, "-o", tmp_path / "small.svg", "--panel", "AGE")
    assert refused.code == 2 and "has no plot AGE; there are only one without a name" in refused.err
    refused = command("plot", finished, "-o", tmp_path / "small.svg", "--size", "1x1")
    assert refused.code == 2 and "no room for its labels" in refused.err
    assert not (tmp_path / "small.svg").exists()
