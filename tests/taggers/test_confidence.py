"""Confidence of documents and entities agrees with a computation one token at a time."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.tags import bio_labels, classes_of, find_entities, well_formed
from taggers.confidence import (
    MEASURES,
    document_confidence,
    entity_probabilities_of,
    needs_marginals,
    token_confidence_of,
)

LABELS = bio_labels(["A", "B"])
DOCUMENTS = st.lists(st.lists(st.just(0.0) | st.floats(1e-6, 1), max_size=6), max_size=6)


def offsets_of(documents: Sequence[Sequence[float]]) -> np.ndarray:
    return np.cumsum([0, *map(len, documents)], dtype=np.int64)


def reference(measure: str, document: Sequence[float]) -> float:
    if not document:
        return 1.0
    if measure == "min_marginal":
        return min(document)
    product = math.prod(document)
    return product if measure == "probability" else product ** (1 / len(document))


@pytest.mark.parametrize("measure", MEASURES)
@given(documents=DOCUMENTS)
def test_documents_are_measured_by_their_token_marginals(measure, documents) -> None:
    tokens = np.array([probability for document in documents for probability in document])
    actual = document_confidence(measure, offsets_of(documents), token_confidence=tokens)
    expected = [reference(measure, document) for document in documents]
    assert actual.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["probability", "normalised"])
@given(data=st.data(), lengths=st.lists(st.integers(0, 5), max_size=6))
def test_documents_are_measured_by_the_probabilities_of_their_sequences(
    measure: str, data: st.DataObject, lengths: list[int]
) -> None:
    number = len(lengths)
    logs = data.draw(st.lists(st.floats(-50, 0), min_size=number, max_size=number))
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    actual = document_confidence(measure, offsets, log_probability=np.array(logs))
    power = [1 if measure == "probability" else 1 / max(length, 1) for length in lengths]
    expected = [
        math.exp(log * exponent) if length else 1.0
        for log, exponent, length in zip(logs, power, lengths, strict=True)
    ]
    assert actual.tolist() == pytest.approx(expected)


def test_confidence_is_a_probability_in_spite_of_rounding() -> None:
    offsets = np.array([0, 1, 2])
    above = np.array([1 + 1e-12, 0.5])
    for measure in MEASURES:
        actual = document_confidence(measure, offsets, token_confidence=above)
        assert actual.tolist() == pytest.approx([1.0, 0.5])
        assert actual.max() <= 1


@pytest.mark.parametrize("measure", MEASURES)
def test_missing_marginals_are_an_error(measure: str) -> None:
    with pytest.raises(ValueError, match="marginals"):
        document_confidence(measure, np.array([0, 1]))
    if needs_marginals(measure):
        with pytest.raises(ValueError, match="marginals"):
            document_confidence(measure, np.array([0, 1]), log_probability=np.zeros(1))


def test_an_unknown_measure_is_refused() -> None:
    with pytest.raises(InputError, match=r"no measure .guess.; there are probability"):
        document_confidence("guess", np.zeros(1, np.int64), token_confidence=np.zeros(0))


@given(
    rows=st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), max_size=12), data=st.data()
)
def test_an_entity_is_as_probable_as_its_least_probable_label(rows, data) -> None:
    number = len(rows)
    marginals = np.array(rows).reshape(number, len(LABELS))
    offsets = np.array([0, data.draw(st.integers(0, number)), number])
    drawn = data.draw(st.lists(st.integers(0, 4), min_size=number, max_size=number))
    tags = well_formed(np.array(drawn, np.int16), offsets, LABELS)
    assert token_confidence_of(marginals, tags).tolist() == [
        marginals[token, tag] for token, tag in enumerate(tags)
    ]
    entities = find_entities(tags, offsets, LABELS)
    actual = entity_probabilities_of(marginals, entities, LABELS)
    expected = [
        [
            min(
                marginals[token, LABELS.index(f"{'B' if token == first else 'I'}-{name}")]
                for token in range(first, last + 1)
            )
            for name in classes_of(LABELS)
        ]
        for first, last in zip(entities.first, entities.last, strict=True)
    ]
    assert actual.shape == (len(expected), 2)
    assert actual.tolist() == expected
