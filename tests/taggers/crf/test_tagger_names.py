"""The CRF with frequencies of words among names: what they tell, and what a model keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.batch import Batch
from gazetteers.gazetteer import Gazetteer
from taggers import CRFOptions, load_tagger
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import NAMES, OTHERS, fitted, right

MakeGazetteer = Callable[..., Gazetteer]


@pytest.fixture
def gazetteer(make_gazetteer: MakeGazetteer, tmp_path: Path) -> Path:
    """All names, and some other words that few are called."""
    rows = [(word, "given", 5000 + 10 * number) for number, word in enumerate(NAMES)]
    rows += [(word, "surname", 12) for word in OTHERS[::4]]
    make_gazetteer(*rows).save(tmp_path / "names.parquet")
    return tmp_path / "names.parquet"


def options(*gazetteers: Path | str, **more: Any) -> CRFOptions:
    least = plain(CRFOptions, features=("form",), window=0, streams=(), conjunctions=())
    return replace(least, names=tuple(map(str, gazetteers)), **more)


def same(left: Any, right: Any, batch: Batch) -> bool:
    one, other = left.tag(batch), right.tag(batch)
    return bool((one.tags == other.tags).all() and (one.confidence == other.confidence).all())


def test_a_name_that_was_never_learned_is_known_by_its_frequency(gazetteer, half, rest) -> None:
    without = fitted(half, options())
    assert right(without, half) == 1
    assert right(without, rest) < 1
    assert right(fitted(half, options(gazetteer)), rest) == 1


def test_a_model_is_complete_without_the_gazetteer(gazetteer, half, rest, tmp_path) -> None:
    tagger = fitted(half, options(gazetteer))
    tagger.save(tmp_path / "model")
    gazetteer.unlink()
    again = load_tagger(tmp_path / "model")
    assert same(tagger, again, rest)
    assert right(again, rest) == 1
    text = (tmp_path / "model" / "model.json").read_text()
    assert str(gazetteer) not in text
    assert json.loads(text)["names"] == ["given", "surname"]
    for path in (tmp_path / "model").iterdir():
        content = path.read_bytes()
        assert not any(word.encode() in content for word in NAMES[1::2])
    # Learned again, from the same words and from more.
    assert same(fitted_again(again, half), tagger, rest)
    assert right(fitted_again(again, rest), half) == 1
    again.save(tmp_path / "again")
    assert right(load_tagger(tmp_path / "again"), half) == 1


def fitted_again(tagger: Any, batch: Batch) -> Any:
    return tagger.fit(batch, rng=np.random.default_rng(0))


def test_an_exported_model_has_its_frequencies(gazetteer, half, rest, tmp_path) -> None:
    tagger = fitted(half, options(gazetteer))
    for nameless in (False, True):
        reduced = tagger.pruned(
            Pruning.from_choices(2, hash_names=nameless, public=[str(gazetteer)])
        )
        assert reduced.contents()["feature values"] < tagger.contents()["feature values"]
        assert (
            reduced.contents()["words of lists of names"]
            == tagger.contents()["words of lists of names"]
        )
        assert right(reduced, rest) == 1
        reduced.save(tmp_path / str(nameless))
        again = load_tagger(tmp_path / str(nameless))
        assert same(again, reduced, rest)
    exported = fitted(half, options(gazetteer, trainer="crfsuite")).pruned(
        Pruning.from_choices(hash_names=True, keep=["names"])
    )
    assert right(exported, rest) == 1


@pytest.mark.parametrize("choice", ["all", "best"])
def test_clusters_and_frequencies_are_looked_at_together(
    choice, gazetteer, make_embedding, half, rest, tmp_path
) -> None:
    """In one order and in the other, both are in the model."""
    words = [*NAMES, *OTHERS]
    clusters = {2: [number % 2 for number in range(len(words))], 3: [0] * len(words)}
    folder = tmp_path / "embeddings"
    vectors = {word: [1.0, 2.0] for word in words}
    make_embedding(folder / "lower-w5", vectors, normalisation="lower", clusters=clusters)
    tagger = fitted(half, options(gazetteer, clusters=str(folder), cluster_choice=choice))
    tagger.save(tmp_path / "model")
    again: Any = load_tagger(tmp_path / "model")
    assert same(tagger, again, rest)
    description = json.loads((tmp_path / "model" / "model.json").read_text())
    assert description["names"] == ["given", "surname"]
    assert len(description["clusters"][0]["names"]) == (2 if choice == "all" else 1)
    assert right(tagger, rest) == 1
