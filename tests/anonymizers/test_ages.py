"""Ages are read in three languages, and become near ones, ranges or one group above a limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.ages import aggregated_age, blurred_age, parse_age, surrogate_age
from anonymizers.keys import Key
from anonymizers.mention import Mention

KEY = Key(bytes(range(32)))


def age(text: str, patient: str = "p") -> Mention:
    return Mention(text, "AGE", "age", patient)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("74 años", 74),
        ("74", 74),
        ("3 meses", 0.25),
        ("7 anys i 3 mesos", 7.25),
        ("45-year-old", 45),
        ("45 yo", 45),
        ("setenta años", 70),
        ("2 a", 2),
    ],
)
def test_ages_are_read(text: str, years: float) -> None:
    parsed = parse_age(text)
    assert parsed and parsed.years == pytest.approx(years)


@pytest.mark.parametrize("text", ["", "años", "adulto", "745 años", "!!", "12/10/2010"])
def test_other_texts_are_none(text: str) -> None:
    assert parse_age(text) is None
    assert (
        surrogate_age(age(text), KEY) is aggregated_age(age(text)) is blurred_age(age(text)) is None
    )


@given(
    st.integers(3, 120),  # below, the unit may become singular
    st.sampled_from(["{} años", "{}", "{} anys", "{}-year-old"]),
    st.sampled_from("pqrstu"),
)
def test_a_surrogate_is_near_and_of_the_same_group(years: int, form: str, patient: str) -> None:
    new = surrogate_age(age(form.format(years), patient), KEY)
    parsed = parse_age(new or "")
    assert parsed and 0 < abs(parsed.years - years) <= 2 and (parsed.years > 89) <= (years > 89)
    assert (new or "").replace(str(parsed.number), "{}", 1) == form


def test_ages_of_a_patient_change_alike() -> None:
    steps = {surrogate_age(age(str(years), "p"), KEY) for years in (30, 40, 50)}
    assert len({int(new or 0) % 10 for new in steps}) == 1


@given(st.integers(0, 120))
def test_only_ages_above_the_limit_are_joined(years: int) -> None:
    new = aggregated_age(age(f"{years} años"))
    assert new == (f"{years} años" if years < 90 else "más de 89 años")
    assert aggregated_age(age(f"{years} anys"), 60) == (
        f"{years} anys" if years < 61 else "més de 60 anys"
    )


@pytest.mark.parametrize(
    ("text", "blurred"),
    [
        ("3 meses", "menos de un año"),
        ("17", "1-17"),
        ("18 años", "entre 18 y 64 años"),
        ("70 anys", "més de 64 anys"),
    ],
)
def test_blurred_ages(text: str, blurred: str) -> None:
    assert blurred_age(age(text)) == blurred
