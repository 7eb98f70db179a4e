"""Spellings that share a vector, and what they are computed from."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taggers.embeddings.normalisation import NORMALISATIONS
from taggers.features import Words

ODD = st.sampled_from("ñçÑÇáÀêÏüŀ·Σσςİıßſǅΐ\u01f0J\u0300\u0301\u0302\u0303\u0308\u030c\u0327\n٣²Ⅷ9")
ANY = st.text(st.one_of(ODD, st.characters(exclude_categories=["Cs"])), max_size=6)
NAMES = list(NORMALISATIONS)
ACCENTS = {"\u0300", "\u0301", "\u0302", "\u0308"}


def of(name: str, word: str) -> str:
    (found,) = NORMALISATIONS[name](Words([word]))
    return found


@pytest.mark.parametrize(
    ("word", "none", "lower", "unaccented", "digits"),
    [
        ("Núria", "Núria", "núria", "nuria", "núria"),
        ("PEÑA", "PEÑA", "peña", "peña", "peña"),
        ("Plaça", "Plaça", "plaça", "plaça", "plaça"),
        ("ÇÑ", "ÇÑ", "çñ", "çñ", "çñ"),
        ("ÀÈÒ", "ÀÈÒ", "àèò", "aeo", "àèò"),
        ("Pingüí", "Pingüí", "pingüí", "pingui", "pingüí"),
        ("raïm", "raïm", "raïm", "raim", "raïm"),
        ("rôle", "rôle", "rôle", "role", "rôle"),
        ("COL·LEGI", "COL·LEGI", "col·legi", "col·legi", "col·legi"),
        ("12345678Z", "12345678Z", "12345678z", "12345678z", "00000000z"),
        ("B-12", "B-12", "b-12", "b-12", "b-00"),
        ("٣", "٣", "٣", "٣", "0"),
        ("²", "²", "²", "²", "²"),
        ("", "", "", "", ""),
    ],
)
def test_spellings_become_what_they_should(
    word: str, none: str, lower: str, unaccented: str, digits: str
) -> None:
    found = {name: of(name, word) for name in NAMES}
    assert found == {"none": none, "lower": lower, "unaccented": unaccented, "digits": digits}


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
    found = of(name, word)
    assert of(name, found) == found
    assert unicodedata.is_normalized("NFC", found)


@settings(max_examples=30)
@given(word=ANY)
@example(word="ñçÑÇ")
@example(word="n\u0303\u0301 c\u0327\u0301")
def test_four_accents_go_and_no_other_mark(word: str) -> None:
    def marks(text: str) -> list[str]:
        apart = unicodedata.normalize("NFD", text)
        return [each for each in apart if unicodedata.category(each) == "Mn"]

    assert marks(of("unaccented", word)) == [
        each for each in marks(of("lower", word)) if each not in ACCENTS
    ]


@settings(max_examples=30)
@given(word=ANY)
@example(word="12/3٣")
def test_every_digit_becomes_0_and_nothing_else_does(word: str) -> None:
    lower = of("lower", word)
    zeroed = ["0" if each.isdecimal() else each for each in lower]
    assert of("digits", word) == "".join(zeroed)


@settings(max_examples=30)
@given(words=st.lists(ANY, max_size=5))
def test_normalisations_are_the_properties_of_words_composed(words: list[str]) -> None:
    found = Words(words)
    properties = [found.forms, found.lowers, found.unaccented, found.zeroed]
    for name, values in zip(NAMES, properties, strict=True):
        composed = [unicodedata.normalize("NFC", value) for value in values]
        assert NORMALISATIONS[name](found) == composed


def test_lemmas_are_those_of_each_word() -> None:
    words = ["Gatos", "pacientes", "xiquetes", "Puigdevall", "12", "GATOS"]
    expected = ["gato", "paciente", "xiqueta", "puigdevall", "12", "gato"]
    assert Words(words).lemmas == expected
    assert [Words([word]).lemmas[0] for word in words] == expected


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
