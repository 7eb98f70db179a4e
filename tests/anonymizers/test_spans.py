"""Spans that overlap become spans that do not, and nothing that they cover is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.spans import Spans, resolved

TEXTS = ["Ana Pe\u0301rez va", "o\u0302\u0323", "\u0301\u0302 a"]

places = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 13), st.integers(0, 13), st.sampled_from("AB")),
    max_size=6,
)


def spans_of(rows: list[tuple[int, int, int, str]]) -> Spans:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    numbers = [np.array(column, np.int64) for column in columns[:3]]
    return Spans(*numbers, np.array(columns[3], object), np.array(["x"] * len(rows), object))


def rows_of(spans: Spans) -> list[tuple[int, int, int, str]]:
    return list(
        zip(
            *(part.tolist() for part in (spans.rows, spans.starts, spans.ends, spans.labels)),
            strict=True,
        )
    )


@given(places)
def test_all_that_spans_cover_is_covered_once(rows: list[tuple[int, int, int, str]]) -> None:
    rows = [(row, a, b, label) for row, a, b, label in rows if a <= b <= len(TEXTS[row])]
    result, crossing, _ = resolved(spans_of(rows), TEXTS)
    covered = {(row, place) for row, a, b, _ in rows for place in range(a, b)}
    actual = [(row, place) for row, a, b, _ in rows_of(result) for place in range(a, b)]
    assert len(actual) == len(set(actual)) and covered <= set(actual)
    # What is added are marks and the characters that they are on.
    marks = {(0, 5), (0, 6), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)}
    assert set(actual) - covered <= marks
    places = [(row, a) for row, a, _, _ in rows_of(result)]
    assert places == sorted(places)
    for row, is_crossing in zip(rows_of(result), crossing, strict=True):
        if not is_crossing and not {(row[0], p) for p in range(row[1], row[2])} & marks:
            assert row in rows


@pytest.mark.parametrize(
    ("rows", "expected", "crossing"),
    [
        ([(0, 0, 3, "A"), (0, 0, 3, "B")], [(0, 0, 3, "A")], [False]),
        ([(0, 1, 2, "B"), (0, 0, 3, "A")], [(0, 0, 3, "A")], [False]),
        ([(0, 0, 2, "B"), (0, 1, 4, "A")], [(0, 0, 4, "A")], [True]),
        ([(0, 0, 3, "A"), (0, 3, 4, "A")], [(0, 0, 3, "A"), (0, 3, 4, "A")], [False, False]),
        ([(0, 4, 6, "A")], [(0, 4, 7, "A")], [False]),
        ([(0, 6, 8, "A")], [(0, 5, 8, "A")], [False]),
        ([(1, 1, 2, "A")], [(1, 0, 3, "A")], [False]),
        ([(2, 1, 2, "A")], [(2, 0, 2, "A")], [False]),
        ([(0, 2, 2, "A")], [], []),
        ([], [], []),
    ],
)
def test_equal_nested_crossing_and_touching_spans(
    rows: list[tuple[int, int, int, str]],
    expected: list[tuple[int, int, int, str]],
    crossing: list[bool],
) -> None:
    result, are_crossing, _ = resolved(spans_of(rows), TEXTS)
    assert rows_of(result) == expected
    assert are_crossing.tolist() == crossing
