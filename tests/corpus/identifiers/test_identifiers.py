"""Checks accept what is valid and nothing else, and completed numbers are valid."""

from __future__ import annotations

import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stdnum.es import nif as stdnum_nif

from corpus.identifiers import CHECKS, FRAGMENTS, with_check_digit
from corpus.identifiers.check_digits import NUMBERS

# Published examples: of ministries, standards, encyclopedias and makers of software.
VALID = {
    "dni": ["12345678Z", "12.345.678-z", "00000000-T", "54362315 K"],
    "nie": ["X1234567L", "X-2482300W", "y1234567x", "Z 1234567 R"],
    "cif": ["J99216582", "B-58378431", "A13 585 625", "Q2826000H", "P0800000B"],
    "nif": ["12345678Z", "X5253868R", "B64717838", "M-1234567-L", "k1234567l"],
    "nass": ["28 12345678 40", "28/12345678/40", "281234567840", "08 1234567 74", "08 01234567 74"],
    "iban": [
        "ES91 2100 0418 4502 0005 1332",
        "GB82WEST12345698765432",
        "fr1420041010050500013m02606",
    ],
    "ccc": ["2100-0418-45-0200051332", "1234 1234 16 1234567890"],
    "cups": ["ES 1234-123456789012-JY", "es1234123456789012jy1f"],
    "luhn": ["4111 1111 1111 1111", "79927398713"],
    "cip": ["GOPE 0 850101 00 1", "gope1000229001"],
    "ip": ["192.168.0.1", "::1", "2001:db8::8a2e:370:7334"],
    "phone": [
        "612 345 678",
        "93.412.34.56",
        "+34 93 412 34 56",
        "0034612345678",
        "+33 1 42 68 53 00",
    ],
    "postal_code": ["08001", "28 013", "52006"],
}
INVALID = {
    "dni": [
        "12345678A",
        "123456789",
        "X1234567L",
        "12345678Z9",
        "12345678\nZ",
        "１２３４５６７８Z",
    ],
    "nie": ["X1234567A", "12345678Z", "A1234567L"],
    "cif": ["J99216583", "B58378432", "O1234567L", "I9921658B"],
    "nif": ["12345678A", "M1234567A", "B64717839"],
    "nass": ["28 12345678 41", "28 123456 40", "28(12345678)40"],
    "iban": ["ES91 2100 0418 4502 0005 1333", "ES9121000418460200051332", "XX82WEST12345698765432"],
    "ccc": ["1234-1234-17 1234567890", "12341234161234567"],
    "cups": ["ES 1234-123456789012-XY", "ES 1234-123456789012-JY 1T"],
    "luhn": ["4111 1111 1111 1112", "0", "1a8"],
    "cip": ["GOPE 0 850230 00 1", "GOPE 2 850101 00 1", "GOPE 0 851301 00 1"],
    "ip": ["192.168.0.256", "1.2.3", ":::"],
    "phone": ["112", "012345678", "555 12 34", "+34 12", "telèfon"],
    "postal_code": ["00100", "53001", "8001", "080012"],
}
# Forms whose digits and letters may be any.
FORMS = {
    "dni": [r"\d{8}-[A-Z]", r"\d{7}[a-z]", r"\d\d\.\d{3}\.\d{3} [A-Z]"],
    "nie": [r"[XYZ]-\d{7}-[A-Z]", r"[xyz]\d{7}[a-z]"],
    "cif": [r"[ABHJ]\d{7}\d", r"[pqs]-\d{7}-[a-j]"],
    "nif": [r"\d{8}[A-Z]", r"[XYZKLM]-?\d{7}[A-Z]", r"[AB]\d{8}"],
    "nass": [r"\d\d[ /]\d{8}[ /]\d\d", r"\d{11}"],
    "iban": [r"ES\d\d( \d{4}){5}", r"es\d{22}", r"GB\d\d [A-Z]{4} \d{14}", r"DE\d{20}"],
    "ccc": [r"\d{4}-\d{4}-\d\d-\d{10}"],
    "cups": [r"ES \d{4} \d{12} [A-Z]{2}", r"es\d{16}[a-z]{2}"],
    "luhn": [r"\d{4}( \d{4}){3}", r"\d{2,20}"],
}
CASES = [(name, form) for name, forms in FORMS.items() for form in forms]


def examples(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, texts in table.items() for text in texts]


def written(form: str) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(form, re.ASCII), fullmatch=True)


def mod_97(iban: str) -> int:
    """Return the remainder of an IBAN, which is 1 if it is valid."""
    number = iban.replace(" ", "").upper()
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97


def luhn(text: str) -> int:
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(text[::-1])]
    return sum(sum(map(int, str(number))) for number in doubled) % 10


@pytest.mark.parametrize(("name", "text"), examples(VALID))
def test_valid_identifiers(name: str, text: str) -> None:
    assert CHECKS[name](text)
    assert with_check_digit(name, text) == (text if name in NUMBERS else None)


@pytest.mark.parametrize(("name", "text"), examples(INVALID))
def test_invalid_identifiers(name: str, text: str) -> None:
    assert not CHECKS[name](text)


def test_every_check_has_examples() -> None:
    assert set(VALID) == set(INVALID) == set(CHECKS)
    assert set(FORMS) == set(NUMBERS) < set(CHECKS)


@pytest.mark.parametrize(("name", "form"), CASES)
@given(data=st.data())
def test_completed_numbers_are_valid_and_written_alike(
    name: str, form: str, data: st.DataObject
) -> None:
    text = data.draw(written(form))
    completed = with_check_digit(name, text)
    assert completed is not None
    assert re.fullmatch(form, completed)
    assert CHECKS[name](completed)
    changed = [place for place in range(len(text)) if text[place] != completed[place]]
    assert len(changed) <= 4
    assert all(text[place].isalnum() for place in changed)


# Two of the eleven remainders of a CCC have the same check digit. The digits of a NASS shift if the
# third one becomes a zero.
@pytest.mark.parametrize(
    ("name", "form"), [case for case in CASES if case[0] not in ("ccc", "nass")]
)
@given(data=st.data())
def test_a_changed_digit_is_noticed(name: str, form: str, data: st.DataObject) -> None:
    text = with_check_digit(name, data.draw(written(form)))
    assert text is not None
    places = [place for place, character in enumerate(text) if character.isdigit()]
    place, digit = data.draw(st.sampled_from(places)), data.draw(st.sampled_from("0123456789"))
    assume(text[place] != digit)
    assert not CHECKS[name](text[:place] + digit + text[place + 1 :])


@given(st.integers(0, 10**8 - 1))
def test_the_letter_of_a_dni(number: int) -> None:
    capitals = map(chr, range(ord("A"), ord("Z") + 1))
    valid = [letter for letter in capitals if CHECKS["dni"](f"{number:08}{letter}")]
    assert valid == ["TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]]


@given(written(r"[0-9A-Z]\d{7}[0-9A-Z]"))
def test_nif_agrees_with_stdnum(text: str) -> None:
    completed = with_check_digit("nif", text)
    assert CHECKS["nif"](text) == stdnum_nif.is_valid(text)
    assert completed is None or stdnum_nif.is_valid(completed)


@given(st.integers(1, 99), st.integers(0, 10**8 - 1), st.integers(0, 99))
def test_nass_as_it_is_defined(province: int, number: int, check: int) -> None:
    joined = number + province * (10**7 if number < 10**7 else 10**8)
    text = f"{province:02}/{number:08}/"
    assert CHECKS["nass"](f"{text}{check:02}") == (joined % 97 == check)
    assert with_check_digit("nass", f"{text}00") == f"{text}{joined % 97:02}"


@given(written(r"GB\d\d [A-Z]{4} \d{14}|DE\d{20}"), written(r"\d{2,30}"))
def test_remainders_as_they_are_defined(iban: str, number: str) -> None:
    assert CHECKS["iban"](iban) == (mod_97(iban) == 1 and 2 <= int(iban[2:4]) <= 98)
    assert mod_97(with_check_digit("iban", iban) or "") == 1
    assert CHECKS["luhn"](number) == (luhn(number) == 0)


ODD = st.one_of(
    st.text(max_size=40),
    st.text("0123456789XESKabß١２ſ+-. /()\n;:%", max_size=40),
    st.sampled_from(["", "9" * 100_000, "A" + "1" * 5_000, "+" * 5_000, "ES" + "0" * 22, "ß" * 9]),
)


@pytest.mark.parametrize("name", [*CHECKS, "unknown"])
@given(text=ODD)
def test_any_text_has_an_answer(name: str, text: str) -> None:
    completed = with_check_digit(name, text)
    assert completed is None or len(completed) == len(text)
    if name in CHECKS:
        assert isinstance(CHECKS[name](text), bool)


@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragments_are_expressions_of_re2_that_match_what_is_valid(name: str) -> None:
    texts = pa.array([*VALID[name.lower()], "12 de 2018", ""])
    matched = pc.match_substring_regex(texts, f"^{FRAGMENTS[name]}$").to_pylist()
    assert matched == [True] * (len(texts) - 2) + [False] * 2


def test_slow_packages_are_imported_when_they_are_used() -> None:
    slow = "{'stdnum', 'phonenumbers'} & {*sys.modules}"
    code = f"import sys, corpus.identifiers; sys.exit(len({slow}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
