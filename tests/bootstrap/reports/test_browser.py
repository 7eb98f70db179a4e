"""Pages as a browser shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bootstrap.reports.page import write_run_page
from bootstrap.runs.folder import Run
from bootstrap.runs.records import DocumentCounts
from corpus.storage.tables import table_bytes
from tests.bootstrap.changed_runs import rewrite_manifests

Browse = Callable[..., dict[str, Any]]


def assert_sound(seen: dict[str, Any], figures: int) -> None:
    """Check that all figures are drawn and fit, without an error or a request."""
    assert (seen["drawn"], seen["wide"]) == (figures, 0)
    assert seen["overflow"] == [0, 0]
    assert (seen["console"], seen["requests"]) == ([], ["file"])


def test_a_page_fits_wide_and_narrow_screens_in_light_and_dark(finished, browse) -> None:
    papers = set()
    for width, scheme in ((360, "dark"), (1280, "light")):
        seen = browse(finished / "report.html", width=width, scheme=scheme)
        assert_sound(seen, 12)
        assert "PERSON" in seen["words"] and "0.95" in seen["words"]
        papers.add(seen["paper"])
    assert len(papers) == 2


def test_what_asks_for_a_request_or_a_script_is_refused(finished, tmp_path, browse) -> None:
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
    assert seen["requests"] == ["file", "https", "https"]
    assert seen["blocked"] == ["csp", "csp"]
    assert seen["title"] == "run"
    assert len([text for text in seen["console"] if "Content Security Policy" in text]) == 3


def test_many_classes_with_long_names_fit(copied: Path, browse: Browse) -> None:
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
    page = copied / "report.html"
    assert page.stat().st_size < 500_000
    for width in (360, 1280):
        seen = browse(page, width=width)
        assert_sound(seen, 12)
        assert all(f"CLASS_{number:02d}_OF_A_" in seen["words"] for number in range(22))
