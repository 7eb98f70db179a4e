"""Settings of Keras, which it reads when it is imported, and an embedding for networks."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

#: Words with vectors; those of names and of towns are alike.
NAMES, TOWNS, OTHERS = (
    ("ana", "luis", "marta", "joan", "pau", "eva"),
    ("vic", "reus", "lleida", "olot", "berga", "girona"),
    ("visita", "vive", "en", "con", "el", "la"),
)


@pytest.fixture(scope="session")
def embedding_folder(
    make_embedding: Callable[..., object], tmp_path_factory: pytest.TempPathFactory
) -> Path:
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
