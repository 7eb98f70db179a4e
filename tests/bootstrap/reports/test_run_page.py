"""The page that shows a run."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootstrap.reports.page import write_run_page
from bootstrap.runs import runner
from bootstrap.runs.folder import Run
from bootstrap.runs.records import DocumentCounts
from corpus.storage.tables import read_table, table_bytes
from tests.bootstrap.changed_runs import rewrite_manifests

Command = Callable[..., Any]
Parse = Callable[[Path], Any]

#: The figures of a run of several iterations.
FIGURES = [
    "scores", "classes", "class-curves", "errors", "confusion", "error-kinds", "selected",
    "proportions", "calibration", "confidence", "agreement", "seconds",
]  # fmt: skip


def test_the_page_shows_the_run(finished: Path, parse: Parse) -> None:
    page = parse(finished / "report.html")
    assert page.names("figure") == FIGURES
    run = Run(finished)
    for row in run.metrics():
        assert f"{row.f1:.3f}" in page.said
    assert "It stopped because the maximum number of iterations is reached" in page.said
    assert "patience = 5" in page.said
    best = [attributes for tag, attributes in page.tags if tag == "tr" and "class" in attributes]
    assert {"class": "best"} in best
    assert f"★ {run.best_iteration()}" in page.said


def test_every_figure_has_a_table(finished: Path, parse: Parse) -> None:
    page = parse(finished / "report.html")
    tables = set(page.names("table"))
    assert {"iterations", "class-scores"} <= tables
    # Scores and agreement are in the table of iterations, curves in that of classes and iterations.
    assert set(FIGURES) - {"scores", "class-curves", "agreement"} <= tables


def test_the_page_needs_nothing_from_elsewhere(finished: Path, parse: Parse) -> None:
    page = parse(finished / "report.html")
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), tag
        for name, value in attributes.items():
            if name in ("href", "xlink:href", "src", "style"):
                assert not re.search(r"https?:|//", value or ""), (tag, name, value)
    policy = next(
        attributes["content"] or ""
        for _, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; ")


HOSTILE = "</script><script>alert(1)</script><!--<b>&amp;\"'\u2028=x"


def test_names_are_escaped(copied: Path, parse: Parse) -> None:
    odd = copied.with_name('<b>&"run"\'<!--')
    copied.rename(odd)
    for path in (odd / "iterations").rglob("metrics.json"):
        metrics = json.loads(path.read_text())
        metrics["classes"] = {HOSTILE: metrics["classes"]["PERSON"]}
        metrics["seconds"] = {HOSTILE: 1.5}
        path.write_text(json.dumps(metrics))
    for path in (odd / "iterations").rglob("validation.parquet"):
        counts = DocumentCounts.load(path)
        renamed = replace(counts, classes={HOSTILE: counts.classes["PERSON"]})
        path.write_bytes(table_bytes(renamed.to_table()))
    rewrite_manifests(odd)
    write_run_page(Run(odd))
    page = parse(odd / "report.html")
    assert not {"b", "script"} & {tag for tag, _ in page.tags}
    assert HOSTILE in page.said
    assert '<b>&"run"\'<!--' in page.said


def test_the_page_names_no_note_and_no_file(finished: Path, project: Path) -> None:
    """Ids and the names of files may identify patients."""
    text = (finished / "report.html").read_text(encoding="utf-8")
    run = Run(finished)
    counts = run.validation_counts(0)
    assert counts
    annotate = (finished / "annotate.txt").read_text().splitlines()
    for name in {*counts.ids, *annotate}:
        assert not re.search(rf"\b{re.escape(name)}\b", text.split("<main>")[1])
    assert "those in annotate.txt" in text


def test_the_page_is_written_after_every_iteration(project, tmp_path, command, monkeypatch) -> None:
    shown = []

    def write(run: Run) -> None:
        write_run_page(run)
        text = (run.folder / "report.html").read_text(encoding="utf-8")
        shown.append((len(run.metrics()), "not finished" in text))

    monkeypatch.setattr(runner, "write_run_page", write)
    settings = ("--set", "loop.iterations=1", "--jobs", 1)
    done = command("run", project / "config.toml", "--out", tmp_path / "run", *settings)
    assert done.code == 0, done
    assert (shown[0], shown[-1]) == ((1, True), (2, False))


def test_an_internal_error_of_the_page_does_not_stop_the_run(
    project: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(run: Run) -> None:
        raise ZeroDivisionError("Anna Puig")

    monkeypatch.setattr(runner, "write_run_page", fail)
    out = tmp_path / "run"
    settings = ("--set", "loop.iterations=0", "--jobs", 1)
    done = command("run", project / "config.toml", "--out", out, *settings)
    assert done.code == 0 and Run(out).is_finished()
    assert f"{out} has no new report: ZeroDivisionError" in " ".join(done.err.split())
    assert "Anna" not in done.all


def test_what_is_missing_is_written_by_resuming(
    copied, finished, project, command, parse, contents
) -> None:
    """As if the run had been killed before its last steps."""
    for name in ("report.html", "best", "metrics.parquet", "advice.json", "annotate.txt"):
        (copied / name).unlink()
    done = command("run", project / "config.toml", "--out", copied, "--resume")
    assert done.code == 0
    parse(copied / "report.html")
    assert contents(copied) == contents(finished)
    assert f"({copied / 'annotate.txt'})" in done.out


def test_the_page_of_a_run_that_goes_on_is_not_written_all_the_time(copied, parse) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    page = copied / "report.html"
    page.touch()
    write_run_page(Run(copied))
    assert "not finished" not in parse(page).said  # it is new
    os.utime(page, (0, 0))
    write_run_page(Run(copied))
    assert "not finished: 3 iterations so far" in parse(page).said


def test_a_run_of_one_iteration_has_the_figures_that_it_can(copied: Path, parse: Parse) -> None:
    for number in (1, 2, 3):
        shutil.rmtree(copied / "iterations" / f"00{number}")
    (copied / "report.html").unlink()
    write_run_page(Run(copied))
    page = parse(copied / "report.html")
    assert page.names("figure") == [
        "scores", "classes", "errors", "confusion", "calibration", "seconds"
    ]  # fmt: skip


def test_what_was_not_recorded_is_left_out_and_named(copied: Path, parse: Parse) -> None:
    for path in (copied / "iterations").rglob("validation.parquet"):
        table = read_table(path).drop_columns("confidence")
        path.write_bytes(table_bytes(table))
    rewrite_manifests(copied)
    write_run_page(Run(copied))
    page = parse(copied / "report.html")
    assert page.names("figure") == [name for name in FIGURES if name != "calibration"]
    assert "The confidence of the validation documents was not recorded." in page.said
