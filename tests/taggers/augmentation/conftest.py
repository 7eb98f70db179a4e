"""A small gazetteer of places and names, in which every term is recognizable."""

from collections.abc import Callable

import pytest

from gazetteers.gazetteer import Gazetteer

STREETS = ("calle sol", "calle de luna", "carrer mar", "avenida norte", "plaza sur")
TERMS = {
    "given_name": ("ana", "pau", "maria carmen"),
    "surname": ("puig", "soler", "vila"),
    "municipality": ("vic", "olot", "palma de mallorca"),
    "street": STREETS,
    "hospital": ("hospital estrella", "hospital universitario cometa", "clinica lluna"),
}


@pytest.fixture(scope="session")
def small_gazetteer(make_gazetteer: Callable[..., Gazetteer]) -> Gazetteer:
    return make_gazetteer(*((term, name, 1) for name, terms in TERMS.items() for term in terms))
