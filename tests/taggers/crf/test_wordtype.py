"""Words are scored once, kept for later batches, and scored as their weights say."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import threadpoolctl

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.kernels.hashing import hash_values
from taggers.crf import lattice, word_cache, wordtype
from taggers.crf.weights import FeatureValues, Weights, border_hashes
from taggers.crf.wordtype import WordTypeCRF
from taggers.features.templates import Templates
from taggers.string_table import EMPTY

FEATURES = ("form", "suffix1")
TEMPLATES = Templates.parse(FEATURES, 1)
LABELS = ("O", "B-A", "I-A")
WORDS = ["".join(letters) for letters in itertools.product("pqrst", "aeiouxyz", "abc")]


def random_weights(offsets: int = 3) -> Weights:
    """Make weights of most words, of their last letters and of borders."""
    rng = np.random.default_rng(0)
    values = np.sort(
        np.concatenate(
            [hash_values("form", WORDS[10:]), hash_values("suffix1", ["a", "b"]), border_hashes()]
        )
    )
    every = np.array([*np.ndindex(len(values), offsets, len(LABELS))])
    kept = every[rng.random(len(every)) < 0.6]
    held = np.bincount(kept[:, 0] * offsets + kept[:, 1], minlength=len(values) * offsets)
    return Weights(
        len(LABELS),
        offsets,
        FeatureValues(values, EMPTY, np.zeros(len(values), np.int32)),
        np.append(0, np.cumsum(held)),
        kept[:, 2].astype(np.int16),
        rng.normal(size=len(kept)),
        rng.normal(size=(3, 3)),
    )


def batch_of(*texts: str) -> Batch:
    documents = [Document(str(row), text, ()) for row, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words whose features were computed."""
    words: list[str] = []
    values_of = wordtype.values_of

    def counted(types: Sequence[str], templates: Templates) -> np.ndarray:
        words.extend(types)
        return values_of(types, templates)

    monkeypatch.setattr(wordtype, "values_of", counted)
    return words


def tokens_by_table(scores: WordTypeCRF, document: Sequence[str]) -> np.ndarray:
    types = list(dict.fromkeys(document))
    row_of = dict(zip(types, scores.words.rows(types).tolist(), strict=True))
    table = scores.words.table
    window = table.shape[1] // 2
    padded = [*[0] * window, *(row_of[word] for word in document), *[1] * window]
    return np.array(
        [
            sum(table[padded[place + offset], offset] for offset in range(table.shape[1]))
            for place in range(len(document))
        ]
    )


@pytest.mark.parametrize("offsets", [1, 3, 7])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_the_table_adds_up_to_the_scores_of_tokens(offsets, real, token_scores) -> None:
    weights = random_weights(offsets=offsets)
    scores = WordTypeCRF(Templates.parse(FEATURES, offsets // 2), LABELS, weights, real)
    close = 1e-5 if real == np.float32 else 1e-12
    for document in (["paa", "sab", "paa", "new", "tzc"], ["paa"], ["other", "tzc"]):
        actual = tokens_by_table(scores, document)
        assert actual.dtype == real
        expected = token_scores(weights, FEATURES, document)
        assert actual[:, : weights.labels] == pytest.approx(expected, abs=close)
        assert (actual[:, weights.labels :] == lattice.NEVER).all()


@pytest.mark.parametrize("piece", [1, 2, 100])
def test_a_word_that_is_there_twice_has_one_row(piece, monkeypatch, computed) -> None:
    monkeypatch.setattr(word_cache, "_PIECE", piece)
    weights = random_weights()
    scores = WordTypeCRF(TEMPLATES, LABELS, weights, np.float64)
    scores.words.rows(["paa", "pab", "paa", "pab"])
    assert np.array_equal(scores.words.rows([*WORDS, "x", "x"])[-2:], scores.words.rows(["x", "x"]))
    assert len(computed) == len(set(computed)) == len(WORDS) + 1
    once = WordTypeCRF(TEMPLATES, LABELS, weights, np.float64)
    assert np.array_equal(
        scores.words.table[scores.words.rows(WORDS)], once.words.table[once.words.rows(WORDS)]
    )


def test_the_table_grows_and_keeps_what_it_has() -> None:
    scores = WordTypeCRF(TEMPLATES, LABELS, random_weights(), np.float64)
    few = scores.words.table[scores.words.rows(WORDS)].copy()
    borders = scores.words.table[:2].copy()
    rows = scores.words.rows([f"x{number}" for number in range(5000)])
    assert len(np.unique(rows)) == 5000
    assert rows.min() >= 2
    assert len(scores.words.table) > rows.max()
    assert scores.words.table[scores.words.rows(WORDS)].tolist() == few.tolist()
    assert scores.words.table[:2].tolist() == borders.tolist()


@pytest.mark.parametrize("kept", [0, 1, 3, 10])
def test_how_many_words_are_kept_does_not_change_results(monkeypatch, kept) -> None:
    weights = random_weights()
    texts = [
        "paa peb pic paa",
        "poa pub",
        "",
        "paa peb",
        "paa qab qec",
        "qab qec qia qob quc raa reb",
        "qec paa",
    ]
    batches = [batch_of(text) for text in texts]
    crf = WordTypeCRF(TEMPLATES, LABELS, weights)
    expected = [crf.chain(batch).decode(detail="labels") for batch in batches]
    row_bytes = WordTypeCRF(TEMPLATES, LABELS, weights).words.table[0].nbytes
    monkeypatch.setattr(wordtype, "KEPT", kept * row_bytes)
    forgetful = WordTypeCRF(TEMPLATES, LABELS, weights)
    for batch, one in zip(batches, expected, strict=True):
        actual = forgetful.chain(batch).decode(detail="labels")
        assert actual.labels.tolist() == one.labels.tolist()
        assert actual.log_probability.tolist() == one.log_probability.tolist()
        assert actual.marginals.tolist() == one.marginals.tolist()


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch, computed: list[str]) -> None:
    row_bytes = WordTypeCRF(TEMPLATES, LABELS, random_weights()).words.table[0].nbytes
    monkeypatch.setattr(wordtype, "KEPT", 2000 * row_bytes)
    scores = WordTypeCRF(TEMPLATES, LABELS, random_weights())
    for number in range(40):
        scores.words.rows([f"{number}-{word}" for word in range(300)])
        assert scores.words.table.nbytes <= 2 * 2048 * row_bytes
    assert len(computed) == 40 * 300
    scores.words.rows(["39-0", "39-299"])  # of the last batch
    assert len(computed) == 40 * 300
    scores.words.rows(["0-0"])  # of the first one, forgotten
    assert computed[-1] == "0-0"


def test_documents_are_decoded_on_one_thread() -> None:
    threads: set[int] = set()

    chain = WordTypeCRF(TEMPLATES, LABELS, random_weights()).chain(batch_of("paa"))

    def score(*arguments: Any) -> None:
        pools = threadpoolctl.threadpool_info()
        threads.update(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")
        chain.score(*arguments)

    replace(chain, score=score).decode()
    assert threads == {1}
