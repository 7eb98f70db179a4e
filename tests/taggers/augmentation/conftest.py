"""A small gazetteer of places and names, in which every term is recognizable."""

from __future__ import annotations

import pyarrow as pa
import pytest

from gazetteers.gazetteer import COLUMNS, Gazetteer

STREETS = ("calle sol", "calle de luna", "carrer mar", "avenida norte", "plaza sur")
TERMS = {
    "given_name": ("ana", "pau", "maria carmen"),
    "surname": ("puig", "soler", "vila"),
    "municipality": ("vic", "olot", "palma de mallorca"),
    "street": STREETS,
    "hospital": ("hospital estrella", "hospital universitario cometa", "clinica lluna"),
}


@pytest.fixture(scope="session")
def small_gazetteer() -> Gazetteer:
    rows = [(term, name) for name, terms in TERMS.items() for term in terms]
    columns = [[term for term, _ in rows], [name for _, name in rows], [1] * len(rows)]
    return Gazetteer.from_table(pa.table(columns, schema=COLUMNS))
