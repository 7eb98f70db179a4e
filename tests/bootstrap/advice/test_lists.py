"""What lists would find: measured on the entities that a model found and missed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootstrap.advice.lists import EntityRecall, listed_recall, unused_lists
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.tags import bio_labels
from gazetteers.gazetteer import Gazetteer
from taggers import CRFOptions, Tagging
from taggers.options import TaggerOptions
from tests.taggers.conftest import plain


def note(name: str, place: str) -> Document:
    return Document(name, f"vive en {place} con tos", (Span(8, 8 + len(place), "PLACE"),))


@pytest.fixture
def batch() -> Batch:
    """Forty places of a list and sixty of none."""
    inside = [note(f"i{i}", "Sant Pau" if i % 2 else "Girona") for i in range(40)]
    return make_batch([*inside, *(note(f"o{i}", f"Qwrt{i}") for i in range(60))], labelled=True)


def tagging(batch: Batch, is_found: Callable[[int], bool]) -> Tagging:
    """Tag the entities of some documents, with labels in an order of their own."""
    labels = ("O", *bio_labels(["AGE", "PLACE"])[1:])
    tags = np.where(batch.tags > 0, batch.tags + labels.index("B-PLACE") - 1, 0)
    rows = np.repeat(np.arange(len(batch)), batch.lengths)
    kept = np.array([is_found(row) for row in range(len(batch))])[rows]
    return Tagging(np.where(kept, tags, 0).astype(np.int16), labels, np.ones(len(batch)))


@pytest.fixture
def places(tmp_path: Path, make_gazetteer: Callable[..., Gazetteer]) -> str:
    make_gazetteer(("sant pau", "HOSPITAL", 1), ("girona", "TOWN", 1)).save(tmp_path / "p.parquet")
    return str(tmp_path / "p.parquet")


def test_an_entity_is_found_if_its_tokens_and_its_class_are(batch: Batch) -> None:
    everything = EntityRecall.from_tagging(batch, tagging(batch, lambda row: True))
    assert len(everything.found) == 100 and everything.found.all()
    some = EntityRecall.from_tagging(batch, tagging(batch, lambda row: row % 3 == 0))
    assert some.found.tolist() == [row % 3 == 0 for row in range(100)]
    # Of another class, or without the second token, it is not.
    labels = ("O", *bio_labels(["AGE", "PLACE"])[1:])
    other = EntityRecall.from_tagging(batch, Tagging(batch.tags, labels, np.ones(100)))
    assert not other.found.any()
    cut = np.where(batch.tags == 2, 0, batch.tags).astype(np.int16)
    short = EntityRecall.from_tagging(batch, Tagging(cut, batch.labels, np.ones(100)))
    assert [bool(x) for x in short.found[:40]] == [row % 2 == 0 for row in range(40)]


def test_a_list_that_helps_should_have_more_entities(batch: Batch, places: str) -> None:
    options = plain(CRFOptions, phrases=(places,))
    recall = EntityRecall.from_tagging(batch, tagging(batch, lambda row: row < 36 or row % 3 == 0))
    (row,) = listed_recall(recall, options)
    outside = sum(row % 3 == 0 for row in range(40, 100)) / 60
    listed = sum(row < 36 or row % 3 == 0 for row in range(40)) / 40
    assert (row.name, row.share) == ("PLACE", 0.4)
    assert (row.listed, row.others) == (listed, outside)
    # It does not help, or there is none, or it has all that there are.
    alike = EntityRecall.from_tagging(batch, tagging(batch, lambda row: row % 3 == 0))
    assert listed_recall(alike, options) == []
    assert listed_recall(recall, plain(CRFOptions)) == []
    assert listed_recall(recall, TaggerOptions()) == []
    few = make_batch(
        [note(str(i), "Girona" if i < 5 else "Qwrt") for i in range(50)], labelled=True
    )
    assert (
        listed_recall(EntityRecall.from_tagging(few, tagging(few, lambda row: row < 5)), options)
        == []
    )


def test_a_builtin_list_with_missed_entities_is_named() -> None:
    towns = ["Girona", "Lleida", "Barcelona", "Madrid"]
    names = [*(towns[i % 4] for i in range(60)), *(f"Qwrt{i}" for i in range(60))]
    batch = make_batch([note(f"n{i}", name) for i, name in enumerate(names)], labelled=True)
    nothing = EntityRecall.from_tagging(batch, tagging(batch, lambda row: False))
    (unused,) = unused_lists(nothing, plain(CRFOptions), ["PLACE"])
    assert (unused.option, unused.list, unused.name) == ("phrases", "places-es", "PLACE")
    assert (unused.missed, unused.share) == (120, 0.5)
    # What is found already, named already, or no option, is not named.
    known = EntityRecall.from_tagging(batch, tagging(batch, lambda row: row < 60))
    assert unused_lists(known, plain(CRFOptions), ["PLACE"]) == []
    named: Any = plain(CRFOptions, phrases=("places-es",), names=("census-es",))
    assert unused_lists(nothing, named, ["PLACE"]) == []
    assert unused_lists(nothing, TaggerOptions(), ["PLACE"]) == []
