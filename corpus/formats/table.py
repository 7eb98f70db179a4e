"""The table of formats: one row for each, through which all other modules use it.

A format is a row of `FORMATS` and a module, which is imported at its first use. The module reads
and writes either documents (such as brat) or record batches (formats of columns, such as Parquet).
The row converts between the two.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from corpus.errors import InputError
from corpus.formats.columns import Kept

if TYPE_CHECKING:
    import pyarrow as pa

    from corpus.document import Document
    from corpus.errors import Problems
    from corpus.formats.columns import Columns, ReadOptions, Source
    from corpus.formats.rows import Row, WriteReport

_EVERYTHING: frozenset[Kept] = frozenset(get_args(Kept))


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
        and ``has_column(source, name)`` where columns have names.
    records : {"documents", "rows", "batches"}
        What `read` yields: each `Document`, each `Row` with the ``other_columns(source, options)``,
        or record batches. A module of documents has ``write(rows, target, columns, tally)``,
        another one ``write(batches, schema, target, columns, tally)``.
    keeps : frozenset of str
        The parts that it keeps in addition to id and text: ``"spans"``, ``"groups"``,
        ``"confidences"``, ``"span confidences"``, ``"other columns"``.
    is_folder : bool
        Whether it is written as a folder with files for each document, and not as one file.
    has_columns : bool
        Whether the parts of a document have named columns or keys.
    is_text : bool
        Whether its files are text, which may be compressed (``.gz``, ``.zst``).
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
    has_columns: bool = False
    is_text: bool = True
    has_encoding: bool = False
    is_stream: bool = False

    @property
    def _implementation(self) -> Any:
        return importlib.import_module(self.module)

    def read_documents(
        self, source: Source, options: ReadOptions, problems: Problems
    ) -> Iterator[Document]:
        """Yield the documents of a source."""
        records = self._implementation.read(source, options, problems)
        if self.records == "documents":
            return cast("Iterator[Document]", records)
        if self.records == "rows":
            return (row.document for row in records)
        from corpus.formats.batches import documents_of  # noqa: PLC0415 - pyarrow is slow to import

        return chain.from_iterable(map(documents_of, records))

    def read_batches(
        self, source: Source, options: ReadOptions, problems: Problems
    ) -> Iterator[pa.RecordBatch]:
        """Yield the documents of a source as record batches of one schema."""
        records = self._implementation.read(source, options, problems)
        if self.records == "batches":
            return cast("Iterator[pa.RecordBatch]", records)
        from corpus.formats.batches import batches_of  # noqa: PLC0415 - pyarrow is slow to import
        from corpus.formats.rows import Row  # noqa: PLC0415

        if self.records == "rows":
            return batches_of(records, self._implementation.other_columns(source, options))
        return batches_of(map(Row, records), {})

    def write_rows(
        self, rows: Iterable[Row], extra: Iterable[str], target: Path, columns: Columns
    ) -> WriteReport:
        """Write documents, with columns of confidences named `extra`."""
        from corpus.formats.rows import Tally  # noqa: PLC0415

        tally = Tally(self.keeps)
        if self.records != "documents":
            from corpus.formats.batches import (  # noqa: PLC0415
                CONFIDENCE_TYPES,
                batches_of,
                schema_with,
            )

            types = {name: CONFIDENCE_TYPES[name] for name in extra}
            batches = batches_of(rows, types)
            self._implementation.write(batches, schema_with(types), target, columns, tally)
        else:
            self._implementation.write(rows, target, columns, tally)
        return tally.report()

    def write_batches(
        self, batches: Iterable[pa.RecordBatch], target: Path, columns: Columns
    ) -> WriteReport:
        """Write record batches of one schema."""
        from corpus.formats.batches import conforming, rows_of  # noqa: PLC0415
        from corpus.formats.rows import Tally  # noqa: PLC0415
        from corpus.formats.tabular.checks import verified  # noqa: PLC0415

        tally = Tally(self.keeps)
        schema, conformed = conforming(batches, columns)
        if self.records != "documents":
            sound = map(verified, conformed)
            self._implementation.write(sound, schema, target, columns, tally)
        else:
            rows = (row for batch in conformed for row in rows_of(batch))
            self._implementation.write(rows, target, columns, tally)
        return tally.report()

    def count(self, source: Source) -> int:
        """Return an estimate of the number of records of a source."""
        return int(self._implementation.count(source))

    def has_column(self, source: Source, name: str) -> bool:
        """Return whether a source has a column or key; True for formats without named columns."""
        return not self.has_columns or bool(self._implementation.has_column(source, name))


def _table(*formats: Format) -> Mapping[str, Format]:
    return MappingProxyType({format.name: format for format in formats})


#: Every format, by name.
FORMATS = _table(
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
        keeps=_EVERYTHING,
        has_columns=True,
        has_encoding=True,
    ),
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "corpus.formats.jsonl",
        "documents",
        keeps=_EVERYTHING,
        has_columns=True,
        is_stream=True,
    ),
    Format(
        "parquet",
        (".parquet", ".pq"),
        "corpus.formats.tabular.parquet",
        "batches",
        keeps=_EVERYTHING,
        has_columns=True,
        is_text=False,
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
