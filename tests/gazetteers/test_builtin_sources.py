"""The built-in lists are what the published files make of them, and nothing else is in them."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from types import ModuleType

import pytest

from corpus.storage.tables import read_table
from gazetteers.builtin import CENSUS, GIVEN_NAMES, PLACES, read_gazetteer
from gazetteers.folding import fold
from gazetteers.written_places import WRITTEN_PLACES

ROOT = Path(__file__).resolve().parents[2]

#: Folders of the repository that git ignores, or that it writes.
IGNORED = {".git", ".venv", ".hypothesis", "runs", "build", "dist", "site", "__pycache__"}
#: Shorter lines may be in other files by chance.
SHORTEST = 25


@pytest.fixture(scope="module")
def builder() -> Iterator[ModuleType]:
    """The program that builds the lists, as a module."""
    folder = ROOT / "benchmarks" / "lists"
    spec = importlib.util.spec_from_file_location("lists_builder", folder / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(folder))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_names_are_those_of_the_published_files(builder: ModuleType, spain: Path) -> None:
    assert read_gazetteer(CENSUS).table().equals(builder.census(spain).table())
    assert read_gazetteer(GIVEN_NAMES).table().equals(builder.given_names(spain).table())


def test_places_are_those_of_the_published_files(builder: ModuleType, spain: Path) -> None:
    assert read_gazetteer(PLACES).table().equals(builder.places(spain).table())


def test_written_places_are_those_of_the_published_files(
    builder: ModuleType, spain: Path, world: Path
) -> None:
    with as_file(files("gazetteers") / "resources" / WRITTEN_PLACES) as path:
        assert read_table(path).equals(builder.written_places(spain, world))


def test_no_street_is_known_from_town_halls_alone(builder: ModuleType, spain: Path) -> None:
    """The addresses of town halls may not be copied; those of the catalogues may."""
    councils = {
        builder.street(f"{row['dir_tipo_via']} {row['Dir_Via']}", fold([row["N_PROV"]])[0])
        for row in rows_of(spain / "council_addresses.csv")
    }
    catalogues = {
        builder.street(row["DIRECCION"], fold([row["PROVINCIAS"]])[0], hospital=hospital)
        for name, hospital in (("health_centres.csv", False), ("hospitals.csv", True))
        for row in rows_of(spain / name)
    }
    alone = councils - catalogues
    assert len(alone) > 1000
    assert not alone & set(read_gazetteer(PLACES).terms.to_pylist())


def test_no_line_of_a_published_file_is_in_the_repository(spain: Path, tmp_path: Path) -> None:
    published = {line for path in spain.glob("*.csv") for line in lines_of(path)}
    assert len(published) > 10_000
    copy = tmp_path / "copy.txt"
    some = sorted(lines_of(spain / "council_addresses.csv"))[17]
    copy.write_bytes(b"something else\n  " + some + b"\r\n")
    assert set(lines_of(copy)) & published == {some}
    for path in files_of_repository():
        assert set(lines_of(path)) & published == set(), path.relative_to(ROOT)


def lines_of(path: Path) -> Iterator[bytes]:
    lines = (line.strip() for line in path.read_bytes().splitlines())
    return (line for line in lines if len(line) >= SHORTEST)


def files_of_repository() -> Iterator[Path]:
    for path in ROOT.rglob("*"):
        folders = path.relative_to(ROOT).parts[:-1]
        if path.is_file() and not any(
            folder in IGNORED or folder.endswith("_cache") for folder in folders
        ):
            yield path
