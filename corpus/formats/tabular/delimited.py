"""CSV and TSV with named columns: one document per row, with annotations as in JSON lines.

A file ending in ``.tsv`` has tabs between columns, any other one commas. Values are quoted where
needed. An empty value counts as missing, but an empty text is kept. Other columns are carried
along as text.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from corpus.arguments import encodable
from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats.batches import CONFIDENCE_TYPES, SCHEMA, documents_of, others_of
from corpus.formats.files import count_lines, new_text_file, open_text, readable
from corpus.formats.jsonl import storable
from corpus.formats.records import (
    NULL,
    Unreadable,
    checked_text,
    of_document,
    parsed_records,
    settled,
    span_of,
    spans_of_items,
)
from corpus.formats.rows import Row, WriteReport
from corpus.formats.sources import (
    SPAN_CONFIDENCES,
    Columns,
    ReadOptions,
    Source,
    files_of,
    name_within,
    suffix_of,
)
from corpus.formats.tabular.checks import check_names, confidences_of
from corpus.formats.tabular.delimited_rows import DelimitedRows

BAD_ROW = "rows of another number of columns"
UNCLOSED = "quotation marks that are not closed"
NO_LIST = "annotations that are not a JSON list"
NO_NUMBER = "confidences that are not numbers"

_BYTE_ORDER_MARK = "\ufeff"


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[Row]:
    """Yield the rows, from row number `start` on; the header is row 1.

    Raises
    ------
    InputError
        If a file has no column for texts, or a row that is too large.
    """
    files = files_of(source, "csv")
    others = other_columns(source, options) if options.carry else {}
    tables = (_records(path, name_within(path, source.root), options, others) for path in files)
    records = islice(chain.from_iterable(tables), options.start, None)
    yield from parsed_records(records, partial(_row, problems), problems)


def other_columns(source: Source, options: ReadOptions) -> Mapping[str, pa.DataType]:
    """Return the additional columns of all files, and their types."""
    taken = {*SCHEMA.names, *astuple(options.columns)}
    names: dict[str, pa.DataType] = {}
    for path in files_of(source, "csv"):
        header = _header(path, options.encoding)
        if not encodable(*header):
            raise InputError(
                f"{path}, row 1: a name of a column is not in {options.encoding}; name "
                "another encoding, such as latin-1, or correct it"
            )
        names |= {name: CONFIDENCE_TYPES.get(name, pa.large_string()) for name in header}
    return {name: kind for name, kind in names.items() if name not in taken}


def has_column(source: Source, name: str) -> bool:
    """Return whether any file has a column."""
    return any(name in _header(path, "utf-8") for path in files_of(source, "csv"))


def count(source: Source) -> int:
    """Count the rows of all files, roughly: line feeds inside of values count as well."""
    return sum(max(0, count_lines(path) - 1) for path in files_of(source, "csv"))


def _header(path: Path, encoding: str) -> list[str]:
    with open_text(path, encoding, "") as text:
        return _names(filter(None, DelimitedRows(text, _delimiter_of(path), str(path))))


def _names(rows: Iterator[list[str]]) -> list[str]:
    """Return the names of the columns, which are the first row; none if there is no name."""
    names = [name.removeprefix(_BYTE_ORDER_MARK) for name in next(rows, [])]
    return names if any(names) else []


def _delimiter_of(path: Path) -> str:
    return "\t" if suffix_of(path) == ".tsv" else ","


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the rows of a file are read; `name` is its name in ids."""

    name: str
    header: list[str]
    columns: Columns
    encoding: str
    others: Mapping[str, pa.DataType]
    unused: frozenset[str]


_Record = tuple[_Layout, int, list[str]]


def _records(
    path: Path, name: str, options: ReadOptions, others: Mapping[str, pa.DataType]
) -> Iterator[tuple[str, _Record]]:
    """Yield where each row is, and its number and values; the header is row 1."""
    with open_text(path, options.encoding, "") as text:
        table = DelimitedRows(text, _delimiter_of(path), str(path))
        rows = filter(None, iter(table))
        header = _names(rows)
        if not header:
            return
        check_names(header, str(path), options.columns)
        unused = frozenset(header).difference(astuple(options.columns), others)
        layout = _Layout(name, header, options.columns, options.encoding, others, unused)
        for number, fields in enumerate(rows, start=2):
            yield f"{path}, row {number}", (layout, number, fields)
        if table.quotes % 2 or not table.is_closed:
            yield str(path), (layout, 0, [])


def _row(problems: Problems, where: str, record: _Record) -> Row:
    layout, number, fields = record
    if not number:
        detail = "the text of a row may contain the rows after it: correct the file"
        raise Unreadable(UNCLOSED, detail)
    if len(fields) != len(layout.header):
        raise Unreadable(BAD_ROW, f"{len(fields)} instead of {len(layout.header)}")
    columns, values = layout.columns, dict(zip(layout.header, fields, strict=True))
    if not encodable(*fields):
        for column in (*astuple(columns), *layout.others):
            checked_text(values.get(column, ""), layout.encoding, "of a value")
    name, text = values.get(columns.id, f"{layout.name}:{number}"), values[columns.text]
    if not name:
        raise Unreadable(NULL, "the id is null")
    items = _items(values.get(columns.label))
    if items is None:
        raise Unreadable(
            NO_LIST, f'column {columns.label!r}: expected [[start, end, "CLASS"], ...]'
        )
    spans: tuple[Span, ...] = ()
    if items:
        usable = spans_of_items(items, text, where, problems)
        spans = settled(usable, of_document(where, name), problems)
    problems.unused |= layout.unused
    document = Document(name, text, spans, values.get(columns.group) or None)
    others: dict[str, Any] = {column: values.get(column) or None for column in layout.others}
    for column in others.keys() & CONFIDENCE_TYPES.keys():
        others[column] = _confidence(others[column], CONFIDENCE_TYPES[column], problems)
    if SPAN_CONFIDENCES in others:
        given = others[SPAN_CONFIDENCES]
        others[SPAN_CONFIDENCES] = confidences_of(
            document, given, list(map(span_of, items)), where, problems
        )
    return Row(document, others)


def _confidence(value: str | None, kind: pa.DataType, problems: Problems) -> Any:
    """Return the confidences in a value; None if there are none that can be used."""
    try:
        return pa.scalar(json.loads(value), kind).as_py() if value else None
    except (ValueError, RecursionError, pa.ArrowException, TypeError):
        problems.count(NO_NUMBER)
        return None


def _items(text: str | None) -> list[Any] | None:
    """Return the annotations of a row; None if they are not a list."""
    if not text or text == "[]":
        return []
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return items if isinstance(items, list) else None


class _LineFeeds:
    """A target of `csv.writer` whose rows end with a line feed.

    The writer quotes values with a carriage return only where rows end with one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, row: str) -> None:
        self._file.write(readable(f"{row[:-2]}\n".encode()))


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    target: Path,
    columns: Columns,
    report: WriteReport,
) -> None:
    """Write a header, then one document per row."""
    others = list(others_of(schema))
    with new_text_file(target) as file:
        writer = csv.writer(cast(Any, _LineFeeds(file)), delimiter=_delimiter_of(target))
        writer.writerow([*astuple(columns), *others])
        for batch in batches:
            values = [map(_as_text, batch.column(name).to_pylist()) for name in others]
            for document, *fields in zip(documents_of(batch), *values, strict=True):
                if not document.id:
                    raise InputError("a document has an empty id; write JSONL or Parquet")
                spans = [[span.start, span.end, span.label] for span in document.spans]
                label = json.dumps(spans, ensure_ascii=False)
                writer.writerow([document.id, document.text, label, document.group, *fields])
            report.count_batch(batch)


def _as_text(value: object) -> str:
    """Return a nested value as JSON, and any other value as text."""
    value = storable(value)
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
