"""Build the lists of the package, of names and of places, from published files.

The files are in ../shared/data; gazetteers/resources/README.md names their sources.

    python benchmarks/lists/build.py            # write the lists into gazetteers/resources
    python benchmarks/lists/build.py --check    # compare them with the files, and write nothing
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
from addresses import street
from facilities import health_centres, hospitals
from world import american_names, places_of_the_world
from written import written_places

from corpus.storage.tables import read_table, write_table
from gazetteers.builtin import CENSUS, CENSUS_US, GIVEN_NAMES, PLACES, PLACES_WORLD, resource
from gazetteers.folding import fold
from gazetteers.gazetteer import COLUMNS, Gazetteer, merge
from gazetteers.importing.importer import ImportOptions, import_table
from gazetteers.phrases.spellings import spellings
from gazetteers.written_places import WRITTEN_PLACES

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SPAIN, WORLD, US = DATA / "spain", DATA / "world", DATA / "us"
TERRITORIES = Path(__file__).with_name("territories.csv")

#: The files of names, and their classes.
_NAMES = {
    "given_names_men.csv": "given_name",
    "given_names_women.csv": "given_name",
    "surnames.csv": "surname",
}
#: The classes of the files of given names by gender.
_GENDERS = {"given_names_men.csv": "man", "given_names_women.csv": "woman"}

#: Municipalities with a Basque or Catalan and a Spanish name; other hyphens join parts of a name.
_TWO_LANGUAGES = frozenset(
    (
        "Abanto y Ciérvana-Abanto Zierbena",
        "Alegría-Dulantzi",
        "Estella-Lizarra",
        "Maruri-Jatabe",
        "Maó-Mahón",
        "Oyón-Oion",
        "Peñacerrada-Urizaharra",
        "Soraluze-Placencia de las Armas",
        "Trucios-Turtzioz",
        "Ugao-Miraballes",
        "Valle de Trápaga-Trapagaran",
        "Vitoria-Gasteiz",
    )
)

#: Names of municipalities that the published list lacks and that notes use.
_ALSO = {"Palma": ["palma de mallorca"]}

#: A term, its class and its count.
Row = tuple[str, str, int]


def census(folder: Path) -> Gazetteer:
    """Build the gazetteer of given names and surnames from the files of a folder."""
    return _names(folder, _NAMES)


def given_names(folder: Path) -> Gazetteer:
    """Build the gazetteer of the given names of men and of women from the files of a folder."""
    return _names(folder, _GENDERS)


def _names(folder: Path, classes: Mapping[str, str]) -> Gazetteer:
    options = {name: ImportOptions(class_name=kind) for name, kind in classes.items()}
    return merge([import_table(folder / name, each).gazetteer for name, each in options.items()])


def places(folder: Path) -> Gazetteer:
    """Build the gazetteer of places from the files of a folder."""
    rows = [*_municipalities(folder), *_hospitals(folder), *_health_centres(folder)]
    rows += [*_streets(folder), *_territories()]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    return Gazetteer.from_table(pa.table(columns, names=COLUMNS.names))


def _read(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def spoken(name: str) -> list[str]:
    """Return the folded names of a municipality in the order of speech, one for each language."""
    bilingual = name.replace("-", "/", 1) if name in _TWO_LANGUAGES else name
    found = list(spellings([bilingual])[0])
    single = [each for each in found if "/" not in each]
    return single + fold([name] if name in _TWO_LANGUAGES else [])


def _municipalities(folder: Path) -> Iterator[Row]:
    for row in _read(folder / "municipalities.csv"):
        name = row["NOMBRE"].strip()
        terms = spoken(name) + _ALSO.get(name, [])
        yield from ((term, "municipality", int(row["POB19"])) for term in terms)


def _hospitals(folder: Path) -> Iterator[Row]:
    for row in _read(folder / "hospitals.csv"):
        town = spoken(row["MUNICIPIOS"])[0]
        yield from ((term, "hospital", 1) for term in hospitals(row["NOMBRE"], town))


def _health_centres(folder: Path) -> Iterator[Row]:
    for row in _read(folder / "health_centres.csv"):
        (province,) = fold([row["PROVINCIAS"]])
        towns = spoken(row["MUNICIPIO"])
        found = health_centres(row["NOMBRE"], row["TIPOCENTRO"], province, towns)
        yield from ((term, "health_centre", 1) for term in found)


def _streets(folder: Path) -> Iterator[Row]:
    for name in ("health_centres.csv", "hospitals.csv"):
        for row in _read(folder / name):
            (province,) = fold([row["PROVINCIAS"]])
            found = street(row["DIRECCION"], province, hospital=name == "hospitals.csv")
            if found is not None:
                yield found, "street", 1


def _territories() -> Iterator[Row]:
    terms: dict[tuple[str, str], None] = {}
    for row in _read(TERRITORIES):
        names = "/".join(row[language] for language in ("spanish", "catalan", "english"))
        terms.update(((term, row["class"]), None) for term in fold(names.strip("/").split("/")))
    yield from ((term, name, 1) for term, name in terms)


def write(table: pa.Table, path: Path) -> None:
    """Write a list in less space than `Gazetteer.save`, which writes faster."""
    words = ("class", "province")
    encoding = {
        name: "DELTA_BINARY_PACKED" if table[name].type == pa.int64() else "DELTA_LENGTH_BYTE_ARRAY"
        for name in table.column_names
        if name not in words
    }
    with path.open("wb") as file:
        write_table(
            table,
            file,
            compression_level=19,
            use_dictionary=[name for name in words if name in table.column_names],
            column_encoding=encoding,
        )


def main() -> None:
    """Write or check the lists."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    tables = {
        CENSUS: census(SPAIN).table(),
        GIVEN_NAMES: given_names(SPAIN).table(),
        PLACES: places(SPAIN).table(),
        CENSUS_US: american_names(US).table(),
        PLACES_WORLD: places_of_the_world(WORLD, US).table(),
    }
    with ExitStack() as stack:
        built = {stack.enter_context(resource(name)): table for name, table in tables.items()}
        folder = next(iter(built)).parent
        for path, table in (
            *built.items(),
            (folder / WRITTEN_PLACES, written_places(SPAIN, WORLD)),
        ):
            if not options.check:
                write(table, path)
            elif not read_table(path).equals(table):
                sys.exit(f"{path} differs from the files of {DATA}; build it again")
            sizes = Counter(table["class"].to_pylist())
            kinds = ", ".join(f"{kind} {number:,}" for kind, number in sorted(sizes.items()))
            print(f"{path.name}: {len(table):,} rows, {path.stat().st_size:,} bytes; {kinds}")


if __name__ == "__main__":
    main()
