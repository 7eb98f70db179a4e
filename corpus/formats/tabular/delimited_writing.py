"""Writing CSV and TSV."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from corpus.formats.batches import others_of, spans_of
from corpus.formats.columns import Columns
from corpus.formats.jsonl import storable
from corpus.formats.outputs import new_text_file
from corpus.formats.rows import Tally
from corpus.formats.sources import suffix_of


def delimiter_of(path: Path) -> str:
    """Return what separates the values of a file, by its suffix."""
    return "\t" if suffix_of(path) == ".tsv" else ","


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    target: Path,
    columns: Columns,
    tally: Tally,
) -> None:
    """Write a header, and a document a row."""
    others = others_of(schema)
    types = {name: kind if _is_plain(kind) else pa.large_string() for name, kind in others.items()}
    stored = pa.schema([(name, pa.large_string()) for name in astuple(columns)])
    stored = pa.schema([*stored, *(pa.field(*each) for each in types.items())])
    options = pa_csv.WriteOptions(delimiter=delimiter_of(target), quoting_style="needed")
    with (
        new_text_file(target) as file,
        pa_csv.CSVWriter(
            pa.PythonFile(_Unclosed(file), "w"), stored, write_options=options
        ) as writer,
    ):
        for batch in batches:
            writer.write_batch(_stored(batch, stored))
            tally.count_batch(batch)


class _Unclosed(io.RawIOBase):
    """A file that stays open when Arrow closes what it wrote to."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        return self._file.write(data)


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether values of a type have no parts, so that CSV writes them as they are."""
    checks = (
        *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date),
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_null),
    )
    return any(check(kind) for check in checks)


def _stored(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    labels = [
        json.dumps([[span.start, span.end, span.label] for span in spans], ensure_ascii=False)
        for spans in spans_of(batch)
    ]
    arrays = [
        batch.column("id"),
        batch.column("text"),
        pa.array(labels, pa.large_string()),
        batch.column("group"),
    ]
    for name, kind in others_of(batch.schema).items():
        column = batch.column(name)
        arrays.append(column if _is_plain(kind) else pa.array(_as_json(column), pa.large_string()))
    return pa.record_batch(arrays, schema=schema)


def _as_json(column: pa.Array[Any]) -> list[str | None]:
    """Return values that have parts as JSON, and others as text."""
    values = map(storable, column.to_pylist())
    return [
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in values
    ]
