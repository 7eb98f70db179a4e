"""Test documents of a run: each model is scored on them in the end, and they determine nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bootstrap
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.evaluation.measures import ConfusionCounts
from corpus.formats import write
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]
MakeNotes = Callable[..., list[Document]]
NAME = "test.parquet"


@pytest.fixture(scope="module")
def test_notes(notes: MakeNotes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes with texts that no note of the pool has."""
    path = tmp_path_factory.mktemp("test") / "test.jsonl"
    made = notes(150, 7, prefix="t")
    write([Document(note.id, f"{note.text} .", note.spans) for note in made], path)
    return path


@pytest.fixture(scope="module")
def tested(project, test_notes, tmp_path_factory, run_here) -> tuple[Path, str]:
    """The run of `finished` with test notes, and what it printed."""
    folder = tmp_path_factory.mktemp("tested") / "run"
    arguments = ("--set", f"data.test={test_notes}", "--jobs", "1")
    done = run_here("run", project / "config.toml", "--out", folder, *arguments)
    assert done.code == 0, done
    return folder, done.out


def test_every_iteration_is_scored_as_tagging_and_evaluating_scores_it(tested, test_notes) -> None:
    run, gold = Run(tested[0]), list(bootstrap.read(test_notes))
    for row in run.metrics():
        model = bootstrap.load(run.iteration(row.iteration).model_folder)
        scores = bootstrap.evaluate(gold, model.tag(gold))
        counts = run.test_counts(row.iteration)
        assert counts.ids == tuple(note.id for note in gold)
        total = ConfusionCounts(*counts.all_classes.sum(axis=0).tolist())
        assert total == scores.counts()


def test_the_run_is_the_same_without_test_notes(tested, finished, contents) -> None:
    left, right = contents(tested[0]), contents(finished)
    described = {"config.toml", "data.parquet", ".lock", "assessment.json"}
    different = {name for name in {*left, *right} if left.get(name) != right.get(name)}
    assert {name for name in different - described if not name.endswith(NAME)} == set()


def test_the_scores_are_printed_and_shown(tested: tuple[Path, str], command: Command) -> None:
    folder, printed = tested
    run = Run(folder)
    best = run.test_counts(run.best_iteration()).total
    line = f"to {best.f1:.3f} on the test documents ({best.f1 - run.headline().first.f1:+.3f}"
    assert line in printed
    assert line in command("show", folder).out
    assert line in (folder / "report.html").read_text("utf-8")


def test_a_run_killed_before_it_scored_all_models_goes_on(
    project: Path, test_notes: Path, tested: tuple[Path, str], command: Command
) -> None:
    run = Run(tested[0])
    before = [run.test_counts(row.iteration) for row in run.metrics()]
    (run.iteration(2).folder / NAME).unlink()
    (run.iteration(3).folder / NAME).unlink()
    arguments = ("--set", f"data.test={test_notes}", "--resume")
    assert command("run", project / "config.toml", "--out", tested[0], *arguments).code == 0
    for row, counts in zip(run.metrics(), before, strict=True):
        again = run.test_counts(row.iteration)
        assert np.array_equal(again.all_classes, counts.all_classes)


def test_texts_and_patients_of_test_are_never_selected(
    project, tmp_path, command, without_advice
) -> None:
    pool = [
        Document(note.id, note.text, (), f"p{number % 50}")
        for number, note in enumerate(bootstrap.read(project / "unlabeled.jsonl"))
    ]
    write(pool, tmp_path / "unlabeled.jsonl")
    first = pool[0]
    test = [
        Document("same", first.text, (Span(0, 3, "PERSON"),)),
        Document("of a patient", "Ve Anna", (Span(3, 7, "PERSON"),), "p7"),
    ]
    write(test, tmp_path / "test.jsonl")
    settings = (
        *("--set", f"data.test={tmp_path / 'test.jsonl'}"),
        *("--set", f"data.unlabeled={tmp_path / 'unlabeled.jsonl'}", "--set", "loop.iterations=1"),
    )
    done = command("run", project / "config.toml", "--out", tmp_path / "run", *settings)
    assert done.code == 0, done
    selected = Run(tmp_path / "run").iteration(1).folder / "selected.parquet"
    chosen = list(bootstrap.read(selected))
    assert chosen
    assert not [note for note in chosen if note.text == first.text or note.group == "p7"]
    assert "notes held out because a validation or test note has the same text" in done.err


def test_test_notes_with_an_id_twice_or_without_entities_are_refused(
    project: Path, tmp_path: Path, command: Command
) -> None:
    one = Document("t", "Ve Anna", (Span(3, 7, "PERSON"),))
    for name, documents, expected in (
        ("twice", [one, Document("t", "Ve Pere")], "document t occurs twice"),
        ("bare", [Document("t", "Ve Anna")], "1 document without any entity"),
    ):
        write(documents, tmp_path / f"{name}.jsonl")
        arguments = ("--set", f"data.test={tmp_path / name}.jsonl", "--out", tmp_path / "run")
        assert expected in refusal(command, "run", project / "config.toml", *arguments)
        assert not (tmp_path / "run").exists()
        checked = command("check", project / "config.toml", *arguments[:2])
        assert checked.code == 2
