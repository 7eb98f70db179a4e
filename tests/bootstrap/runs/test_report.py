"""The page that shows a run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from bootstrap.runs.folder import Run

Command = Callable[..., Any]


class Page(HTMLParser):
    """Collects the tags and the text of a page, and sees that what opens closes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said += data


def test_the_page_shows_the_run(finished: Path) -> None:
    page = Page((finished / "report.html").read_text(encoding="utf-8"))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("svg") == 1
    assert tags.count("tr") == 5
    assert [attributes for tag, attributes in page.tags if tag == "tr"].count(
        {"class": "best"}
    ) == 1
    for row in Run(finished).metrics():
        assert f"{row.f1:.3f}" in page.said
    assert "Stopped: the maximum number of iterations is reached" in page.said
    assert "patience = 5" in page.said


def test_the_page_needs_nothing_from_elsewhere(finished: Path) -> None:
    page = Page((finished / "report.html").read_text(encoding="utf-8"))
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            if name in ("href", "xlink:href", "src", "style"):
                assert not re.search(r"https?:|//", value or ""), (tag, name, value)


def test_names_are_escaped(copied: Path) -> None:
    odd = copied.with_name('<b>&"run"')
    copied.rename(odd)
    for path in (odd / "iterations").rglob("metrics.json"):
        metrics = json.loads(path.read_text())
        metrics["classes"] = {"<i>A&B": metrics["classes"]["PERSON"]}
        path.write_text(json.dumps(metrics))
    Run(odd).write_report()
    page = Page((odd / "report.html").read_text(encoding="utf-8"))
    assert not {"b>", "i"} & {tag for tag, _ in page.tags}
    assert "<i>A&B P" in page.said
    assert '<b>&"run"' in page.said


def test_a_page_that_is_missing_is_written_by_resuming(
    copied: Path, project: Path, command: Command
) -> None:
    """As if the run had been killed before its last step."""
    (copied / "report.html").unlink()
    (copied / "best").unlink()
    (copied / "metrics.parquet").unlink()
    done = command("run", project / "config.toml", "--out", copied, "--resume")
    assert done.code == 0
    Page((copied / "report.html").read_text(encoding="utf-8"))
    assert (copied / "best").is_symlink()
    assert (copied / "metrics.parquet").is_file()


def test_a_run_that_is_not_finished_is_shown_too(copied: Path) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    Run(copied).write_report()
    assert (
        "The run is not finished."
        in Page((copied / "report.html").read_text(encoding="utf-8")).said
    )
