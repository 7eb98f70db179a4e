"""Thresholds and propagation raise F1 on validation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.self_training.thresholds import (
    STEPS,
    chosen_min_probability,
    chosen_propagation,
)
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.evaluation.scoring import GoldBatch, score_batches
from taggers.base import Tagging
from taggers.min_probability import without_improbable

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")
#: What a tagger finds in a document: whether it is right, its class, and its probability.
Entity = tuple[bool, int, float]

entities = st.tuples(st.booleans(), st.integers(0, 1), st.floats(0, 1))


def tagged(entities: list[Entity]) -> tuple[GoldBatch, Tagging]:
    documents = [
        Document(f"d{n}", "Ana va", (Span(0, 3, "AB"[kind]),) if right else (), f"p{n // 2}")
        for n, (right, kind, _) in enumerate(entities)
    ]
    batch = make_batch(documents, labelled=True, classes=("A", "B"))
    tags = np.zeros(batch.n_tokens, np.int16)
    tags[::2] = [1 + 2 * kind for _, kind, _ in entities]
    rows = np.array([[p if kind == c else 0.0 for c in (0, 1)] for _, kind, p in entities])
    confidence = np.array([p for *_, p in entities])
    return GoldBatch.from_documents(documents, batch), Tagging(
        tags,
        LABELS,
        confidence,
        np.repeat(confidence, 2),
        entity_probabilities=rows.reshape(-1, 2),
    )


def f1_of(gold: GoldBatch, tagging: Tagging, rows: np.ndarray | None = None) -> float:
    scores = score_batches(gold, gold.batch.with_tags(tagging.tags, tagging.labels))
    return (scores if rows is None else scores.take(rows)).counts("ner").f1


@given(st.lists(entities, min_size=1, max_size=40))
def test_f1_falls_in_neither_half(some: list[Entity]) -> None:
    gold, tagging = tagged(some)
    chosen = chosen_min_probability(gold, tagging)
    after = without_improbable(tagging, gold.batch, chosen)
    sides = np.arange(len(some)) // 2 % 2
    for side in (0, 1):
        rows = np.flatnonzero(sides == side)
        assert f1_of(gold, after, rows) >= f1_of(gold, tagging, rows) - 1e-12
    assert set(chosen) <= {"A", "B"} and set(chosen.values()) <= set(STEPS[1:])


def test_the_threshold_is_the_best_one() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.uniform(size=400)
    # The less probable, the more often wrong; those of B are right.
    some = [
        (bool(n % 2 or rng.uniform() < p**2), n % 2, float(p)) for n, p in enumerate(probabilities)
    ]
    gold, tagging = tagged(some)
    best = max(
        STEPS, key=lambda step: f1_of(gold, without_improbable(tagging, gold.batch, {"A": step}))
    )
    assert chosen_min_probability(gold, tagging) == {"A": best} and best > 0


def test_few_documents_choose_none() -> None:
    gold, tagging = tagged([(True, 0, 0.9), (False, 0, 0.2)] * 2)
    assert chosen_min_probability(gold, tagging) == {}
    gold, tagging = tagged([(True, 0, 0.9), (False, 0, 0.2)] * 10)
    assert chosen_min_probability(gold, tagging) == {"A": 0.3}


def batch_of(*texts: str) -> Batch:
    return make_batch([Document(str(n), text) for n, text in enumerate(texts)], labelled=False)


def test_what_is_improbable_is_outside() -> None:
    batch = batch_of("Ana Puig va", "Vic i Reus")
    tagging = Tagging(
        np.array([1, 2, 0, 3, 0, 1], np.int16),
        LABELS,
        np.array([0.7, 0.2]),
        np.array([0.8, 0.9, 1.0, 0.4, 0.9, 0.9]),
        entity_probabilities=np.array([[0.75, 0.0], [0.1, 0.3], [0.85, 0.0]]),
    )
    after = without_improbable(tagging, batch, {"A": 0.8, "B": 0.3})
    assert after.tags.tolist() == [0, 0, 0, 3, 0, 1]
    assert after.confidence.tolist() == pytest.approx([0.25, 0.2])
    assert after.token_confidence is not None and after.entity_probabilities is not None
    assert after.token_confidence.tolist() == pytest.approx([0.2, 0.1, 1.0, 0.4, 0.9, 0.9])
    assert after.entity_probabilities.tolist() == [[0.1, 0.3], [0.85, 0.0]]
    assert without_improbable(tagging, batch, {}) is tagging


def test_what_helps_in_both_halves_is_propagated() -> None:
    """Of a class, all texts that stand again are right, right in one half, or wrong."""
    documents = []
    for note in range(20):
        for kind, town in (("A", "Vigo"), ("B", "Lugo"), ("C", "Jaén")):
            again = kind == "A" or (kind == "B" and note % 2)
            spans = [Span(0, 4, kind), Span(8, 12, kind)][: 1 + again]
            text = f"{town} va {town}"
            documents.append(Document(f"{note}{kind}", text, tuple(spans), f"p{note}"))
    batch = make_batch(documents, labelled=True, classes=("A", "B", "C"))
    tagging = Tagging(
        np.array([1, 0, 0, 3, 0, 0, 5, 0, 0] * 20, np.int16),
        ("O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C"),
        np.ones(60),
        np.ones(180),
        entity_probabilities=np.tile(np.eye(3), (20, 1)),
    )
    assert chosen_propagation(GoldBatch.from_documents(documents, batch), tagging) == {"A": "text"}
