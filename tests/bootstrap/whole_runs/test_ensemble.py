"""Runs with an ensemble: from the command line, resumed, and over several processes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.inference import find_model
from corpus.errors import Problems
from corpus.formats import read, write
from taggers import load_tagger
from taggers.ensemble.tagger import EnsembleTagger

Command = Callable[..., Any]

CONFIGURATION = """\
[tagger]
kind = "ensemble"

[[tagger.members]]
kind = "crf"
features = ["lower", "shape", "suffix3"]
window = 1
max_iterations = 10

[[tagger.members]]
kind = "crf"
features = ["lower"]
window = 0
streams = []
conjunctions = []
max_iterations = 10

[loop]
preset = "paper"
iterations = 2
batch = 300
patience = 5

[select]
strategy = "agreement"
max_selected = 60
"""


@pytest.fixture(scope="module")
def ensembles(tmp_path_factory: pytest.TempPathFactory, make_project: Callable[..., Path]) -> Path:
    """A project with an ensemble of two CRFs."""
    folder = tmp_path_factory.mktemp("ensembles")
    return make_project(folder, unlabeled=700, configuration=CONFIGURATION)


@pytest.fixture(scope="module")
def ended(ensembles: Path, run_here: Command) -> Path:
    """A run of it from its beginning to its end."""
    folder = ensembles / "run"
    done = run_here("run", ensembles / "config.toml", "--out", folder, "--jobs", 1)
    assert done.code == 0, done
    return folder


def test_every_iteration_has_a_model_of_both_members(ended: Path) -> None:
    for iteration in ("000", "001"):
        model = ended / "iterations" / iteration / "model"
        members = [json.loads((model / f"member-{n}" / "model.json").read_text()) for n in (1, 2)]
        assert [len(member["options"]["features"]) for member in members] == [3, 1]
        for path in (model, *model.rglob("*")):
            assert path.stat().st_mode & 0o077 == 0
        metrics = json.loads((ended / "iterations" / iteration / "metrics.json").read_text())
        assert metrics["f1"] > 0.3
        assert metrics["training"]["iterations"] > 10  # of both members


def test_a_run_that_was_interrupted_while_a_model_was_saved_is_resumed(
    ended: Path,
    ensembles: Path,
    contents: Callable[[Path], dict[str, object]],
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = ("run", ensembles / "config.toml", "--out", ensembles / "again", "--jobs", 1)
    calls, save = [], EnsembleTagger.save

    def interrupted(self: EnsembleTagger, folder: Path) -> None:
        calls.append(folder)
        if len(calls) == 4:  # after both views of iteration 0
            (folder / "member-1").mkdir(parents=True)
            self.members[0].save(folder / "member-1")
            raise KeyboardInterrupt
        save(self, folder)

    with monkeypatch.context() as patch:
        patch.setattr(EnsembleTagger, "save", interrupted)
        assert command(*arguments).code != 0
    before = ensembles / "again" / "iterations"
    assert (before / "000" / "metrics.json").is_file()
    assert (before / "000" / "second").is_dir()  # the second view, also an ensemble
    assert isinstance(load_tagger(before / "000" / "second"), EnsembleTagger)
    assert not (before / "001" / "metrics.json").exists()
    done = command(*arguments, "--resume")
    assert done.code == 0, done
    assert contents(ensembles / "again") == contents(ended)


def test_a_run_is_not_resumed_with_other_members(
    ended: Path, ensembles: Path, command: Command
) -> None:
    done = command(
        *("run", ensembles / "config.toml", "--out", ended, "--resume"),
        *("--set", 'tagger.members=[{kind = "crf"}]'),
    )
    assert done.code == 2
    assert "was started with tagger.members = " in done.err


def test_a_model_is_shown_tags_and_is_exported(
    ended: Path, ensembles: Path, tmp_path: Path, command: Command
) -> None:
    assert command("show", ended).code == 0
    gold, tagged = ensembles / "validation.jsonl", tmp_path / "tagged.jsonl"
    assert command("tag", ended, gold, tagged, "--jobs", 1).code == 0
    assert command("evaluate", gold, tagged).code == 0
    done = command("export", ended, tmp_path / "model", "--hash-names", "--min-patients", 2)
    assert done.code == 0, done
    files = [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
    assert not any(b"garc" in path.read_bytes().lower() for path in files)
    assert isinstance(load_tagger(find_model(tmp_path / "model")), EnsembleTagger)
    for path in (tmp_path / "model", *(tmp_path / "model").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0


def test_a_damaged_member_is_one_line(ended: Path, tmp_path: Path, command: Command) -> None:
    model = Path(shutil.copytree(find_model(ended), tmp_path / "model"))
    path = model / "member-2" / "transition.npy"
    assert path.is_file()
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    done = command("tag", model, ended / "none.jsonl", tmp_path / "out.jsonl")
    assert done.code == 2
    assert f"{path} is damaged" in done.err.replace("\n", " ")


@pytest.mark.processes
def test_notes_are_tagged_over_processes_as_in_one(
    ended: Path, notes: Callable[..., Any], tmp_path: Path, command: Command
) -> None:
    write(notes(2600, 7), tmp_path / "notes.jsonl")
    for jobs in (1, 2):
        done = command(
            *("tag", ended, tmp_path / "notes.jsonl", tmp_path / f"{jobs}.jsonl"),
            *("--jobs", jobs),
        )
        assert done.code == 0, done
    one, two = ([*read(tmp_path / f"{jobs}.jsonl", problems=Problems())] for jobs in (1, 2))
    assert one == two
    assert any(note.spans for note in one)
