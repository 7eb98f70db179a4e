"""Runs that start from the model of a finished run."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.runs.folder import Run
from corpus.formats import write

pytestmark = pytest.mark.usefixtures("without_advice")


@pytest.fixture(scope="module")
def another_pool(tmp_path_factory, notes) -> Path:
    path = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    write(notes(900, 77, prefix="w"), path)
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a model but for those of its run."""
    own = ("unit.json", "model.json")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in own}


def test_the_model_of_the_run_is_compared_and_the_best_one_goes_on(
    finished, another_pool, command, tmp_path
) -> None:
    settings = ("--set", f"data.unlabeled={another_pool}", "--set", "loop.refit=true")
    words = ("run", "--continue", finished, "--out", tmp_path / "run", "--jobs", 1, *settings)
    assert command(*words).code == 0
    before, run = Run(finished), Run(tmp_path / "run")
    best = before.metrics()[before.best_iteration()]
    trials = {trial.name: trial for trial in run.metrics()[0].trials}
    assert trials["continued"].f1 == best.f1
    assert trials["continued"].chosen == (best.f1 > trials["seed_alone"].f1)
    assert trials["continued"].chosen  # or else this test shows nothing
    assert files_of(run.iteration(0).model_folder) == files_of(before.best_model())
    assert run.metrics()[run.best_iteration()].f1 >= best.f1
    if run.best_iteration() == 0:
        assert run.final_model() is None
    assert str(finished) in run.configuration()["loop"]["continues"]
    assert "is finished" in command(*words, "--resume").out


def test_without_a_better_model_the_run_is_as_it_would_be_alone(
    finished, project, command, tmp_path, contents
) -> None:
    """With the same notes and without warm starts, only the comparison differs."""
    settings = ("--set", "loop.warm_start=false", "--set", "loop.iterations=0")
    config = project / "config.toml"
    worse = tmp_path / "worse"
    assert command("run", config, "--out", worse, "--jobs", 1, *settings).code == 0
    options = ("--continue", worse, "--jobs", 1, *settings)
    assert command("run", config, "--out", tmp_path / "run", *options).code == 0
    trials = Run(tmp_path / "run").metrics()[0].trials
    assert [trial.chosen for trial in trials] == [True, False]  # ties go to the first
    models = [contents(folder / "iterations/000/model") for folder in (worse, tmp_path / "run")]
    assert models[0] == models[1]


def test_what_cannot_be_continued_is_refused_before_there_is_a_folder(
    finished, copied, project, command, tmp_path
) -> None:
    def refused(run: Path, *options: object) -> str:
        done = command("run", "--continue", run, "--out", tmp_path / "run", *options)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert not (tmp_path / "run").exists()
        return done.err

    assert "is not the folder of a run" in refused(tmp_path)
    assert 'unit = "document", not "line"' in refused(finished, "--set", "data.unit=line")
    shutil.copy(project / "seed.jsonl", tmp_path / "validation.jsonl")
    message = refused(
        finished,
        *("--set", f"data.validation={tmp_path / 'validation.jsonl'}"),
        *("--set", f"data.seed={project / 'validation.jsonl'}"),
    )
    assert "has learned from" in message
    (copied / "ended.json").unlink()
    assert "is not finished" in refused(copied)
    assert "name a CONFIG" in command("run").err


def test_validation_notes_that_were_annotated_in_rounds_are_refused(
    project, command, notes, tmp_path
) -> None:
    gold = tmp_path / "gold.jsonl"
    unlike_seed = (replace(note, text=f"{note.text} ( again )") for note in notes(100, 5))
    write(unlike_seed, gold)
    rounds = (f"active.gold={gold}", "active.budget=70", "active.round=10", "loop.iterations=0")
    settings = [word for setting in rounds for word in ("--set", setting)]
    before = tmp_path / "before"
    assert command("active", project / "config.toml", "--out", before, *settings).code == 0
    done = command("run", "--continue", before, "--set", f"data.validation={gold}", *settings[-2:])
    assert done.code == 2
    assert "has learned from" in done.err


def test_more_annotated_notes_with_another_class_continue(
    finished, project, command, tmp_path
) -> None:
    lines = (project / "seed.jsonl").read_text().splitlines()
    text = "alta el lunes por la tarde"
    lines.append(json.dumps({"id": "new", "text": text, "label": [[8, 13, "DATE"]]}))
    (tmp_path / "seed.jsonl").write_text("\n".join(lines) + "\n")
    settings = ("--set", f"data.seed={tmp_path / 'seed.jsonl'}", "--set", "loop.iterations=1")
    done = command("run", "--continue", finished, "--out", tmp_path / "run", *settings)
    assert done.code == 0, done


def test_new_notes_fit_or_do_not(finished, another_pool, command, notes, tmp_path) -> None:
    done = command("check", finished, another_pool)
    assert (done.code, done.out.splitlines()[0]) == (0, "the model fits")
    words = ("patient seen at home with fever, no news from the ward", "the cat sat on the mat")
    path = tmp_path / "other.jsonl"
    path.write_text(
        "".join(f"{json.dumps({'id': f'o{n}', 'text': words[n % 2]})}\n" for n in range(200))
    )
    done = command("check", finished, path)
    assert done.code == 3
    assert done.out.startswith("the notes differ")
    assert "bootstrap run --continue" in done.out
    assert "fever" not in done.out + done.err
    write(notes(10, 1), tmp_path / "few.jsonl")
    few = command("check", finished, tmp_path / "few.jsonl")
    assert (few.code, "10 documents" in few.err) == (2, True)
    assert command("check", finished, path, "--problems", tmp_path / "p").code == 2


@pytest.mark.slow
def test_killed_and_resumed_it_ends_with_the_same_bytes(
    finished, another_pool, launch, contents, tmp_path
) -> None:
    settings = ("--set", f"data.unlabeled={another_pool}", "--set", "loop.iterations=1")
    words = ("run", "--continue", finished, "--jobs", 1, *settings)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert launch(*words, "--out", whole).code == 0
    begun = killed / "iterations" / "000"
    process = launch.start(*words, "--out", killed)
    while not list(begun.glob("alternative-*")):  # the copy of the model
        assert process.poll() is None
        time.sleep(0.001)
    launch.killed_after(0, process)
    for seconds in (2, 4):
        launch.killed_after(seconds, launch.start(*words, "--out", killed, "--resume"))
    done = launch(*words, "--out", killed, "--resume")
    assert done.code == 0, done
    names = [name for name in contents(whole) if name.startswith(("iterations", "final"))]
    assert any("/model/" in name for name in names)
    assert all(contents(whole)[name] == contents(killed)[name] for name in names)
