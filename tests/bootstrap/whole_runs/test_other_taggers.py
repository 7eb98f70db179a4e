"""Runs whose second view and later iterations have other taggers, the latter an ensemble."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.inference import find_model
from bootstrap.runs.folder import Run
from corpus.formats import write
from taggers import CRFTagger, load_tagger
from taggers.ensemble.tagger import EnsembleTagger

Command = Callable[..., Any]

CONFIGURATION = """\
[tagger]
kind = "crf"
features = ["lower", "shape", "suffix3"]
window = 1
max_iterations = 10

[second_tagger]
kind = "crf"
features = ["lower"]
window = 0
streams = []
conjunctions = []
max_iterations = 10

[later_tagger]
kind = "ensemble"
iteration = 2
members = [
    { kind = "crf", features = ["lower", "shape"], max_iterations = 10 },
    { kind = "crf", features = ["suffix3"], max_iterations = 10 },
]

[loop]
preset = "paper"
iterations = 3
batch = 250
patience = 1

[select]
strategy = "agreement"
max_selected = 60
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory, make_project: Callable[..., Path]) -> Path:
    """A project with three taggers."""
    folder = tmp_path_factory.mktemp("mixed")
    return make_project(folder, unlabeled=700, configuration=CONFIGURATION)


@pytest.fixture(scope="module")
def ended(mixed: Path, run_here: Command) -> Path:
    """A run of it from its beginning to its end."""
    folder = mixed / "run"
    done = run_here("run", mixed / "config.toml", "--out", folder, "--jobs", 1)
    assert done.code == 0, done
    return folder


def test_each_iteration_has_the_tagger_that_is_configured(ended: Path) -> None:
    iterations = sorted((ended / "iterations").iterdir())
    kinds = [load_tagger(iteration / "model").kind for iteration in iterations]
    assert kinds == ["crf", "crf", "ensemble", "ensemble"]
    assert [row.tagger for row in Run(ended).metrics()] == kinds
    report = (ended / "report.html").read_text(encoding="utf-8")
    assert '<th scope="col" class="text">tagger</th>' in report
    assert report.count('<td class="text">ensemble</td>') == 2


def test_a_run_with_one_kind_of_tagger_does_not_name_it_in_each_row(finished: Path) -> None:
    assert ">tagger</th>" not in (finished / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "iteration"), [(3, "000"), (6, "001"), (8, "002")])
def test_a_run_with_several_taggers_is_resumed(
    number, iteration, ended, mixed, contents, command, monkeypatch
) -> None:
    """It is interrupted while it saves a model of the iteration after the named one."""
    stopped = mixed / f"stopped-{number}"
    arguments = ("run", mixed / "config.toml", "--out", stopped, "--jobs", 1)
    saved, save = [], CRFTagger.save

    def interrupted(self: CRFTagger, folder: Path) -> None:
        saved.append(folder)
        if len(saved) == number:
            raise KeyboardInterrupt
        save(self, folder)

    with monkeypatch.context() as patch:
        patch.setattr(CRFTagger, "save", interrupted)
        assert command(*arguments).code != 0
    model = stopped / "iterations" / iteration / "second" / "model.json"
    assert json.loads(model.read_text())["options"]["features"] == ["lower"]
    done = command(*arguments, "--resume")
    assert done.code == 0, done
    assert contents(stopped) == contents(ended)


def test_a_run_that_ended_has_no_second_view_to_continue_with(
    ended: Path, mixed: Path, tmp_path: Path, command: Command
) -> None:
    again = Path(shutil.copytree(ended, tmp_path / "again", symlinks=True))
    shutil.rmtree(again / "iterations" / "003")
    done = command("run", mixed / "config.toml", "--out", again, "--resume", "--jobs", 1)
    assert done.code == 2
    message = "iteration 2 has no model of the second view, with which the next one selects"
    assert message in done.err.replace("\n", " ")


def test_the_best_model_tags_and_has_advice(ended: Path, mixed: Path, command: Command) -> None:
    assert command("show", ended).code == 0
    assert (ended / "annotate.txt").is_file()
    done = command("tag", ended, mixed / "unlabeled.jsonl", mixed / "tagged.jsonl", "--jobs", 1)
    assert done.code == 0, done
    assert load_tagger(find_model(ended)).labels


def test_every_ensemble_has_a_model_of_both_members(ended: Path) -> None:
    for iteration in ("002", "003"):
        model = ended / "iterations" / iteration / "model"
        members = [json.loads((model / f"member-{n}" / "model.json").read_text()) for n in (1, 2)]
        assert [len(member["options"]["features"]) for member in members] == [2, 1]
        for path in (model, *model.rglob("*")):
            assert path.stat().st_mode & 0o077 == 0
        metrics = json.loads((ended / "iterations" / iteration / "metrics.json").read_text())
        assert metrics["training"]["iterations"] > 10  # of both members


def test_a_run_is_not_resumed_with_other_members(ended, mixed, command) -> None:
    other = ("--set", 'later_tagger.members=[{kind = "crf"}]')
    done = command("run", mixed / "config.toml", "--out", ended, "--resume", *other)
    assert done.code == 2
    assert "was started with later_tagger.members = " in done.err


@pytest.fixture
def ensemble(ended: Path) -> Path:
    """A model of several members."""
    return ended / "iterations/003/model"


def test_an_ensemble_is_exported(ensemble: Path, tmp_path: Path, command: Command) -> None:
    done = command("export", ensemble, tmp_path / "model", "--hash-names", "--min-patients", 2)
    assert done.code == 0, done
    assert isinstance(load_tagger(find_model(tmp_path / "model")), EnsembleTagger)
    for path in (tmp_path / "model", *(tmp_path / "model").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0
        assert path.is_dir() or b"garc" not in path.read_bytes().lower()


@pytest.mark.processes
def test_notes_are_tagged_over_processes_as_in_one(ensemble, notes, tmp_path, command) -> None:
    write(notes(2600, 7), tmp_path / "notes.jsonl")
    outputs = []
    for jobs in (1, 2):
        target = tmp_path / f"{jobs}.jsonl"
        assert command("tag", ensemble, tmp_path / "notes.jsonl", target, "--jobs", jobs).code == 0
        outputs.append(target.read_bytes())
    assert outputs[0] == outputs[1]
    assert b"PERSON" in outputs[0]
