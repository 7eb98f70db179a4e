"""Training in the process of the tests, and an embedding."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taggers.ngrams import tccnn_tagger
from tests.taggers.networks.conftest import embedding_folder, same_weights, trained_here

__all__ = ["embedding_folder", "same_weights"]


@pytest.fixture(scope="session", autouse=True)
def train_here() -> Iterator[None]:
    """Train networks in the process of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tccnn_tagger, "train_in_process", trained_here)
        yield
