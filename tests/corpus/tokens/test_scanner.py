"""Compiled code finds what the expression finds."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus import tokens
from corpus.document import Document
from corpus.kernels.compiled import warm_up
from corpus.tokens import scanner
from corpus.tokens.expression import Expression
from corpus.tokens.scanner import Scanner

#: A few of every class, and those at the ends of ranges.
CHARACTERS = (
    *"aAzZlLdDsSnNmMtTxXyYwWñÑàÀßþÞÖØöø×÷ŠšªºǅⅣ²½",
    *"0123456789٣०𝟙",
    *"·'’_-.@©\0\x7f\ud800\udfff👍🏽你\U0010ffff",
    *"\u02ff\u0300\u0301\u0345\u036f\u0370\u0483\u20dd",
    *" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\xad\u1680\u200a\u200b\u200f\u2010\u2027\u2028\u202e\u202f",
    *"\u205f\u2060\u2061\u3000\ufeff",
)
PIECES = ("1234567", "12345678Z", "X1234567L", "Y123456", "l'", "d’", "l·l", "L·L", "e\u0301")
texts = st.lists(st.sampled_from(CHARACTERS + PIECES) | st.text(max_size=3)).map("".join)
EVERY = list(map(chr, range(sys.maxunicode + 1)))


def assert_same(texts: Sequence[str]) -> None:
    """Find the tokens of texts, one after the other, in both ways."""
    scanner, expression = Scanner(), Expression()
    for text in texts:
        left, right = scanner.find(text + "\n"), expression.find(text + "\n")
        for one, other in zip(left, right, strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
        assert scanner.types == list(expression.types)


@given(st.lists(texts, max_size=4))
@settings(max_examples=60, deadline=None)
@example([])
@example([""])
@example(["l'", "X1234567", "1234567", "l·", "l'home", "X1234567L"])
def test_of_any_text(corpus: list[str]) -> None:
    assert_same(corpus)


@pytest.mark.parametrize("between", ["", "A", "1234567"])
def test_around_every_character_of_the_notes(between: str) -> None:
    assert_same([between.join([*CHARACTERS, *EVERY[:0x500], *EVERY[0x1E00:0x2200], ""])])


@pytest.mark.slow
@pytest.mark.parametrize("between", ["", " "])
def test_of_every_character(between: str) -> None:
    assert_same([between.join(EVERY)])


def test_of_every_three_characters() -> None:
    some = "aAlL1X·'_ \u0301.\u200b"
    threes = [one + two + three for one in some for two in some for three in some]
    assert_same(threes)
    assert_same(["".join(threes), "x ".join(threes)])


def test_of_notes(gold: dict[str, list[Document]]) -> None:
    for notes in gold.values():
        assert_same([note.text for note in notes])


@pytest.mark.parametrize(("length", "loaded"), [(tokens._FEW - 4, False), (tokens._FEW, True)])
def test_compiled_code_is_loaded_for_long_texts_only(length: int, loaded: bool) -> None:
    script = (
        "import sys; from corpus.tokens import tokenize; "
        f"tokenize(['Ana ' * {length // 4}]); sys.exit('numba' not in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert (done.returncode == 0) == loaded


def test_after_warming_up_nothing_is_compiled() -> None:
    warm_up("corpus.tokens.scanner")
    functions = [scanner._find_tokens, scanner._look_up]
    before = [function.signatures for function in functions]
    assert_same(["Ana l'home 12345678Z"] * 3)
    assert [function.signatures for function in functions] == before


# Numbers of words

words = st.text("abé\0\U0010ffff", min_size=1, max_size=3)
word_corpora = st.lists(st.lists(words, max_size=30), max_size=4)


def assert_numbered(corpus: Sequence[Sequence[str]]) -> None:
    """Check that texts of words are numbered as a dictionary numbers them."""
    actual = scanner._WordIndex()
    numbers: dict[str, int] = {}
    for text in corpus:
        before = len(numbers)
        expected = [numbers.setdefault(word, len(numbers)) for word in text]
        codes = np.frombuffer("".join(text).encode("utf-32-le"), np.uint32)
        lengths = np.fromiter(map(len, text), np.int32, len(text))
        ends = np.cumsum(lengths, dtype=np.int32)
        given_numbers, firsts = actual.look_up(codes, ends - lengths, ends)
        assert given_numbers.tolist() == expected
        new = range(before, len(numbers))
        assert firsts.tolist() == [expected.index(number) for number in new]


@given(word_corpora, st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_words_are_numbered_as_they_are_met(corpus: list[list[str]], piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_BLOCK", piece)
        assert_numbered(corpus)


@given(word_corpora)
@settings(max_examples=60, deadline=None)
def test_words_of_one_hash_are_told_apart(corpus: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_look_up", scanner._look_up.py_func)
        patch.setattr(scanner, "hash_code_points", lambda *_: np.uint64(7))
        assert_numbered(corpus)
