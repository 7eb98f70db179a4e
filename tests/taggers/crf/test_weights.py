"""Weights in their order, and what they add up to for words, against dictionaries of weights."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import hash_values
from taggers.crf import lattice
from taggers.crf.training.observed_counts import Pairs
from taggers.crf.training.trainers import _carried_over
from taggers.crf.weights import (
    FeatureValues,
    Weights,
    add_weights,
    averaged,
    border_hashes,
    empty_table,
    prune,
    value_hashes,
    values_of,
)
from taggers.features.templates import Templates
from taggers.string_table import EMPTY, StringTable

Named = dict[tuple[int, int, int], float]

VALUES = [int(value) for value in hash_values("form", list("abcde"))]
NUMBERS = st.integers(-40, 40).map(lambda number: number / 8)  # sums of these are exact


class Sizes(NamedTuple):
    """How many labels and offsets there are."""

    labels: int
    offsets: int


def named_of(sizes: Sizes) -> st.SearchStrategy[Named]:
    key = st.tuples(
        st.sampled_from(VALUES), st.integers(0, sizes.offsets - 1), st.integers(0, sizes.labels - 1)
    )
    return st.dictionaries(key, NUMBERS, max_size=30)


def weights_of(named: Named, sizes: Sizes, transition: np.ndarray | None = None) -> Weights:
    """Make the weights of a dictionary."""
    values = sorted({value for value, _, _ in named})
    ordered = sorted((values.index(value), place, label) for value, place, label in named)
    rows = np.array([row * sizes.offsets + place for row, place, _ in ordered], np.int64)
    held = np.bincount(rows, minlength=len(values) * sizes.offsets)
    if transition is None:
        transition = np.zeros((sizes.labels, sizes.labels))
    return Weights(
        *sizes,
        FeatureValues(np.array(values, np.uint64), EMPTY, np.zeros(len(values), np.int32)),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(held)]),
        np.array([label for _, _, label in ordered], np.int16),
        np.array([named[values[row], place, label] for row, place, label in ordered], np.float64),
        transition,
    )


SIZES = st.builds(Sizes, st.integers(1, 9), st.sampled_from([1, 3, 5]))
CASES = SIZES.flatmap(lambda sizes: st.tuples(st.just(sizes), named_of(sizes)))


def codes_of(weights: Weights, rows: list[list[int]]) -> np.ndarray:
    """Number values for `add_weights`; those that have no weights are negative."""
    hashes = np.array(rows, np.uint64)
    return HashIndex(weights.values.hashes).positions(hashes.reshape(-1)).reshape(hashes.shape)


def table_of(weights: Weights, rows: list[list[int]], real: type = np.float64) -> np.ndarray:
    table = empty_table(len(rows), weights.offsets, weights.labels, real)
    codes = codes_of(weights, rows)
    places = np.arange(weights.offsets)
    where = places, weights.offsets, weights.state_offsets, weights.state_labels
    add_weights(codes, *where, weights.state, table)
    return table


WORDS = st.lists(
    st.lists(st.sampled_from([*VALUES, 5]), min_size=2, max_size=2), min_size=1, max_size=4
)


@given(case=CASES, rows=WORDS)
def test_pruned_weights_give_the_same_scores(case, rows, named_weights) -> None:
    sizes, named = case
    weights = weights_of(named, sizes)
    fewer = prune(weights)
    kept = {key: weight for key, weight in named.items() if weight}
    assert named_weights(fewer) == kept
    assert set(fewer.values.hashes.tolist()) == {value for value, _, _ in kept}
    assert fewer.transition is weights.transition
    assert table_of(fewer, rows).tolist() == table_of(weights, rows).tolist()
    assert named_weights(prune(fewer)) == kept


@given(data=st.data(), labels=st.integers(1, 9))
def test_averaged_weights_are_means_by_value_offset_and_label(data, labels, named_weights) -> None:
    sizes = data.draw(
        st.lists(st.builds(Sizes, st.just(labels), st.sampled_from([1, 3, 5])), min_size=1)
    )
    shares = [2.0**-number for number in range(len(sizes))]
    parts, expected = [], dict[tuple[int, int, int], float]()
    widest = max(size.offsets for size in sizes)
    for number, size in enumerate(sizes):
        named = data.draw(named_of(size))
        part = weights_of(named, size, np.full((labels, labels), float(number)))
        names = StringTable.from_strings([str(value) for value in part.values.hashes.tolist()])
        parts.append(replace(part, values=replace(part.values, names=names)))
        for (value, place, label), weight in named.items():
            key = value, place + (widest - size.offsets) // 2, label
            expected[key] = expected.get(key, 0.0) + shares[number] * weight
    actual = averaged(parts, shares)
    assert named_weights(actual) == pytest.approx(expected)
    assert actual.values.names.strings() == [str(value) for value in actual.values.hashes.tolist()]
    transition = np.average(np.arange(len(sizes)), weights=shares)
    assert actual.transition == pytest.approx(np.full((labels, labels), transition))


def carried(old: Weights, old_labels: str, new: Weights, new_labels: str) -> np.ndarray:
    """Carry weights over between models whose labels are letters."""
    number = np.array([old_labels.find(name) for name in new_labels], np.int64)
    codes = HashIndex(old.values.hashes).positions(new.values.hashes).astype(np.int64)
    pairs = Pairs(new.state_offsets, new.state_labels, new.state)
    return _carried_over(old, codes, pairs, number, new.offsets)


LETTERS = st.lists(st.sampled_from("OBIXY"), min_size=1, max_size=5, unique=True).map("".join)


@given(data=st.data(), letters=st.tuples(LETTERS, LETTERS))
def test_weights_go_over_by_value_offset_and_label(data, letters, named_weights) -> None:
    sizes = [Sizes(len(labels), data.draw(st.sampled_from([1, 3, 5]))) for labels in letters]
    old_named, new_named = (data.draw(named_of(size)) for size in sizes)
    old, new = (
        weights_of(named, size) for named, size in zip((old_named, new_named), sizes, strict=True)
    )
    state = carried(old, letters[0], new, letters[1])
    by_name = {
        (value, offset - old.offsets // 2, letters[0][label]): weight
        for (value, offset, label), weight in old_named.items()
    }
    assert named_weights(replace(new, state=state)) == {
        (value, offset, label): by_name.get(
            (value, offset - new.offsets // 2, letters[1][label]), 0.0
        )
        for value, offset, label in new_named
    }


def hashes_of(words: list[str], features: list[str]) -> Any:
    templates = Templates.parse(features, 0)
    return value_hashes(values_of(words, templates), templates)


def test_borders_are_no_words() -> None:
    actual = border_hashes()
    assert len(set(actual.tolist())) == 2
    words = hashes_of(["BOS", "EOS", "bos", ""], ["form", "lower", "shape"])
    assert not np.isin(actual, words).any()


@pytest.mark.parametrize("labels", [1, 7, 8, 9, 45])
def test_padding_labels_of_a_table_are_never_reached(labels: int) -> None:
    table = empty_table(2, 3, labels, np.float32)
    assert table.shape[:2] == (2, 3)
    assert labels <= table.shape[2] < labels + lattice.LANES
    assert table.shape[2] % lattice.LANES == 0
    assert not table[:, :, :labels].any()
    assert (table[:, :, labels:].sum(axis=1) == lattice.NEVER).all()  # whatever the window
