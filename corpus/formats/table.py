"""The table of formats: one row for each.

A format is a row of `FORMATS` and a module, which is imported at its first use. The module reads
and writes either documents (such as brat) or record batches (formats of columns, such as Parquet).
`corpus.formats` converts between the two.
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
        The module that implements it, with ``read(source, options, problems)``, ``count(source)``,
        and ``has_column(source, name)`` where the parts of a document have named columns or keys.
    records : {"documents", "rows", "batches"}
        What `read` yields: each `Document`, each `Row` with the ``other_columns(source, options)``,
        or record batches. A module of documents has ``write(rows, target, columns, report)``,
        another one ``write(batches, schema, target, columns, report)``.
    keeps : frozenset of str
        The parts that it keeps in addition to id and text: ``"spans"``, ``"groups"``,
        ``"confidences"``, ``"span confidences"``, ``"other columns"``.
    is_folder : bool
        Whether it is written as a folder with files for each document, instead of one file.
    has_encoding : bool
        Whether its files may have other encodings than UTF-8.
    is_stream : bool
        Whether it can be read from standard input and written to standard output.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    records: Literal["documents", "rows", "batches"]
    keeps: frozenset[Kept]
    is_folder: bool = False
    has_encoding: bool = False
    is_stream: bool = False

    @property
    def is_text(self) -> bool:
        """Whether its files are text, which may be compressed (``.gz``, ``.zst``)."""
        return self.records != "batches"

    @property
    def implementation(self) -> Any:
        """The module that implements it."""
        return importlib.import_module(self.module)


_FORMATS = (
    Format(
        "brat",
        (".txt", ".ann"),
        "corpus.formats.brat",
        "documents",
        keeps=frozenset({"spans"}),
        is_folder=True,
        has_encoding=True,
    ),
    Format(
        "conll",
        (".conll", ".bio", ".iob"),
        "corpus.formats.conll",
        "documents",
        keeps=frozenset({"spans", "groups"}),
        has_encoding=True,
    ),
    Format(
        "csv",
        (".csv", ".tsv"),
        "corpus.formats.tabular.delimited",
        "rows",
        keeps=EVERYTHING,
        has_encoding=True,
    ),
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "corpus.formats.jsonl",
        "documents",
        keeps=EVERYTHING,
        is_stream=True,
    ),
    Format(
        "parquet",
        (".parquet", ".pq"),
        "corpus.formats.tabular.parquet",
        "batches",
        keeps=EVERYTHING,
    ),
    Format(
        "text",
        (".txt",),
        "corpus.formats.text",
        "documents",
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
