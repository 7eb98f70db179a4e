"""Names of people of the United States, and places of the world."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from gazetteers.folding import fold
from gazetteers.gazetteer import COLUMNS, Gazetteer

#: The population of the census of 1990, of which the shares of names are.
_POPULATION = 248_709_873
#: The share, in percent, of a surname whose share is rounded to 0.
_LEAST = 0.00025


def american_names(folder: Path) -> Gazetteer:
    """Return given names and surnames with the number of their bearers."""
    shares = {
        "surnames": ("surname", 1.0),
        "given_names_women": ("given_name", 0.5),
        "given_names_men": ("given_name", 0.5),
    }
    return _gazetteer(
        [
            (
                row["name"],
                name,
                round(max(float(row["percent"]), _LEAST) / 100 * _POPULATION * part),
            )
            for file, (name, part) in shares.items()
            for row in _read(folder / f"{file}.csv")
        ]
    )


def places_of_the_world(world: Path, states: Path) -> Gazetteer:
    """Return cities with their population, and countries and the states of the United States."""
    files = {
        "municipality": world / "cities.csv",
        "country": world / "countries.csv",
        "region": states / "states.csv",
    }
    return _gazetteer(
        [
            (
                row["name"].strip(),
                name,
                max(int(row["population"]), 1) if name == "municipality" else 1,
            )
            for name, file in files.items()
            for row in _read(file)
        ]
    )


def _gazetteer(rows: list[tuple[str, str, int]]) -> Gazetteer:
    names, classes, counts = zip(*rows, strict=True)
    columns = [pa.array(column) for column in (fold(list(names)), classes, counts)]
    return Gazetteer.from_table(pa.table(columns, names=COLUMNS.names))


def _read(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
