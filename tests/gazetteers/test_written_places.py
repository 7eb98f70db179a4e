"""Places have their names as they are written, and are found however they are written."""

from __future__ import annotations

from collections import Counter

import pytest

from gazetteers.written_places import place_key, population_of, province_of, written_places


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "town",
            {
                "El Prat de Llobregat",
                "L'Hospitalet de Llobregat",
                "A Coruña",
                "La Línea de la Concepción",
            },
        ),
        ("province", {"Álava", "A Coruña", "Lleida", "Illes Balears", "Las Palmas"}),
        ("country", {"España", "México", "Estados Unidos"}),
        ("city", {"La Habana", "Bogotá", "Ciudad de México"}),
        ("hospital", {"La Paz", "12 de Octubre", "Virgen del Rocío"}),
        ("street", {"Mayor", "de la Constitución", "Juan Carlos I", "Ramón y Cajal"}),
        ("square_ca", {"de l'Església", "Major"}),
    ],
)
def test_names_have_accents_and_capitals(kind: str, names: set[str]) -> None:
    assert names <= set(written_places()[kind].names)


def test_each_town_has_a_province() -> None:
    places = written_places()
    provinces = Counter(places["town"].provinces)
    assert set(provinces) == set(places["province"].names)
    assert provinces["Burgos"] == max(provinces.values())


@pytest.mark.parametrize(
    ("town", "province"),
    [
        ("ALCOY", "Alicante"),
        ("Alicante/Alacant", "Alicante"),
        ("lerida", "Lleida"),
        ("Donostia-San Sebastián", "Gipuzkoa"),
        ("Hospitalet de Llobregat", "Barcelona"),
        ("Coruña", "A Coruña"),
        ("Nowhere", None),
    ],
)
def test_the_province_of_a_town(town: str, province: str | None) -> None:
    assert province_of(town) == province
    assert (population_of(town) is None) == (province is None)


def test_population() -> None:
    assert population_of("Madrid") == 3_266_126
    assert population_of("Elche/Elx") == population_of("ELX") == 232_517


def test_similar_places_are_drawn_by_size_within_bounds() -> None:
    towns = written_places()["town"]
    for size in (0, 300, 20_000, 3_000_000, 10**9):
        drawn = {towns.similar(size, share / 100) for share in range(100)}
        assert len(drawn) > 4
        if 300 <= size <= 20_000:
            assert all(size / 2.5 <= towns.sizes[row] <= size * 2.5 for row in drawn)
    streets = written_places()["street"]
    shares = Counter(streets.names[streets.drawn(share / 10_000)] for share in range(10_000))
    assert {"Mayor", "Real"} <= {name for name, _ in shares.most_common(3)}
    assert streets.drawn(0.0) == 0 and streets.drawn(1 - 2**-53) == len(streets.names) - 1


def test_names_are_looked_up_by_their_words() -> None:
    assert place_key("L’Hospitalet,  (Llobregat)") == "l hospitalet llobregat"
