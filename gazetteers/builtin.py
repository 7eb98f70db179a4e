"""Gazetteers of the package: names, places, and phrases that are not names."""

from __future__ import annotations

import csv
import functools
from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gazetteers.gazetteer import Gazetteer

# Modules that read lists are imported where they are used, to keep this module fast to import.

#: Given names and surnames of Spain, with the number of their bearers.
CENSUS = "census-es"
#: Given names of Spain with the number of the men and of the women who bear them.
GIVEN_NAMES = "given-names-es"
#: Municipalities, hospitals, health centres, streets, provinces, regions and countries.
PLACES = "places-es"
#: Given names and surnames of the United States, with the number of their bearers.
CENSUS_US = "census-us"
#: Cities and countries of the world, and the states of the United States.
PLACES_WORLD = "places-world"
#: Phrases that look like names but are not, in Spanish and Catalan, and in English.
BLOCKING, BLOCKING_EN = "blocking", "blocking-en"

#: Words that begin names of places or occur beside names, in Spanish and Catalan, and in English.
CUE_WORDS, CUE_WORDS_EN = "cue-words", "cue-words-en"

#: The file of each list in the folder ``resources``, by the name that is accepted in place of a
#: path. Its README.md names the sources.
_FILES = {
    CENSUS: "census-es.parquet",
    GIVEN_NAMES: "given-names-es.parquet",
    PLACES: "places-es.parquet",
    CENSUS_US: "census-us.parquet",
    PLACES_WORLD: "places-world.parquet",
    BLOCKING: "blocked.csv",
    BLOCKING_EN: "blocked-en.csv",
    CUE_WORDS: "cue-words.csv",
    CUE_WORDS_EN: "cue-words-en.csv",
}
BUILTIN_LISTS = tuple(_FILES)
#: The lists for notes that are neither Spanish nor Catalan.
OTHER_LANGUAGES = (CENSUS_US, PLACES_WORLD, BLOCKING_EN, CUE_WORDS_EN)


def resource(name: str) -> AbstractContextManager[Path]:
    """Return the path of the file of a list of `BUILTIN_LISTS`, for use in a ``with`` statement."""
    return as_file(files("gazetteers") / "resources" / _FILES[name])


def read_gazetteer(path: str) -> Gazetteer:
    """Read a gazetteer.

    Parameters
    ----------
    path : str
        A file of ``bootstrap gazetteer import``, or one of `BUILTIN_LISTS`.

    Raises
    ------
    InputError
        If the file does not exist or is not a gazetteer.
    """
    from gazetteers.gazetteer import Gazetteer  # noqa: PLC0415 - pyarrow is slow to import

    return _read_builtin(path) if path in _FILES else Gazetteer.load(Path(path))


@functools.cache  # some lists are read by several parts of a command
def _read_builtin(name: str) -> Gazetteer:
    from gazetteers.gazetteer import Gazetteer  # noqa: PLC0415 - pyarrow is slow to import

    with resource(name) as file:
        return Gazetteer.load(file) if file.suffix == ".parquet" else _read_terms(file)


def _read_terms(path: Path) -> Gazetteer:
    """Read a CSV file of terms and their classes; the class is `BLOCKED` if there is no column."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    from gazetteers.folding import fold  # noqa: PLC0415 - not always used
    from gazetteers.gazetteer import Gazetteer  # noqa: PLC0415 - slow to import
    from gazetteers.phrases.matcher import BLOCKED  # noqa: PLC0415 - numba is slow to import

    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    columns = {
        "term": fold([row["term"] for row in rows]),
        "class": [row.get("class", BLOCKED) for row in rows],
        "count": [1] * len(rows),
    }
    return Gazetteer.from_table(pa.table(columns))
