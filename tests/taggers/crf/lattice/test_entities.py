"""Probabilities of entities against brute force: `find_entities` on every path there is."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corpus.tags import bio_labels, classes_of, find_entities
from taggers.crf import lattice
from taggers.crf.lattice.entities import EntityLabels, PackedEntities, in_order
from tests.taggers.crf.conftest import Case, every_path

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])
CLOSE = {np.float32: 2e-5, np.float64: 1e-10}

#: Labels of models and the most tokens of a document; a model may lack any of them.
LABELS = {
    ("O",): 4,
    ("B-A",): 4,
    ("I-A",): 4,
    ("O", "B-A"): 5,
    ("O", "I-A"): 5,
    ("B-A", "I-A"): 5,
    ("O", "B-A", "I-A"): 5,
    ("I-B", "O", "B-A", "I-A"): 4,
    ("O", "B-A", "I-A", "B-B", "I-B"): 4,
    bio_labels("ABCD"): 3,
}


STEPS = [0.0, 0.125, 1.25, 10.5]
#: The exponential of 8 times 125 is 0 in float64.
SCORES = st.sampled_from([*STEPS, 125.0])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    names = draw(st.sampled_from(list(LABELS)))
    lengths = draw(st.lists(st.integers(0, LABELS[names]), max_size=5))
    size, labels = sum(lengths), len(names)
    numbers = st.integers(-8, 8)
    scores = draw(hnp.arrays(np.int64, (size, labels), elements=numbers))
    transition = draw(hnp.arrays(np.int64, (labels, labels), elements=numbers))
    tags = draw(hnp.arrays(np.int16, size, elements=st.integers(0, labels - 1)))
    return Case(
        lengths, scores * draw(SCORES), transition * draw(st.sampled_from(STEPS)), names, tags
    )


def spans_of(tags: np.ndarray, documents: np.ndarray, names: tuple[str, ...]) -> list[list[tuple]]:
    """Return the first and last token and the class of the entities of each document."""
    result = find_entities(tags, documents, names)
    spans: list[list[tuple]] = [[] for _ in documents[1:]]
    for first, last, kind in zip(result.first, result.last, result.classes, strict=True):
        owner = int(np.searchsorted(documents, first, side="right")) - 1
        spans[owner].append((first - documents[owner], last - documents[owner], kind))
    return spans


def brute_force(case: Case, start: int, stop: int) -> Counter:
    """Return the probability of every entity that any path through a document has."""
    paths, values = every_path(case.scores[start:stop], case.transition)
    probabilities = np.exp(values - np.logaddexp.reduce(values))
    bounds = np.arange(len(paths) + 1) * (stop - start)
    total: Counter = Counter()
    for entities, probability in zip(
        spans_of(paths.reshape(-1), bounds, case.names), probabilities, strict=True
    ):
        for entity in entities:
            total[entity] += probability
    return total


def expected(case: Case, tags: np.ndarray) -> Iterator[list[float]]:
    """Yield the probabilities of the entities in tags, as one of each class."""
    own = spans_of(tags, case.documents, case.names)
    for (start, stop), entities in zip(itertools.pairwise(case.documents), own, strict=True):
        if entities:
            total = brute_force(case, start, stop)
            for first, last, _ in entities:
                yield [total[first, last, kind] for kind, _ in enumerate(classes_of(case.names))]


def packed_scores(case: Case, packing: lattice.Packing, real: type) -> np.ndarray:
    scores = np.full((packing.tokens, -(-len(case.names) // 8) * 8), lattice.NEVER, real)
    for row, (first, length) in enumerate(zip(packing.first, packing.lengths, strict=True)):
        scores[packing.steps[:length] + row, : len(case.names)] = case.scores[first:][:length]
    return scores


def computed(case: Case, real: type, packed: int = 7) -> np.ndarray:
    """Compute the probabilities of the entities in the tags."""
    labels = EntityLabels.from_names(case.names)
    transitions = lattice.Transitions(case.transition.astype(np.float64), np.dtype(real))
    parts = []
    for packing in lattice.pack(case.documents, packed):
        entities = PackedEntities.from_tags(packing, case.tags, labels)
        scores = packed_scores(case, packing, real)
        sums = transitions.forward(packing, scores, np.empty_like(scores))
        entities.begin(packing, sums, transitions.exponential)
        transitions.backward(packing, sums, np.ones(len(sums.log_z)), np.zeros((0, 0)))
        entities.end(packing, sums, transitions.exponential)
        parts.append(entities)
    return in_order(parts, labels)


def assert_close(result: np.ndarray, case: Case, tags: np.ndarray, close: float) -> None:
    classes = len(classes_of(case.names))
    rows = list(expected(case, tags))
    assert result.dtype == np.float64
    assert result.shape == (len(rows), classes)
    assert result == pytest.approx(np.reshape(rows, result.shape), abs=close)
    assert ((result >= 0) & (result <= 1)).all()


BIO = ("O", "B-A", "I-A")
LEVEL = np.zeros((3, 3))


def level(tags: list[int], *lengths: int) -> Case:
    """Make documents with these tags in which every path is as good as any other."""
    return Case([*lengths], np.zeros((len(tags), 3)), LEVEL, BIO, np.array(tags, np.int16))


@REALS
@given(case=cases())
def test_entities_of_best_paths_are_as_probable_as_by_brute_force(case: Case, real: type) -> None:
    actual = case.decoded(real, "entity")
    assert_close(actual.entities, case, actual.labels, CLOSE[real])


@given(case=cases())
@example(level([1], 1))
@example(level([2], 1))
@example(level([1, 1, 2, 1], 4))
@example(level([1, 2, 2, 0, 2], 3, 0, 2))
@example(level([0, 2, 2, 1, 2], 5))
@example(level([], 0, 0))
def test_any_entity_is_as_probable_as_by_brute_force(case: Case) -> None:
    """Also one that no good path has, and whatever the weights are."""
    for real, close in CLOSE.items():
        assert_close(computed(case, real), case, case.tags, close)


@REALS
@pytest.mark.parametrize("packed", [1, 5, 40])
@pytest.mark.parametrize("step", [1.0, 100.0])
def test_entities_come_in_the_order_of_their_tokens_however_packed(
    real: type, packed: int, step: float
) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 12, 30).tolist()
    scores, transition = rng.normal(size=(sum(lengths), 5)), step * rng.normal(size=(5, 5))
    case = Case(lengths, scores, transition, bio_labels("AB"))
    whole = case.decoded(real, "entity")
    alone = []
    for start, stop in itertools.pairwise(case.documents):
        one = replace(case, lengths=[stop - start], scores=scores[start:stop])
        alone.append(one.decoded(real, "entity").entities)
    actual = case.decoded(real, "entity", packed=packed)
    assert len(actual.entities) > 20
    assert actual.entities == pytest.approx(whole.entities, abs=CLOSE[real])
    assert actual.entities == pytest.approx(np.concatenate(alone), abs=CLOSE[real])


@REALS
def test_a_long_entity_is_as_probable_as_its_only_path(real: type) -> None:
    """No other path is likely, so that rounding alone takes from 1."""
    number = 5000
    scores = np.zeros((number, 3))
    scores[:, 2] = 60
    case = Case([number], scores, LEVEL, BIO)
    actual = case.decoded(real, "entity")
    assert actual.entities == pytest.approx(np.ones((1, 1)), abs=1e-2 * CLOSE[real] * number)
