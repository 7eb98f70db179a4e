"""Pools against the products of the probabilities of all label sequences."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.tags import well_formed
from taggers.crf.linear_chain import LinearChain
from taggers.ensemble.pooling import LOWEST, chain_of_marginals, pooled
from tests.taggers.crf.conftest import Case, every_path

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")
LENGTHS = st.lists(st.integers(0, 4), max_size=4)


@st.composite
def members(draw: st.DrawFn) -> tuple[list[Case], list[float]]:
    """Chains of the same documents, with labels in several orders, and their weights."""
    lengths = draw(LENGTHS)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    cases = []
    for _ in range(draw(st.integers(1, 3))):
        others = draw(st.lists(st.sampled_from(LABELS[1:]), unique=True, max_size=4))
        names = tuple(draw(st.permutations(["O", *others])))
        scores = rng.normal(0, 3, (sum(lengths), len(names)))
        cases.append(Case(lengths, scores, rng.normal(0, 2, (len(names),) * 2), names))
    return cases, rng.dirichlet(np.ones(len(cases))).tolist()


@given(members())
def test_a_pool_is_the_weighted_product_of_its_members(
    drawn: tuple[list[Case], list[float]],
) -> None:
    cases, weights = drawn
    chain = pooled([case.chain(np.float64) for case in cases], weights)
    shared = set.intersection(*(set(case.names) for case in cases))
    assert list(chain.labels) == [name for name in cases[0].names if name in shared]
    actual = chain.decode(detail="labels")
    for row, (first, last) in enumerate(itertools.pairwise(chain.document_offsets.tolist())):
        if first == last:
            continue
        values: np.ndarray = np.zeros(1)
        for case, weight in zip(cases, weights, strict=True):
            own = [case.names.index(name) for name in chain.labels]
            transition = case.transition[np.ix_(own, own)]
            paths, scores = every_path(case.scores[first:last][:, own], transition)
            values = values + weight * scores
        probabilities = np.exp(values - np.logaddexp.reduce(values))
        best = probabilities.argmax()
        assert np.exp(actual.log_probability[row]) == pytest.approx(probabilities[best], rel=1e-6)
        assert actual.labels[first:last].tolist() == paths[best].tolist()
        for place in range(last - first):
            expected = np.bincount(paths[:, place], probabilities, len(chain.labels))
            assert actual.marginals[first + place] == pytest.approx(expected, abs=1e-7)


def test_a_pool_of_one_is_itself_and_equal_members_change_nothing() -> None:
    rng = np.random.default_rng(0)
    case = Case([5, 0, 90], rng.normal(0, 3, (95, 5)), rng.normal(0, 1, (5, 5)), LABELS)
    chain = case.chain(np.float32, packed=50)
    alone = chain.decode(detail="entity")
    for pool in (pooled([chain], [1.0]), pooled([chain] * 3, [0.5, 0.25, 0.25])):
        assert (pool.real, pool.packed) == (chain.real, chain.packed)
        actual = pool.decode(detail="entity")
        assert actual.labels.tolist() == alone.labels.tolist()
        np.testing.assert_allclose(actual.entities, alone.entities, atol=1e-5)


def is_well_formed(path: Sequence[int], labels: Sequence[str]) -> bool:
    before = "O"
    for name in (labels[number] for number in path):
        if name.startswith("I-") and before[2:] != name[2:]:
            return False
        before = name
    return True


@given(st.permutations(LABELS), LENGTHS, st.booleans(), st.integers(0, 10**6))
def test_marginals_are_independent_within_well_formed_sequences(
    labels: list[str], lengths: list[int], zeros: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    marginals = rng.dirichlet(np.full(5, 0.4), sum(lengths))
    marginals[rng.random(marginals.shape) < 0.4 * zeros] = 0.0
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    chain: LinearChain = chain_of_marginals(marginals, offsets, labels)
    actual = chain.decode(detail="labels")
    tags = actual.labels
    assert tags.tolist() == well_formed(tags, offsets, labels).tolist()
    for row, (first, last) in enumerate(itertools.pairwise(offsets.tolist())):
        own = np.log(np.maximum(marginals[first:last], LOWEST))
        paths, values = every_path(own, np.zeros((5, 5)))
        kept = np.array([is_well_formed(path, labels) for path in paths.tolist()])
        probabilities = np.exp(values[kept]) / np.exp(values[kept]).sum()
        chosen = paths[kept].tolist().index(tags[first:last].tolist())
        assert probabilities[chosen] == pytest.approx(probabilities.max(), rel=1e-4)
        assert actual.log_probability[row] == pytest.approx(np.log(probabilities.max()), abs=1e-4)
