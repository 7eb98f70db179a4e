"""What is checked before a run begins: how much resources cover, and classes that are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.options import DataOptions
from bootstrap.data.checks import SplitReport, warnings
from bootstrap.data.preparation import coverage_lines
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems
from taggers.options import Coverage


def batch(*texts: str) -> Batch:
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


def of_words(name: str, *words: str, expected: float = 0.5) -> Coverage:
    def count(batch: Batch) -> int:
        return sum(batch.vocabulary[number] in words for number in batch.word_ids.tolist())

    return Coverage(f"a row in {name}", count, expected, "is it the right table?")


def test_the_shares_of_all_splits_are_in_one_line() -> None:
    splits = {"the seed": batch("a b c d", "a"), "validation": batch("a a a x")}
    assert coverage_lines([of_words("one", "a"), of_words("two", "x")], splits) == [
        "40.0 % of the tokens of the seed and 75.0 % of the tokens of validation have a row in one",
        "0.0 % of the tokens of the seed and 25.0 % of the tokens of validation have a row in two",
    ]
    assert coverage_lines([of_words("one", "a", expected=0.0)], splits) == []
    assert coverage_lines([], splits) == []


def test_a_split_without_tokens_is_ignored() -> None:
    splits = {"the seed": batch(), "validation": batch("a b")}
    lines = coverage_lines([of_words("one", "a")], splits)
    assert lines == ["50.0 % of the tokens of validation have a row in one"]
    assert coverage_lines([of_words("one", "a")], {"the seed": batch("")}) == []


def test_resources_that_cover_nothing_are_an_error() -> None:
    splits = {"the seed": batch("a b"), "validation": batch("z")}
    with pytest.raises(InputError) as caught:
        coverage_lines([of_words("one", "z"), of_words("two")], splits)
    assert str(caught.value) == "no token of the seed has a row in one; is it the right table?"


@given(st.integers(0, 20), st.integers(0, 20), st.floats(0, 1))
def test_a_low_share_is_warned_of(covered: int, others: int, expected: float) -> None:
    coverage = of_words("one", expected=expected)
    reports = {}
    for split in ("seed", "validation", "unlabeled"):
        reports[split] = SplitReport(Problems(), tokens=covered + others)
        reports[split].covered[coverage.of] = covered
    warned = warnings(reports, DataOptions(), batch_size=0, coverages=[coverage])
    lines = [line for line in warned if "a row in one" in line]
    low = covered < expected * (covered + others)
    assert len(lines) == 3 * low
    if low:
        share = 100 * covered / (covered + others)
        assert (
            lines[0] == f"seed: {share:.1f} % of the tokens have a row in one; " + coverage.advice
        )
