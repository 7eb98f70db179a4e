"""Packed lattices against straightforward computations, document by document."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taggers.crf import lattice
from taggers.crf.lattice import Packing
from taggers.crf.lattice.logspace import log_forward_backward

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])
CLOSE = {np.float32: 1e-4, np.float64: 1e-10}
LENGTHS = st.lists(st.integers(0, 6), max_size=8)


def bounds_of(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.int64)


def where(packing: Packing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return packing.first, packing.lengths, packing.steps


def packed_tokens(packing: Packing) -> np.ndarray:
    """Return the token of the batch that stands at each packed place."""
    tokens = np.full(packing.tokens, -1)
    for row, (first, length) in enumerate(zip(packing.first, packing.lengths, strict=True)):
        tokens[packing.steps[:length] + row] = np.arange(first, first + length)
    return tokens


# Packing


@given(lengths=LENGTHS, tokens=st.integers(1, 30))
def test_every_token_is_packed_once(lengths: list[int], tokens: int) -> None:
    packings = lattice.pack(bounds_of(lengths), tokens)
    places = [packed_tokens(packing) for packing in packings]
    assert sorted(itertools.chain(*(each.tolist() for each in places))) == list(range(sum(lengths)))
    rows = list(itertools.chain(*(packing.documents.tolist() for packing in packings)))
    assert sorted(rows) == [row for row, length in enumerate(lengths) if length]


@given(lengths=LENGTHS, tokens=st.integers(1, 30))
def test_documents_are_packed_longest_first_and_step_by_step(
    lengths: list[int], tokens: int
) -> None:
    documents = bounds_of(lengths)
    for packing in lattice.pack(documents, tokens):
        assert packing.lengths.tolist() == sorted(packing.lengths.tolist(), reverse=True)
        assert packing.lengths.tolist() == [lengths[row] for row in packing.documents]
        assert packing.first.tolist() == documents[packing.documents].tolist()
        assert packing.tokens == packing.lengths.sum()
        number = [int((packing.lengths > step).sum()) for step in range(packing.lengths[0])]
        assert np.diff(packing.steps).tolist() == number


@given(lengths=LENGTHS, tokens=st.integers(1, 30))
def test_a_packing_is_not_much_larger_than_wanted(lengths: list[int], tokens: int) -> None:
    for packing in lattice.pack(bounds_of(lengths), tokens):
        assert packing.tokens < tokens + max(lengths)


@given(lengths=LENGTHS, tokens=st.integers(1, 30), data=st.data())
def test_only_wanted_documents_are_packed(
    lengths: list[int], tokens: int, data: st.DataObject
) -> None:
    size = len(lengths)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    packings = lattice.pack(bounds_of(lengths), tokens, wanted)
    rows = itertools.chain(*(packing.documents.tolist() for packing in packings))
    assert sorted(rows) == [row for row in range(size) if wanted[row] and lengths[row]]


# Words around tokens


def summed(table: np.ndarray, words: list[int], begin: int, end: int) -> np.ndarray:
    offsets = table.shape[1]
    scores = np.zeros((len(words), table.shape[2]))
    for place in range(len(words)):
        for offset in range(offsets):
            other = place + offset - offsets // 2
            row = begin if other < 0 else end if other >= len(words) else words[other]
            scores[place] += table[row, offset]
    return scores


@dataclass(frozen=True)
class Words:
    """Documents of words that have rows in a table, of which the first two are borders."""

    words: np.ndarray
    documents: np.ndarray
    table: np.ndarray


@st.composite
def tables(draw: st.DrawFn) -> Words:
    documents = draw(st.lists(st.lists(st.integers(2, 5), max_size=4), max_size=5))
    offsets = 2 * draw(st.integers(0, 5)) + 1
    table = draw(hnp.arrays(np.int64, (6, offsets, 8), elements=st.integers(-9, 9)))
    words = np.array([word for document in documents for word in document], np.int32)
    return Words(words, bounds_of([len(document) for document in documents]), table)


@REALS
@given(case=tables(), tokens=st.integers(1, 20))
def test_scores_are_gathered_from_the_words_around_a_token(
    case: Words, tokens: int, real: type
) -> None:
    """Also with windows wider than the documents."""
    found = np.full((len(case.words), 8), 99.0)
    for packing in lattice.pack(case.documents, tokens):
        scores = np.full((packing.tokens, 8), np.nan, real)
        lattice.gather(case.words, *where(packing), case.table.astype(real), 0, 1, scores)
        found[packed_tokens(packing)] = scores
    for start, stop in itertools.pairwise(case.documents):
        expected = summed(case.table, case.words[start:stop].tolist(), 0, 1)
        assert found[start:stop].tolist() == expected.tolist()


@REALS
@given(case=tables(), tokens=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_scattering_is_gathering_transposed(
    case: Words, tokens: int, seed: int, real: type
) -> None:
    """For every table T and marginals M: sum(M * gather(T)) = sum(T * scatter(M))."""
    rng = np.random.default_rng(seed)
    scattered = np.zeros(case.table.shape, real)
    left = 0.0
    for packing in lattice.pack(case.documents, tokens):
        marginals = rng.integers(-4, 5, (packing.tokens, 8)).astype(real)
        scores = np.empty((packing.tokens, 8), real)
        lattice.gather(case.words, *where(packing), case.table.astype(real), 0, 1, scores)
        lattice.scatter(case.words, *where(packing), marginals, 0, 1, scattered)
        left += float((marginals * scores).sum())
    assert float((case.table * scattered).sum()) == left


# Sums over paths


@dataclass(frozen=True)
class Lattice:
    """Scores of tokens and of transitions."""

    lengths: list[int]
    scores: np.ndarray
    transition: np.ndarray
    weights: np.ndarray


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    labels = draw(st.sampled_from([1, 2, 3, 8, 9]))
    lengths = draw(st.lists(st.integers(0, 2 if labels > 3 else 5), max_size=5))
    numbers = st.integers(-8, 8)
    scores = draw(hnp.arrays(np.int64, (sum(lengths), labels), elements=numbers))
    transition = draw(hnp.arrays(np.int64, (labels, labels), elements=numbers))
    weights = draw(hnp.arrays(np.int64, len(lengths), elements=st.integers(-3, 3)))
    return Lattice(
        lengths,
        scores * draw(st.sampled_from([0.0, 0.5, 200.0])),
        transition * draw(st.sampled_from([0.0, 0.5, 1.25])),
        weights / 2,
    )


@dataclass(frozen=True)
class Sums:
    """What is summed over all paths of all documents."""

    log_z: np.ndarray
    marginals: np.ndarray
    transitions: np.ndarray


def brute_sums(case: Lattice) -> Sums:
    """Sum over every path; marginals and transitions count the weight of their document."""
    labels = len(case.transition)
    log_z, marginals = np.zeros(len(case.lengths)), np.zeros((sum(case.lengths), labels))
    transitions = np.zeros((labels, labels))
    for row, (start, stop) in enumerate(itertools.pairwise(bounds_of(case.lengths))):
        number = stop - start
        if not number:
            continue
        paths = np.array(list(itertools.product(range(labels), repeat=number)))
        values = case.scores[start:stop][np.arange(number), paths].sum(axis=1)
        values += case.transition[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        log_z[row] = np.logaddexp.reduce(values)
        shares = case.weights[row] * np.exp(values - log_z[row])
        for place in range(number):
            marginals[start + place] = np.bincount(paths[:, place], shares, labels)
        for place in range(number - 1):
            np.add.at(transitions, (paths[:, place], paths[:, place + 1]), shares)
    return Sums(log_z, marginals, transitions)


def packed_sums(case: Lattice, tokens: int, real: type) -> Sums:
    labels = len(case.transition)
    exponential = lattice.exponential_transition(case.transition, np.dtype(real))
    transposed = np.ascontiguousarray(exponential.T)
    log_z, marginals = np.zeros(len(case.lengths)), np.zeros((sum(case.lengths), labels))
    expected = np.zeros(exponential.shape)
    for packing in lattice.pack(bounds_of(case.lengths), tokens):
        emission = np.full((packing.tokens, len(exponential)), lattice.NEVER, real)
        emission[:, :labels] = case.scores[packed_tokens(packing)]
        largest, scale = np.empty(packing.tokens, real), np.empty(packing.tokens)
        alpha, log = np.empty_like(emission), np.empty(len(packing.documents))
        lattice.lower_by_largest(emission, largest)
        np.exp(emission, out=emission)
        lattice.forward(packing.steps, emission, exponential, alpha, scale)
        lattice.log_sums(packing.steps, scale, largest, float(case.transition.max()), log)
        weights = case.weights[packing.documents]
        lattice.backward(packing.steps, emission, transposed, weights, alpha, scale, expected)
        lattice.unpack(*where(packing), alpha, marginals)
        log_z[packing.documents] = log
        assert not alpha[:, labels:].any()
    return Sums(log_z, marginals, (expected * exponential)[:labels, :labels])


@REALS
@given(case=lattices(), tokens=st.integers(1, 20))
def test_sums_over_paths_are_those_of_brute_force(case: Lattice, tokens: int, real: type) -> None:
    assert lattice.safe(case.transition, np.dtype(real))
    found, expected = packed_sums(case, tokens, real), brute_sums(case)
    close = CLOSE[real]
    assert found.log_z == pytest.approx(expected.log_z, rel=close, abs=close)
    assert found.marginals == pytest.approx(expected.marginals, abs=close)
    assert found.transitions == pytest.approx(expected.transitions, abs=close)


@given(case=lattices(), step=st.sampled_from([1.0, 100.0, 1e5]))
def test_sums_of_logarithms_are_those_of_brute_force(case: Lattice, step: float) -> None:
    transition = step * case.transition
    case = Lattice(case.lengths, case.scores, transition, np.ones(len(case.lengths)))
    expected = brute_sums(case)
    for row, (start, stop) in enumerate(itertools.pairwise(bounds_of(case.lengths))):
        if start == stop:
            continue
        scores = case.scores[start:stop].astype(np.float64)
        alpha, beta, log_z = log_forward_backward(scores, transition)
        assert log_z == pytest.approx(expected.log_z[row], rel=1e-12)
        marginals = np.exp(alpha + beta - log_z)
        assert marginals == pytest.approx(expected.marginals[start:stop], abs=1e-8)


@pytest.mark.parametrize(
    ("transition", "single", "double"),
    [
        ([[1e6]], True, True),
        ([[5.0, 5.0], [5.0, 5.0]], True, True),
        ([[20.0, 0.0], [0.0, 20.0]], True, True),
        ([[21.0, 0.0], [0.0, 20.0]], False, True),
        ([[-20.0, 0.0], [0.0, -25.0]], False, True),
        ([[200.0, 0.0], [0.0, 0.0]], False, False),
        ([[1e3, -1e3], [-1e3, 1e3]], False, False),
    ],
)
def test_transitions_that_differ_too_much_are_not_safe(
    transition: list[list[float]], single: bool, double: bool
) -> None:
    assert lattice.safe(np.array(transition), np.dtype(np.float32)) == single
    assert lattice.safe(np.array(transition), np.dtype(np.float64)) == double


# Paths


@REALS
@given(case=lattices(), tokens=st.integers(1, 20), data=st.data())
def test_tags_are_scored_and_known_ones_kept_to(
    case: Lattice, tokens: int, real: type, data: st.DataObject
) -> None:
    labels = len(case.transition)
    size = sum(case.lengths)
    numbers = st.lists(st.integers(-1, labels - 1), min_size=size, max_size=size)
    tags = np.array(data.draw(numbers), np.int16)
    scored, constrained = np.full(len(case.lengths), 99.0), np.empty((size, labels))
    for packing in lattice.pack(bounds_of(case.lengths), tokens):
        scores = np.ascontiguousarray(case.scores[packed_tokens(packing)], real)
        result = np.empty(len(packing.documents))
        lattice.score_paths(*where(packing), scores, case.transition, tags, result)
        scored[packing.documents] = result
        lattice.constrain(*where(packing), tags, labels, scores)
        lattice.unpack(*where(packing), scores, constrained)
    for row, (start, stop) in enumerate(itertools.pairwise(bounds_of(case.lengths))):
        own = tags[start:stop]
        if start == stop:
            continue
        score = case.scores[np.arange(start, stop), own].sum()
        score += case.transition[own[:-1], own[1:]].sum()
        assert scored[row] == (score if (own >= 0).all() else 0.0)
    kept = (tags[:, None] < 0) | (tags[:, None] == np.arange(labels))
    assert constrained.tolist() == np.where(kept, case.scores, lattice.NEVER).tolist()
