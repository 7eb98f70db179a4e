"""Names of places as they are written, with accents and capitals, which gazetteers do not have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from addresses import CATALAN
from catalogues import Centre, centres, in_order_of_speech, rows_of
from written_names import facilities, streets
from written_words import WrittenWords

from gazetteers.builtin import CENSUS, read_gazetteer
from gazetteers.folding import fold

TERRITORIES = Path(__file__).with_name("territories.csv")


class Row(NamedTuple):
    """A row of the list: a place or a name, its other forms, and what is known about it."""

    kind: str
    name: str
    catalan: str = ""
    others: str = ""
    size: int = 1
    province: str = ""

    @property
    def folded(self) -> list[str]:
        """All its names."""
        return fold([*filter(None, f"{self.name}/{self.catalan}/{self.others}".split("/"))])


#: Other names of towns that the published list lacks and notes use.
_TOWNS = {
    "Barakaldo": "Baracaldo",
    "Bilbao": "Bilbo",
    "Castellón de la Plana/Castelló de la Plana": "Castellón/Castelló",
    "Eivissa": "Ibiza",
    "Getxo": "Guecho",
    "Jerez de la Frontera": "Jerez",
    "Maó-Mahón": "Maó/Mahón",
    "Ontinyent": "Onteniente",
    "Palma": "Palma de Mallorca",
    "Palmas de Gran Canaria, Las": "Las Palmas",
    "Sant Cugat del Vallès": "San Cugat del Vallés/Sant Cugat/San Cugat",
    "Sant Joan d'Alacant": "San Juan de Alicante",
    "Santiago de Compostela": "Santiago",
    "Terrassa": "Tarrasa",
    "Vila-real": "Villarreal",
    "Vitoria-Gasteiz": "Vitoria/Gasteiz",
}
#: The Spanish names of cities that the published list has in English.
_CITIES = {
    "Guatemala City": "Ciudad de Guatemala",
    "Havana": "La Habana",
    "Mexico City": "Ciudad de México",
    "Panama City": "Ciudad de Panamá",
}
#: Countries whose cities have Spanish names in the published list.
_SPANISH = frozenset(re.findall("..", "ARBOCLCOCRCUDOECGTHNMXNIPAPEPRPYSVUYVE"))
_LEAST_CITY = 50_000
#: Other names of countries.
_COUNTRIES = {
    "Argentina": "República Argentina",
    "China": "República Popular China",
    "Estados Unidos": "EEUU/EE. UU./USA/U.S.A.",
    "Reino Unido": "UK/U.K.",
}
#: The population of countries that the published list lacks or has under another name.
_PEOPLE = {
    "Cabo Verde": 540_000,
    "Ciudad del Vaticano": 800,
    "Escocia": 5_500_000,
    "Gales": 3_100_000,
    "Inglaterra": 56_000_000,
    "Irlanda del Norte": 1_900_000,
    "Macao": 680_000,
    "Palestina": 4_600_000,
    "Timor Oriental": 1_300_000,
}
_POSTAL_CODE = re.compile(r"(0[1-9]|[1-4]\d|5[0-2])\d{3}")


def written_places(spain: Path, world: Path) -> pa.Table:
    """Return the list, built from the published files in two folders."""
    territories = list(rows_of(TERRITORIES))
    catalogues = list(centres(spain))
    towns = _towns(spain, catalogues, _provinces(territories))
    words = _words(catalogues, towns)
    names = {name for row in towns for name in row.folded}
    rows = [*towns, *_territories(territories, towns, world), *_cities(world)]
    rows += _postal_codes(catalogues, towns)
    rows += [Row(*named, size=size) for named, size in streets(catalogues, words).items()]
    rows += [Row(*named) for named in facilities(catalogues, words, names)]
    rows.sort(key=lambda row: (row.kind, row.province, *fold([row.name]), row.name))
    columns = ("class", *Row._fields[1:])
    return pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=columns)


def _provinces(territories: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the row of each province by its folded names."""
    return {
        name: row
        for row in territories
        if row["class"] == "province"
        for name in fold([*row["spanish"].split("/"), *row["catalan"].split("/")])
    }


def _towns(
    spain: Path, catalogues: list[Centre], provinces: dict[str, dict[str, str]]
) -> list[Row]:
    """Return the municipalities, which the published list has in the order of their provinces."""
    lines = [
        (row["NOMBRE"].strip(), int(row["POB19"])) for row in rows_of(spain / "municipalities.csv")
    ]
    places = [
        _official(place, provinces) for place in _places([name for name, _ in lines], catalogues)
    ]
    rows = []
    for (official, size), province in zip(lines, places, strict=True):
        name, *others = map(in_order_of_speech, official.split("/"))
        others += filter(None, _TOWNS.get(official, "").split("/"))
        valencian = province in ("Alicante", "Castellón", "Valencia")
        catalan = others.pop(0) if others and valencian else ""
        capital = provinces.get(fold([name])[0])
        if capital and provinces[fold([province])[0]] is capital:
            catalan = capital["catalan"] if capital["catalan"] != name else ""
            others += capital["spanish"].split("/")
        others = [other for other in dict.fromkeys(others) if other not in (name, catalan)]
        rows.append(Row("town", name, catalan, "/".join(others), size, province))
    return rows


def _places(towns: list[str], catalogues: list[Centre]) -> list[str]:
    """Return the provinces of towns, which are ordered by province and name.

    A town without a centre is in the province of the towns around it. Between two provinces, the
    second begins where the letters begin again.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for centre in catalogues:
        if centre.kind != "HOSPITAL":
            known[centre.town].add(centre.province)
    marks = [
        (row, next(iter(known[town])))
        for row, town in enumerate(towns)
        if len(known.get(town, ())) == 1
    ]
    last = (len(towns), marks[-1][1])
    # A town between two others of one province has a namesake elsewhere.
    marks = [
        mark
        for before, mark, after in zip([marks[0], *marks], marks, [*marks[1:], last], strict=False)
        if mark[1] == before[1] or before[1] != after[1]
    ]
    firsts = [fold([town])[0][0] for town in towns]
    places = [marks[0][1]] * marks[0][0]
    for (row, place), (end, later) in pairwise([*marks, last]):
        again = min(range(row + 1, end + 1), key=lambda n: firsts[n]) if later != place else end
        places += [place] * (again - row) + [later] * (end - again)
    return places


def _official(source: str, provinces: dict[str, dict[str, str]]) -> str:
    """Return the official name of a province of the catalogue, the Spanish one if there are two."""
    parts = fold([in_order_of_speech(part) for part in source.split("/")])
    row = provinces[parts[0]]
    forms = [*row["spanish"].split("/"), *row["catalan"].split("/")]
    return next(form for form in forms if fold([form])[0] in parts)


def _territories(territories: list[dict[str, str]], towns: list[Row], world: Path) -> Iterator[Row]:
    """Yield the provinces, regions and countries, with their population where it is known."""
    people = Counter[str]()
    for town in towns:
        people[fold([town.province])[0]] += town.size
    official = {fold([town.province])[0]: town.province for town in towns}
    countries = {
        fold([row["name"]])[0]: int(row["population"]) for row in rows_of(world / "countries.csv")
    }
    for row in territories:
        kind = row["class"]
        spanish, catalan, english = (
            row[language].split("/") for language in ("spanish", "catalan", "english")
        )
        others = [*spanish, *catalan, *english]
        name, size = spanish[0], 1
        if kind == "province":
            key = next(form for form in fold(others) if form in official)
            name, size = official[key], people[key]
        elif kind == "country":
            others += _COUNTRIES.get(name, "").split("/")
            sizes = (countries[form] for form in fold(english) if form in countries)
            size = _PEOPLE.get(name) or next(sizes)
        first = catalan[0] if catalan[0] != name else ""
        others = [form for form in dict.fromkeys(others) if form and form not in (name, first)]
        yield Row(kind, name, first, "/".join(others), size)


def _cities(world: Path) -> Iterator[Row]:
    people = Counter[str]()
    for row in rows_of(world / "cities.csv"):
        name = _CITIES.get(row["name"], row["name"])
        if row["country"] in _SPANISH and int(row["population"]) >= _LEAST_CITY:
            people[name] = max(people[name], int(row["population"]))
    yield from (Row("city", name, size=size) for name, size in people.items())


def _postal_codes(catalogues: list[Centre], towns: list[Row]) -> Iterator[Row]:
    """Yield the postal codes of centres; those of a town share its population."""
    people = {name: row.size for row in reversed(towns) for name in row.folded}
    codes: dict[str, set[str]] = defaultdict(set)
    for centre in catalogues:
        if _POSTAL_CODE.fullmatch(centre.code) and centre.kind != "CONSULTORIO LOCAL":
            codes[fold([in_order_of_speech(centre.town.split("/")[0])])[0]].add(centre.code)
    sizes = Counter[str]()
    for town, own in codes.items():
        for code in own:
            sizes[code] += max(1, people.get(town, 1) // len(own))
    yield from (Row("postal_code", code, size=size) for code, size in sizes.items())


def _words(catalogues: list[Centre], towns: list[Row]) -> dict[bool, WrittenWords]:
    """Return the words of Spanish names, and of Catalan ones."""
    people = {word for name in read_gazetteer(CENSUS).terms.to_pylist() for word in name.split()}
    words = {False: WrittenWords(people), True: WrittenWords(people)}
    for row in towns:
        words[fold([row.province])[0] in CATALAN].learn((row.name, row.catalan, row.others))
    for centre in catalogues:
        words[centre.province in CATALAN].learn((centre.town, centre.name, centre.address))
    return words
