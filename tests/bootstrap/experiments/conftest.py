"""An experiment on small notes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bootstrap.reports.conftest import browse, browser

__all__ = ["browse", "browser"]  # fixtures


EXPERIMENT = """\
[data]
seed = "gold.jsonl"
validation = "validation.jsonl"

[tagger]
features = ["lower", "shape", "suffix3"]
window = 1
max_iterations = 15

[loop]
preset = "paper"
iterations = 2
batch = 60
patience = 5

[select]
confidence = 0.6

[experiment]
random_states = [0, 1]

[seed]
documents = 40
with_entities = 0.75

[variants.alone]
method = "supervised"

[variants.trained]

[variants.everything]
method = "full-supervision"
"""


QUICK = EXPERIMENT[: EXPERIMENT.index("[variants")].replace("[0, 1]", "[0]") + (
    '[variants.alone]\nmethod = "supervised"\n'
)


@pytest.fixture(scope="session")
def experiment_file(tmp_path_factory, make_project) -> Path:
    """A file of an experiment with twelve runs, beside its notes, that tests do not change."""
    folder = make_project(tmp_path_factory.mktemp("experiment"), unlabeled=100)
    (folder / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    return folder / "experiment.toml"


@pytest.fixture(scope="session")
def carried_out(tmp_path_factory, experiment_file, run_here) -> tuple[Path, Any]:
    """The folder of the finished experiment, that tests do not change, and what was printed."""
    folder = tmp_path_factory.mktemp("carried-out") / "experiment"
    done = run_here("experiment", experiment_file, "--out", folder, "--jobs", "1")
    assert done.code == 0, done
    return folder, done


@pytest.fixture
def own_file(experiment_file: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Write an experiment file of other content, with the same notes."""

    def write(text: str) -> Path:
        folder = experiment_file.parent
        for name in ("gold", "validation", "unlabeled"):
            text = text.replace(f'"{name}.jsonl"', f'"{folder / name}.jsonl"')
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def copy(carried_out: tuple[Path, Any], tmp_path: Path) -> Path:
    return Path(shutil.copytree(carried_out[0], tmp_path / "copy", symlinks=True))
