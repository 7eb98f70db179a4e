"""Parquet: one document per row, read and written in parts of bounded size."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.errors import InputError, Problems, unreadable
from corpus.formats.batches import (
    CONFIDENCE_TYPES,
    MOST_BYTES,
    MOST_ROWS,
    OTHERS,
    SCHEMA,
    columns_after_notes,
    concatenated,
    fields_after_notes,
    in_order,
    others_of,
    regrouped,
    schema_with,
)
from corpus.formats.records import NO_ID
from corpus.formats.sources import Columns, ReadOptions, Source, files_of, name_within
from corpus.formats.tabular.checks import FlatSpans, Part, check_names, checked_batches
from corpus.formats.targets import Target, WriteReport
from corpus.storage.atomic import new_file

#: Bytes of a column that are read from the file at once.
_BUFFER = 1 << 20

#: Whole numbers up to this one are exact as floating-point numbers.
_MOST_EXACT = 1 << 53

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string())])


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield record batches of the rows.

    Raises
    ------
    InputError
        If a file is damaged, or has no column for texts, or one of another type, or files have
        columns of the same name whose types cannot be unified.
    """
    files, columns = files_of(source, "parquet"), options.columns
    schema = SCHEMA if options.carry == "nothing" else _schema_of_all(files, columns)
    carried = fields_after_notes(schema)
    for path in files:
        with _opened(path) as file:
            if not file.metadata.num_rows:
                continue
            names = file.schema_arrow.names
            problems.unused |= set(names).difference(astuple(columns), carried)
            used = _columns_present(file.schema_arrow, str(path), columns)
            used += [name for name in carried if name in names]
            name, first = name_within(path, source.root), 0
            for batch in _rows_of(file, path, used):
                if columns.id not in names:
                    problems.counts[NO_ID] += len(batch)
                part = _part(_with_ids(batch, columns, name, first), columns, schema)
                yield from checked_batches(part, partial(_where, path, first), problems)
                first += len(batch)


def _where(path: Path, first: int, row: int) -> str:
    return f"{path}, row {first + row}"


def notes_of_rows(rows: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """Return the notes of rows as in a file, without their annotations.

    Raises
    ------
    InputError
        If there is no column for texts, or one of another type, or a row has no text.
    """
    name = "the record batch"
    used = [part for part in _columns_present(rows.schema, name, columns) if part != columns.label]
    part = _part(_with_ids(rows.select(used), columns, "row", 0), columns, SCHEMA)
    notes = list(checked_batches(part, lambda row: f"{name}, row {row}", Problems()))
    return concatenated(notes) if notes else pa.RecordBatch.from_pylist([], SCHEMA)


def spans_of_notes(notes: pa.RecordBatch) -> pa.ListArray[Any]:
    """Return the annotations of notes as a column of a file."""
    starts, ends, labels = (notes.column(name) for name in ("starts", "ends", "labels"))
    offsets = starts.offsets.to_numpy()
    spans = pa.StructArray.from_arrays(
        [starts.flatten(), ends.flatten(), labels.flatten()], fields=list(_SPAN)
    )
    return pa.ListArray.from_arrays(pa.array(offsets - offsets[0], pa.int32()), spans)


def has_column(source: Source, name: str, options: ReadOptions) -> bool:
    """Return whether any file has a column."""
    for path in files_of(source, "parquet"):
        with _opened(path) as file:
            if name in file.schema_arrow.names:
                return True
    return False


def count(source: Source) -> int:
    """Count the rows of all files."""
    total = 0
    for path in files_of(source, "parquet"):
        with _opened(path) as file:
            total += file.metadata.num_rows
    return total


def _schema_of_all(files: list[Path], columns: Columns) -> pa.Schema:
    """Return the schema of the notes with the columns of all files, each with a type for all."""
    others: dict[str, pa.Field[Any]] = {}
    names: dict[str, None] = {}
    metadata: dict[bytes, bytes] = {}
    for path in files:
        with _opened(path) as file:
            schema = file.schema_arrow
            if file.metadata.num_rows:
                _columns_present(schema, str(path), columns)
        metadata = (schema.metadata or {}) | metadata
        names |= dict.fromkeys(schema.names)
        for number, field in enumerate(schema, start=1):
            name = field.name
            if name in astuple(columns) or schema.names.count(name) > 1:
                continue
            known = others.get(name, field)
            others[name] = known.with_type(_unified(known.type, field.type, number, path))
    for name, kind in CONFIDENCE_TYPES.items():
        if name in others and _are_floats(others[name].type, kind):
            others[name] = pa.field(name, kind)
    return schema_with(list(names), list(others.values()), metadata)


def _are_floats(given: pa.DataType, expected: pa.DataType) -> bool:
    """Return whether confidences are numbers, or lists of numbers, as expected."""
    if isinstance(expected, pa.ListType):
        is_list = isinstance(given, pa.ListType | pa.LargeListType)
        return is_list and pa.types.is_floating(given.value_type)
    return bool(pa.types.is_floating(given))


def _unified(left: pa.DataType, right: pa.DataType, number: int, path: Path) -> pa.DataType:
    if left == right:
        return left
    schemas = [pa.schema([("", kind)]) for kind in (left, right)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        raise InputError(
            f"{path}: column {number} is {_named(right)}, and {_named(left)} in the files "
            "before it: expected one type; read the files one by one"
        ) from None


def _named(kind: pa.DataType) -> str:
    """Return the name of a type without its parts, such as the names of fields."""
    return re.split(r"\W", str(kind), maxsplit=1)[0]


def _rows_of(file: pq.ParquetFile, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    rows = _rows_at_once(file.metadata)
    try:
        yield from file.iter_batches(rows, columns=columns, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) or InputError(
            f"{path} is damaged: its rows cannot be read"
        ) from error


def _with_ids(batch: pa.RecordBatch, columns: Columns, name: str, first: int) -> pa.RecordBatch:
    """Add ids to rows of a file from number `first` on if there is no column of ids."""
    if columns.id in batch.schema.names:
        return batch
    numbers = pa.array(np.arange(first, first + len(batch))).cast(pa.large_string())
    file = pa.scalar(name, pa.large_string())
    ids = pc.binary_join_element_wise(file, numbers, pa.scalar(":", pa.large_string()))
    return batch.append_column(columns.id, ids)


def _part(batch: pa.RecordBatch, columns: Columns, schema: pa.Schema) -> Part:
    """Return rows of a file as unchecked notes; other columns than ids and texts may be missing."""

    def column(name: str, kind: pa.DataType) -> pa.Array[Any]:
        given = name in batch.schema.names
        return batch.column(name) if given else pa.nulls(len(batch), kind)

    ids, odd_ids = _names(batch.column(columns.id))
    groups, odd_groups = _names(column(columns.group, pa.null()))
    more = {
        name: column(name, field.type).cast(field.type)
        for name, field in fields_after_notes(schema).items()
    }
    if fields := others_of(schema):
        values = [more[field.name] for field in fields]
        more[OTHERS] = pa.StructArray.from_arrays(values, fields=fields)
    else:
        more[OTHERS] = pa.nulls(len(batch), pa.struct([]))
    return Part(
        ids,
        _strings(batch.column(columns.text)),
        groups,
        _flat_spans(column(columns.label, pa.null())),
        odd_ids | odd_groups,
        schema,
        {name: more[name] for name in schema.names[len(SCHEMA) :]},
    )


def _columns_present(schema: pa.Schema, file: str, columns: Columns) -> list[str]:
    """Return the columns of documents that a file has, or refuse it."""
    check_names(schema.names, file, columns)
    name = "a string or an integer"
    checks = {
        columns.id: (name, _is_name),
        columns.text: ("a string", _is_text),
        columns.label: ("a list of struct<start: int, end: int, label: string>", _is_label),
        columns.group: (name, lambda kind: _is_name(kind) or pa.types.is_null(kind)),
    }
    present = [column for column in checks if column in schema.names]
    for column in present:
        expected, accepts = checks[column]
        kind = schema.field(column).type
        if not accepts(kind):
            raise InputError(
                f"{file}: column {column!r} is {_named(kind)}: expected {expected}; name another "
                "column"
            )
    return present


def _is_text(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.DictionaryType):
        return _is_text(kind.value_type)
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_name(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.DictionaryType):
        return _is_name(kind.value_type)
    # pandas converts integers with nulls to floating-point numbers.
    return _is_text(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _is_label(kind: pa.DataType) -> bool:
    if pa.types.is_null(kind):
        return True
    if not isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType):
        return False
    if not isinstance(kind.value_type, pa.StructType):
        return False
    types = {field.name: field.type for field in kind.value_type}
    if not {"start", "end", "label"} <= types.keys():
        return False
    offsets = (types["start"], types["end"])
    return all(map(pa.types.is_integer, offsets)) and _is_text(types["label"])


def checked_rows(file: pa.NativeFile, name: str, columns: Columns) -> int:
    """Check the columns of an open file, and count its rows; `name` is its name in errors.

    Raises
    ------
    InputError
        If it is not a complete Parquet file, or has rows and no column of texts.
    """
    with _opened(name, file) as opened:
        rows = int(opened.metadata.num_rows)
        if rows:
            _columns_present(opened.schema_arrow, name, columns)
        return rows


def schema_of(source: Source, columns: Columns) -> pa.Schema:
    """Return the schema of the record batches of a source with its other columns."""
    return _schema_of_all(files_of(source, "parquet"), columns)


def _opened(path: Path | str, content: pa.NativeFile | None = None) -> pq.ParquetFile:
    """Open a file, or raise an `InputError` if it is not a complete Parquet file."""
    try:  # without pre_buffer, a column is read in pieces and not a whole row group at once
        file = pq.ParquetFile(content or path, pre_buffer=False, buffer_size=_BUFFER)
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be read: {os.strerror(errno.ENOENT)}") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) or InputError(
            f"{path} is not a complete Parquet file: was it cut off while it was written?"
        ) from error
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != file.metadata.num_rows:
        file.close()
        raise InputError(f"{path} is damaged: its groups have other numbers of rows than the file")
    return file


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    groups = range(metadata.num_row_groups)
    size = sum(int(metadata.row_group(group).total_byte_size) for group in groups)
    return max(1, min(MOST_ROWS, MOST_BYTES * int(metadata.num_rows) // max(1, size)))


def _decoded(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return a column without dictionary."""
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _strings(column: pa.Array[Any]) -> pa.Array[Any]:
    return _decoded(column).cast(pa.large_string())


def _names(column: pa.Array[Any]) -> tuple[pa.Array[Any], Any]:
    """Return ids or groups as strings, and which of them are not whole numbers."""
    column = _decoded(column)
    odd = np.zeros(len(column), bool)
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
        whole = (np.abs(values) <= _MOST_EXACT) & (values == np.trunc(values))
        odd = ~whole & ~np.isnan(values)
        column = pa.array(np.where(whole, values, 0).astype(np.int64), mask=~whole)
    return column.cast(pa.large_string()), odd


def _flat_spans(column: pa.Array[Any]) -> FlatSpans:
    if pa.types.is_null(column.type):
        column = column.cast(pa.list_(_SPAN))
    items = column.flatten()
    starts, ends, labels = (pc.struct_field(items, part) for part in ("start", "end", "label"))
    return FlatSpans.from_lists(column, starts, ends, _decoded(labels).cast(pa.string()))


def write(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Target, report: WriteReport
) -> None:
    """Write one document per row, in row groups of bounded size."""
    columns = target.columns
    fields = fields_after_notes(schema) | {
        columns.id: pa.field(columns.id, pa.string()),
        columns.text: pa.field(columns.text, pa.large_string()),
        columns.label: pa.field(columns.label, pa.list_(_SPAN)),
        columns.group: pa.field(columns.group, pa.string()),
    }
    stored = pa.schema([fields[name] for name in in_order(schema, columns)], schema.metadata)
    with (
        new_file(target.path) as file,
        pq.ParquetWriter(file, stored, compression="zstd") as writer,
    ):
        for batch in regrouped(batches):
            writer.write_batch(_stored(batch, stored, columns))


def _stored(batch: pa.RecordBatch, schema: pa.Schema, columns: Columns) -> pa.RecordBatch:
    """Return notes with the columns of a file."""
    values = columns_after_notes(batch) | {
        columns.id: batch.column("id").cast(pa.string()),
        columns.text: batch.column("text"),
        columns.label: spans_of_notes(batch),
        columns.group: batch.column("group").cast(pa.string()),
    }
    return pa.record_batch([values[name] for name in schema.names], schema=schema)
