"""Words have the numbers that a dictionary would give them."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.tokens import scanner

words = st.text("abé\0\U0010ffff", min_size=1, max_size=3)
corpora = st.lists(st.lists(words, max_size=30), max_size=4)
thorough = settings(max_examples=60, deadline=None)


def assert_numbered(corpus: Sequence[Sequence[str]]) -> None:
    """Check that texts of words are numbered as a dictionary numbers them."""
    actual = scanner._WordTable()
    numbers: dict[str, int] = {}
    for text in corpus:
        before = len(numbers)
        expected = [numbers.setdefault(word, len(numbers)) for word in text]
        codes = np.frombuffer("".join(text).encode("utf-32-le"), np.uint32)
        lengths = np.fromiter(map(len, text), np.int64, len(text))
        ends = np.cumsum(lengths)
        given_numbers, firsts = actual.look_up(codes, ends - lengths, ends)
        assert given_numbers.tolist() == expected
        new = range(before, len(numbers))
        assert firsts.tolist() == [expected.index(number) for number in new]


@given(corpora, st.integers(1, 9))
@thorough
def test_words_are_numbered_as_they_are_met(corpus: list[list[str]], piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_BLOCK", piece)
        assert_numbered(corpus)


@given(corpora)
@thorough
def test_words_of_one_hash_are_told_apart(corpus: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_look_up", scanner._look_up.py_func)
        patch.setattr(scanner, "hash_code_points", lambda *_: np.uint64(7))
        assert_numbered(corpus)
