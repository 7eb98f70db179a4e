"""Training in the process of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from taggers.spacy_ner import spacy_tagger
from tests.taggers.networks.conftest import trained_here


@pytest.fixture(scope="session", autouse=True)
def train_here() -> Iterator[None]:
    """Train networks in the process of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spacy_tagger, "train_in_process", trained_here)
        yield
