"""Spellings that share a vector, and what they are computed from."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taggers.embeddings.embedding_files import NORMALISATIONS
from taggers.features.words import Words

ODD = st.sampled_from("ñçÑÇáÀêÏüŀ·Σσςİıßſǅΐ\u01f0J\u0300\u0301\u0302\u0303\u0308\u030c\u0327\n٣²Ⅷ9")
ANY = st.text(st.one_of(ODD, st.characters(exclude_categories=["Cs"])), max_size=6)
NAMES = list(NORMALISATIONS)
ACCENTS = {"\u0300", "\u0301", "\u0302", "\u0308"}


def of(name: str, word: str) -> str:
    return NORMALISATIONS[name](Words([word]))[0]


@pytest.mark.parametrize(
    ("word", "none", "lower", "unaccented", "digits"),
    [
        ("Núria", "Núria", "núria", "nuria", "núria"),
        ("ÇÑ", "ÇÑ", "çñ", "çñ", "çñ"),
        ("Pingüí", "Pingüí", "pingüí", "pingui", "pingüí"),
        ("COL·LEGI", "COL·LEGI", "col·legi", "col·legi", "col·legi"),
        ("B-12", "B-12", "b-12", "b-12", "b-00"),
        ("٣", "٣", "٣", "٣", "0"),
        ("²", "²", "²", "²", "²"),
        ("", "", "", "", ""),
    ],
)
def test_spellings_become_what_they_should(word, none, lower, unaccented, digits) -> None:
    expected = {"none": none, "lower": lower, "unaccented": unaccented, "digits": digits}
    assert {name: of(name, word) for name in NAMES} == expected


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(word=ANY)
@example(word="Núria Peña Plaça")
@example(word="\u0344\u212b\uf900")
def test_composed_and_decomposed_spellings_are_the_same(name: str, word: str) -> None:
    composed, apart = (unicodedata.normalize(form, word) for form in ("NFC", "NFD"))
    assert of(name, composed) == of(name, apart)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(words=st.lists(ANY, max_size=8))
@example(words=[])
@example(words=["", ""])
@example(words=["a\nb", "c"])
@example(words=["\u0301", "\u0301a", "e", "\u0301"])
@example(words=["ΟΔΟΣ", "Σ", "ΑΣ.", "Σ\u0301"])
@example(words=["İ", "J\u030c", "\u030cx"])
def test_words_together_become_what_they_become_alone(name: str, words: list[str]) -> None:
    assert NORMALISATIONS[name](Words(words)) == [of(name, word) for word in words]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(word=ANY)
@example(word="İ")
@example(word="J\u030c")  # there is one character for its lower case alone
@example(word="\u03d3")
def test_what_is_normalised_stays_as_it_is(name: str, word: str) -> None:
    normalised = of(name, word)
    assert of(name, normalised) == normalised
    assert unicodedata.is_normalized("NFC", normalised)


@settings(max_examples=30)
@given(word=ANY)
@example(word="ñçÑÇ")
@example(word="n\u0303\u0301 c\u0327\u0301")
def test_four_accents_go_and_no_other_mark(word: str) -> None:
    def marks(text: str) -> list[str]:
        apart = unicodedata.normalize("NFD", text)
        return [mark for mark in apart if unicodedata.category(mark) == "Mn"]

    assert marks(of("unaccented", word)) == [
        mark for mark in marks(of("lower", word)) if mark not in ACCENTS
    ]


@settings(max_examples=30)
@given(word=ANY)
@example(word="12/3٣")
def test_every_digit_becomes_0_and_nothing_else_does(word: str) -> None:
    lower = of("lower", word)
    zeroed = ["0" if character.isdecimal() else character for character in lower]
    assert of("digits", word) == "".join(zeroed)


def test_what_several_ask_for_is_computed_once() -> None:
    asked: list[str] = []

    def compute(answer: str) -> str:
        asked.append(answer)
        return answer

    words, others = Words(["a"]), Words(["a"])
    assert words.once("key", lambda: compute("first")) == "first"
    assert words.once("key", lambda: compute("second")) == "first"
    assert words.once(("key", 2), lambda: compute("third")) == "third"
    assert others.once("key", lambda: compute("fourth")) == "fourth"
    assert asked == ["first", "third", "fourth"]
