"""JSON lines: one document per line, with annotations as ``[[start, end, "CLASS"], ...]``.

Between files of JSON lines, the other keys are carried as they are. For columns, such as those of
Parquet, their names and types are determined by reading the files once before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from corpus.errors import Problems
from corpus.formats.batches import (
    CONFIDENCE_TYPES,
    OTHERS,
    SCHEMA,
    columns_after_notes,
    fields_after_notes,
    has_records,
    in_order,
    others_of,
    schema_with,
)
from corpus.formats.files import (
    BYTE_ORDER_MARK,
    count_lines,
    is_standard,
    lines_of,
    new_text_file,
    readable,
)
from corpus.formats.records import NO_ID, NOT_UNICODE, Unreadable, checked_line, parsed_records
from corpus.formats.sources import (
    Columns,
    ReadOptions,
    Source,
    can_be_read_twice,
    files_of,
    name_within,
)
from corpus.formats.tabular.rows import Row, batches_of_rows, confidence_of, items_of
from corpus.formats.targets import Target, WriteReport

NOT_JSON = "lines that are not a JSON object"
NO_KEY = "keys that are missing or of another type"

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
_NUMBER = msgspec.json.Decoder(float)
_VALUE = msgspec.json.Decoder()
_encode = msgspec.json.Encoder(enc_hook=str).encode
_NULL = msgspec.Raw("null")

#: The metadata of a column that holds JSON.
_IS_JSON = {b"content": b"json"}

#: The schema between files of JSON lines.
_RECORDS = pa.schema(
    [
        *SCHEMA,
        *map(pa.field, *zip(*CONFIDENCE_TYPES.items(), strict=True)),
        (OTHERS, pa.large_string()),
    ]
)

_Line = tuple[str, str]  # the name of its file for ids, and its content


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield the documents of lines that are not blank.

    The id of a line without id is its file and line number, unless the user named the key of ids.
    """
    if options.carry == "nothing":
        schema = SCHEMA
    elif options.carry == "records" or not can_be_read_twice(source):
        schema = _RECORDS
    else:
        schema = _schema_of_columns(source, options.columns)
    rows = parsed_records(_lines(source), _Reader(options.columns, schema, problems).row, problems)
    return batches_of_rows(rows, schema, problems)


def has_column(source: Source, name: str, options: ReadOptions) -> bool:
    """Return whether any line has a key; reading stops at the first such line.

    The result is True for standard input, which can be read only once.
    """
    if is_standard(source.files[0]):
        return True
    return any(name in _fields_or_none(line) for _, (_, line) in _lines(source))


def count(source: Source) -> int:
    """Count the lines of all files, including blank ones; pipes count as empty."""
    return sum(count_lines(path) for path in files_of(source, "jsonl") if path.is_file())


def _lines(source: Source) -> Iterator[tuple[str, _Line]]:
    """Yield the position of each line, the name of its file for ids, and its content."""
    for file in files_of(source, "jsonl"):
        where, name = str(file), name_within(file, source.root)
        for number, line in enumerate(lines_of(file), start=1):
            content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if not content.isspace():
                yield f"{where}:{number}", (name, content)


def _schema_of_columns(source: Source, columns: Columns) -> pa.Schema:
    """Return the schema of the notes with a column for each key of any line."""
    types: dict[str, pa.DataType | None] = {}
    for _, (_, line) in _lines(source):
        for name, value in _fields_or_none(line).items():
            types[name] = _common(types.get(name, pa.null()), _type_of(bytes(value).decode()))
    others = [_field(name, kind) for name, kind in types.items() if name not in astuple(columns)]
    return schema_with(list(types), others)


def _field(name: str, kind: pa.DataType | None) -> pa.Field[Any]:
    if name in CONFIDENCE_TYPES:
        return pa.field(name, CONFIDENCE_TYPES[name])
    return pa.field(name, kind or pa.large_string(), metadata=None if kind else _IS_JSON)


#: Types of values by the first character of their JSON. Lists and objects have none.
_TYPES = {
    '"': pa.large_string(),
    "t": pa.bool_(),
    "f": pa.bool_(),
    "n": pa.null(),
    "[": None,
    "{": None,
}


def _type_of(value: str) -> pa.DataType | None:
    if value[0] in _TYPES:
        return _TYPES[value[0]]
    if len(value) <= 18 and value.lstrip("-").isdigit():
        return pa.int64()
    return pa.float64() if math.isfinite(float(value)) else None


def _common(left: pa.DataType | None, right: pa.DataType | None) -> pa.DataType | None:
    """Return the type of a column with values of two types; None for JSON."""
    if left == right or right == pa.null():
        return left
    if left == pa.null():
        return right
    return pa.float64() if {left, right} == {pa.int64(), pa.float64()} else None


class _Reader:
    """Parses lines into rows of a schema."""

    def __init__(self, columns: Columns, schema: pa.Schema, problems: Problems) -> None:
        self._columns, self._problems = columns, problems
        self._confidences = [name for name in CONFIDENCE_TYPES if name in schema.names]
        self._is_carried = OTHERS in schema.names
        self._others = others_of(schema)
        self._as_records = has_records(schema)

    def row(self, where: str, named_line: _Line) -> Row:
        """Return the row of a line, or raise `Unreadable`."""
        file, line = named_line
        columns, fields = self._columns, _fields_of(line)
        has_id = columns.id in fields or not columns.is_default("id")
        if has_id:
            name = _name(columns.id, fields.pop(columns.id, _NULL))
        else:
            name = f"{file}:{where.rpartition(':')[2]}"
        text = _string(columns.text, fields.pop(columns.text, _NULL))
        given = fields.pop(columns.group, _NULL)
        group = None if given == _NULL else _name(columns.group, given)
        items = items_of(fields.pop(columns.label, _NULL), text, where, self._problems)
        if items is None:
            raise Unreadable(NO_KEY, f"{columns.label!r} must be a list")
        if not has_id:
            self._problems.count(NO_ID)
        return Row(where, len(line), name, text, group, items, self._more(fields))

    def _more(self, rest: dict[str, msgspec.Raw]) -> Mapping[str, Any]:
        if not self._is_carried:
            self._problems.unused.update(rest)
            return {}
        more: dict[str, Any] = {
            name: confidence_of(name, rest.pop(name), self._problems)
            for name in self._confidences
            if name in rest
        }
        if self._as_records:
            more[OTHERS] = _encode(rest)
        else:
            more[OTHERS] = {
                field.name: _value(field, rest[field.name])
                for field in self._others
                if field.name in rest
            }
        return more


def _value(field: pa.Field[Any], value: msgspec.Raw) -> Any:
    if field.metadata == _IS_JSON:
        return bytes(value).decode()
    is_number = field.type == pa.float64() and bytes(value) != b"null"
    return (_NUMBER if is_number else _VALUE).decode(value)


def _fields_of(line: str) -> dict[str, msgspec.Raw]:
    """Return the values of a line in JSON, or raise `Unreadable`."""
    checked_line(line)
    try:
        fields = _FIELDS.decode(line)
        # Otherwise, a key may be there twice.
        if line.count('":') == len(fields) or all(line.count(f'"{key}"') == 1 for key in fields):
            return fields
    except msgspec.DecodeError:
        pass
    return {key: msgspec.Raw(json.dumps(value)) for key, value in _parsed(line).items()}


def _fields_or_none(line: str) -> dict[str, msgspec.Raw]:
    """Return the values of a line, or none if it cannot be read, which is reported elsewhere."""
    try:
        return _fields_of(line)
    except Unreadable:
        return {}


def _parsed(line: str) -> dict[str, Any]:
    record, fault = None, "another JSON value"
    try:
        record = json.loads(line, object_pairs_hook=_distinct, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        fault = f"no JSON from character {error.pos} of the line on"
    except (ValueError, RecursionError):
        fault = "a number of too many digits, or too many brackets"
    if not isinstance(record, dict):
        raise Unreadable(NOT_JSON, f"{fault}; expected one complete object a line")
    return record


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; reject repeated keys, since a dict keeps only their last value."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise Unreadable(NOT_JSON, "a key that an object has twice; expected different keys")
    return record


def _string(key: str, value: msgspec.Raw) -> str:
    try:
        return _TEXT.decode(value)
    except msgspec.ValidationError:
        fault = Unreadable(NO_KEY, f"{key!r} must be a string")
    except msgspec.DecodeError:
        fault = Unreadable(NOT_UNICODE, "an escape such as \\ud800 stands alone")
    raise fault


def _name(key: str, value: msgspec.Raw) -> str:
    content = bytes(value).decode()
    if content.startswith('"'):
        return _string(key, value)
    number = _parsed(f'{{"": {content}}}')[""]
    if type(number) is int or (type(number) is float and math.isfinite(number)):
        return str(int(number) if number == int(number) else number)
    raise Unreadable(NO_KEY, f"{key!r} must be a string or a number")


def write(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Target, report: WriteReport
) -> None:
    """Write a line for each note, with its group if known and its other columns."""
    with new_text_file(target.path) as file:
        file.writelines(_written(batch, target.columns) for batch in batches)


def _written(batch: pa.RecordBatch, columns: Columns) -> bytes:
    spans = [batch.column(name).to_pylist() for name in ("starts", "ends", "labels")]
    values = columns_after_notes(batch) | {
        columns.id: batch.column("id"),
        columns.text: batch.column("text"),
        columns.group: batch.column("group"),
    }
    lists = {name: column.to_pylist() for name, column in values.items()}
    lists[columns.label] = [
        list(zip(*of_note, strict=True)) for of_note in zip(*spans, strict=True)
    ]
    for name, field in fields_after_notes(batch.schema).items():
        if field.metadata == _IS_JSON:
            lists[name] = [value and msgspec.Raw(value) for value in lists[name]]
    names = in_order(batch.schema, columns)
    records = [
        dict(zip(names, row, strict=True)) for row in zip(*map(lists.get, names), strict=True)
    ]
    for name in {columns.group, *CONFIDENCE_TYPES} & lists.keys():
        for row in np.flatnonzero(values[name].is_null()).tolist():
            del records[row][name]
    lines = map(_encode, records)
    if has_records(batch.schema):
        others = batch.column(OTHERS).to_pylist()
        lines = map(_joined, lines, others)
    return b"".join(readable(line + b"\n") for line in lines)


def _joined(line: bytes, others: str) -> bytes:
    """Add the keys of a JSON object to another one."""
    return line if others == "{}" else line[:-1] + b"," + others[1:].encode()
