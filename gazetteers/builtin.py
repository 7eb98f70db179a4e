"""Gazetteers that come with the package: common names, and phrases that block false names."""

from __future__ import annotations

import csv
from importlib.resources import as_file, files

import pyarrow as pa

from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer
from gazetteers.importing.importer import ImportOptions, import_table
from gazetteers.phrases.matcher import BLOCKED


def starter_names() -> Gazetteer:
    """Read common names of Spain.

    Returns
    -------
    Gazetteer
        Classes ``given_name`` and ``surname``. The counts follow a rule
        (``resources/README.md``); they were not counted.
    """
    options = ImportOptions(terms=["term"], counts=["count"], class_column="class")
    with as_file(files("gazetteers") / "resources" / "names.csv") as path:
        return import_table(path, options).gazetteer


def builtin_blocking() -> Gazetteer:
    """Read eponyms, months, weekdays, body parts and other words that are not names.

    Returns
    -------
    Gazetteer
        Of the class `BLOCKED` only.
    """
    source = files("gazetteers") / "resources" / "blocked.csv"
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    terms = fold([row["term"] for row in rows])
    ones, classes = pa.array([1] * len(terms), pa.int64()), pa.array([BLOCKED] * len(terms))
    table = {"term": pa.array(terms, pa.large_string()), "class": classes, "count": ones}
    return Gazetteer.of(pa.table(table))
