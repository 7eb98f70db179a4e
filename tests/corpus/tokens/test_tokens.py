"""Tokens: exact offsets, nothing lost, and the same for a text whatever stands beside it."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus import tokens
from corpus.tokens import Tokens, normalisation, tokenize
from corpus.tokens.characters import is_hidden
from corpus.tokens.expression import Expression
from corpus.tokens.normalisation import normalise, normalised_text
from corpus.tokens.scanner import Scanner

#: What notes are made of, and where a tokenizer goes wrong.
PIECES = [
    *("col·legi", "l'home", "d’Hebron", "·legi", "L", "'", "’", "·", "Ana", "NHC", "ª", "º", "²"),
    *("12345678Z", "X1234567L", "1234567", "28027", "Z", "x", "½", "٣", "Ⅳ", "Š", "_", "-", "."),
    *("\u0301", "e\u0301", "N\u0303", "\ufeff", "\0", "\xad", "\u200b", "\u202e", "\u2060"),
    *(" ", "\t", "\n", "\r\n", "\r", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"),
    *("👩\u200d⚕\ufe0f", "👍🏽", "🇪🇸", "你好", "\ud800"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
corpora = st.lists(texts, max_size=6)
thorough = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module", autouse=True, params=[Expression, Scanner])
def finder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Find tokens in either way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_finder", lambda _: request.param())
        yield


def offsets_of(tokens: Tokens, text: int) -> list[tuple[int, int]]:
    here = slice(tokens.document_offsets[text], tokens.document_offsets[text + 1])
    return list(zip(tokens.starts[here].tolist(), tokens.ends[here].tolist(), strict=True))


def words_of(tokens: Tokens, text: int) -> list[str]:
    here = slice(tokens.document_offsets[text], tokens.document_offsets[text + 1])
    return [tokens.vocabulary[word] for word in tokens.word_ids[here].tolist()]


def words(text: str) -> list[str]:
    return words_of(tokenize([text]), 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bs...Normas.Pulmicort-100 2-1(15).", "Bs . . . Normas . Pulmicort - 100 2 - 1 ( 15 ) ."),
        ("Edad:68", "Edad : 68"),
        ("28027España", "28027 España"),
        ("tel:934567890;DNI", "tel : 934567890 ; DNI"),
        ("15/03/2018,12:30h", "15 / 03 / 2018 , 12 : 30 h"),
        ("c/Major,12-2n 1a", "c / Major , 12 - 2 n 1 a"),
        ("1.234,56€ 37,5ºC x²", "1 . 234 , 56 € 37 , 5 º C x²"),
        ("pac_12@hosp.cat", "pac _ 12 @ hosp . cat"),
        # Words run together at a capital, and only there.
        ("MartínezNHC ToledoESPAÑA PérezÁlvarez", "Martínez NHC Toledo ESPAÑA Pérez Álvarez"),
        ("NASSJulia McÑ", "NASSJulia Mc Ñ"),
        # The geminate l of Catalan.
        ("col·legi COL·LEGI Col·legis paral·lel IL·LUSIÓ", None),
        ("a·b a·la l·1 l· ·l", "a · b a · la l · 1 l · · l"),
        ("col·legiBarcelona", "col·legi Barcelona"),
        # Clitics keep their apostrophe, of either kind, before a letter.
        ("l'home l’home L'HOSPITALET", "l' home l’ home L' HOSPITALET"),
        ("Vall d'Hebron,s'ha n'hi m'ho t'he", "Vall d' Hebron , s' ha n' hi m' ho t' he"),
        ("s'l'a 'hola' dona'm l' 5'l'1", "s' l' a ' hola ' dona ' m l ' 5 ' l ' 1"),
        # Identity numbers keep their letter: after seven digits and more, and nothing behind it.
        ("12345678Z 1234567z,X1234567L.Y7654321A", "12345678Z 1234567z , X1234567L . Y7654321A"),
        ("12345678ZA 123456Z 12345678-Z", "12345678 ZA 123456 Z 12345678 - Z"),
        ("12345678Z_ 12345678Ñ X123456L", "12345678 Z _ 12345678 Ñ X 123456 L"),
        ("X12345678 W1234567L nieX1234567L", "X 12345678 W 1234567L nie X1234567L"),
        # Accents of their own belong to the letter before them.
        ("Nu\u0301ria MARI\u0301A N\u0303a", "Núria MARÍA Ña"),
        ("MarI\u0301aNHC 5\u0301 \u0301", "Mar Ía NHC 5 \u0301"),
        ("Sole\u0301N\u0303a", "Solé Ña"),
        ("cu\u0301l·li\u0301 e\u0301\u0308s", "cúl·lí és"),
        # Marks of order and format are part of no word, all else is a token.
        ("\ufeffNombre:Ana\r\nde\u200bSant\xa0Pau", "Nombre : Ana de Sant Pau"),
        ("x\u2028x\u2060y\xadz\u202ea", "x xyza"),
        ("a\0b\0\0 \x85c", "ab c"),
        ("👩\u200d⚕\ufe0fAna👍🏽", "👩 ⚕ Ana 👍 🏽"),
        ("٣٤a你好1", "٣٤ a你好 1"),
        ("", ""),
        (" \r\n\t\ufeff", ""),
    ],
)  # fmt: skip
def test_words_of_notes(text: str, expected: str | None) -> None:
    assert words(text) == (text if expected is None else expected).split()


@given(corpora)
@thorough
def test_tokens_lie_in_order_and_leave_only_gaps(corpus: list[str]) -> None:
    actual = tokenize(corpus)
    assert actual.document_offsets[0] == 0
    assert actual.document_offsets[-1] == actual.n_tokens == len(actual.starts) == len(actual.ends)
    assert len(actual.document_offsets) == len(corpus) + 1
    for number, text in enumerate(corpus):
        offsets = offsets_of(actual, number)
        if normalise(text) is None:
            assert [text[start:end] for start, end in offsets] == words_of(actual, number)
        place = 0
        gaps = []
        for start, end in offsets:
            assert place <= start < end
            gaps.append(text[place:start])
            place = end
        gaps.append(text[place:])
        assert all(mark.isspace() or is_hidden(mark) for gap in gaps for mark in gap)
        assert not any(word.isspace() for word in words_of(actual, number))


@given(corpora)
@thorough
def test_types_are_the_distinct_words_as_they_appear(corpus: list[str]) -> None:
    actual = tokenize(corpus)
    in_order = [word for number in range(len(corpus)) for word in words_of(actual, number)]
    assert actual.vocabulary == tuple(dict.fromkeys(in_order))
    assert actual.word_ids.dtype == actual.starts.dtype == actual.ends.dtype == np.int32
    assert actual.document_offsets.dtype == np.int64


@given(corpora, st.integers(1, 12))
@example(["col", "·legi"], 100)
@example(["1234567", "Z", "l'", "home", "X", "1234567L"], 100)
@example(["e", "\u0301", "", "", "\r", "\n", " ", "a"], 1)
@example([], 1)
@example(["", ""], 1)
@thorough
def test_a_text_has_the_same_tokens_whatever_stands_beside_it(corpus, chunk) -> None:
    alone = [tokenize([text]) for text in corpus]
    with pytest.MonkeyPatch.context() as patch:
        together = [tokenize(corpus)]
        patch.setattr(normalisation, "CHUNK", chunk)
        together.append(tokenize(corpus))
    for tokenized in together:
        for number, own in enumerate(alone):
            assert words_of(tokenized, number) == words_of(own, 0)
            assert offsets_of(tokenized, number) == offsets_of(own, 0)
    assert together[0].vocabulary == together[1].vocabulary


@pytest.mark.slow
@pytest.mark.parametrize(
    ("piece", "token"),
    [
        ("a", "a" * 1_000_000),
        ("1", "1" * 1_000_000),
        ("l·", None),
        ("e\u0301", "é" * 500_000),
        (".", "."),
        ("Ana ", "Ana"),
    ],
)
def test_a_line_of_a_million_characters(piece: str, token: str | None) -> None:
    line = piece * (1_000_000 // len(piece))
    actual = tokenize(["Edad:68", line, "28027España"])
    assert words_of(actual, 0) == ["Edad", ":", "68"]
    assert words_of(actual, 2) == ["28027", "España"]
    assert offsets_of(actual, 2) == [(0, 5), (5, 11)]
    long = words_of(actual, 1)
    assert "".join(long) == normalised_text(line).replace(" ", "")
    if token:
        assert set(long) == {token}
