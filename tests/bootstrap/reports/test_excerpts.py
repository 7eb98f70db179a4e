"""Errors in their text: only where it is asked for, and from unchanged files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import bootstrap
from bootstrap.reports.parts.errors import CONTEXT, EXAMPLES, excerpt_of
from bootstrap.runs.folder import Run
from corpus.document import Span
from corpus.evaluation.error_analysis import EntityError
from tests.bootstrap.refusals import refusal

MENTIONS = st.builds(
    lambda start, length: Span(start, start + length, "A"), st.integers(0, 150), st.integers(1, 30)
)


@given(st.none() | MENTIONS, st.none() | MENTIONS, st.integers(180, 300))
def test_the_parts_are_the_text_around_the_error(gold, predicted, length) -> None:
    if gold is None and predicted is None:
        return
    text = "".join(chr(0x4E00 + place) for place in range(length))
    excerpt = excerpt_of("d", EntityError(0, gold, predicted), text)
    known = [mention for mention in (gold, predicted) if mention]
    first, last = min(m.start for m in known), max(m.end for m in known)
    whole = "".join(part for part, _ in excerpt.parts).strip("…")
    assert whole == text[max(first - CONTEXT, 0) : last + CONTEXT]
    for side, mention in (("gold", gold), ("predicted", predicted)):
        shown = "".join(part for part, kind in excerpt.parts if kind in (side, "both"))
        assert shown == (text[mention.start : mention.end] if mention else "")
    assert excerpt.where == f"d: {first}-{last}"


def test_text_is_shown_where_it_is_asked_for(finished, project, tmp_path, command, parse) -> None:
    page = tmp_path / "page.html"
    assert command("report", finished, "--show-text", "-o", page).code == 0
    shown = parse(page)
    run = Run(finished)
    errors = run.errors(run.best_iteration())
    assert errors
    texts = {note.id: note.text for note in bootstrap.read(project / "validation.jsonl")}
    name = run.validation_counts(0).ids[errors[0].row]
    mention = errors[0].gold or errors[0].predicted
    assert mention
    assert f"{name}: " in shown.said
    assert texts[name][mention.start : mention.end] in shown.said
    assert "as private as they are" in shown.said
    marks = [attributes for tag, attributes in shown.tags if tag == "mark"]
    assert {mark["class"] for mark in marks} <= {"gold", "predicted", "both"}
    kinds = {(error.kind, (error.gold or error.predicted or mention).label) for error in errors}
    excerpts = [1 for _, attributes in shown.tags if attributes.get("class") == "excerpt"]
    assert len(excerpts) <= EXAMPLES * len(kinds)


def test_text_of_changed_files_is_not_shown(
    project, make_project, tmp_path, command, without_advice
) -> None:
    folder = make_project(tmp_path / "project", unlabeled=700)
    run = tmp_path / "run"
    settings = ("--set", "loop.iterations=0", "--jobs", 1)
    assert command("run", folder / "config.toml", "--out", run, *settings).code == 0
    file = folder / "validation.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("TA 120", "TA 121"), encoding="utf-8")
    message = refusal(command, "report", run, "--show-text", "-o", tmp_path / "page.html")
    assert f"validation file {file} has changed since the run was started" in message
    assert command("report", run, "-o", tmp_path / "page.html").code == 0
    file.unlink()
    message = refusal(command, "report", run, "--show-text", "-o", tmp_path / "page.html")
    assert str(file) in message


def test_text_of_several_runs_is_not_shown(finished, copied, tmp_path, command) -> None:
    message = refusal(
        command, "report", finished, copied, "--show-text", "-o", tmp_path / "page.html"
    )
    assert "--show-text shows the errors of one run" in message
