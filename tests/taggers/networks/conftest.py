"""Settings of Keras, which it reads when it is imported, and an embedding for networks."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taggers.networks import bilstm_crf
from taggers.networks.training import process

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

#: Words with vectors; those of names and of towns are alike.
NAMES, TOWNS, OTHERS = (
    ("ana", "luis", "marta", "joan", "pau", "eva"),
    ("vic", "reus", "lleida", "olot", "berga", "girona"),
    ("visita", "vive", "en", "con", "el", "la"),
)


@pytest.fixture(scope="session")
def embedding_folder(make_embedding, tmp_path_factory) -> Path:
    """Return a folder of two embeddings, whose vectors tell names, towns and other words apart."""
    folder = tmp_path_factory.mktemp("embeddings")
    rng = np.random.default_rng(0)
    for name, size in (("w1", 4), ("w5", 3)):
        vectors = {
            word: (np.eye(size)[kind] + rng.normal(scale=0.1, size=size)).tolist()
            for kind, words in enumerate((NAMES, TOWNS, OTHERS))
            for word in words
        }
        make_embedding(folder / name, vectors, normalisation="lower")
    return folder


def trained_here(request: Any, arrays: Any, progress: Any = None, *, backend: str = "") -> Any:
    """Train a network in this process: importing TensorFlow in another takes seconds each time."""
    module = importlib.import_module(process.NETWORKS[request["kind"]])
    return module.train_network(request, arrays, lambda done, steps: None)


@pytest.fixture(scope="session", autouse=True)
def train_here() -> Iterator[None]:
    """Train networks in the process of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bilstm_crf, "train_in_process", trained_here)
        yield


@pytest.fixture(autouse=True)
def same_weights() -> None:
    """Let each test of layers begin with the same random numbers of Keras."""
    if keras := sys.modules.get("keras"):
        keras.utils.set_random_seed(0)


@pytest.fixture(autouse=True)
def train_in_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in another process in tests with the mark `processes`."""
    if request.node.get_closest_marker("processes"):
        monkeypatch.setattr(bilstm_crf, "train_in_process", process.train_in_process)
