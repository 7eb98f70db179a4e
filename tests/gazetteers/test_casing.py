"""Terms are written in the case of what they replace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazetteers.casing import Case, case_of, in_case

PARTICLES = frozenset({"de", "la", "del", "l'", "d'", "y"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MARÍA de SOTO", "upper"),
        ("calle mayor 3", "lower"),
        ("Calle MAYOR", "title"),
        ("Calle de la Paz", "title"),
        ("", "title"),
    ],
)
def test_the_case_of_a_text(text: str, expected: str) -> None:
    assert case_of(text) == expected


@pytest.mark.parametrize(
    ("term", "case", "expected"),
    [
        ("palma de mallorca", "title", "Palma de Mallorca"),
        ("palma de mallorca", "upper", "PALMA DE MALLORCA"),
        ("de la cruz", "title", "De la Cruz"),
        ("de la cruz", "after", "de la Cruz"),
        ("l'hospitalet", "title", "L'Hospitalet"),
        ("vitoria-gasteiz", "title", "Vitoria-Gasteiz"),
        ("", "title", ""),
    ],
)
def test_terms_in_a_case(term: str, case: Case, expected: str) -> None:
    assert in_case(term, case, PARTICLES) == expected


@given(st.text("ab '’-./(\n", max_size=12), st.sampled_from(["upper", "lower", "title", "after"]))
def test_only_the_case_changes(term: str, case: Case) -> None:
    assert in_case(term, case, PARTICLES).lower() == term
