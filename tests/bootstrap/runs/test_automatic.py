"""A run with the preset "auto": what it decides, and that it continues as if never interrupted."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.runs.folder import Run

Command = Callable[..., Any]

CONFIGURATION = """\
[tagger]
features = ["lower", "shape", "suffix3"]
window = 1
max_iterations = 15
clusters = ""
names = []
phrases = []

[augment]
copies = 3
gazetteers = []

[loop]
iterations = 3
batch = 400
"""


@pytest.fixture(scope="module")
def automatic(
    tmp_path_factory: pytest.TempPathFactory,
    make_project: Callable[..., Path],
    run_here: Command,
) -> Path:
    """A finished run of a project, in the folder ``run`` of it."""
    project = make_project(tmp_path_factory.mktemp("automatic"), configuration=CONFIGURATION)
    done = run_here("run", project / "config.toml", "--out", project / "run", "--jobs", "1")
    assert done.code == 0, done
    for line in ("Training (iteration 0): validation F1 of the seed alone", "; chosen: "):
        assert line in done.all
    return project


def test_alternatives_are_compared_once_and_the_best_is_kept(automatic: Path) -> None:
    rows = Run(automatic / "run").metrics()
    assert [trial.name for trial in rows[0].trials] == ["seed_alone", "augmented"]
    names = [trial.name for trial in rows[1].trials]
    assert names == ["confident_documents", "agreement", "consensus"]
    for row in rows[:2]:
        (chosen,) = [trial for trial in row.trials if trial.chosen]
        assert chosen.f1 == row.f1 == max(trial.f1 for trial in row.trials)
    assert all(not row.trials and row.strategy == rows[1].strategy for row in rows[2:])
    assert len({row.augmented for row in rows}) == 1


def test_only_the_models_that_are_needed_are_kept(automatic: Path) -> None:
    folders = sorted((automatic / "run" / "iterations").iterdir())
    assert all((folder / "model").is_dir() for folder in folders)
    assert not list((automatic / "run").glob("iterations/*/alternative-*"))
    assert not any((folder / "second").exists() for folder in folders[:-1])


@pytest.mark.parametrize("closed", [1, 2])
def test_an_interrupted_run_continues_with_the_same_result(
    automatic: Path, tmp_path: Path, command: Command, contents: Callable[[Path], Any], closed: int
) -> None:
    """It is interrupted after iteration 0, before the comparison, or after iteration 1."""
    runs = []
    for number in (closed - 1, 9):
        run = tmp_path / f"run{number}"
        arguments = ["run", automatic / "config.toml", "--out", run, "--jobs", "1"]
        if number == 9:
            shutil.copytree(runs[0], run, symlinks=True)
        if number == closed - 1:
            stop = _stopped_after(closed)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Run, "close_iteration", stop)
                assert command(*arguments).code != 0
        else:
            assert command(*arguments, "--resume").code == 0
        runs.append(run)
    assert len(Run(runs[0]).metrics()) == closed
    assert contents(runs[1]) == contents(automatic / "run")


def _stopped_after(closed: int) -> Callable[..., None]:
    """Return a replacement of `Run.close_iteration` that interrupts a run after some of them."""
    close = Run.close_iteration

    def stop(self: Run, iteration: int, *others: Any) -> None:
        close(self, iteration, *others)
        if iteration + 1 == closed:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('augment.gazetteers=["none.parquet"]', "none.parquet does not exist"),
        ('augment.gazetteers=["config.toml"]', "config.toml is not a gazetteer"),
        ("augment.grammar=none.toml", "none.toml"),
    ],
)
def test_what_the_augmentation_reads_is_checked_before_there_is_a_folder(
    automatic: Path,
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    message: str,
) -> None:
    monkeypatch.chdir(automatic)
    for arguments in (["run", "--out", tmp_path / "run"], ["check"]):
        done = command(arguments[0], "config.toml", *arguments[1:], "--set", setting)
        assert done.code == 2
        assert done.err.startswith("bootstrap: [augment] ") and message in done.err
        assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
