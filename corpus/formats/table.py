"""The table of formats: one row for each.

A format is a row of `FORMATS` and a module, which is imported at its first use. The module reads
and writes record batches of one schema (`corpus.formats.batches`).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from corpus.errors import InputError

#: The parts of a document that a format may keep in addition to its id and text.
Kept: TypeAlias = Literal["spans", "groups", "confidences", "span confidences", "other columns"]

EVERYTHING: frozenset[Kept] = frozenset(get_args(Kept))


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its suffixes, what it keeps, and how it is read and written.

    Parameters
    ----------
    name : str
        The name of the format for users.
    suffixes : tuple of str
        The suffixes of its files, in lower case.
    module : str
        The module that implements it, with ``read(source, options, problems)``, which yields record
        batches, ``count(source)``, and ``has_column(source, name, options)`` where the parts of a
        document have named columns or keys. ``write(batches, schema, target, report)`` writes
        record batches, and adds to a report what is lost although the format can hold it.
    keeps : frozenset of str
        The parts that it keeps in addition to id and text: ``"spans"``, ``"groups"``,
        ``"confidences"``, ``"span confidences"``, ``"other columns"``.
    carry : {"columns", "records"}
        How other columns are carried to a target of this format, as in
        `corpus.formats.sources.ReadOptions`.
    is_folder : bool
        Whether it is written as a folder with files for each document, instead of one file.
    has_encoding : bool
        Whether its files may have other encodings than UTF-8.
    is_stream : bool
        Whether it can be read from standard input and written to standard output.
    is_text : bool
        Whether its files are text, which may be compressed (``.gz``, ``.zst``).
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    keeps: frozenset[Kept]
    carry: Literal["columns", "records"] = "records"
    is_folder: bool = False
    has_encoding: bool = False
    is_stream: bool = False
    is_text: bool = True

    @property
    def implementation(self) -> Any:
        """The module that implements it."""
        return importlib.import_module(self.module)


_FORMATS = (
    Format(
        "brat",
        (".txt", ".ann"),
        "corpus.formats.brat",
        keeps=frozenset({"spans"}),
        is_folder=True,
        has_encoding=True,
    ),
    Format(
        "conll",
        (".conll", ".bio", ".iob"),
        "corpus.formats.conll",
        keeps=frozenset({"spans", "groups"}),
        has_encoding=True,
    ),
    Format(
        "csv",
        (".csv", ".tsv"),
        "corpus.formats.tabular.delimited",
        keeps=EVERYTHING,
        carry="columns",
        has_encoding=True,
    ),
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "corpus.formats.jsonl",
        keeps=EVERYTHING,
        is_stream=True,
    ),
    Format(
        "parquet",
        (".parquet", ".pq"),
        "corpus.formats.tabular.parquet",
        keeps=EVERYTHING,
        carry="columns",
        is_text=False,
    ),
    Format(
        "text",
        (".txt",),
        "corpus.formats.text",
        keeps=frozenset(),
        is_folder=True,
        has_encoding=True,
        is_stream=True,
    ),
)

#: Every format, by name.
FORMATS: Mapping[str, Format] = {format.name: format for format in _FORMATS}


def format_named(name: str) -> Format:
    """Return the row of a format.

    Raises
    ------
    InputError
        If there is no format of this name.
    """
    if name not in FORMATS:
        raise InputError(f"format {name!r} is unknown: expected {', '.join(FORMATS)}")
    return FORMATS[name]
