"""spaCy's recognizer: what it learns, what it says of tokens, and its models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document
from corpus.errors import InputError
from corpus.storage.arrays import array_bytes
from corpus.tags import find_entities
from taggers.base import TrainingError
from taggers.networks.training import process
from taggers.registry import load_tagger
from taggers.spacy_ner import spacy_tagger
from taggers.spacy_ner.spacy_options import SpacyOptions
from taggers.spacy_ner.spacy_tagger import SpacyTagger
from tests.taggers.networks.conftest import NAMES, TOWNS
from tests.taggers.networks.test_network_tagger import f1, notes

pytest.importorskip("spacy", reason="spaCy is not installed")

SMALL: dict[str, Any] = {
    "width": 16,
    "depth": 1,
    "rows": 200,
    "epochs": 25,
    "minibatch": 40,
    "min_steps": 0,
}


def fitted(train: Batch, rng: int = 0, **options: Any) -> SpacyTagger:
    tagger = SpacyTagger(SpacyOptions(**{**SMALL, "learning_rate": 0.01, **options}))
    return tagger.fit(train, rng=np.random.default_rng(rng))


@pytest.fixture(scope="module")
def trained() -> SpacyTagger:
    return fitted(notes(60))


def test_it_learns(trained: SpacyTagger) -> None:
    assert f1(trained, notes(40, seed=1)) > 0.9
    assert trained.training is not None
    assert trained.training.iterations == SMALL["epochs"]


def test_probabilities_come_from_the_beam(trained: SpacyTagger) -> None:
    empty = make_batch(
        [Document("none", ""), Document("odd", "Ana\n\n\tVic \0 👩")], labelled=False
    )
    batch = concatenate([notes(30, NAMES, TOWNS, seed=2), empty])
    whole = trained.tag(batch, detail="labels")
    assert whole.marginals is not None
    np.testing.assert_allclose(whole.marginals.sum(axis=1), 1, atol=1e-9)
    assert (whole.marginals >= 0).all()
    assert whole.confidence[30] == 1
    assert ((whole.confidence >= 0) & (whole.confidence <= 1)).all()
    entities = find_entities(whole.tags, batch.document_offsets, whole.labels)
    own = trained.tag(batch, detail="entity")
    assert own.entity_probabilities is not None
    chosen = own.entity_confidence(entities)
    assert len(chosen) > 40
    assert ((chosen > 0) & (chosen <= 1 + 1e-6)).all()
    # The first token of an entity begins it in as many sequences, or in more.
    begins = [whole.labels.index(f"B-{name}") for name in ("LOCATION", "PERSON")]
    marginal = whole.marginals[entities.first, np.array(begins)[entities.classes]]
    assert (marginal >= chosen - 1e-6).all()
    parts = [trained.tag(batch.take(np.array([row]))) for row in range(len(batch))]
    np.testing.assert_array_equal(np.concatenate([part.tags for part in parts]), whole.tags)
    confidence = np.concatenate([part.confidence for part in parts])
    np.testing.assert_allclose(confidence, whole.confidence, atol=1e-5)


def test_long_notes_are_parsed_in_parts(
    trained: SpacyTagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [document.text for document in notes(12, seed=4).to_documents()]
    batch = make_batch(
        [Document("long", "\n".join(lines)), Document("no line", "con " * 50)], labelled=False
    )
    monkeypatch.setattr(spacy_tagger, "_LONGEST", 8)
    offsets, documents = spacy_tagger._parts(batch)
    assert documents.tolist() == [0] * 6 + [1] * 7
    assert offsets[:7].tolist() == list(range(0, 49, 8))
    assert np.diff(offsets)[-1] == 2
    parts = [trained.tag(make_batch([Document("0", line)], labelled=False)) for line in lines]
    long = trained.tag(batch)
    assert (long.tags[:48] > 0).sum() >= sum((part.tags > 0).sum() for part in parts) - 4


def test_notes_do_not_show_in_errors_and_random_numbers_stay(trained: SpacyTagger) -> None:
    np.random.seed(3)
    expected = np.random.random()
    np.random.seed(3)
    trained._pipeline = None
    trained.tag(notes(2))
    assert np.random.random() == expected
    unknown = notes(3)
    tags = unknown.tags.copy()
    tags[0] = -1
    with pytest.raises(TrainingError, match="unknown tag"):
        fitted(unknown.with_tags(tags, unknown.labels))
    inside = np.where(unknown.tags > 0, unknown.tags + (unknown.tags % 2), 0).astype(np.int16)
    fitted(unknown.with_tags(inside, unknown.labels), epochs=1)  # I- that begin entities


@pytest.mark.processes
def test_it_is_trained_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    here = fitted(notes(20), 5, epochs=1)
    monkeypatch.setattr(spacy_tagger, "train_in_process", process.train_in_process)
    there = fitted(notes(20), 5, epochs=1)
    for name, values in here._weights.items():
        np.testing.assert_allclose(there._weights[name], values, atol=1e-5, err_msg=name)
    with pytest.raises(TrainingError, match=r"^the network was not trained: KeyError$"):
        process.train_in_process({"kind": "spacy", "options": {}}, {})


def test_batches_without_tokens_are_tagged(trained: SpacyTagger) -> None:
    for documents in ([], [Document("none", "")], [Document("dots", "...")]):
        batch = make_batch(documents, labelled=False)
        for detail in ("tags", "document", "token", "entity", "labels"):
            tagging = trained.tag(batch, detail=detail)
            assert len(tagging.tags) == batch.n_tokens
            assert len(tagging.confidence) == len(documents)


def test_a_saved_model_tags_the_same_and_holds_no_words(
    trained: SpacyTagger, tmp_path: Path
) -> None:
    trained.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    batch = notes(30, seed=2)
    before, after = (tagger.tag(batch, detail="entity") for tagger in (trained, loaded))
    np.testing.assert_array_equal(after.tags, before.tags)
    np.testing.assert_allclose(after.confidence, before.confidence, rtol=1e-5)
    for name in (*NAMES, *TOWNS):
        for path in (tmp_path / "model").iterdir():
            assert name.encode() not in path.read_bytes()
            assert path.suffix in (".npy", ".json")


def test_a_changed_model_is_refused(trained: SpacyTagger, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    path = next((tmp_path / "model").glob("weights-*.npy"))
    path.write_bytes(array_bytes(np.load(path)[1:]))
    with pytest.raises(InputError):
        load_tagger(tmp_path / "model")


def test_training_repeats_and_weights_of_documents_count() -> None:
    train = notes(20)
    first, again = (fitted(train, 5, epochs=2) for _ in range(2))
    weights = np.where(np.arange(20) < 10, 0.0, 1.0).astype(np.float32)
    weighted = fitted(train.with_weights(weights), 5, epochs=2)
    for name, values in first._weights.items():
        np.testing.assert_array_equal(values, again._weights[name], err_msg=name)
    assert any((first._weights[name] != weighted._weights[name]).any() for name in first._weights)


def test_training_without_entities_is_refused() -> None:
    without = make_batch([Document("1", "no one")], labelled=True, classes=["PERSON"])
    with pytest.raises(TrainingError, match="no training token is in an entity"):
        fitted(without)
