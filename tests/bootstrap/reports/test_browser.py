"""A browser opens pages, at the width of a phone and at that of a desk."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootstrap.reports.writing import write_run_page
from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.folder import Run
from corpus.storage.tables import table_bytes
from tests.bootstrap.changed_runs import rewrite_manifests

Browse = Callable[..., dict[str, Any]]


def assert_sound(seen: dict[str, Any], width: int) -> None:
    """Check that all charts are drawn and fit, without an error or a request."""
    assert seen["width"] == width
    assert seen["charts"] == seen["drawn"] > 0
    assert (seen["overflow_folded"], seen["overflow"], seen["wide"]) == (0, 0, 0)
    assert seen["console"] == []
    assert [url.partition(":")[0] for url in seen["requests"]] == ["file"]


@pytest.mark.parametrize("width", [360, 1280])
def test_a_browser_draws_every_chart_of_a_run(finished: Path, browse: Browse, width: int) -> None:
    seen = browse(finished / "report.html", width=width)
    assert_sound(seen, width)
    assert seen["charts"] >= 13
    assert "PERSON" in seen["words"] and "0.95" in seen["words"]
    assert seen["keys"] >= 15 and not seen["hidden"]


@pytest.mark.parametrize(("before", "width"), [(1280, 360), (360, 1280)])
def test_charts_follow_the_width_of_the_window(
    finished: Path, browse: Browse, before: int, width: int
) -> None:
    assert_sound(browse(finished / "report.html", width=width, before=before), width)


def test_a_page_is_printed_and_is_as_before(finished: Path, browse: Browse) -> None:
    seen = browse(finished / "report.html", width=1280, printed=True)
    assert seen["paper"].startswith(b"%PDF-")
    assert seen["paper"].count(b"/Type /Page\n") + seen["paper"].count(b"/Type /Page ") >= 3
    assert_sound(seen, 1280)


def test_a_key_of_the_legend_hides_its_series(finished: Path, browse: Browse) -> None:
    before = browse(finished / "report.html", width=800)
    after = browse(finished / "report.html", width=800, press=True)
    assert_sound(after, 800)
    assert after["hidden"] == 1
    assert after["paths"] < before["paths"]


def test_what_asks_for_a_request_or_a_script_is_refused(
    finished: Path, tmp_path: Path, browse: Browse
) -> None:
    """As a name that was not escaped could."""
    text = (finished / "report.html").read_text(encoding="utf-8")
    before, body, after = text.rpartition("</body>")
    extra = (
        '<img src="https://example.org/a.png"><script src="https://example.org/a.js"></script>'
        "<script>document.title = 'taken'</script>"
    )
    page = tmp_path / "page.html"
    page.write_text(before + extra + body + after, encoding="utf-8")
    seen = browse(page, width=800)
    assert [url.partition(":")[0] for url in seen["requests"]] == ["file", "https", "https"]
    assert seen["blocked"] == ["csp", "csp"]
    assert seen["title"] == "run"
    assert len([text for text in seen["console"] if "Content Security Policy" in text]) == 3
    assert seen["drawn"] == seen["charts"]


@pytest.mark.parametrize("width", [360, 1280])
def test_many_classes_with_long_names_fit(copied: Path, browse: Browse, width: int) -> None:
    """As in MEDDOCAN, which has 22."""
    names = [f"CLASS_{number:02d}_OF_A_LONG_NAME_INDEED" for number in range(22)]
    rng = np.random.default_rng(0)
    for path in (copied / "iterations").rglob("metrics.json"):
        metrics = json.loads(path.read_text())
        metrics["classes"] = dict.fromkeys(names, metrics["classes"]["PERSON"])
        path.write_text(json.dumps(metrics))
        counts = DocumentCounts.load(path.with_name("validation.parquet"))
        classes = {name: rng.integers(0, 3, (len(counts.ids), 3)) for name in names}
        table = replace(counts, classes=classes).to_table()
        path.with_name("validation.parquet").write_bytes(table_bytes(table))
    rewrite_manifests(copied)
    write_run_page(Run(copied))
    seen = browse(copied / "report.html", width=width)
    assert_sound(seen, width)
    assert seen["charts"] >= 22
    for number in range(22):
        assert f"CLASS_{number:02d}_OF_A_" in seen["words"]
