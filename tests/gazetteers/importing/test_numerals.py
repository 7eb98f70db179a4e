"""Counts are read as people write them, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.formats.records import Unreadable
from gazetteers.importing.numerals import MOST, CountReader, are_counts


def read(*texts: str) -> list[int | str]:
    """Read the counts of a column: a number of each, or what is wrong with it."""
    reader = CountReader()
    counts: list[int | str] = []
    for text in texts:
        try:
            counts.append(reader.read(text))
        except Unreadable as fault:
            counts.append(fault.kind)
    return counts


_GROUPED = ["1.464.633", "1,464,633", "1 464 633", "1\u00a0464\u00a0633", "1'464'633"]
_GROUPED += ["1.464.633,00", "1,464,633.0", "1464633.0"]
_UNREADABLE = ["12.5", "0.464", "1.46", "1464.633", "1.464,633", "1.464.63", "1..464", "12e3"]
_UNREADABLE += ["x", "٣", "1 2"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["12", " 12\t", "12.0", "12,00", "+12", "0012"], 12),
        (["0", "-0", "0.000"], 0),
        (["1.464", "1,464", "1\u202f464"], 1464),
        (_GROUPED, 1464633),
        ([str(MOST - 1)], MOST - 1),
        ([str(MOST), "9" * 30], "count that is too large"),
        (["-3", "-1.464", "−7"], "negative count"),
        (["", "   ", "..", "-", "NA", "n/d", "NaN"], "no count"),
        (_UNREADABLE, "count that is no whole number"),
    ],
)
def test_a_count_is_read_alone_and_among_others(texts: list[str], expected: int | str) -> None:
    for text in texts:
        assert read(text) == [expected]
        assert read("5", text, "8", text) == [5, expected, 8, expected]


@pytest.mark.parametrize("texts", [("1.464", "12.0"), ("12,0", "1,464"), ("1,464", "1.464")])
def test_a_separator_means_one_thing_in_a_column(texts: tuple[str, str]) -> None:
    first, between, second = read(texts[0], "7", texts[1])
    assert isinstance(first, int) and between == 7
    assert second == "count with an ambiguous separator"


@settings(max_examples=30)
@given(numbers=st.lists(st.integers(0, MOST - 1)), form=st.sampled_from(["", ",", ".", " "]))
def test_what_is_written_is_read(numbers: list[int], form: str) -> None:
    written = [f"{number:,}".replace(",", form) for number in numbers]
    assert read(*written) == numbers


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "2", "x"], True),
        (["1", "", "..", ".."], True),
        (["-1", "-2"], True),
        (["1", "x", "y"], False),
        (["52.7", "58.3", "60.0"], False),
        (["", ".."], False),
        ([], False),
    ],
)
def test_columns_of_counts_are_told_by_most_of_their_rows(texts: list[str], expected: bool) -> None:
    assert are_counts(texts) is expected
