"""Queries compared with what they are defined as, document by document."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.active_learning.queries import QUERIES
from corpus.batch import Batch, make_batch
from corpus.document import Document
from taggers import Tagging

LABELS = ("O", "B-PERSON", "I-PERSON")
ORDERS = (LABELS, ("O", "B-LOCATION", "I-LOCATION", "B-PERSON", "I-PERSON"))


def batch_of(lengths: list[int]) -> Batch:
    documents = [Document(str(i), " ".join(["a"] * n)) for i, n in enumerate(lengths)]
    return make_batch(documents, labelled=False)


def tagging_of(batch: Batch, rng: np.random.Generator, labels: tuple[str, ...]) -> Tagging:
    """Draw marginals, some of which are 0, and tag each token with the likeliest of O and B."""
    marginals = rng.dirichlet(np.full(len(labels), 0.3), batch.n_tokens)
    marginals[marginals < 1e-4] = 0
    marginals /= marginals.sum(axis=1, keepdims=True) if batch.n_tokens else 1
    tags = marginals[:, :2].argmax(axis=1).astype(np.int16)
    entities = rng.random((int((tags > 0).sum()), (len(labels) - 1) // 2))
    confidence = rng.random(len(batch))
    return Tagging(tags, labels, confidence, marginals.max(axis=1), marginals, entities)


def rows_of(batch: Batch, values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, batch.document_offsets[1:-1])


def entropy(row: np.ndarray) -> float:
    return -math.fsum(value * math.log(value) for value in row if value > 0)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(0, 999))
def test_utilities_are_what_they_are_defined_as(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = batch_of(lengths)
    tagging = tagging_of(batch, rng, LABELS)
    assert tagging.marginals is not None
    documents = rows_of(batch, tagging.marginals)
    entities = rows_of(batch, np.cumsum(tagging.tags > 0) - 1)
    found = rows_of(batch, tagging.tags > 0)

    def utility(name: str) -> np.ndarray:
        return QUERIES[name].utility(tagging, batch, rng)

    np.testing.assert_array_equal(utility("least_confident"), 1 - tagging.confidence)
    np.testing.assert_allclose(
        utility("entropy"), [sum(map(entropy, rows)) for rows in documents], atol=1e-12
    )
    margins = [[np.sort(row)[-1] - np.sort(row)[-2] for row in rows] for rows in documents]
    np.testing.assert_allclose(utility("margin"), [1 - min(each, default=1) for each in margins])
    probability = tagging.entity_probabilities[:, 0]
    lowest = [
        min((probability[number] for number in numbers[which]), default=1)
        for numbers, which in zip(entities, found, strict=True)
    ]
    np.testing.assert_allclose(utility("lowest_entity"), 1 - np.array(lowest))


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.sampled_from(ORDERS), min_size=1, max_size=2),
    st.integers(0, 999),
)
def test_disagreement_is_the_divergence_of_members_from_their_mean(lengths, others, seed) -> None:
    """Also of members whose labels are others, or in another order."""
    rng = np.random.default_rng(seed)
    batch = batch_of(lengths)
    first = tagging_of(batch, rng, LABELS)
    views = tuple(tagging_of(batch, rng, labels) for labels in others)
    tagging = Tagging(
        first.tags, first.labels, first.confidence, None, first.marginals, views=views
    )
    expected = np.zeros(len(batch))
    owners = np.repeat(np.arange(len(batch)), batch.lengths)
    for token, owner in enumerate(owners):
        members = [
            [
                dict(zip(each.labels, each.marginals[token], strict=True)).get(name, 0)
                for name in LABELS
            ]
            for each in (first, *views)
            if each.marginals is not None
        ]
        mean = np.mean(members, axis=0)
        divergence = entropy(mean) - np.mean([entropy(np.array(member)) for member in members])
        expected[owner] += max(divergence, 0)
    found = QUERIES["committee"].utility(tagging, batch, rng)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_random_documents_depend_on_the_generator_alone() -> None:
    batch = batch_of([1] * 50)
    tagging = Tagging(np.zeros(50, np.int16), LABELS, np.ones(50))
    draws = [
        QUERIES["random"].utility(tagging, batch, np.random.default_rng(state)).tolist()
        for state in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_marginals_that_are_missing_are_an_error() -> None:
    batch = batch_of([1])
    tagging = Tagging(np.zeros(1, np.int16), LABELS, np.ones(1))
    with pytest.raises(ValueError, match="detail"):
        QUERIES["entropy"].utility(tagging, batch, np.random.default_rng(0))
