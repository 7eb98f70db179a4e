"""More tokens are found below a threshold, and what is replaced is not found again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.spans import Spans
from bootstrap.deidentification.finding import outside, widened
from corpus.tags import find_entities, well_formed
from taggers import Tagging

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")


def spans_of(rows: list[tuple[int, int, int]]) -> Spans:
    array = np.array(rows, np.int64).reshape(-1, 3)
    names = np.array(["A"] * len(rows), object)
    return Spans(array[:, 0], array[:, 1], array[:, 2], names, names)


@given(st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), max_size=12), st.data())
def test_tokens_below_the_threshold_are_in_entities(
    rows: list[list[int]], data: st.DataObject
) -> None:
    marginals = np.array([[value + 1 for value in row] for row in rows], float).reshape(-1, 5)
    marginals /= marginals.sum(axis=1, keepdims=True)
    offsets = np.array([0, data.draw(st.integers(0, len(rows))), len(rows)])
    tags = well_formed(
        np.array(
            data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows))), np.int16
        ),
        offsets,
        LABELS,
    )
    tagging = Tagging(tags, LABELS, np.ones(2), marginals=marginals)
    new = widened(tagging, offsets, 0.3)
    assert np.array_equal(well_formed(new, offsets, LABELS), new)
    assert np.array_equal(new > 0, (tags > 0) | (marginals[:, 0] < 0.3))
    # Entities stay, or are a part of a longer one of their class.
    before, after = (find_entities(of, offsets, LABELS) for of in (tags, new))
    reaches = list(zip(after.first, after.last, after.classes, strict=True))
    for first, last, kind in zip(before.first, before.last, before.classes, strict=True):
        assert any(a <= first and last <= b and kind == c for a, b, c in reaches)
    assert np.array_equal(widened(tagging, offsets, 0.0), tags)


def test_new_tokens_join_entities_of_their_class() -> None:
    marginals = np.array(
        [[0.2, 0.7, 0.1, 0, 0], [0, 1, 0, 0, 0], [0.2, 0, 0.8, 0, 0], [0.2, 0, 0, 0, 0.8]]
    )
    tagging = Tagging(np.array([0, 1, 0, 0], np.int16), LABELS, np.ones(1), marginals=marginals)
    tags = widened(tagging, np.array([0, 4]), 0.5)
    assert [LABELS[tag] for tag in tags] == ["B-A", "I-A", "I-A", "B-B"]


TEXT = "Ana Prats de Hospital Olot 12345 y"


@pytest.mark.parametrize(
    ("spans", "done", "expected"),
    [
        ([(0, 0, 3)], [(0, 0, 3)], []),
        ([(0, 0, 3)], [(0, 4, 9)], [(0, 0, 3)]),
        ([(0, 0, 9)], [(0, 0, 3)], [(0, 4, 9)]),
        ([(0, 0, 9)], [(0, 4, 9)], []),  # a short word
        ([(0, 4, 26)], [(0, 4, 9), (0, 22, 26)], []),  # a word that many places have
        ([(0, 4, 32)], [(0, 22, 26)], [(0, 4, 21), (0, 27, 32)]),
        ([(0, 10, 12)], [], [(0, 10, 12)]),  # alone, it is what a model has found
        ([(1, 0, 3)], [(0, 0, 3)], [(1, 0, 3)]),
    ],
)
def test_what_is_outside_of_replaced_spans(
    spans: list[tuple[int, int, int]],
    done: list[tuple[int, int, int]],
    expected: list[tuple[int, int, int]],
) -> None:
    result = outside(spans_of(spans), spans_of(done), [TEXT, TEXT])
    rows = zip(result.rows.tolist(), result.starts.tolist(), result.ends.tolist(), strict=True)
    assert list(rows) == expected
