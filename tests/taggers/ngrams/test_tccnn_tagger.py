"""The tagger of n-grams: what it learns, what it says of tokens, and its models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.tags import find_entities
from taggers.base import TrainingError
from taggers.networks.training import process
from taggers.ngrams import tccnn_tagger
from taggers.ngrams.tccnn_options import TCCNNOptions
from taggers.ngrams.tccnn_tagger import TCCNNTagger
from taggers.privacy.pruning import Pruning
from taggers.registry import load_tagger
from tests.taggers.conftest import plain
from tests.taggers.networks.conftest import NAMES, TOWNS
from tests.taggers.networks.test_network_tagger import f1, notes

pytest.importorskip("keras")

SMALL: dict[str, Any] = {
    "length": 4,
    "filters": 8,
    "units": 16,
    "epochs": 12,
    "minibatch": 16,
    "min_steps": 0,
}


def fitted(train: Batch, rng: int = 0, **options: Any) -> TCCNNTagger:
    tagger = TCCNNTagger(plain(TCCNNOptions, **{**SMALL, **options}))
    return tagger.fit(train, rng=np.random.default_rng(rng))


@pytest.fixture(scope="module")
def trained(embedding_folder: Path) -> TCCNNTagger:
    train = notes(60, NAMES[:3], TOWNS[:3])
    return fitted(train, embeddings=str(embedding_folder), learning_rate=0.01)


def test_words_that_training_did_not_see_are_found_by_their_vectors(trained: TCCNNTagger) -> None:
    assert f1(trained, notes(40, NAMES[3:], TOWNS[3:], seed=1)) > 0.9
    assert trained.training is not None
    assert trained.training.iterations == SMALL["epochs"]


def test_without_embeddings_unknown_words_are_found_by_their_context() -> None:
    train = notes(60, NAMES[:3], TOWNS[:3])
    tagger = fitted(train, embeddings="", min_count=1, learning_rate=0.01, epochs=20)
    tagging = tagger.tag(notes(40, ("zoe", "ona"), TOWNS[:3], seed=1))
    people = tagging.tags == tagging.labels.index("B-PERSON")
    assert people.sum() > 30


def test_marginals_come_from_the_ngrams(trained: TCCNNTagger) -> None:
    batch = notes(30, NAMES, TOWNS, seed=2)
    empty = make_batch([Document("none", ""), Document("dots", "...")], labelled=False)
    batch = concatenate([batch, empty])
    whole = trained.tag(batch, detail="labels")
    assert whole.marginals is not None
    assert whole.token_confidence is not None
    np.testing.assert_allclose(whole.marginals.sum(axis=1), 1, atol=1e-9)
    assert ((whole.token_confidence >= 0) & (whole.token_confidence <= 1)).all()
    assert ((whole.confidence >= 0) & (whole.confidence <= 1)).all()
    assert whole.confidence[-2] == 1
    entities = find_entities(whole.tags, batch.document_offsets, whole.labels)
    own = trained.tag(batch, detail="entity")
    assert own.entity_probabilities is not None
    assert own.tags.tolist() == whole.tags.tolist()
    # Each token of an entity has the probability of the n-gram.
    chosen = own.entity_confidence(entities)
    for row, (begin, end) in enumerate(zip(entities.first, entities.last, strict=True)):
        assert set(whole.token_confidence[begin : end + 1].tolist()) == {chosen[row]}
    parts = [trained.tag(batch.take(np.array([row]))) for row in range(len(batch))]
    np.testing.assert_array_equal(np.concatenate([part.tags for part in parts]), whole.tags)
    confidence = np.concatenate([part.confidence for part in parts])
    np.testing.assert_allclose(confidence, whole.confidence, atol=1e-5)


def test_a_saved_model_tags_the_same_and_holds_no_words(
    trained: TCCNNTagger, tmp_path: Path
) -> None:
    trained.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    batch = notes(30, seed=2)
    for detail in ("document", "token", "entity", "labels"):
        before, after = trained.tag(batch, detail=detail), loaded.tag(batch, detail=detail)
        np.testing.assert_array_equal(after.tags, before.tags)
        np.testing.assert_allclose(after.confidence, before.confidence, rtol=1e-5)
    for name in (*NAMES, *TOWNS):
        for path in (tmp_path / "model").iterdir():
            assert name.encode() not in path.read_bytes().replace(b"analysers", b"")


def test_a_saturated_network_gives_probabilities(trained: TCCNNTagger) -> None:
    saturated = TCCNNTagger(trained.options)
    saturated.__dict__ |= trained.__dict__ | {"_forward": None}
    scale = {"classes_kernel": 40, "classes_bias": 40}
    saturated._weights = {
        name: array * np.float32(scale.get(name, 1)) for name, array in trained._weights.items()
    }
    tagging = saturated.tag(notes(200, seed=6), detail="labels")
    assert tagging.marginals is not None
    assert (tagging.marginals >= 0).all()
    assert ((tagging.confidence >= 0) & (tagging.confidence <= 1)).all()


def test_entities_longer_than_ngrams_are_counted(embedding_folder: Path) -> None:
    words = "uno dos tres cuatro cinco seis"
    long = [
        Document(str(n), f"con {words}", (Span(4, 4 + len(words), "PERSON"),)) for n in range(9)
    ]
    options = {"embeddings": str(embedding_folder), "epochs": 1}
    with pytest.raises(TrainingError, match="all 9 entities have more words than length = 4"):
        fitted(make_batch(long, labelled=True), **options)
    some = make_batch([*long, *notes(9).to_documents()], labelled=True)
    tagger = fitted(some, **options)
    assert tagger.training is not None
    assert tagger.training.outcome.endswith("; 9 entities are longer than length")


@pytest.mark.processes
def test_it_is_trained_in_a_process(
    embedding_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"embeddings": str(embedding_folder), "epochs": 1}
    here = fitted(notes(20), 5, **options)
    monkeypatch.setattr(tccnn_tagger, "train_in_process", process.train_in_process)
    there = fitted(notes(20), 5, **options)
    for name, values in here._weights.items():
        np.testing.assert_allclose(there._weights[name], values, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("limits", [{"length": 3, "filters": 1, "units": 1}, {"length": 50}])
def test_options_at_their_limits(limits: dict[str, Any], embedding_folder: Path) -> None:
    tagger = fitted(notes(9), embeddings=str(embedding_folder), epochs=1, **limits)
    assert len(tagger.tag(notes(9)).tags) == notes(9).n_tokens


def test_batches_without_tokens_are_tagged(trained: TCCNNTagger) -> None:
    for documents in ([], [Document("none", "")], [Document("dots", "...")]):
        batch = make_batch(documents, labelled=False)
        for detail in ("tags", "document", "token", "entity", "labels"):
            tagging = trained.tag(batch, detail=detail)
            assert len(tagging.tags) == batch.n_tokens
            assert len(tagging.confidence) == len(documents)


def test_training_repeats_and_weights_of_documents_count(embedding_folder: Path) -> None:
    train = notes(20, NAMES[:3], TOWNS[:3])
    options = {"embeddings": str(embedding_folder), "epochs": 2}
    first, again = (fitted(train, 5, **options) for _ in range(2))
    weights = np.where(np.arange(20) < 10, 0.0, 1.0).astype(np.float32)
    weighted = fitted(train.with_weights(weights), 5, **options)
    for name, values in first._weights.items():
        np.testing.assert_array_equal(values, again._weights[name], err_msg=name)
    assert any((first._weights[name] != weighted._weights[name]).any() for name in first._weights)


def test_words_of_few_patients_are_pruned(trained: TCCNNTagger) -> None:
    pruned = trained.pruned(Pruning.from_choices(15, hash_names=True))
    before, after = trained.contents(), pruned.contents()
    assert after["words"] < before["words"]
    assert after["words that leave n-grams out"] <= before["words that leave n-grams out"]
    pruned.tag(notes(5))


def test_what_cannot_be_trained_is_refused(embedding_folder: Path) -> None:
    without = make_batch([Document("1", "no one")], labelled=True, classes=["PERSON"])
    with pytest.raises(TrainingError, match="no training token is in an entity"):
        fitted(without)
    with pytest.raises(InputError, match="without a window"):
        plain(TCCNNOptions, features=("shape[0]",))
    with pytest.raises(InputError, match="no parts of speech"):
        plain(TCCNNOptions, ngrams="pos", analysers={"es": "simplemma"}).check()
