"""Proportions against loops, and their sampling error against samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.selection.proportions import (
    RELATIVE_TOLERANCE,
    Content,
    Proportions,
    Reference,
    configured_reference,
    content_of,
    measured_reference,
    proportions_of,
)
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.tags import bio_labels

CLASSES = ("LOCATION", "PERSON")


def content(*rows: tuple[int, list[int], list[int]]) -> Content:
    """Make content of (tokens, entities of each class, tokens in them) of each document."""
    width = len(rows[0][1]) if rows else len(CLASSES)
    return Content(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int64).reshape(len(rows), width),
        np.array([row[2] for row in rows], np.int64).reshape(len(rows), width),
    )


def random_content(rng: np.random.Generator, number: int, classes: int = 2) -> Content:
    """Draw documents as different in length and in entities as notes are."""
    tokens = rng.poisson(rng.gamma(3, 6, number)) + 1
    entities = np.minimum(rng.poisson(tokens[:, None] * rng.uniform(0.01, 0.06, classes)), 4)
    lengths = entities + rng.poisson(entities * 0.8)
    return Content(tokens, entities, lengths)


def statistics(documents: Content) -> list[float]:
    """Do what `proportions_of` does, document by document."""
    number, width = documents.entities.shape
    rates, lengths, empty, tokens = [], [], 0, 0
    for row in range(number):
        tokens += int(documents.tokens[row])
        empty += all(documents.entities[row, column] == 0 for column in range(width))
    for column in range(width):
        entities = sum(documents.entities[:, column].tolist())
        rates.append(entities / tokens)
        spans = sum(documents.lengths[:, column].tolist())
        lengths.append(spans / entities if entities else math.nan)
    return [*rates, *lengths, empty / number]


DOCUMENTS = [
    Document("a", "Joan Puig i Rosa al Clot", (Span(0, 9, "PERSON"), Span(12, 16, "PERSON"))),
    Document("b", "dolor de cap", ()),
    Document("c", "", ()),
    Document("d", "Sant Pau", (Span(0, 4, "LOCATION"), Span(5, 8, "LOCATION"))),
    Document("e", "12345678Z Mercedes", (Span(0, 9, "ID"),)),
]


def test_content_counts_entities_and_their_tokens() -> None:
    batch = make_batch(DOCUMENTS, labelled=True)
    found = content_of(batch, batch.tags, batch.labels, ["PERSON", "LOCATION"])
    assert found.tokens.tolist() == [6, 3, 0, 2, 2]
    assert found.entities.tolist() == [[2, 0], [0, 0], [0, 0], [0, 2], [0, 0]]
    assert found.lengths.tolist() == [[3, 0], [0, 0], [0, 0], [0, 2], [0, 0]]
    assert found.empty.tolist() == [False, True, True, False, True]


def test_content_of_classes_that_the_tags_do_not_have() -> None:
    batch = make_batch(DOCUMENTS, labelled=True)
    found = content_of(batch, batch.tags, batch.labels, ["DATE", "ID", "PERSON"])
    assert found.entities.tolist() == [[0, 0, 2], [0] * 3, [0] * 3, [0] * 3, [0, 1, 0]]
    none = content_of(batch, batch.tags, batch.labels, [])
    assert none.entities.shape == (5, 0)
    assert none.empty.all()
    outside = make_batch([Document("a", "res", ())], labelled=True)
    assert outside.labels == ("O",)
    assert content_of(outside, outside.tags, outside.labels, ["ID"]).entities.tolist() == [[0]]


@given(
    tags=st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=5),
    classes=st.permutations(["A", "B"]),
)
def test_content_is_what_a_loop_counts(tags: list[list[int]], classes: list[str]) -> None:
    labels = bio_labels(["A", "B"])
    batch = make_batch(
        [Document(str(row), "x " * len(each), ()) for row, each in enumerate(tags)], labelled=False
    )
    flat = np.array([tag for each in tags for tag in each], np.int16)
    found = content_of(batch, flat, labels, classes)
    for row, each in enumerate(tags):
        entities, lengths = dict.fromkeys(classes, 0), dict.fromkeys(classes, 0)
        before = "O"
        for tag in each:
            label = labels[tag]
            if label != "O":
                entities[label[2:]] += label[0] == "B" or before[2:] != label[2:]
                lengths[label[2:]] += 1
            before = label
        assert found.tokens[row] == len(each)
        assert found.entities[row].tolist() == [entities[name] for name in classes]
        assert found.lengths[row].tolist() == [lengths[name] for name in classes]
        assert found.empty[row] == (sum(entities.values()) == 0)


@pytest.mark.parametrize("seed", range(10))
def test_statistics_are_those_of_a_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_content(rng, int(rng.integers(1, 30)), int(rng.integers(1, 4)))
    names = ["A", "B", "C"][: documents.entities.shape[1]]
    found = proportions_of(documents, names)
    assert found.classes == tuple(names)
    assert found.values == pytest.approx(statistics(documents), nan_ok=True)
    some = np.flatnonzero(rng.random(len(documents.tokens)) < 0.5)
    if len(some):
        part = proportions_of(documents.take(some), names)
        assert part.values == pytest.approx(statistics(documents.take(some)), nan_ok=True)


def test_statistics_have_names() -> None:
    documents = content((10, [1, 0], [3, 0]), (10, [0, 0], [0, 0]))
    found = proportions_of(documents, CLASSES).as_dict()
    assert math.isnan(found.pop("PERSON length"))
    assert found == {
        "LOCATION per token": 0.05,
        "PERSON per token": 0.0,
        "LOCATION length": 3.0,
        "documents without entities": 0.5,
    }


def test_no_documents_have_no_entities() -> None:
    found = proportions_of(content(), CLASSES)
    assert found.values == pytest.approx([0, 0, math.nan, math.nan, 1], nan_ok=True)
    reference = measured_reference(content(), CLASSES)
    assert worst(reference, found, 0) == 0
    assert np.isfinite(reference.tolerance(1)[[0, 1, 4]]).all()


# Sampling error


def samples(documents: Content, size: int, number: int, rng: np.random.Generator) -> np.ndarray:
    """Draw documents again and again and measure each sample; shape (number, 2 C + 1)."""
    names = CLASSES[: documents.entities.shape[1]]
    rows = rng.integers(0, len(documents.tokens), (number, size))
    return np.array([proportions_of(documents.take(each), names).values for each in rows])


@pytest.mark.parametrize("seed", range(3))
def test_the_spread_is_the_deviation_of_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_content(rng, 800)
    spread = measured_reference(documents, CLASSES).spread
    size = 250
    found = samples(documents, size, 1500, rng).std(axis=0)
    assert spread / size**0.5 == pytest.approx(found, rel=0.15)


def test_two_samples_differ_by_the_tolerance_of_sampling() -> None:
    """The reference is a sample too, so that both have an error."""
    rng = np.random.default_rng(7)
    documents = random_content(rng, 5000)
    reference, size = documents.take(rng.integers(0, 5000, 300)), 150
    bare = measured_reference(reference, CLASSES)
    differences = samples(documents, size, 1200, rng) - samples(documents, 300, 1200, rng)
    error = bare.spread * (1 / size + 1 / 300) ** 0.5
    assert error == pytest.approx(differences.std(axis=0), rel=0.25)
    assert (bare.tolerance(size) >= 0.75 * differences.std(axis=0)).all()


def test_a_class_seen_in_no_document_may_be_seen_in_one() -> None:
    documents = content(*[(20, [0, 1], [0, 2])] * 50)
    reference = measured_reference(documents, CLASSES)
    assert reference.proportions.values[0] == 0
    once = content((20, [1, 1], [1, 2]), *[(20, [0, 1], [0, 2])] * 49)
    ten = content(*[(20, [1, 1], [1, 2])] * 10, *[(20, [0, 1], [0, 2])] * 40)
    assert worst(reference, proportions_of(once, CLASSES), 50) <= 1
    assert worst(reference, proportions_of(ten, CLASSES), 50) > 1


references = st.one_of(
    st.builds(
        lambda seed, number: measured_reference(
            random_content(np.random.default_rng(seed), number), CLASSES
        ),
        st.integers(0, 1000),
        st.integers(1, 300),
    ),
    st.builds(
        lambda rate, length, empty, tokens: configured_reference(
            {"PERSON": rate, "LOCATION": rate / 2},
            {"PERSON": length, "LOCATION": 1.0},
            empty,
            tokens,
        ),
        st.just(0.0) | st.floats(1e-4, 0.3),
        st.floats(1, 4),
        st.floats(0, 1),
        st.floats(1, 500),
    ),
)


@settings(deadline=None)
@given(reference=references, number=st.integers(1, 100_000))
def test_the_tolerance_is_at_least_a_tenth_and_the_sampling_error(reference, number) -> None:
    values = reference.proportions.values
    tolerance = reference.tolerance(number)
    known = ~np.isnan(values)
    assert RELATIVE_TOLERANCE == 0.1
    assert (tolerance[known] >= 0.1 * values[known]).all()
    error = reference.spread * (1 / number + 1 / reference.documents) ** 0.5
    assert (tolerance[known] >= error[known]).all()
    # It is one of the two, and the smaller a sample the wider it is.
    either = np.isclose(tolerance, 0.1 * values) | np.isclose(tolerance, error)
    assert either[known & np.isfinite(error)].all()
    assert (reference.tolerance(number + 1)[known] <= tolerance[known]).all()


# Given numbers


def test_given_numbers_are_the_reference() -> None:
    reference = configured_reference(
        {"PERSON": 0.003, "LOCATION": 0.011}, {"LOCATION": 2.0, "PERSON": 1.5}, 0.8, 19.0
    )
    assert reference.proportions.classes == ("LOCATION", "PERSON")
    assert reference.proportions.values.tolist() == [0.011, 0.003, 2.0, 1.5, 0.8]
    assert reference.documents == math.inf
    assert reference.tolerance(10**9) == pytest.approx([0.0011, 0.0003, 0.2, 0.15, 0.08])


def test_the_spread_of_given_numbers_is_that_of_documents_like_them() -> None:
    """Numbers of entities as in a Poisson distribution, lengths as in a geometric one."""
    rng = np.random.default_rng(1)
    tokens, rate, length, empty, size = 20, 0.05, 2.5, 0.4, 150
    reference = configured_reference({"A": rate}, {"A": length}, empty, tokens)
    found = []
    for _ in range(1500):
        entities = rng.poisson(rate * tokens, size)
        spans = rng.geometric(1 / length, int(entities.sum()))
        found.append(
            [entities.sum() / (tokens * size), spans.mean(), (rng.random(size) < empty).mean()]
        )
    assert reference.spread / size**0.5 == pytest.approx(np.std(found, axis=0), rel=0.15)


def test_given_numbers_may_be_zero() -> None:
    reference = configured_reference({"A": 0.0}, {"A": 1.0}, 0.0, 20.0)
    assert reference.tolerance(5)[[0, 2]].tolist() == [0, 0]
    assert math.isinf(reference.spread[1])


# Deviation


def worst(reference: Reference, found: Proportions, number: int) -> float:
    return float(reference.deviations(found, number).max(initial=0.0))


def proportions(*values: float) -> Proportions:
    return Proportions(CLASSES, np.array(values))


EXACT = Reference(proportions(0.02, 0.04, 2.0, 1.5, 0.5), np.zeros(5), math.inf)


@pytest.mark.parametrize(
    ("values", "deviation"),
    [
        ((0.02, 0.04, 2.0, 1.5, 0.5), 0.0),
        ((0.021, 0.04, 2.0, 1.5, 0.5), 0.5),
        ((0.02, 0.03, 2.0, 1.5, 0.5), 2.5),
        ((0.02, 0.04, 2.6, 1.5, 0.5), 3.0),
        ((0.02, 0.04, 2.0, 1.2, 0.5), 2.0),
        ((0.02, 0.04, 2.0, 1.5, 0.7), 4.0),
        ((0.019, 0.05, 2.1, 1.5, 0.55), 2.5),  # the worst one counts
        ((0.0, 0.04, math.nan, 1.5, 0.5), 10.0),  # no entities have no length
    ],
)
def test_the_deviation_is_the_worst_in_units_of_the_tolerance(values, deviation) -> None:
    assert worst(EXACT, proportions(*values), 10) == pytest.approx(deviation)


def test_where_nothing_is_tolerated_any_difference_is_infinite() -> None:
    reference = Reference(proportions(0.0, 0.04, math.nan, 1.5, 0.0), np.zeros(5), math.inf)
    assert worst(reference, proportions(0.0, 0.04, math.nan, 1.5, 0.0), 5) == 0
    assert worst(reference, proportions(0.0, 0.04, 3.0, 1.5, 0.0), 5) == 0  # nothing to compare
    assert worst(reference, proportions(1e-6, 0.04, 1.0, 1.5, 0.0), 5) == math.inf
    assert worst(reference, proportions(0.0, 0.04, math.nan, 1.5, 0.1), 5) == math.inf
