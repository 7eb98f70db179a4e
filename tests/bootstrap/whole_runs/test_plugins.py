"""Taggers of another package, installed in a folder of their own, from the command line."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import Problems
from corpus.formats import read, write
from tests.plugins import install

pytestmark = pytest.mark.processes

Command = Callable[..., Any]

PLUGIN = Path(__file__).parent / "plugin" / "word_tagger.py"

CONFIGURATION = """\
[data]
seed = ""
validation = "validation.jsonl"
unlabeled = "unlabeled.jsonl"

[labels]
PERSON = "PERSON"

[initial_model]
kind = "word_tagger:Capitals"

[tagger]
kind = "words"
strength = 5

[loop]
iterations = 1
batch = 300

[select]
proportions = false
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("site")
    install(folder, PLUGIN, "words = word_tagger:WordTagger")
    return folder


@pytest.fixture(autouse=True)
def path(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the package, in this process and in those that it starts."""
    monkeypatch.syspath_prepend(str(site))
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), before]))


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory, make_project: Callable[..., Path]) -> Path:
    """A project whose both taggers are of the package."""
    return make_project(
        tmp_path_factory.mktemp("plugged"), unlabeled=300, configuration=CONFIGURATION
    )


@pytest.fixture
def finished(plugged: Path, command: Command) -> Path:
    """A finished run of it; the first test that needs it does it."""
    if not (plugged / "run").exists():
        done = command("run", plugged / "config.toml", "--out", plugged / "run", "--jobs", 1)
        assert done.code == 0, done
    return plugged / "run"


def metrics(run: Path, iteration: int) -> dict[str, Any]:
    path = run / "iterations" / f"{iteration:03d}" / "metrics.json"
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    # The digest is also of the seconds.
    return {name: value for name, value in figures.items() if name not in ("seconds", "digest")}


def test_a_configuration_with_them_is_checked(plugged: Path, command: Command) -> None:
    done = command("check", plugged / "config.toml")
    assert (done.code, done.err) == (0, "")
    wrong = command("check", plugged / "config.toml", "--set", "tagger.strength=0")
    assert wrong.code == 2
    assert "[tagger] strength = 0: expected a finite number, at least 0.01" in wrong.err
    wrong = command("check", plugged / "config.toml", "--set", "tagger.strenght=1")
    assert 'no key in [tagger] "strenght"; the nearest is "strength"' in wrong.err
    for setting in (
        "loop.pseudo_weight=0.5",
        "select.strategy=confident_spans",
        'loop.propagate={PERSON="text"}',
    ):
        wrong = command("check", plugged / "config.toml", "--set", setting)
        assert wrong.code == 2
        assert '[tagger] kind = "words" does not support' in wrong.err


def test_a_run_trains_them_and_is_resumed(finished: Path, plugged: Path, command: Command) -> None:
    kinds = [
        json.loads((finished / f"iterations/00{i}/model/model.json").read_text())["kind"]
        for i in (0, 1)
    ]
    assert kinds == ["word_tagger:Capitals", "words"]
    before = [metrics(finished, iteration) for iteration in (0, 1)]
    assert all(row["f1"] > 0 for row in before)
    shutil.copytree(finished, plugged / "interrupted", symlinks=True)
    shutil.rmtree(plugged / "interrupted" / "iterations" / "001")
    done = command(
        "run", plugged / "config.toml", "--out", plugged / "interrupted", "--resume", "--jobs", 1
    )
    assert done.code == 0, done
    assert [metrics(plugged / "interrupted", iteration) for iteration in (0, 1)] == before


def test_notes_are_tagged_over_processes_as_in_one(finished, notes, tmp_path, command) -> None:
    write(notes(2600, 7), tmp_path / "notes.jsonl")
    for jobs in (1, 2):
        done = command(
            *("tag", finished, tmp_path / "notes.jsonl", tmp_path / f"{jobs}.jsonl"),
            *("--jobs", jobs, "--trust", "word_tagger:Capitals"),
        )
        assert done.code == 0, done
    one, two = ([*read(tmp_path / f"{jobs}.jsonl", problems=Problems())] for jobs in (1, 2))
    assert one == two
    assert any(note.spans for note in one)


def test_a_class_that_a_folder_names_is_imported_if_the_user_trusts_it(
    finished: Path, tmp_path: Path, command: Command
) -> None:
    kind, out = "word_tagger:Capitals", tmp_path / "out.jsonl"
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "text": "Vist per Anna"}\n')
    run = Path(shutil.copytree(finished, tmp_path / "run", symlinks=True))
    shutil.rmtree(run / "iterations" / "001")
    (run / "best").unlink()
    for model in (finished / "iterations/000/model", run):
        tag = ("tag", model, tmp_path / "notes.jsonl", out, "--jobs", 1)
        refused = command(*tag)
        assert refused.code == 2 and f"add --trust {kind} " in refused.err
        assert not out.exists()
        done = command(*tag, "--trust", "other:Class", "--trust", kind)
        assert done.code == 0, done
        assert any(note.spans for note in read(out, problems=Problems()))
        out.unlink()
    resume = ("run", run / "config.toml", "--out", run, "--resume", "--jobs", 1)
    assert f"add --trust {kind} " in command(*resume).err
    done = command(*resume, "--trust", kind)
    assert done.code == 0, done
    assert f"{run} NOTES TAGGED.jsonl --trust {kind}" in done.out
    assert metrics(run, 1) == metrics(finished, 1)
