"""Minibatches of training documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taggers.networks.training.minibatches import PADDING, Minibatches

WORDS = 6


def documents(lengths, weights=None, *, border=False, seed=0):
    """Build documents of random words, whose tags and streams are those of their words."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = rng.integers(-1 if border else 0, WORDS, offsets[-1]).astype(np.int32)
    vectors = np.arange(WORDS, dtype=np.float32)[:, None] + 10
    characters = np.zeros((WORDS, 5), np.int32)
    characters[:, :2] = np.arange(1, WORDS + 1)[:, None]
    return Minibatches(
        words={
            "vectors": vectors,
            "numbers": np.arange(1, WORDS + 1, dtype=np.int32),
            "characters": characters,
            "features": np.arange(WORDS, dtype=np.int32)[:, None] + 20,
        },
        unknown=np.array([-5], np.float32),
        word_ids=words,
        streams=np.stack([words + 2], axis=1).astype(np.int32),
        offsets=offsets,
        tags=words.astype(np.int32),
        weights=np.ones(len(lengths), np.float32) if weights is None else np.array(weights, "f4"),
    )


@given(
    lengths=st.lists(st.integers(0, 9), max_size=12),
    size=st.integers(1, 5),
    border=st.booleans(),
    seed=st.integers(0, 9),
)
def test_an_epoch_has_every_token_once_with_its_inputs(lengths, size, border, seed) -> None:
    data = documents(lengths, border=border, seed=seed)
    read = []
    for inputs, tags, weights in data.epoch(size, np.random.default_rng(seed), word_dropout=0):
        assert len(tags) == len(weights) <= size
        index = inputs["index"]
        np.testing.assert_array_equal(index == 0, tags == PADDING)
        np.testing.assert_array_equal(index[tags == -1], 1)  # tags are words here, -1 a border
        there = tags >= 0
        for name, first in (("vectors", 10), ("features", 20)):
            np.testing.assert_array_equal(inputs[name][index[there], 0], tags[there] + first)
        np.testing.assert_array_equal(inputs["numbers"][index[there]], tags[there] + 1)
        np.testing.assert_array_equal(inputs["characters"][index[there], 0], tags[there] + 1)
        np.testing.assert_array_equal(inputs["streams"][there][:, 0], tags[there] + 2)
        for name in ("vectors", "numbers", "characters", "features"):
            assert not inputs[name][:2].any()
        read += [row[row != PADDING].tolist() for row in tags]
    expected = [
        data.tags[a:b].tolist() for a, b in zip(data.offsets, data.offsets[1:], strict=False)
    ]
    assert sorted(read) == sorted(filter(None, expected))


def test_documents_of_a_minibatch_have_similar_lengths_in_random_order() -> None:
    data = documents(np.random.default_rng(0).integers(1, 100, 400).tolist())
    batches = [tags for _, tags, _ in data.epoch(10, np.random.default_rng(1), word_dropout=0)]
    padding = np.mean([(tags == PADDING).mean() for tags in batches])
    assert padding < 0.1
    widths = [tags.shape[1] for tags in batches]
    assert widths != sorted(widths)


def test_documents_are_drawn_and_weighted_by_their_weights() -> None:
    data = documents([3, 4, 5], [0.0, 0.25, 3.0])
    rng = np.random.default_rng(0)
    seen = {4: 0, 5: 0}
    for _ in range(400):
        for _, tags, weights in data.epoch(1, rng, word_dropout=0):
            length = tags.shape[1]
            seen[length] += 1
            assert weights.tolist() == [3.0 if length == 5 else 1.0]
    assert seen[5] == 400
    assert seen[4] == pytest.approx(100, abs=30)


def test_words_are_replaced_by_the_unknown_word() -> None:
    data = documents([50] * 40)
    dropped = []
    for inputs, _, _ in data.epoch(4, np.random.default_rng(0), word_dropout=0.3):
        unknown = inputs["numbers"][2:] == 0
        assert (inputs["vectors"][2:][unknown] == -5).all()
        assert (inputs["vectors"][2:][~unknown] >= 10).all()
        dropped.append(unknown.mean())
    assert 0.1 < np.mean(dropped) < 0.5
    for inputs, _, _ in data.in_order(4):
        assert (inputs["numbers"][2:] > 0).all()
