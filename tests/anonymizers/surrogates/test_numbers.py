"""Surrogates of numbers have the form of the original, and pass the checks that it passes."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizers.categories import builtin_categories
from anonymizers.keys import Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.numbers import surrogate_number
from corpus.errors import Problems
from corpus.formats import read
from corpus.identifiers import CHECKS, with_check_digit

KEY = Key(bytes(range(32)))


def surrogate(text: str, patient: str = "p", key: Key = KEY) -> str | None:
    return surrogate_number(Mention(text, "ID", "number", patient), key)


def shape(text: str) -> str:
    """Return the kind and case of each character, and all others as they are."""
    return "".join(
        "9" if c.isdecimal() else ("a" if c.islower() else "A") if c.isalpha() else c for c in text
    )


def written(form: str) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(form, re.ASCII), fullmatch=True)


FORMS = {
    "dni": r"\d{8}[-. ]?[A-Z]|\d\d\.\d{3}\.\d{3}-[a-z]|\d{7}[A-Z]",
    "nie": r"[XYZ]-?\d{7}-?[A-Z]",
    "cif": r"[ABEH]-?\d{8}|[PQRS]\d{7}[A-J]",
    "nif": r"[KLM]\d{7}[A-Z]|\d{8}[A-Z]",
    "nass": r"\d\d[ /]\d{8}[ /]\d\d|\d{12}",
    "iban": r"ES\d\d( \d{4}){5}|GB\d\d [A-Z]{4} \d{14}",
    "ccc": r"\d{4}-\d{4}-\d\d-\d{10}",
    "cups": r"ES \d{4} \d{12} [A-Z]{2}(1F)?",
    "luhn": r"\d{4}( \d{4}){3}|\d{12,15}",
}


@pytest.mark.parametrize("name", FORMS)
@given(data=st.data())
def test_a_valid_number_becomes_a_valid_number(name: str, data: st.DataObject) -> None:
    text = with_check_digit(name, data.draw(written(FORMS[name])))
    assume(text and any(c in "123456789" for c in text[:-2]))
    assert text
    new = surrogate(text)
    assert new and new != text and shape(new) == shape(text)
    assert {check for check in FORMS if CHECKS[check](new)} == {
        check for check in FORMS if CHECKS[check](text)
    }


@pytest.mark.parametrize("text", ["12345678A", "28 12345678 41", "ES91 2100 0418 4502 0005 1333"])
def test_a_wrong_number_becomes_a_wrong_number(text: str) -> None:
    new = surrogate(text)
    assert new and shape(new) == shape(text)
    assert not any(CHECKS[name](new) for name in FORMS)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("GOPE 0 850101 00 1", r"(?!GOPE)[A-Z]{4} 0 \d{6} \d\d \d"),
        ("1234 BCD", r"\d{4} [B-DF-HJ-NP-TV-Z]{3}"),
        ("gi-1234-ab", r"[a-z]{2}-\d{4}-[a-z]{2}"),
        ("08 08 25574", r"(0[1-9]) \1 \d{5}"),
        ("28/1234567/41", r"[1-5]\d/\d{7}/\d\d"),
        ("NHC: 123456", r"NHC: [1-9]\d{5}"),
        ("Nº de Hª Cª 000123", r"Nº de Hª Cª 000[1-9]\d\d"),
        ("N.º HISTÒRIA CLÍNICA 98-A", r"N\.º HISTÒRIA CLÍNICA \d\d-[A-Z]"),
        (unicodedata.normalize("NFD", "Número 12ñ"), r"Nu\u0301mero \d\d[a-z]"),
        ("12\n34\t5\u00a06", r"[1-9]\d\n\d\d\t\d\u00a0\d"),
        ("1\u00ad2👩3", r"\d\u00ad\d👩\d"),
    ],
)
def test_the_form_stays(text: str, form: str) -> None:
    new = surrogate(text)
    assert new and new != text and re.fullmatch(form, new)


@pytest.mark.parametrize(
    "between", [" y ", " i ", " e ", " o ", " and ", ", ", ";\n", " / ", " Y ", " y DNI ", ", nº "]
)
def test_each_of_two_numbers_has_its_own_surrogate(between: str) -> None:
    first, second = surrogate("12345678Z"), surrogate("28/1234567-40")
    assert surrogate(f"12345678Z{between}28/1234567-40") == f"{first}{between}{second}"


@pytest.mark.parametrize("text", ["28/1234567/40", "28 / 1234567 / 40", "NASS 28 12345678 40"])
def test_a_number_with_separators_is_one(text: str) -> None:
    digits = "".join(filter(str.isdecimal, text))
    assert "".join(filter(str.isdecimal, surrogate(text) or "")) == surrogate(digits)


@given(written(r"[A-Z]{4}[01]850101\d{3}"))
def test_a_health_card_has_a_birth_date(text: str) -> None:
    new = surrogate(text)
    assert new and CHECKS["cip"](new) and new[4] == text[4]


@given(written(r"\d{8}[A-Z]"), st.text("pq", min_size=1))
def test_only_letters_and_digits_of_a_number_count(text: str, patient: str) -> None:
    assume(text[:-1].strip("0"))
    ways = [text, text.lower(), f"{text[:2]}.{text[2:5]}.{text[5:8]}-{text[8]}", f"DNI {text}"]
    new = [surrogate(way, patient) or "" for way in ways]
    assert (
        len(
            {folded(other).removeprefix("dni").strip().translate({45: "", 46: ""}) for other in new}
        )
        == 1
    )


def test_numbers_differ_between_patients_and_keys() -> None:
    others = {surrogate("1234567890"), surrogate("1234567890", "q")}
    others.add(surrogate("1234567890", key=Key(bytes(32))))
    assert len(others) == 3 and None not in others


@pytest.mark.parametrize(
    "text", ["", " ", "-", "()", "\n", "NHC", "Nº", "Lactante", "👩", "000", "0"]
)
def test_what_is_no_number_has_no_surrogate(text: str) -> None:
    assert surrogate(text) is None


@given(st.text() | st.text("0123456789aAñ\u0303.-/ \n\u00ad½²٣º", max_size=12))
def test_any_text_has_another_or_none(text: str) -> None:
    new = surrogate(text)
    assert new is None or folded(text) not in folded(new)


def test_numbers_of_real_notes(meddocan: Path) -> None:
    categories = builtin_categories()
    texts = [
        document.text[span.start : span.end]
        for document in read(meddocan / "dev", problems=Problems())
        for span in document.spans
        if categories.get(span.label) == "number"
    ]
    for text in filter(re.compile(r"\d").search, texts):
        new = surrogate(text)
        assert new and new != text and shape(new) == shape(text)
