"""The process that trains, with each of the backends of Keras."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from taggers.networks.training.in_process import train_in_process
from taggers.networks.training.process import INITIAL, TRAIN

pytestmark = pytest.mark.processes

PLAN = {
    "labels": 3,
    "outside": 0,
    "vectors": 2,
    "words": 0,
    "alphabet": 6,
    "features": {"shape": 4},
    "streams": {"header": 3},
    "dimension": 2,
    "embedding_penalty": 0.01,
    "characters": "cnn",
    "character_dimension": 3,
    "character_units": 4,
    "feature_dimension": 2,
    "units": 5,
    "sensitive_units": 3,
    "learning": "likelihood",
    "dropout": 0.0,
    "averaging": 0.9,
}
SCHEDULE = {
    "learning_rate": 0.02,
    "decay_start": 0.0,
    "minibatch": 4,
    "epochs": 3,
    "min_steps": 0,
    "patience": 10,
    "word_dropout": 0.0,
    "random_state": 0,
}


def documents() -> dict[str, np.ndarray]:
    """Return twelve documents of random words and tags, some of them unknown."""
    rng = np.random.default_rng(0)
    words, lengths = 7, rng.integers(1, 6, 12)
    characters = np.zeros((words, 5), np.int32)
    for row in characters:
        row[: rng.integers(1, 6)] = 1
    tokens = lengths.sum()
    return {
        "vectors": rng.normal(size=(words, 2)).astype(np.float32),
        "numbers": np.zeros(words, np.int32),
        "characters": characters * rng.integers(1, 6, characters.shape, dtype=np.int32),
        "features": rng.integers(0, 4, (words, 1), dtype=np.int32),
        "unknown": np.zeros(2, np.float32),
        "word_ids": rng.integers(0, words, tokens, dtype=np.int32),
        "streams": rng.integers(0, 3, (tokens, 1), dtype=np.int32),
        "offsets": np.concatenate([[0], lengths.cumsum()]),
        "tags": rng.integers(-1, 3, tokens, dtype=np.int32),
        "weights": rng.uniform(1, 2, 12).astype(np.float32),
    }


def test_the_backends_of_keras_train_the_same_network() -> None:
    """The initial weights are those of one short training; the steps are the same ones."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    arrays = {f"{TRAIN}{name}": array for name, array in documents().items()}
    first, _ = train_in_process(PLAN, {**SCHEDULE, "epochs": 1}, arrays)
    for name, array in first.items():
        arrays[f"{INITIAL}{name}"] = array
        arrays[f"{INITIAL}{name}:rows"] = np.arange(len(array))
    actual, training = train_in_process(PLAN, SCHEDULE, arrays)
    other, as_well = train_in_process(PLAN, SCHEDULE, arrays, "torch")
    assert training.iterations == as_well.iterations == 3
    assert training.loss == pytest.approx(as_well.loss, rel=1e-4)
    assert actual.keys() == other.keys()
    for name, array in actual.items():
        np.testing.assert_allclose(other[name], array, atol=2e-4, err_msg=name)
        assert np.abs(array - first[name]).max() > 1e-3, name


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taggers").mkdir()
    for name in ("taggers/__init__.py", "keras.py", "numpy.py"):
        (tmp_path / name).write_text('raise RuntimeError("imported")')
    monkeypatch.chdir(tmp_path)
    arrays = {f"{TRAIN}{name}": array for name, array in documents().items()}
    _, training = train_in_process(PLAN, {**SCHEDULE, "epochs": 1}, arrays)
    assert training.iterations == 1
