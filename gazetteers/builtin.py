"""Gazetteers of the package: common names, and phrases that are not names."""

from __future__ import annotations

import csv
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gazetteers.gazetteer import Gazetteer

# Modules that read lists are imported where they are used, to keep this module fast to import.

#: Names of the lists of this module, which are accepted in place of paths.
STARTER, BLOCKING = "starter", "blocking"
BUILTIN_LISTS = (STARTER, BLOCKING)


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
    if path == STARTER:
        return starter_names()
    if path == BLOCKING:
        return builtin_blocking()
    from gazetteers.gazetteer import Gazetteer  # noqa: PLC0415 - pyarrow is slow to import

    return Gazetteer.load(Path(path))


def starter_names() -> Gazetteer:
    """Read common names of Spain.

    Returns
    -------
    Gazetteer
        Terms of the classes ``given_name`` and ``surname``. Their counts are not observed but
        computed by a rule (``resources/README.md``).
    """
    from gazetteers.importing.importer import (  # noqa: PLC0415 - not always used
        ImportOptions,
        import_table,
    )

    options = ImportOptions(terms=["term"], counts=["count"], class_column="class")
    with as_file(files("gazetteers") / "resources" / "names.csv") as path:
        return import_table(path, options).gazetteer


def builtin_blocking() -> Gazetteer:
    """Read eponyms, months, weekdays, body parts and other words that are not names.

    Returns
    -------
    Gazetteer
        Terms of the class `BLOCKED`.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    from gazetteers.folding import fold  # noqa: PLC0415 - not always used
    from gazetteers.gazetteer import Gazetteer  # noqa: PLC0415 - slow to import
    from gazetteers.phrases.matcher import BLOCKED  # noqa: PLC0415 - numba is slow to import

    source = files("gazetteers") / "resources" / "blocked.csv"
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    terms = fold([row["term"] for row in rows])
    ones, classes = pa.array([1] * len(terms), pa.int64()), pa.array([BLOCKED] * len(terms))
    table = {"term": pa.array(terms, pa.large_string()), "class": classes, "count": ones}
    return Gazetteer.of(pa.table(table))
