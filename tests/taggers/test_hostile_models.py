"""Models that somebody changed on purpose, with digests that fit: refused in one line, or harmless.

`benchmarks/hostile_models.py` tries thousands; here are some of each kind, and what it has found.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from corpus.batch import make_batch
from corpus.errors import InputError
from corpus.storage.arrays import array_bytes
from corpus.synthetic import synthetic_notes
from taggers.registry import load_tagger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "hostile_models.py"

#: The kinds whose models are made in a second.
QUICK = ("crf", "patterns", "divergence", "dictionary", "lists")


@pytest.fixture(scope="session")
def hostile() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hostile_models", BENCHMARK)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def good(hostile: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Train a model of a kind, once."""
    train = make_batch(list(synthetic_notes(150, part="seed")), labelled=True)
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp("good") / name
            made[name] = hostile.trained(folder, hostile.MODELS[name], train)
        return made[name]

    return make


@pytest.mark.parametrize("models", [10, pytest.param(600, marks=pytest.mark.slow)])
def test_changed_models_do_no_harm(models: int) -> None:
    """In a process of its own, whose threads do not disturb those that it forks."""
    command = [sys.executable, BENCHMARK, "--models", models, "--seed", models, "--kinds", *QUICK]
    done = subprocess.run(
        list(map(str, command)),
        cwd=BENCHMARK.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "harm" not in done.stdout, done.stdout
    assert "'refused'" in done.stdout.splitlines()[-1]


def with_array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / f"{name}.npy"
        path.write_bytes(array_bytes(change(np.load(path))))

    return apply


def with_description(key: str, value: Any) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / "model.json"
        description = json.loads(path.read_bytes())
        description[key] = value(description[key]) if callable(value) else value
        path.write_text(json.dumps(description))

    return apply


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_array("state_labels", lambda array: array + 100), "has values from"),
        (with_array("state_labels", np.zeros_like), "labels of a value that do not ascend"),
        (with_array("begins", lambda array: array[::-1].copy()), "do not ascend"),
        (with_array("begins", np.zeros_like), "leads from 0 to 0"),
        (with_array("begins", lambda array: array * 10), "has values from"),
        (with_array("state", lambda array: array * np.nan), "not finite"),
        (with_array("state", lambda array: array.astype(np.int64)), "data type int64"),
        (with_array("transition", lambda array: array[:1, :1].copy()), "has the shape"),
        (with_array("hashes", lambda array: array[:-1].copy()), "has the shape"),
        (with_array("hashes", lambda array: np.arange(len(array), dtype=np.uint64)), "no hashes"),
        (with_array("name_ends", lambda array: array[::-1].copy()), "do not ascend"),
        (with_array("names", lambda array: np.full_like(array, 0xFF)), "is not text in UTF-8"),
        (with_description("labels", ["O", "B-X", "I-Y"]), '"labels": expected O, and B-CLASS'),
        (with_description("labels", lambda value: [*value, value[-1]]), "different strings"),
        (with_description("engine_labels", ["O", "B-NEW"]), "some of those in labels"),
        (
            with_description("files", lambda value: {**value, "../x": "0"}),
            "names a file with other",
        ),
        (
            with_description("files", lambda value: {**value, "/dev/zero": "0"}),
            "names a file with other",
        ),
        (
            with_description("files", lambda value: {**value, "absent": "0"}),
            "lacks the file absent",
        ),
        (
            with_description("options", lambda value: {**value, "window": 10**9}),
            "expected an integer, 0 to 20",
        ),
        (
            with_description("options", lambda value: {**value, "names": ["/etc/passwd"]}),
            "a model contains its resources",
        ),
        (
            with_description("options", lambda value: {**value, "new": 1}),
            "an option that its kind does not know",
        ),
        (with_description("training", {"converged": 3}), "the result of training"),
        (
            with_description("annotators", {"patterns": {"pattern": [{"class": "A"}]}}),
            "expected patterns that this version can search for",
        ),
        (with_description("annotators", {"os": {}}), "none of header"),
    ],
)
def test_what_compiled_functions_follow_is_checked(
    change, message, hostile, good, tmp_path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(good("crf"), folder)
    change(folder)
    hostile.sign(folder)
    with pytest.raises(InputError, match=message) as raised:
        load_tagger(folder)
    assert str(raised.value).isprintable()


def limited() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))


@pytest.mark.parametrize(
    ("attack", "command", "message"),
    [
        ("repetition", "tag", "expected patterns that this version can search for"),
        ("lists", "tag", "model.json has 42,000,026 bytes; expected at most"),
        ("lists within the size", "tag", "has too many values; expected at most 500,000"),
        ("levels", "tag", "model.json is nested too deeply"),
        ("process", "tag", "sub is a link"),
        ("system", "show", "sub is a link"),
        ("loops", "show", " is a link"),
        ("pipe", "show", "pipe.npy is not a regular file"),
        ("sparse", "show", "sparse.npy has 1,099,511,627,776 bytes"),
        ("unit", "tag", "unit.json does not name a unit"),
        ("slow patterns", "tag", "expected patterns that this version can search for"),
    ],
)
def test_opening_has_a_budget(attack, command, message, hostile, good, tmp_path) -> None:
    """In a process with limits, so that a hang or too much memory fails."""
    folder = tmp_path / "model"
    shutil.copytree(good("patterns" if attack == "repetition" else "crf"), folder)
    hostile.ATTACKS[attack](folder)
    (tmp_path / "notes.jsonl").write_text('{"id": "1", "text": "Hola"}\n')
    arguments = {"tag": [tmp_path / "notes.jsonl", tmp_path / "out.jsonl"], "show": ["--verify"]}
    done = subprocess.run(
        [sys.executable, "-m", "bootstrap", command, folder, *arguments[command]],
        capture_output=True,
        text=True,
        preexec_fn=limited,
        check=False,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr[-500:]
    assert message in done.stderr


def test_a_link_is_not_followed(good, tmp_path, hostile) -> None:
    folder = tmp_path / "model"
    shutil.copytree(good("crf"), folder)
    (folder / "state.npy").rename(tmp_path / "state.npy")
    (folder / "state.npy").symlink_to(tmp_path / "state.npy")
    hostile.sign(folder)
    with pytest.raises(InputError, match=r"state\.npy is a link"):
        load_tagger(folder)
