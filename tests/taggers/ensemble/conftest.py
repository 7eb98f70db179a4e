"""A plugin that is found by its entry point, and notes to train on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from tests.plugins import install

PLUGIN = Path(__file__).parent / "plugin" / "random_tagger.py"

NAMES = ["Anna", "Joan", "Marta", "Pere"]
PLACES = ["Clot", "Vic", "Reus"]


def _note(number: int) -> Document:
    name, place = NAMES[number % len(NAMES)], PLACES[number % len(PLACES)]
    text = f"Sr {name} Puig viu a {place}" if number % 2 else f"{place} : {name} te febre"
    length = len(name) + 5 * (number % 2)
    spans = [(text.index(name), length, "PERSON"), (text.index(place), len(place), "LOCATION")]
    result = tuple(Span(start, start + size, label) for start, size, label in sorted(spans))
    return Document(str(number), text, result)


@pytest.fixture(scope="session")
def train() -> Batch:
    """Tagged notes with people and places, and one without tokens."""
    return make_batch([*map(_note, range(12)), Document("empty", "")], labelled=True)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type:
    """The class of the tagger of the kind "random", which is installed in a folder."""
    site = tmp_path / "site"
    install(site, PLUGIN, "random = random_tagger:RandomTagger")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "random_tagger", raising=False)
    import random_tagger

    return random_tagger.RandomTagger
