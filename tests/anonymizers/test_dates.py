"""Shifted dates keep their intervals and their form, and all of them change."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.dates import generalized_date, shifted_date
from anonymizers.keys import Key
from anonymizers.mention import Mention
from anonymizers.times import shifted_time
from corpus.dates import parse

KEY = Key(bytes(range(32)))
dates = st.dates(datetime.date(1941, 1, 1), datetime.date(2038, 12, 31))
#: Forms of dates with four digits of the year.
FORMS = ("%d/%m/%Y", "%Y-%m-%d", "%-d.%-m.%Y")


def shifted(text: str, patient: str = "p", key: Key = KEY) -> str | None:
    return shifted_date(Mention(text, "DATE", "date", patient), key)


def day_of(text: str | None) -> datetime.date:
    parsed = parse(text or "")
    assert parsed and parsed.date
    return parsed.date


@given(dates, dates, st.sampled_from(FORMS), st.sampled_from(FORMS), st.sampled_from("pqrs"))
def test_intervals_between_dates_of_a_patient_stay(
    first: datetime.date, second: datetime.date, form: str, other: str, patient: str
) -> None:
    new = [shifted(date.strftime(f), patient) for date, f in ((first, form), (second, other))]
    assert day_of(new[1]) - day_of(new[0]) == second - first
    assert day_of(new[0]) != first and day_of(new[0]).year - first.year in (-2, -1, 0, 1, 2)


@given(st.integers(1950, 2030), st.sampled_from("pqrstuvw"))
def test_partial_dates_change(year: int, patient: str) -> None:
    for text in (str(year), f"marzo de {year}", f"03/{year}", "12 de octubre", "3 d'abril"):
        new = shifted(text, patient)
        assert new is None or new != text
    assert shifted(str(year), patient) in {str(year - 1), str(year + 1)}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("12/10/10", r"\d\d/\d\d/\d\d"),
        ("12 de octubre de 2010", r"\d{1,2} de [a-z]+ de \d{4}"),
        ("MARZO DE 2019", r"[A-ZÇ]+ DE 20\d\d"),
        ("mar-19", r"[a-z]{3}-\d\d"),
        ("3 de març", r"\d{1,2} (?:de |d')[a-zç]+"),
        ("12/10/2010 10:30", r"\d\d/\d\d/20\d\d 10:30"),
        ("12/10/2010.", r"\d\d/\d\d/20\d\d\."),
        ("doce de mayo", r"[a-zé]+(?: y [a-zó]+)? de [a-z]+"),
    ],
)
def test_the_form_stays(text: str, form: str) -> None:
    new = shifted(text)
    assert new and re.fullmatch(form, new) and new != text


@pytest.mark.parametrize("text", ["", "31/02/2010", "ayer", "!!", "2010 mg", "30/30/30"])
def test_what_is_no_date_has_none(text: str) -> None:
    assert shifted(text) is None


@given(st.text(max_size=30))
def test_any_text_is_shifted_or_refused(text: str) -> None:
    new = shifted(text)
    assert new is None or text.casefold() not in new.casefold()


def test_patients_and_keys_have_offsets_of_their_own() -> None:
    text = "12/10/2010"
    assert len({shifted(text, str(patient)) for patient in range(50)}) > 30
    assert len({shifted(text, "p", Key(bytes([n]) * 32)) for n in range(50)}) > 30


@pytest.mark.parametrize(
    ("text", "month", "year"),
    [
        ("12/10/2010", "10/2010", "2010"),
        ("12 d'octubre de 2010", "octubre de 2010", "2010"),
        ("2010", "2010", "2010"),
        ("12 de octubre", "octubre", None),
        ("31/02/2010", None, None),
    ],
)
def test_generalized_dates(text: str, month: str | None, year: str | None) -> None:
    mention = Mention(text, "DATE", "date", "p")
    assert (generalized_date(mention, "month"), generalized_date(mention, "year")) == (month, year)


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 23), st.integers(0, 59))
def test_intervals_between_times_of_a_patient_stay(h: int, m: int, other: int, minute: int) -> None:
    def minutes(hours: int, rest: int) -> int:
        new = shifted_time(Mention(f"a las {hours}:{rest:02} h", "TIME", "time", "p"), KEY)
        match = re.fullmatch(r"a las (\d{1,2}):(\d\d) h", new or "")
        assert match
        return int(match[1]) * 60 + int(match[2])

    before = (other * 60 + minute - h * 60 - m) % 1440
    assert (minutes(other, minute) - minutes(h, m)) % 1440 == before
    assert minutes(h, m) != h * 60 + m
