"""Parquet: a document a row, read and written in parts of bounded size."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import astuple
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from corpus.document import Document, Span
from corpus.errors import InputError, shown
from corpus.formats.annotations import MALFORMED, settled, within
from corpus.formats.columns import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.formats.records import NOT_UTF8, Unreadable, documents_of
from corpus.formats.sources import Source, files_of
from corpus.formats.targets import Row, Rows, Tally, WriteReport, checked
from corpus.problems import Problem, Problems
from corpus.storage import new_file

NULL = "rows without an id or a text"
NOT_WHOLE = "ids or groups that are broken numbers"

#: Rows of a part that is read or written at once, and about how many bytes (characters) at most.
MOST_ROWS = 4096
MOST_BYTES = 1 << 25

#: Bytes of a column that are read from the file at once.
BUFFER = 1 << 20

#: What stands for a value that is not UTF-8.
_INVALID = object()

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string())])

#: Columns beside those of documents, named after attributes of `Row`.
_EXTRA = {CONFIDENCE: pa.float64(), SPAN_CONFIDENCES: pa.list_(pa.float64())}

#: The id, text, annotations and group of a row, as Python objects.
_Row: TypeAlias = tuple[object, object, object, object]


def read(source: Source, columns: Columns, problems: Problems, start: int) -> Iterator[Document]:
    """Yield a document a row, from row number `start` on.

    Raises
    ------
    InputError
        If a file is damaged, or has no column for ids or texts, or one of another type.
    """
    rows = _rows(files_of(source, "parquet"), columns, problems, start)
    return documents_of(rows, partial(_document, columns, problems), problems)


def holds(source: Source, column: str) -> bool:
    """Tell whether any file has a column."""
    for path in files_of(source, "parquet"):
        with _opened(path) as file:
            if column in file.schema_arrow.names:
                return True
    return False


def count(source: Source) -> int:
    """Count the rows of all files."""
    total = 0
    for path in files_of(source, "parquet"):
        with _opened(path) as file:
            total += file.metadata.num_rows
    return total


def _rows(
    files: list[Path], columns: Columns, problems: Problems, start: int
) -> Iterator[tuple[str, _Row]]:
    for path in files:
        with _opened(path) as file:
            rows = file.metadata.num_rows
            if start < rows:
                unused = set(file.schema_arrow.names).difference(astuple(columns))
                problems.unused.update(dict.fromkeys(unused, rows - start))
                yield from _rows_of(file, path, columns, start)
            start = max(0, start - rows)


def _opened(path: Path) -> pq.ParquetFile:
    try:  # without pre_buffer, a column is read in pieces and not a whole row group at once
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(
            f"{shown(path)} is not a complete Parquet file: was it cut off while it was written?"
        ) from error


def _rows_of(
    file: pq.ParquetFile, path: Path, columns: Columns, start: int
) -> Iterator[tuple[str, _Row]]:
    name = shown(path)
    present = _columns_of(file.schema_arrow, name, columns)
    skipped, groups = _groups_from(file.metadata, start)
    row = skipped
    for batch in _batches(file, name, groups, present):
        if row + len(batch) > start:
            part = batch.slice(max(0, start - row))
            first = row + len(batch) - len(part)
            for number, values in enumerate(_values_of(part, columns), start=first):
                yield f"{name}, row {number}", values
        row += len(batch)


def _groups_from(metadata: pq.FileMetaData, start: int) -> tuple[int, list[int]]:
    """Return how many rows the groups that end before row `start` hold, and the other groups."""
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    ends = list(accumulate(sizes))
    groups = [group for group, end in enumerate(ends) if end > start]
    return ends[groups[0]] - sizes[groups[0]], groups


def _batches(
    file: pq.ParquetFile, name: str, groups: list[int], present: list[str]
) -> Iterator[pa.RecordBatch]:
    rows = _rows_at_once(file.metadata)
    try:
        yield from file.iter_batches(batch_size=rows, row_groups=groups, columns=present)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{name} is damaged: its rows cannot be read") from error


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    groups = range(metadata.num_row_groups)
    size = sum(int(metadata.row_group(group).total_byte_size) for group in groups)
    return max(1, min(MOST_ROWS, MOST_BYTES * int(metadata.num_rows) // max(1, size)))


def _columns_of(schema: pa.Schema, file: str, columns: Columns) -> list[str]:
    """Return the columns of a file that are to be read.

    Raises
    ------
    InputError
        If the id or text is missing, or a column is there twice or of another type.
    """
    for name in (columns.id, columns.text):
        if name not in schema.names:
            raise InputError(
                f"{file} has no column {name!r}: its columns are {_listed(schema.names)}; "
                f"name those of id and text"
            )
    checks = {
        columns.id: ("a string or an integer", _is_name),
        columns.text: ("a string", _is_text),
        columns.label: ("a list of struct<start: int, end: int, label: string>", _is_label),
        columns.group: ("a string or an integer", _is_group),
    }
    present = [name for name in checks if name in schema.names]
    for name in present:
        expected, accepts = checks[name]
        if schema.names.count(name) > 1:
            raise InputError(f"{file} has several columns {name!r}: expected one")
        found = schema.field(name).type
        if not accepts(found):
            raise InputError(
                f"{file}: column {name!r} is {found}: expected {expected}; name another column"
            )
    return present


def _listed(names: list[str]) -> str:
    return shown(", ".join(names[:30]) + (", ..." if len(names) > 30 else ""))


def _is_text(found: pa.DataType) -> bool:
    if isinstance(found, pa.DictionaryType):
        return _is_text(found.value_type)
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(found) for is_kind in kinds)


def _is_name(found: pa.DataType) -> bool:
    if isinstance(found, pa.DictionaryType):
        return _is_name(found.value_type)
    # What pandas makes of integers with a null among them is floating.
    return _is_text(found) or pa.types.is_integer(found) or pa.types.is_floating(found)


def _is_group(found: pa.DataType) -> bool:
    return _is_name(found) or pa.types.is_null(found)


def _is_label(found: pa.DataType) -> bool:
    if pa.types.is_null(found):
        return True
    if not isinstance(found, pa.ListType | pa.LargeListType | pa.FixedSizeListType):
        return False
    fields = found.value_type
    if not isinstance(fields, pa.StructType):
        return False
    types = {field.name: field.type for field in fields}
    if not {"start", "end", "label"} <= types.keys():
        return False
    offsets = (types["start"], types["end"])
    return all(map(pa.types.is_integer, offsets)) and _is_text(types["label"])


def _values_of(batch: pa.RecordBatch, columns: Columns) -> Iterable[_Row]:
    names = (columns.id, columns.text, columns.label, columns.group)
    present = batch.schema.names
    absent = [None] * len(batch)
    values = [_values(batch.column(name)) if name in present else absent for name in names]
    return zip(*values, strict=True)


def _values(column: pa.Array[Any]) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(value) for value in column]


def _value(scalar: pa.Scalar[Any]) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _INVALID


def _document(columns: Columns, problems: Problems, where: str, row: _Row) -> Document:
    name, text, label, group = row
    if _INVALID in row:
        raise Unreadable(NOT_UTF8, "expected strings in UTF-8")
    document, patient = _named(name, columns.id), _named(group, columns.group)
    if document is None or not isinstance(text, str):
        column = columns.id if document is None else columns.text
        raise Unreadable(NULL, f"column {column!r} is null")
    items = label if isinstance(label, list) else []
    spans = [span for item in items for span in _spans(item, text, where, problems)]
    return Document(
        document,
        text,
        settled(spans, f"{where}, document {shown(document)}", problems),
        patient,
    )


def _named(value: object, column: str) -> str | None:
    """Write an id or a group as a string; a whole number in a floating column is an integer."""
    if value is None or (isinstance(value, float) and math.isnan(value)):  # pandas' null
        return None
    if isinstance(value, float):
        if not value.is_integer():
            raise Unreadable(NOT_WHOLE, f"column {column!r} is to have whole numbers")
        return str(int(value))
    return str(value)


def _spans(
    item: dict[str, Any] | None, text: str, where: str, problems: Problems
) -> Iterator[Span]:
    """Yield the span of an item of the list, if it is one that can be used."""
    start, end, label = ((item or {}).get(part) for part in ("start", "end", "label"))
    if start is None or end is None or not label:
        problems.reject(Problem(MALFORMED, where, "start, end or label is null or empty"))
        return
    span = Span(start, end, label)
    if within(span, text, where, problems):
        yield span


def write(rows: Rows, target: Path, columns: Columns, extra: Collection[str]) -> WriteReport:
    """Write a document a row, in row groups of bounded size."""
    tally = Tally()
    schema = _schema(columns, extra)
    with new_file(target) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for part in _parts(rows):
            writer.write_batch(_batch(part, schema))
            for row in part:
                tally.count(row, holds=("spans", "groups", "confidences"))
    return tally.report()


def _schema(columns: Columns, extra: Collection[str]) -> pa.Schema:
    fields = [
        pa.field(columns.id, pa.string()),
        pa.field(columns.text, pa.large_string()),
        pa.field(columns.label, pa.list_(_SPAN)),
        pa.field(columns.group, pa.string()),
    ]
    return pa.schema([*fields, *(pa.field(name, _EXTRA[name]) for name in extra)])


def _parts(rows: Rows) -> Iterator[list[Row]]:
    part: list[Row] = []
    size = 0
    for row in rows:
        size += len(checked(row.document).text)
        part.append(row)
        if len(part) == MOST_ROWS or size >= MOST_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _batch(part: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    documents = [row.document for row in part]
    columns: list[list[Any]] = [
        [document.id for document in documents],
        [document.text for document in documents],
        [[_item(span) for span in document.spans] for document in documents],
        [document.group for document in documents],
    ]
    columns += [[getattr(row, name) for row in part] for name in schema.names[len(columns) :]]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _item(span: Span) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "label": span.label}
