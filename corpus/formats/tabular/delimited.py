"""CSV and TSV with named columns: one document per row, with annotations as in JSON lines.

The encoding and the delimiter of a file that is read are detected if they are not named. A file is
written in UTF-8, with tabs between columns if it ends in ``.tsv``, and commas otherwise. Values are
quoted where needed. An empty value counts as missing, but an empty text is kept. Other columns are
carried along as text.

A file without a header is read if the column of the text is a number, counted from 1. The names of
its columns are then numbers.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from corpus.arguments import encodable
from corpus.errors import InputError, Problems
from corpus.formats.batches import (
    CONFIDENCE_TYPES,
    OTHERS,
    SCHEMA,
    columns_after_notes,
    in_order,
    others_of,
    schema_with,
)
from corpus.formats.files import BYTE_ORDER_MARK, count_lines, new_text_file, open_text, readable
from corpus.formats.records import NO_ID, NULL, Unreadable, checked_text, parsed_records
from corpus.formats.sources import (
    Columns,
    ReadOptions,
    Source,
    can_be_read_twice,
    files_of,
    name_within,
    suffix_of,
)
from corpus.formats.tabular.checks import USUAL_NAMES, check_names
from corpus.formats.tabular.delimited_rows import DelimitedRows
from corpus.formats.tabular.dialects import Dialect, find_dialect
from corpus.formats.tabular.rows import Row, batches_of_rows, confidence_of, items_of, json_of
from corpus.formats.targets import Target, WriteReport

BAD_ROW = "rows of another number of columns"
UNCLOSED = "quotation marks that are not closed"
NO_LIST = "annotations that are not a JSON list"

#: More characters than the names of columns have.
_LONG_NAME = 60


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield the rows; the header is row 1.

    Raises
    ------
    InputError
        If a file has no column for texts, or a row that is too large.
    """
    is_carried = options.carry != "nothing" and can_be_read_twice(source)
    schema = _schema_of(source, options) if is_carried else SCHEMA
    tables = (
        _records(path, name_within(path, source.root), options, is_carried)
        for path in files_of(source, "csv")
    )
    rows = parsed_records(chain.from_iterable(tables), partial(_row, schema, problems), problems)
    return batches_of_rows(rows, schema, problems)


def _schema_of(source: Source, options: ReadOptions) -> pa.Schema:
    """Return the schema of the notes with the columns of all files."""
    names: dict[str, None] = {}
    for path in files_of(source, "csv"):
        header = _header_of(path, options)
        if not encodable(*header):
            encoding = _dialect_of(path, options).encoding
            raise InputError(
                f"{path}, row 1: a name of a column is not in {encoding}; name another encoding, "
                "such as latin-1, or correct it"
            )
        names |= dict.fromkeys(header)
    others = [name for name in names if name not in astuple(options.columns)]
    types = [CONFIDENCE_TYPES.get(name, pa.large_string()) for name in others]
    return schema_with(list(names), list(map(pa.field, others, types)))


def has_column(source: Source, name: str, options: ReadOptions) -> bool:
    """Return whether any file has a column."""
    return any(name in _header_of(path, options) for path in files_of(source, "csv"))


def count(source: Source) -> int:
    """Count the rows of all files, roughly: line feeds inside of values count as well."""
    files = (path for path in files_of(source, "csv") if path.is_file())
    return sum(max(0, count_lines(path) - 1) for path in files)


def _header_of(path: Path, options: ReadOptions) -> list[str]:
    dialect = _dialect_of(path, options)
    with open_text(path, dialect.encoding, "") as text:
        rows = filter(None, DelimitedRows(text, dialect.delimiter, str(path)))
        return _names(rows, options.columns)[0]


def _names(rows: Iterator[list[str]], columns: Columns) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the first row if that is a note rather than names."""
    first = [name.removeprefix(BYTE_ORDER_MARK) for name in next(rows, [])]
    if not any(first):
        return [], []
    if columns.text.isdecimal() and columns.text not in first:
        return [str(number) for number in range(1, len(first) + 1)], [first]
    return first, []


def _dialect_of(path: Path, options: ReadOptions) -> Dialect:
    """Return how a file is written; what can be read only once is not looked at."""
    delimiter = options.delimiter or ("\t" if suffix_of(path) == ".tsv" else None)
    if not path.is_file():
        return Dialect(options.encoding or "utf-8", delimiter or ",")
    return find_dialect(path, options.columns.text, delimiter=delimiter, encoding=options.encoding)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the rows of a file are read; `name` is its name in ids."""

    name: str
    header: list[str]
    columns: Columns
    encoding: str
    unused: frozenset[str]


_Record = tuple[_Layout, int, list[str]]


def _records(
    path: Path, name: str, options: ReadOptions, is_carried: bool
) -> Iterator[tuple[str, _Record]]:
    """Yield where each row is, and its number and values; the header is row 1."""
    dialect, columns = _dialect_of(path, options), options.columns
    with open_text(path, dialect.encoding, "") as text:
        table = DelimitedRows(text, dialect.delimiter, str(path))
        rows = filter(None, iter(table))
        header, first = _names(rows, columns)
        if not header:
            return
        if not first and columns.text not in header and any(map(_is_value, header)):
            raise InputError(
                f"{path} has no header: row 1 has values of a note ({dialect}); name columns by "
                'their numbers, such as --text-column 2 (text = "2" in a configuration)'
            )
        if first and any(name.lower() in USUAL_NAMES for name in first[0]):
            raise InputError(
                f"{path} has a header, which would be read as a note; name its columns instead "
                "of their numbers"
            )
        without = "; without a header, columns are numbers, such as --text-column 2"
        check_names(header, str(path), columns, f", {dialect}", without)
        unused = frozenset(() if is_carried else header).difference(astuple(columns))
        layout = _Layout(name, header, columns, dialect.encoding, unused)
        for number, fields in enumerate(chain(first, rows), start=1 if first else 2):
            yield f"{path}, row {number}", (layout, number, fields)
        if table.quotes % 2 or not table.is_closed:
            yield str(path), (layout, 0, [])


def _is_value(name: str) -> bool:
    """Return whether the name of a column is a number, a text, or not one line."""
    return name.isdecimal() or len(name) > _LONG_NAME or len(name.splitlines()) > 1


def _row(schema: pa.Schema, problems: Problems, where: str, record: _Record) -> Row:
    layout, number, fields = record
    if not number:
        detail = "the text of a row may contain the rows after it: correct the file"
        raise Unreadable(UNCLOSED, detail)
    if len(fields) != len(layout.header):
        raise Unreadable(BAD_ROW, f"{len(fields)} instead of {len(layout.header)}")
    columns, values = layout.columns, dict(zip(layout.header, fields, strict=True))
    used = values if OTHERS in schema.names else values.keys() & astuple(columns)
    for column in used:
        checked_text(values[column], layout.encoding, "of a value")
    name, text = values.get(columns.id, f"{layout.name}:{number}"), values[columns.text]
    if not name:
        raise Unreadable(NULL, "the id is null")
    items = items_of(values.get(columns.label) or "null", text, where, problems)
    if items is None:
        raise Unreadable(
            NO_LIST, f'column {columns.label!r}: expected [[start, end, "CLASS"], ...]'
        )
    if columns.id not in values:
        problems.count(NO_ID)
    problems.unused |= layout.unused
    more: dict[str, Any] = {
        column: confidence_of(column, values.get(column), problems)
        for column in CONFIDENCE_TYPES.keys() & schema.names
    }
    more[OTHERS] = {field.name: values.get(field.name) or None for field in others_of(schema)}
    group = values.get(columns.group) or None
    return Row(where, sum(map(len, fields)), name, text, group, items, more)


def write(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Target, report: WriteReport
) -> None:
    """Write a header, then a row for each note."""
    with new_text_file(target.path) as file:
        file.write(_lines([in_order(schema, target.columns)], target.path))
        file.writelines(_written(batch, target) for batch in batches)


def _written(batch: pa.RecordBatch, target: Target) -> bytes:
    columns = target.columns
    if pc.any(pc.equal(batch.column("id"), "")).as_py():
        raise InputError("a document has an empty id; write JSONL or Parquet")
    spans = [batch.column(name).to_pylist() for name in ("starts", "ends", "labels")]
    values: dict[str, Iterable[Any]] = {
        name: map(_as_text, column.to_pylist())
        for name, column in columns_after_notes(batch).items()
    }
    values |= {
        columns.id: batch.column("id").to_pylist(),
        columns.text: batch.column("text").to_pylist(),
        columns.label: map(_as_label, *spans),
        columns.group: batch.column("group").to_pylist(),
    }
    names = in_order(batch.schema, columns)
    return _lines(zip(*map(values.__getitem__, names), strict=True), target.path)


def _as_label(*parts: Sequence[Any]) -> str:
    return json.dumps(list(zip(*parts, strict=True)), ensure_ascii=False)


def _as_text(value: object) -> str:
    """Return a nested value as JSON, and any other value as text."""
    value = json_of(value)
    if isinstance(value, str):
        return value
    is_empty = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_empty else json.dumps(value, ensure_ascii=False)


def _lines(rows: Iterable[Sequence[Any]], target: Path) -> bytes:
    """Return rows that end with a line feed."""
    # `csv.writer` quotes values with a carriage return only where rows end with one.
    lines: list[bytes] = []
    delimiter = "\t" if suffix_of(target) == ".tsv" else ","
    writer = csv.writer(_Lines(lines), delimiter=delimiter)
    writer.writerows(rows)
    return b"".join(lines)


class _Lines:
    """A target of `csv.writer` that gathers rows, and ends them with a line feed."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    def write(self, row: str) -> None:
        self._lines.append(readable(f"{row[:-2]}\n".encode()))
