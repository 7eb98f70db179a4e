"""The process that trains, with each of the backends of Keras."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.networks.network_sizes import NetworkSizes
from taggers.networks.training.process import train_in_process
from taggers.networks.training.schedule import INITIAL

pytestmark = pytest.mark.processes

SIZES = NetworkSizes(
    labels=3,
    outside=0,
    vectors=2,
    words=0,
    alphabet=6,
    features={"shape": 4},
    streams={"header": 3},
)
OPTIONS = BiLSTMCRFOptions(
    character_dimension=3,
    character_units=4,
    feature_dimension=2,
    units=5,
    sensitive_units=3,
    dropout=0.0,
    averaging=0.9,
    learning_rate=0.02,
    decay_start=0.0,
    minibatch=4,
    epochs=3,
    min_steps=0,
    word_dropout=0.0,
)


def trained(options: BiLSTMCRFOptions, arrays: dict[str, np.ndarray]) -> Any:
    """Train a network in another process."""
    request = {"kind": "bilstm-crf", "options": asdict(options), "sizes": asdict(SIZES)}
    return train_in_process({**request, "random_state": 0}, arrays, backend=options.backend)


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
        "held_out": np.zeros(12, bool),
    }


def test_the_backends_of_keras_train_the_same_network() -> None:
    """The initial weights are those of one short training; the steps are the same ones."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    arrays = documents()
    first, _ = trained(replace(OPTIONS, epochs=1), arrays)
    for name, array in first.items():
        arrays[f"{INITIAL}{name}"] = array
        arrays[f"{INITIAL}{name}:rows"] = np.arange(len(array))
    actual, training = trained(OPTIONS, arrays)
    other, as_well = trained(replace(OPTIONS, backend="torch"), arrays)
    assert training.iterations == as_well.iterations == 3
    assert training.loss == pytest.approx(as_well.loss, rel=1e-4)
    assert actual.keys() == other.keys()
    for name, array in actual.items():
        np.testing.assert_allclose(other[name], array, atol=2e-4, err_msg=name)
        assert np.abs(array - first[name]).max() > 1e-3, name


@pytest.mark.slow
def test_nothing_is_imported_from_the_current_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "taggers").mkdir()
    for name in ("taggers/__init__.py", "keras.py", "numpy.py"):
        (tmp_path / name).write_text('raise RuntimeError("imported")')
    monkeypatch.chdir(tmp_path)
    arrays = documents()
    _, training = trained(replace(OPTIONS, epochs=1), arrays)
    assert training.iterations == 1
