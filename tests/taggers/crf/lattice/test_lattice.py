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
from tests.taggers.crf.conftest import every_path

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])
CLOSE = {np.float32: 1e-4, np.float64: 1e-10}


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


@given(
    lengths=st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=8),
    tokens=st.integers(1, 30),
)
def test_wanted_documents_are_packed_once_longest_first_and_step_by_step(
    lengths: list[tuple[int, bool]], tokens: int
) -> None:
    wanted = np.array([want for _, want in lengths], bool)
    sizes = [length for length, _ in lengths]
    documents, rows = bounds_of(sizes), []
    for packing in lattice.pack(documents, tokens, wanted):
        rows += packing.documents.tolist()
        assert packing.lengths.tolist() == sorted(packing.lengths.tolist(), reverse=True)
        assert packing.lengths.tolist() == [sizes[row] for row in packing.documents]
        assert packing.first.tolist() == documents[packing.documents].tolist()
        assert packing.tokens == packing.lengths.sum() < tokens + max(sizes)
        number = [int((packing.lengths > step).sum()) for step in range(packing.lengths[0])]
        assert np.diff(packing.steps).tolist() == number
        assert (packed_tokens(packing) >= 0).all()
    assert sorted(rows) == [row for row, (length, want) in enumerate(lengths) if want and length]


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
        paths, values = every_path(case.scores[start:stop], case.transition)
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
    actual, expected = packed_sums(case, tokens, real), brute_sums(case)
    close = CLOSE[real]
    assert actual.log_z == pytest.approx(expected.log_z, rel=close, abs=close)
    assert actual.marginals == pytest.approx(expected.marginals, abs=close)
    assert actual.transitions == pytest.approx(expected.transitions, abs=close)


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
