"""Patterns before the tagger of a run, in what is decided, shown and tagged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.formats import read, write

TABLE = """
[[pattern]]
class = "RECORD"
expression = 'HC\\d+'
confidence = 0.98
"""

CONFIGURATION = """\
[data]
validation = "validation.jsonl"

[tagger]
features = ["shape"]
window = 0
max_iterations = 10

[loop]
preset = "paper"
iterations = 1
batch = 20

[patterns]
files = ["table.toml"]
"""


def note(number: int) -> Document:
    """Make a note with a name; every third one has a record number, too."""
    text, spans = f"Nota de Anna{number} hoy", [Span(8, 12 + len(str(number)), "PERSON")]
    if number % 3 == 0:
        spans.append(Span(len(text) + 1, len(text) + 5 + len(str(number)), "NHC"))
        text += f" HC00{number}"
    return Document(str(number), text, tuple(spans), group=str(number))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patterns")
    notes = [note(number) for number in range(90)]
    write([n for n in notes[:40] if len(n.spans) == 1], folder / "seed.jsonl")
    write(notes[40:60], folder / "validation.jsonl")
    write([Document(n.id, n.text, (), n.group) for n in notes[60:]], folder / "unlabeled.jsonl")
    (folder / "table.toml").write_text(TABLE)
    (folder / "config.toml").write_text(CONFIGURATION)
    return folder


def test_spans_of_patterns_are_found_that_the_seed_does_not_have(
    project: Path, run_here: Callable[..., Any], tmp_path: Path
) -> None:
    config = project / "config.toml"
    checked = run_here("check", config)
    assert "RECORD: NHC, 1 of 1 pattern trusted" in checked.all
    run_here("run", config, "--out", tmp_path / "run", "--jobs", 1)
    run = Run(tmp_path / "run")
    (decision,) = run.patterns()
    assert decision.tagged_as == "NHC" and decision.is_trusted
    assert decision.right == decision.spans > 0 and decision.other_right > 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert ">RECORD<" in page
    f1 = run.metrics()[-1].halves[1].f1
    assert f"decides nothing about patterns: {f1:.3f}" in page
    saved = json.loads((run.best_model() / "patterns.json").read_text())
    assert saved["labels"] == {"RECORD": "NHC"}
    out = tmp_path / "out.jsonl"
    run_here("tag", tmp_path / "run", project / "unlabeled.jsonl", out)
    found = {
        d.id: {d.text[s.start : s.end] for s in d.spans if s.label == "NHC"}
        for d in read(out, problems=Problems())
    }
    assert found == {str(i): {f"HC00{i}"} if i % 3 == 0 else set() for i in range(60, 90)}
    run_here("export", tmp_path / "run", tmp_path / "exported", "--min-patients", 1)
    run_here("tag", tmp_path / "exported", project / "unlabeled.jsonl", tmp_path / "again.jsonl")
    assert [d.spans for d in read(tmp_path / "again.jsonl", problems=Problems())] == [
        d.spans for d in read(out, problems=Problems())
    ]


def test_the_paper_has_no_patterns_and_tables_are_tested_first(
    project: Path, run_here: Callable[..., Any], tmp_path: Path
) -> None:
    config = project / "config.toml"
    run_here("run", config, "--out", tmp_path / "run", "--jobs", 1, "--set", "patterns.files=[]")
    assert not Run(tmp_path / "run").patterns()
    refused = run_here("check", config, "--set", "patterns.labels={ FAX = 'X' }")
    assert refused.code == 2
    assert "[patterns] labels names the class FAX; the tables have RECORD" in refused.all
