"""Experiments that are changed, moved, refused or damaged: nothing is lost, and all is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bootstrap
from bootstrap.experiments import runner
from bootstrap.experiments.folder import ExperimentFolder
from bootstrap.experiments.results import read_results
from bootstrap.reports.comparison import compare
from bootstrap.runs.folder import Run
from corpus.errors import InputError
from corpus.storage.tables import table_bytes
from tests.bootstrap.experiments.conftest import EXPERIMENT, QUICK
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]
OwnFile = Callable[[str], Path]


def state_of(folder: Path) -> dict[str, bytes]:
    """Return the content of all files of a folder but the lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def test_a_file_of_the_user_is_not_replaced(own_file, tmp_path, command) -> None:
    """In a folder whose files have the names of those of an experiment."""
    path = own_file(QUICK)
    for name in ("experiment.toml", "documents/a.txt", "data.parquet"):
        folder = tmp_path / name.split("/", maxsplit=1)[0].replace(".", "-")
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(path, folder / name)
        before = state_of(folder)
        message = refusal(command, "experiment", path, "--out", folder)
        assert "exists already and is not an experiment" in message
        assert state_of(folder) == before
        assert not (folder / ".lock").exists()
    folder = tmp_path / "both"
    folder.mkdir()
    shutil.copy(path, folder / "experiment.toml")
    pq.write_table(pa.table({"split": ["seed"]}), folder / "data.parquet")
    before = state_of(folder)
    message = refusal(command, "experiment", path, "--out", folder)
    assert "is not the plan of an experiment that was begun here" in message
    assert state_of(folder) == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("iterations = 2", "iterations = 3", "was started with loop.iterations = 2"),
        ("documents = 40", "documents = 50", "was started with seed.documents = 40, not 50"),
        ("random_states = [0, 1]", "folds = 3", "was started with experiment.folds = 0, not 3"),
        (
            "[tagger]",
            '[labels]\nPERSON = "PERSON"\n[tagger]',
            "was started with labels.PERSON = nothing",
        ),
        ('method = "supervised"', "", "was started with method = 'supervised'"),
    ],
)
def test_a_change_that_is_refused_changes_nothing(
    old: str, new: str, message: str, copy: Path, own_file: OwnFile, command: Command
) -> None:
    assert old in EXPERIMENT
    before = (copy / "experiment.toml").read_bytes(), (copy / "data.parquet").read_bytes()
    path = own_file(EXPERIMENT.replace(old, new, 1))
    assert message in refusal(command, "experiment", path, "--out", copy)
    with pytest.raises(InputError):
        bootstrap.experiment(path, out=copy, jobs=1)
    assert ((copy / "experiment.toml").read_bytes(), (copy / "data.parquet").read_bytes()) == before
    assert command("experiment", own_file(EXPERIMENT), "--out", copy).code == 0


def test_an_attempt_that_was_refused_does_not_bind_the_next_one(
    own_file: OwnFile, tmp_path: Path, command: Command
) -> None:
    text = QUICK.replace('validation = "validation.jsonl"\n', "")
    text = text.replace("random_states = [0]", "random_states = [0]\nfolds = 500")
    message = refusal(command, "experiment", own_file(text), "--out", tmp_path / "e", "--yes")
    assert "folds = 500" in message
    text = text.replace("folds = 500", "folds = 3")
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 0, done
    assert len(read_results(ExperimentFolder(tmp_path / "e"))) == 3


def test_a_moved_experiment_is_continued(copy, own_file, command, tmp_path) -> None:
    """Also its unfinished runs; its runs can be repeated by their configurations."""
    moved = copy.rename(tmp_path / "elsewhere")
    run = Run(moved / "runs" / "trained" / "0-half-0")
    expected = run.metrics()
    last = run.iteration(len(expected) - 1).folder
    shutil.rmtree(last)
    (run.folder / "metrics.parquet").unlink()
    done = command("experiment", own_file(EXPERIMENT), "--out", moved, "--jobs", 1)
    assert done.code == 0, done
    assert "11 of 12 runs are finished" in done.err
    assert [row.f1 for row in run.metrics()] == [row.f1 for row in expected]
    for other in (run, Run(moved / "runs" / "alone" / "1-half-1")):
        assert other.configuration()["data"]["seed"].startswith(str(moved))
        assert all(Path(row["file"]).exists() for row in pq.read_table(other.data_file).to_pylist())
    again = ("run", run.config_file, "--out", tmp_path / "again", "--jobs", 1)
    assert command(*again).code == 0


def test_scores_of_other_documents_are_named(copy, own_file, command) -> None:
    run = Run(copy / "runs" / "trained" / "1-half-0")
    path = run.iteration(run.best_iteration()).folder / "test.parquet"
    path.write_bytes(table_bytes(pq.read_table(path).slice(3)))
    for arguments in (
        ("experiment", own_file(EXPERIMENT), "--out", copy),
        ("report", copy, "-o", copy.parent / "p.html"),
    ):
        message = refusal(command, *arguments)
        assert f"{run.folder}: its test documents are not the test documents" in message


def test_without_the_first_variant_there_are_no_differences(copy, own_file, command) -> None:
    shutil.rmtree(copy / "runs" / "alone")
    done = command("experiment", own_file(EXPERIMENT), "--out", copy, "--list")
    assert done.code == 0
    assert "8 of 12 runs are finished." in done.out
    assert "There are no differences: no run of alone is finished." in done.out
    rows = compare(read_results(ExperimentFolder(copy)), "alone")
    assert [row.difference for row in rows] == [None, None]


def test_tables_of_what_was_removed_are_removed(copy, own_file, command, monkeypatch) -> None:
    assert (copy / "tables" / "scores.csv").exists()
    text = QUICK.replace("[0]", "[0, 1]")  # no variant has more than one iteration
    assert command("experiment", own_file(text), "--out", copy).code == 0
    assert not (copy / "tables" / "scores.csv").exists()


def test_runs_without_their_embeddings_are_not_begun(
    own_file: OwnFile, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise InputError("no words")

    monkeypatch.setattr("bootstrap.experiments.runner.embeddings_of_notes", fail)
    text = f'{QUICK}[variants.clusters]\nmethod = "supervised"\ntagger.clusters = "auto"\n'
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 2
    assert "embeddings of half-1 failed: no words" in done.err
    assert "clusters/0-half-1 failed: the embeddings of half-1 are missing" in done.err
    assert "2 of 4 runs failed" in done.err
    assert not (tmp_path / "e" / "runs" / "clusters").exists()
    assert "alone" in done.out


def test_a_budget_beyond_the_documents_is_refused_before_any_run(
    own_file: OwnFile, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def carry_out(*arguments: Any) -> None:
        raise AssertionError("nothing may begin")

    monkeypatch.setattr(runner, "carry_out", carry_out)
    for budget in (40, 201):
        text = f'{QUICK}[variants.asked]\nmethod = "active"\nactive.budget = {budget}\n'
        message = refusal(command, "experiment", own_file(text), "--out", tmp_path / "e")
        assert f"budget = {budget} (variant asked)" in message
        assert "at most the 200 documents" in message


def test_cross_validation_of_an_experiment_is_refused(own_file, tmp_path, command) -> None:
    message = refusal(
        command, "crossvalidate", own_file(QUICK), "--folds", 3, "--out", tmp_path / "e"
    )
    assert "[experiment] belongs to an experiment" in message
    text = EXPERIMENT[: EXPERIMENT.index("[experiment]")]
    arguments = ("--methods", "supervised,supervised", "--out", tmp_path / "e")
    message = refusal(command, "crossvalidate", own_file(text), *arguments)
    assert "a method is named twice" in message
    done = command("crossvalidate", own_file(text), "--folds", 1)
    assert (done.code, "--folds 1: expected 2 or more" in done.err) == (2, True)
    assert not (tmp_path / "e").exists()


def test_runs_with_other_test_documents_are_not_compared_on_them(
    carried_out: tuple[Path, Any], tmp_path: Path, command: Command
) -> None:
    """The halves change places: they are validated on different documents, too, so cut alike."""
    run = carried_out[0] / "runs" / "trained" / "0-half-0"
    other = Path(shutil.copytree(run, tmp_path / "other"))
    for path in other.glob("iterations/*/test.parquet"):
        path.write_bytes(table_bytes(pq.read_table(path).slice(0, 40)))
    message = refusal(
        command, "plot", run, other, "--what", "test", "--test", "-o", tmp_path / "t.png"
    )
    assert "are scored on different test documents" in message
    message = refusal(
        command, "report", f"x={run}", f"x={other}", "--test", "-o", tmp_path / "t.html"
    )
    assert "are scored on different test documents" in message
    done = command("report", run, other, "--test", "-o", tmp_path / "t.html")
    assert done.code == 0
    assert "Part 2" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert command("report", run, other, "-o", tmp_path / "u.html").code == 0
    assert "Part 2" not in (tmp_path / "u.html").read_text(encoding="utf-8")
