"""A run with the preset "auto": what it decides, and that it continues as if never interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from bootstrap.runs.folder import Run
from bootstrap.self_training.training import Trainer
from tests.bootstrap.refusals import refusal

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
def automatic(tmp_path_factory, make_project, run_here) -> Path:
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
    assert rows[1].strategy != "confident_documents"  # it has no variants
    second = [trial.name for trial in rows[2].trials]
    assert second == [rows[1].strategy, f"{rows[1].strategy} (share 0.6)"]
    for row in rows[:3]:
        (chosen,) = [trial for trial in row.trials if trial.chosen]
        assert chosen.f1 == row.f1 == max(trial.f1 for trial in row.trials)
    for before, row in pairwise(rows[2:]):
        assert row.f1 >= before.f1 and row.is_unchanged == bool(row.trials)
        assert row.strategy == rows[2].strategy
    assert len({row.augmented for row in rows}) == 1


def test_the_seed_alone_is_scored_on_the_test_documents(automatic: Path, command: Command) -> None:
    """As a run without copies, whose iteration 0 is the seed alone, scores it."""
    seed, test = automatic / "small.jsonl", automatic / "validation.jsonl"
    bootstrap.write(islice(bootstrap.read(automatic / "seed.jsonl"), 30), seed)
    settings = ("loop.iterations=0", f"data.seed={seed}", f"data.test={test}")
    arguments = [part for setting in settings for part in ("--set", setting)]
    for name, others in {"copies": [], "alone": ["--set", "augment.copies=0"]}.items():
        folder = automatic / name
        done = command("run", automatic / "config.toml", "--out", folder, *arguments, *others)
        assert done.code == 0, done
    copies, alone = Run(automatic / "copies"), Run(automatic / "alone")
    assert copies.metrics()[0].augmented
    headline = copies.headline()
    assert headline.on_test
    assert headline.first == alone.test_counts(0).total != copies.test_counts(0).total
    assert headline.best == copies.final.test_counts().total


def test_only_the_models_that_are_needed_are_kept(automatic: Path) -> None:
    folders = sorted((automatic / "run" / "iterations").iterdir())
    assert all((folder / "model").is_dir() for folder in folders)
    assert not list((automatic / "run").glob("iterations/*/alternative-*"))
    assert not any((folder / "second").exists() for folder in folders[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("closed", [1, 2, 3])
def test_an_interrupted_run_continues_with_the_same_result(
    automatic: Path, tmp_path: Path, command: Command, contents: Callable[[Path], Any], closed: int
) -> None:
    """It is interrupted before, between or after the two comparisons of strategies."""
    run = tmp_path / "run"
    arguments = ["run", automatic / "config.toml", "--out", run, "--jobs", "1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "close_iteration", _stopped_after(closed))
        assert command(*arguments).code != 0
    assert len(Run(run).metrics()) == closed
    assert command(*arguments, "--resume").code == 0
    assert contents(run) == contents(automatic / "run")


@pytest.mark.slow
def test_a_run_whose_previous_model_stays_continues_the_same(
    automatic: Path, tmp_path: Path, command: Command, contents: Callable[[Path], Any]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "_may_stay", lambda self, models, before: before.iteration == 0)
        whole, part = tmp_path / "whole", tmp_path / "part"
        arguments = ["run", automatic / "config.toml", "--jobs", "1", "--out"]
        assert command(*arguments, whole).code == 0
        with pytest.MonkeyPatch.context() as stopping:
            stopping.setattr(Run, "close_iteration", _stopped_after(2))
            assert command(*arguments, part).code != 0
        assert Run(part).iteration(1).second_folder.is_dir()
        assert command(*arguments, part, "--resume").code == 0
    assert contents(part) == contents(whole)
    rows = Run(whole).metrics()
    assert [row.is_unchanged for row in rows[:2]] == [False, True]
    assert rows[1].f1 == rows[0].f1 and rows[1].training_documents == rows[0].training_documents
    assert len(rows[2].trials) == 3  # all strategies are compared again
    models = [Run(whole).iteration(number).model_folder for number in (0, 1)]
    assert contents(models[0]) == contents(models[1])
    assert "; chosen: the previous model" in command("show", whole).out


def _stopped_after(closed: int) -> Callable[..., None]:
    """Return a replacement of `Run.close_iteration` that interrupts a run after some of them."""
    close = Run.close_iteration

    def stop(self: Run, iteration: int, *others: Any, **named: Any) -> None:
        close(self, iteration, *others, **named)
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
    automatic, tmp_path, command, monkeypatch, setting, message
) -> None:
    monkeypatch.chdir(automatic)
    for arguments in (["run", "--out", tmp_path / "run"], ["check"]):
        said = refusal(command, arguments[0], "config.toml", *arguments[1:], "--set", setting)
        assert said.startswith("bootstrap: [augment] ") and message in said
        assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def with_lists(gazetteers: str) -> str:
    """Return a configuration with the strategy that has a view of lists."""
    lists = CONFIGURATION.replace("copies = 3", "copies = 0")
    lists = lists.replace("gazetteers = []", f"gazetteers = {gazetteers}")
    return f'{lists}\n[select]\nstrategy = "agreement_with_lists"\n'


@pytest.mark.slow
def test_the_tagger_of_lists_is_built_once_and_continues_with_the_run(
    tmp_path, make_project, command, contents
) -> None:
    project = make_project(tmp_path, configuration=with_lists('["census-es", "places-es"]'))
    whole, part = project / "run", project / "part"
    arguments = ["run", project / "config.toml", "--jobs", "1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "close_iteration", _stopped_after(2))
        assert command(*arguments, "--out", part).code != 0
    assert json.loads((part / "lists/model.json").read_text())["kind"] == "lists"
    built = (part / "lists/model.json").stat().st_mtime_ns
    assert command(*arguments, "--out", part, "--resume").code == 0
    assert (part / "lists/model.json").stat().st_mtime_ns == built
    assert command(*arguments, "--out", whole).code == 0
    assert contents(part) == contents(whole)
    rows = Run(whole).metrics()
    assert {row.strategy for row in rows[1:]} == {"agreement_with_lists"}
    assert all(row.selected for row in rows[1:])


def test_lists_of_nothing_that_the_seed_has_are_refused(tmp_path, make_project, command) -> None:
    project = make_project(tmp_path, configuration=with_lists("[]"))
    message = refusal(
        command, "run", project / "config.toml", "--out", tmp_path / "run", "--jobs", "1"
    )
    assert "no class of the seed consists of names or places of [augment] gazetteers" in message


@pytest.mark.parametrize("strategy", ["auto", "agreement_with_lists"])
def test_without_words_to_count_there_is_no_view_of_lists(
    tmp_path: Path, make_project: Callable[..., Path], command: Command, strategy: str
) -> None:
    """The portfolio is compared without it; a strategy that the user chose needs it."""
    lists = with_lists('["census-es", "places-es"]').replace("agreement_with_lists", strategy)
    project = make_project(
        tmp_path, configuration=lists.replace("iterations = 3", "iterations = 1")
    )
    pool = "".join(f'{{"id": "u{number}", "text": " \\n"}}\n' for number in range(30))
    (project / "unlabeled.jsonl").write_text(pool)
    done = command("run", project / "config.toml", "--out", tmp_path / "run", "--jobs", "1")
    message = "the notes contain no words to compare the dictionary with"
    assert done.err.count(message) == 1
    if strategy == "auto":
        assert done.code == 0, done
        assert f"strategies with a view of lists are left out: {message}\n" in done.err
        names = [trial.name for trial in Run(tmp_path / "run").metrics()[1].trials]
        assert "agreement_with_lists" not in names
    else:
        assert done.code == 2
        assert done.err.endswith(f"bootstrap: {tmp_path / 'run'}: {message}\n")
