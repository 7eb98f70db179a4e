"""The blocking list that comes with the program: what looks like a name and is none."""

from __future__ import annotations

import csv
from importlib import resources

import pyarrow as pa

from gazetteers.folding import folded
from gazetteers.gazetteer import Gazetteer
from gazetteers.phrases import BLOCKED


def builtin_blocking() -> Gazetteer:
    """Give eponyms, months, weekdays, parts of the body and other words that are no names.

    Returns
    -------
    Gazetteer
        Of the class `BLOCKED` alone.
    """
    source = resources.files("gazetteers") / "resources" / "blocked.csv"
    rows = csv.DictReader(source.read_text(encoding="utf-8").splitlines())
    terms = folded([row["term"] for row in rows])
    ones, kinds = pa.array([1] * len(terms), pa.int64()), pa.array([BLOCKED] * len(terms))
    table = {"term": pa.array(terms, pa.large_string()), "class": kinds, "count": ones}
    return Gazetteer.of(pa.table(table))
