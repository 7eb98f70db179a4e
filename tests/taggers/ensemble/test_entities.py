"""Probabilities of entities, against the members' own."""

from __future__ import annotations

import numpy as np
import pytest

from corpus.batch import Batch
from corpus.tags import TokenSpans, find_entities
from taggers import CRFOptions, CRFTagger
from taggers.ensemble.decoding import entity_probabilities
from tests.taggers.conftest import plain

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")


def spans(*rows: tuple[int, int, int]) -> TokenSpans:
    first, last, classes = np.array(rows, np.int64).reshape(-1, 3).T
    return TokenSpans(first, last, classes)


def test_an_entity_is_as_probable_as_its_least_certain_token_or_end() -> None:
    marginals = np.array(
        [
            [0.1, 0.8, 0.0, 0.1, 0.0],
            [0.3, 0.0, 0.6, 0.0, 0.1],
            [0.2, 0.1, 0.7, 0.0, 0.0],  # an I-A after the entity, within its document
            [0.0, 0.9, 0.1, 0.0, 0.0],
            [0.0, 0.0, 0.9, 0.0, 0.1],  # the first token of another document
        ]
    )
    documents = np.array([0, 4, 4, 5])
    entities = spans((0, 1, 0), (3, 3, 0), (4, 4, 1))
    actual = entity_probabilities(marginals, entities, documents, LABELS)
    assert actual == pytest.approx(np.array([[0.3, 0.1], [0.9, 0.0], [0.0, 0.0]]))
    actual = entity_probabilities(marginals, spans((0, 0, 0)), documents, LABELS)
    assert actual == pytest.approx(np.array([[0.4, 0.1]]))
    assert entity_probabilities(marginals, spans(), documents, LABELS).shape == (0, 2)


def test_the_probability_is_an_upper_bound_of_that_of_a_lattice(train: Batch) -> None:
    options = plain(
        CRFOptions, features=("shape",), window=1, streams=(), conjunctions=(), max_iterations=5
    )
    crf = CRFTagger(options).fit(train, rng=np.random.default_rng(0))
    exact = crf.tag(train, detail="entity")
    actual = find_entities(exact.tags, train.document_offsets, crf.labels)
    marginals = crf.tag(train, detail="labels").marginals
    bound = entity_probabilities(marginals, actual, train.document_offsets, crf.labels)
    of_class = np.arange(len(actual.classes)), actual.classes
    assert len(actual.classes) > 10
    assert (bound[of_class] >= exact.entity_probabilities[of_class] - 1e-5).all()
    assert (bound[of_class] - exact.entity_probabilities[of_class]).max() < 0.2
