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
        transition * draw(st.sampled_from([0.0, 0.5, 1.25, 10.5])),
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
    transitions = lattice.Transitions(case.transition, np.dtype(real))
    exponential = transitions.exponential
    log_z, marginals = np.zeros(len(case.lengths)), np.zeros((sum(case.lengths), labels))
    expected = np.zeros(exponential.shape)
    for packing in lattice.pack(bounds_of(case.lengths), tokens):
        scores = np.full((packing.tokens, len(exponential)), lattice.NEVER, real)
        scores[:, :labels] = case.scores[packed_tokens(packing)]
        sums = transitions.forward(packing, scores, np.empty_like(scores))
        transitions.backward(packing, sums, case.weights[packing.documents], expected)
        lattice.unpack(*where(packing), sums.alpha, marginals)
        log_z[packing.documents] = sums.log_z
        assert not sums.alpha[:, labels:].any()
    return Sums(log_z, marginals, (expected * exponential)[:labels, :labels])


@REALS
@given(case=lattices(), tokens=st.integers(1, 20))
def test_sums_over_paths_are_those_of_brute_force(case: Lattice, tokens: int, real: type) -> None:
    actual, expected = packed_sums(case, tokens, real), brute_sums(case)
    close = CLOSE[real]
    assert actual.log_z == pytest.approx(expected.log_z, rel=close, abs=close)
    assert actual.marginals == pytest.approx(expected.marginals, abs=close)
    assert actual.transitions == pytest.approx(expected.transitions, abs=close)
