"""Names to begin with, where no dictionary is at hand: written down for this project."""

from __future__ import annotations

from importlib.resources import as_file, files

from gazetteers.gazetteer import Gazetteer
from gazetteers.importing import ImportOptions, import_table


def starter_names() -> Gazetteer:
    """Give common names of Spain.

    Returns
    -------
    Gazetteer
        Of the classes ``given_name`` and ``surname``, with counts that were made up by a rule
        (``resources/README.md``), not counted.
    """
    options = ImportOptions(terms=["term"], counts=["count"], class_column="class")
    with as_file(files("gazetteers") / "resources" / "names.csv") as path:
        return import_table(path, options).gazetteer
