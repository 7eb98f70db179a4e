"""Training of networks in a process of its own, and their models."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.evaluation.scoring import score_batches
from corpus.tags import UNKNOWN
from taggers.base import Tagging, TrainingError
from taggers.ensemble.pooling import pooled
from taggers.networks.bilstm_crf import BiLSTMCRFTagger
from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.registry import load_tagger
from tests.taggers.conftest import plain
from tests.taggers.networks.conftest import NAMES, OTHERS, TOWNS

SMALL = {
    "units": 8,
    "character_units": 6,
    "character_dimension": 5,
    "minibatch": 8,
    "learning_rate": 0.028,
    "averaging": 0.0,
    "min_steps": 0,
    "dropout": 0.1,
    "streams": (),
}


def notes(number: int, names=NAMES, towns=TOWNS, seed: int = 0) -> Batch:
    """Return notes in which names and towns occur in the same contexts."""
    rng = np.random.default_rng(seed)
    documents = []
    for index in range(number):
        name, town = rng.choice(names), rng.choice(towns)
        text = f"{rng.choice(OTHERS)} {name} {rng.choice(OTHERS)} {town}"
        begin, end = text.index(f" {name} ") + 1, len(text)
        spans = (Span(begin, begin + len(name), "PERSON"), Span(end - len(town), end, "LOCATION"))
        documents.append(Document(str(index), text, spans))
    return make_batch(documents, labelled=True)


def fitted(train: Batch, rng: int = 0, warm_start=None, **options) -> BiLSTMCRFTagger:
    tagger = BiLSTMCRFTagger(plain(BiLSTMCRFOptions, **{**SMALL, **options}))
    return tagger.fit(train, warm_start=warm_start, rng=np.random.default_rng(rng))


def f1(tagger: BiLSTMCRFTagger, gold: Batch) -> float:
    tagging = tagger.tag(gold)
    return score_batches(gold, gold.with_tags(tagging.tags, tagging.labels)).counts("ner").f1


@pytest.fixture(scope="module")
def trained(embedding_folder) -> BiLSTMCRFTagger:
    pytest.importorskip("keras")
    return fitted(notes(60, NAMES[:3], TOWNS[:3]), embeddings=str(embedding_folder), epochs=12)


def test_words_that_training_did_not_see_are_found_by_their_vectors(trained) -> None:
    assert f1(trained, notes(40, NAMES[3:], TOWNS[3:], seed=1)) > 0.9
    assert trained.training.iterations == 12
    assert trained.training.loss < 1


@pytest.mark.slow
def test_training_does_not_depend_on_the_order_of_the_vocabulary(embedding_folder) -> None:
    """A batch that is read from a run folder has the words of one in memory in another order."""
    batch = notes(20)
    size = len(batch.vocabulary)
    word_ids = (size - 1 - batch.word_ids).astype(np.int32)
    backwards = replace(batch, words=Stream(batch.vocabulary[::-1], word_ids))
    options = {"embeddings": str(embedding_folder), "epochs": 1, "streams": ("header",)}
    first, again = (fitted(train, 5, **options) for train in (batch, backwards))
    for name, values in first._weights.items():
        np.testing.assert_array_equal(values, again._weights[name], err_msg=name)
    np.testing.assert_array_equal(first.tag(batch).confidence, again.tag(batch).confidence)


def test_a_saved_model_tags_the_same(trained, tmp_path) -> None:
    trained.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    batch = notes(30, seed=2)
    for detail in ("document", "token", "entity", "labels"):
        before, after = trained.tag(batch, detail=detail), loaded.tag(batch, detail=detail)
        for name in ("tags", "confidence", "token_confidence", "marginals", "entity_probabilities"):
            # Linear algebra libraries may round by the number of rows and their place in memory.
            expected, actual = getattr(before, name), getattr(after, name)
            assert (expected is None) == (actual is None)
            if expected is not None:
                np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    for name in (*NAMES, *TOWNS):  # no word can be read in the files
        for path in (tmp_path / "model").iterdir():
            assert name.encode() not in path.read_bytes().replace(b"analysers", b"")


def test_its_chain_is_what_it_tags_with(trained) -> None:
    batch = notes(20, seed=3)
    actual = pooled([trained.chain(batch)] * 2, [0.5, 0.5]).decode(detail="labels")
    expected = trained.tag(batch, detail="labels")
    assert actual.labels.tolist() == expected.tags.tolist()
    np.testing.assert_allclose(actual.marginals, expected.marginals, atol=1e-5)
    pieces = BiLSTMCRFTagger(replace(trained.options, subsequence=8))
    pieces._weights, pieces._inputs, pieces.labels = (
        trained._weights,
        trained._inputs,
        trained.labels,
    )
    assert pieces.chain(batch) is None  # which holds for whole documents


def test_a_warm_start_continues_from_the_weights(trained, embedding_folder) -> None:
    """With a learning rate so low that nothing else is learned, and other training words."""
    options = {"embeddings": str(embedding_folder), "epochs": 1, "learning_rate": 1e-8}
    tagger = fitted(notes(20, NAMES[2:], TOWNS[2:]), warm_start=trained, **options)
    assert f1(tagger, notes(40, seed=3)) > 0.9


def test_unknown_tags_and_weights_are_honoured(embedding_folder) -> None:
    """Wrong documents of weight 0 teach nothing; right tags suffice where others are unknown."""
    train = notes(80)
    tags = train.tags.copy()
    wrong = np.arange(80) % 2 == 1
    of_wrong = np.repeat(wrong, train.lengths)
    tags[of_wrong] = 0
    tags[~of_wrong & (np.random.default_rng(0).random(len(tags)) < 0.3)] = UNKNOWN
    weights = np.where(wrong, 0, 1).astype(np.float32)
    partial = replace(train, tags=tags, weights=weights)
    tagger = fitted(partial, embeddings=str(embedding_folder), epochs=15, learning="marginal")
    assert f1(tagger, notes(40, seed=1)) > 0.9


@pytest.mark.slow
def test_options_work_together(embedding_folder) -> None:
    """With everything that is not a default, and learned vectors for a word without any."""
    names = [*NAMES, "zzz"]
    tagger = fitted(
        notes(80, names),
        embeddings=str(embedding_folder),
        train_embeddings=True,
        characters="bilstm",
        sensitive_units=5,
        subsequence=4,
        averaging=0.9,
        held_out=0.2,
        patience=2,
        streams=("header", "colon"),
        word_dropout=0.1,
        epochs=25,
    )
    assert f1(tagger, notes(40, names, seed=1)) > 0.9
    assert "words" in tagger._weights


def test_unusual_documents(trained) -> None:
    """Neither long documents, nor long words, nor empty ones are a problem."""
    texts = ["", "ana", "visita ana en vic " * 25_000, "x" * 10_000, "\x00\ufffd", " "]
    batch = make_batch([Document(str(n), text) for n, text in enumerate(texts)], labelled=False)
    tagging: Tagging = trained.tag(batch, detail="entity", measure="min_marginal")
    assert len(tagging.tags) == batch.n_tokens > 100_000
    assert tagging.confidence[0] == tagging.confidence[5] == 1
    assert np.isfinite(tagging.confidence).all()
    first = [tagging.labels[tag] for tag in tagging.tags[1:5]]
    assert first == ["O", "B-PERSON", "O", "B-LOCATION"]
    empty = trained.tag(make_batch([], labelled=False), detail="labels")
    assert empty.marginals.shape == (0, 5)


@pytest.mark.processes
def test_training_documents_without_entities_of_a_class_are_enough(embedding_folder) -> None:
    """A label that never occurs, fewer documents than a minibatch, documents without tokens."""
    documents = [Document("1", "visita ana", (Span(7, 10, "PERSON"),)), Document("2", "")]
    batch = make_batch(documents, labelled=True, classes=["LOCATION"])
    tagger = fitted(batch, embeddings=str(embedding_folder), epochs=2)
    assert tagger.labels == ("O", "B-LOCATION", "I-LOCATION", "B-PERSON", "I-PERSON")
    assert tagger.tag(batch).labels == tagger.labels


@pytest.mark.slow
@pytest.mark.processes
def test_a_loss_that_never_was_a_number_is_an_error(embedding_folder) -> None:
    with pytest.raises(TrainingError, match=r"not a number in epoch 1; lower learning_rate"):
        fitted(notes(40), embeddings=str(embedding_folder), epochs=3, learning_rate=1e37)


def test_nothing_to_learn_from_is_an_error() -> None:
    batch = notes(3)
    with pytest.raises(TrainingError, match="no training token has a known tag"):
        fitted(replace(batch, tags=np.full(len(batch.tags), UNKNOWN, np.int16)))


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds the process in /proc")
def test_a_killed_training_process_is_reported(embedding_folder) -> None:
    def kill(done: int, steps: int) -> None:
        children = Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children")
        for child in map(int, children.read_text().split()):
            if b"training.process" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(child, signal.SIGKILL)

    tagger = BiLSTMCRFTagger(plain(BiLSTMCRFOptions, **SMALL, epochs=10_000))
    with pytest.raises(TrainingError, match="killed, probably because memory ran out; lower"):
        tagger.fit(notes(30), rng=np.random.default_rng(0), progress=kill)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tensorflow" else find(name)
    )
    for work in (lambda: fitted(notes(3)), plain(BiLSTMCRFOptions).check):
        with pytest.raises(InputError, match=r"tensorflow, which is not installed: pip install"):
            work()


def test_tagging_needs_neither_keras_nor_tensorflow(trained, tmp_path) -> None:
    trained.save(tmp_path / "model")
    code = (
        "import sys; from pathlib import Path; from taggers.registry import load_tagger\n"
        "from corpus.batch import make_batch; from corpus.document import Document\n"
        f"tagger = load_tagger(Path({str(tmp_path / 'model')!r}))\n"
        "batch = make_batch([Document('1', 'visita ana en vic')], labelled=False)\n"
        "assert tagger.tag(batch).tags.tolist() == [0, 3, 0, 1]\n"
        "assert not {'keras', 'tensorflow', 'simplemma'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
