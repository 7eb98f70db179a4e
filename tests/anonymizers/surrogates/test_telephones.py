"""Surrogates of telephone numbers are well formed, in the form of the original, and nobody's."""

import re
from pathlib import Path

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.categories import builtin_categories
from anonymizers.keys import Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.telephones import surrogate_telephone
from corpus.errors import Problems
from corpus.formats import read

KEY = Key(bytes(range(32)))
EXAMPLES = [
    phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    for region in sorted(phonenumbers.SUPPORTED_REGIONS)
    for kind in (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE)
    if (number := phonenumbers.example_number_for_type(region, kind))
]


def surrogate(text: str, patient: str = "p") -> str | None:
    return surrogate_telephone(Mention(text, "TELEPHONE", "telephone", patient), KEY)


def shape(text: str) -> str:
    return re.sub(r"\d", "9", text)


def digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def is_free(text: str, region: str = "ES") -> bool:
    number = phonenumbers.parse(text, region)
    return phonenumbers.is_possible_number(number) and not phonenumbers.is_valid_number(number)


@given(st.from_regex(r"(\+34 |0034 ?|34)?[6-9]\d{2}([ .-]?\d\d){3}", fullmatch=True))
def test_spanish_numbers_become_numbers_of_nobody(text: str) -> None:
    text = "".join(str(int(c)) if c.isdecimal() else c for c in text)
    new = surrogate(text)
    assert new and shape(new) == shape(text) and is_free(new)
    old, number = digits(text)[-9:], digits(new)[-9:]
    assert number[0] == ("7" if old[0] in "67" else old[0])
    assert digits(text)[:-9] == digits(new)[:-9]


def test_numbers_of_other_countries_become_numbers_of_nobody() -> None:
    for text in EXAMPLES:
        new = surrogate(text)
        assert new and new != text and shape(new) == shape(text)
        assert new.split()[0].split("-")[0] == text.split()[0].split("-")[0]
        # phonenumbers finds the numbers for fiction of these countries valid.
        assert is_free(new) or re.match(r"\+1 ?\d{3}-55501\d\d|\+1 |\+33 ", new)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("(+34) 93/416.97.00 ext. 12", r"\(\+34\) 9\d/\d{3}\.\d\d\.\d\d ext\. [1-9]\d"),
        ("+1 (212) 555-1234", r"\+1 \(\d{3}\) 555-01\d\d"),
        ("+44 (0)20 7946 0018", r"\+44 \(0\)16 3296 0\d{3}"),
        ("0044 7911 123456", r"0044 7700 900\d{3}"),
        ("+33 6 12 34 56 78", r"\+33 6 39 98 \d\d \d\d"),
        ("Teléfono: 93\u00a0416\n97\t00", r"Teléfono: 9\d\u00a0\d{3}\n\d\d\t\d\d"),
        ("981 950 501 y 981 950 502", r"9\d\d \d{3} \d{3} y 9\d\d \d{3} \d{3}"),
        ("981950501/02", r"9\d{8}/0[1-9]"),
        ("(55) 5512-3456", r"\(5\d\) \d{4}-\d{4}"),
        ("4521", r"[1-9]\d{3}"),
    ],
)
def test_the_form_stays(text: str, form: str) -> None:
    new = surrogate(text)
    assert new and new != text and re.fullmatch(form, new)


def test_the_same_number_becomes_the_same_number() -> None:
    ways = ["+34 612-34-56-78", "0034612345678", "612 345 678", "Tel. 612 34 56 78 "]
    assert len({digits(surrogate(way) or "")[-9:] for way in ways}) == 1
    assert surrogate("612 345 678") != surrogate("612 345 678", "another patient")


@pytest.mark.parametrize(
    "text", ["", "-", "tel", "ext 0", "900-FLOWERS", "93 416 97 00 Ana", "+34", "00", "+", "93½"]
)
def test_what_is_no_number_has_no_surrogate(text: str) -> None:
    assert surrogate(text) is None


@given(st.text() | st.text("0123456789+() .-\nextº²٣½\u0301", max_size=25))
def test_any_text_has_another_or_none(text: str) -> None:
    new = surrogate(text)
    assert new is None or folded(text) not in folded(new)


def test_numbers_of_real_notes(meddocan: Path) -> None:
    for document in read(meddocan / "dev", problems=Problems()):
        for span in document.spans:
            if builtin_categories().get(span.label) == "telephone":
                text = document.text[span.start : span.end]
                new = surrogate(text)
                assert new and new != text and shape(new) == shape(text)
