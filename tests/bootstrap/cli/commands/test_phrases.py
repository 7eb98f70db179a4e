"""Phrases of gazetteers in a run: told when they cannot be read, and kept as they were."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from gazetteers.gazetteer import Gazetteer


def write_towns(path: Path, *towns: str) -> None:
    path.unlink(missing_ok=True)
    terms = pa.array(towns, pa.large_string())
    classes = pa.array(["TOWN"] * len(towns), pa.large_string())
    Gazetteer(terms, classes, np.ones(len(towns), np.int64)).save(path)


@pytest.fixture
def config(make_project: Callable[..., Path], tmp_path: Path, without_advice) -> Path:
    """A project with a gazetteer of towns."""
    project = make_project(tmp_path / "project", unlabeled=700)
    write_towns(project / "towns.parquet", "girona", "vic", "clot", "reus")
    file = project / "config.toml"
    text = file.read_text().replace("[tagger]\n", '[tagger]\nphrases = ["towns.parquet"]\n')
    file.write_text(text.replace("iterations = 3", "iterations = 1"))
    return file


def test_a_run_keeps_the_phrases_that_it_was_begun_with(config, tmp_path, command) -> None:
    assert command("check", config).code == 0
    run = ("run", config, "--out", tmp_path / "run", "--jobs", 1)
    done = command(*run)
    assert done.code == 0, done
    again = command(*run, "--resume")
    assert again.code == 0, again
    write_towns(config.parent / "towns.parquet", "girona", "vic", "clot", "olot")
    done = command(*run, "--resume")
    assert done.code == 2
    assert "phrases file" in done.err
    assert "towns.parquet has changed since the run was started" in done.err
    # The model contains them, and needs the file no more.
    (config.parent / "towns.parquet").unlink()
    tagged = command(
        "tag", tmp_path / "run", config.parent / "unlabeled.jsonl", tmp_path / "t.jsonl"
    )
    assert tagged.code == 0, tagged
    models = [json.loads(path.read_text()) for path in (tmp_path / "run").rglob("model.json")]
    kept = [model["annotators"]["phrases"]["phrases"] for model in models]
    assert kept
    assert all(phrases == {"TOWN": "girona\nvic\nclot\nreus"} for phrases in kept)
