"""Replacements have the case of what they replace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taggers.augmentation.letter_case import Case, case_of, in_case

PARTICLES = frozenset({"de", "la", "del", "l'", "d'", "y"})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["MARÍA", "de", "SOTO"], "upper"),
        (["calle", "mayor", "3"], "lower"),
        (["Calle", "MAYOR"], "title"),
        (["Calle", "de", "la", "Paz"], "title"),
        ([], "title"),
    ],
)
def test_the_case_of_words(words: list[str], expected: str) -> None:
    assert case_of(words) == expected


@pytest.mark.parametrize(
    ("term", "case", "expected"),
    [
        ("palma de mallorca", "title", "Palma de Mallorca"),
        ("palma de mallorca", "upper", "PALMA DE MALLORCA"),
        ("de la cruz", "title", "De la Cruz"),
        ("de la cruz", "after", "de la Cruz"),
        ("calle de la paz", "lower_first", "calle de la Paz"),
        ("l'hospitalet", "title", "L'Hospitalet"),
        ("vitoria-gasteiz", "title", "Vitoria-Gasteiz"),
        ("", "title", ""),
    ],
)
def test_terms_in_a_case(term: str, case: Case, expected: str) -> None:
    assert in_case(term, case, PARTICLES) == expected


@given(
    st.text("ab '’-./(\n", max_size=12),
    st.sampled_from(["upper", "lower", "title", "after", "lower_first"]),
)
def test_only_the_case_changes(term: str, case: Case) -> None:
    assert in_case(term, case, PARTICLES).lower() == term
