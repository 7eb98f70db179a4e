"""Decoding of marginals against all well-formed sequences."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.tags import well_formed
from taggers.ensemble import decoding
from taggers.ensemble.decoding import SMALLEST, decode

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")


def is_well_formed(path: Sequence[int], labels: Sequence[str]) -> bool:
    before = "O"
    for name in (labels[number] for number in path):
        if name.startswith("I-") and before[2:] != name[2:]:
            return False
        before = name
    return True


def best_score(marginals: np.ndarray, labels: Sequence[str]) -> float:
    """Return the logarithm of the probability of the best well-formed sequence."""
    logs = np.log(np.maximum(marginals, SMALLEST))
    paths = itertools.product(range(len(labels)), repeat=len(marginals))
    return max(
        score_of(logs, np.array(path, np.int64)) for path in paths if is_well_formed(path, labels)
    )


def score_of(logs: np.ndarray, path: np.ndarray) -> float:
    return float(logs[np.arange(len(path)), path].sum())


@st.composite
def distributions(draw: st.DrawFn) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    labels = tuple(draw(st.permutations(LABELS)))
    lengths = draw(st.lists(st.integers(0, 4), max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    marginals = rng.dirichlet(np.full(len(labels), 0.4), sum(lengths))
    marginals[rng.random(marginals.shape) < draw(st.sampled_from([0.0, 0.4]))] = 0.0
    return labels, marginals, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@given(distributions())
def test_the_decoded_sequence_is_the_best_of_all_well_formed_ones(case) -> None:
    labels, marginals, documents = case
    tags = decode(marginals, documents, labels)
    assert tags.tolist() == well_formed(tags, documents, labels).tolist()
    for first, last in itertools.pairwise(documents.tolist()):
        own = marginals[first:last]
        logs = np.log(np.maximum(own, SMALLEST))
        actual = score_of(logs, tags[first:last].astype(np.int64))
        assert actual == pytest.approx(best_score(own, labels), rel=1e-9)


def test_a_document_is_decoded_alike_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 60, 40)
    documents = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    marginals = rng.dirichlet(np.full(5, 0.3), documents[-1])
    together = decode(marginals, documents, LABELS)
    alone = [
        decode(marginals[first:last], np.array([0, last - first]), LABELS)
        for first, last in itertools.pairwise(documents.tolist())
    ]
    assert together.tolist() == np.concatenate(alone).tolist()
    monkeypatch.setattr(decoding, "_PACKED", 70)
    assert decode(marginals, documents, LABELS).tolist() == together.tolist()
