"""The division of documents into overlapping sub-sequences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taggers.networks.subsequences import BORDER, Subsequences


@given(lengths=st.lists(st.integers(0, 60), max_size=6), length=st.integers(4, 24))
def test_every_token_is_read_where_it_has_the_most_context(lengths, length) -> None:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    parts = Subsequences.from_offsets(offsets, length)
    np.testing.assert_array_equal(parts.tokens[parts.best], np.arange(offsets[-1]))
    context: dict[int, list[int]] = {}
    for number, document in enumerate(parts.documents.tolist()):
        rows = range(*parts.offsets[number : number + 2].tolist())
        tokens = parts.tokens[rows.start : rows.stop].tolist()
        assert len(tokens) == min(length, lengths[document] + 2)
        first, last = offsets[document], offsets[document + 1] - 1
        inner = [token for token in tokens if token != BORDER]
        assert inner == list(range(inner[0], inner[-1] + 1))
        assert first <= inner[0]
        assert inner[-1] <= last
        assert tokens[0] != BORDER or inner[0] == first
        assert tokens[-1] != BORDER or inner[-1] == last
        for place, token in enumerate(tokens):
            if token != BORDER:
                # Beyond a border of the document, there is nothing to read.
                before = np.inf if tokens[0] == BORDER else place
                after = np.inf if tokens[-1] == BORDER else len(tokens) - 1 - place
                context.setdefault(token, []).append((min(before, after), rows.start + place))
    for token, contexts in context.items():
        chosen = dict(map(reversed, contexts))[int(parts.best[token])]
        assert chosen == max(contexts)[0]


@pytest.mark.parametrize("length", [8, 24, 48])
def test_neighbours_have_a_quarter_in_common(length) -> None:
    parts = Subsequences.from_offsets(np.array([0, 200]), length)
    tokens = [parts.tokens[a:b] for a, b in zip(parts.offsets[:-1], parts.offsets[1:], strict=True)]
    for before, after in pairwise(tokens[:-1]):
        assert len(np.intersect1d(before, after)) == length // 4
    assert len(np.intersect1d(tokens[-2], tokens[-1])) >= length // 4
