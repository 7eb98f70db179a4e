"""JSON lines: one document per line, with annotations as ``[[start, end, "CLASS"], ...]``."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from dataclasses import astuple
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from corpus.arguments import encodable
from corpus.document import Document
from corpus.errors import Problems
from corpus.formats.files import count_lines, is_standard, lines_of, new_text_file, readable
from corpus.formats.records import (
    NOT_UNICODE,
    Unreadable,
    checked_line,
    of_document,
    parsed_records,
    settled,
    spans_of_items,
)
from corpus.formats.rows import Rows, WriteReport
from corpus.formats.sources import (
    Columns,
    ReadOptions,
    Source,
    files_of,
    name_within,
)

BYTE_ORDER_MARK = "\ufeff"
NOT_JSON = "lines that are not a JSON object"
NO_KEY = "keys that are missing or of another type"


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[Document]:
    """Yield a document for each line, from line number `start` on; blank lines do not count.

    The id of a line without id is its file and line number, unless the user named the key of ids.
    """
    parts = frozenset(astuple(options.columns))
    records = islice(_lines(source), options.start, None)
    return parsed_records(records, partial(_document, options.columns, parts, problems), problems)


def has_column(source: Source, name: str) -> bool:
    """Return whether any line has a key; reading stops at the first such line.

    The result is True for standard input, which can be read only once.
    """
    if is_standard(source.files[0]):
        return True
    return any(name in _keys(line) for _, (_, line) in _lines(source))


def count(source: Source) -> int:
    """Count the lines of all files, including blank ones; pipes count as empty."""
    return sum(count_lines(path) for path in files_of(source, "jsonl") if path.is_file())


def _keys(line: str) -> Collection[str]:
    """Return the keys of a line, or none if it cannot be read, which is reported elsewhere."""
    try:
        return _parsed(checked_line(line)).keys()
    except Unreadable:
        return ()


def _lines(source: Source) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the position of each line, the name of its file for ids, and its content."""
    for file in files_of(source, "jsonl"):
        where, name = str(file), name_within(file, source.root)
        for number, line in enumerate(lines_of(file), start=1):
            content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if content.strip():
                yield f"{where}:{number}", (name, content)


def _document(
    columns: Columns,
    parts: frozenset[str],
    problems: Problems,
    where: str,
    named_line: tuple[str, str],
) -> Document:
    file, line = named_line
    record = _parsed(checked_line(line))
    if columns.id in record or not columns.is_default("id"):
        name = _name(record, columns.id)
    else:
        name = f"{file}:{where.rpartition(':')[2]}"
    text = record.get(columns.text)
    group = None if record.get(columns.group) is None else _name(record, columns.group)
    if not isinstance(text, str):
        raise Unreadable(NO_KEY, f"{columns.text!r} must be a string")
    if not encodable(name, text, group):
        raise Unreadable(NOT_UNICODE, "an escape such as \\ud800 stands alone")
    annotations = record.get(columns.label)
    if not isinstance(annotations, list | None):
        raise Unreadable(NO_KEY, f"{columns.label!r} must be a list")
    spans = spans_of_items(annotations or (), text, where, problems)
    problems.unused.update(record.keys() - parts)
    settled_spans = settled(spans, of_document(where, name), problems)
    return Document(name, text, settled_spans, group)


def _parsed(line: str) -> dict[str, Any]:
    record, fault = None, "another JSON value"
    try:
        record = json.loads(line, object_pairs_hook=_distinct)
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


def _name(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if isinstance(value, str):
        return value
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return str(int(value) if value == int(value) else value)
    raise Unreadable(NO_KEY, f"{key!r} must be a string or a number")


def write(rows: Rows, target: Path, columns: Columns, report: WriteReport) -> None:
    """Write one document per line, with its group if known and its additional columns."""
    with new_text_file(target) as file:
        for row in rows:
            document = row.document
            record: dict[str, Any] = {
                columns.id: document.id,
                columns.text: document.text,
                columns.label: [[span.start, span.end, span.label] for span in document.spans],
            }
            if document.group is not None:
                record[columns.group] = document.group
            record |= {name: storable(value) for name, value in row.others.items()}
            line = json.dumps(record, ensure_ascii=False, allow_nan=False)
            file.write(readable(f"{line}\n".encode()))
            report.count(row)


def storable(value: object) -> object:
    """Convert a value of an additional column to JSON: dates and decimals become strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value.hex() if isinstance(value, bytes) else str(value)
