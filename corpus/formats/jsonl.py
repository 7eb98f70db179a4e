"""JSON lines: a document a line, with its annotations as ``[[start, end, "CLASS"], ...]``."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from dataclasses import astuple
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from corpus.document import Document, Span
from corpus.errors import InputError, shown
from corpus.formats.annotations import MALFORMED, settled, within
from corpus.formats.columns import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.formats.records import (
    NOT_UNICODE,
    Unreadable,
    decoded,
    documents_of,
    encodable,
)
from corpus.formats.sources import Source, files_of
from corpus.formats.targets import Row, Rows, Tally, WriteReport, checked
from corpus.problems import Problem, Problems
from corpus.storage import new_file

_BLOCK = 1 << 20  # bytes that lines are counted in at once
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NOT_JSON = "lines that are not a JSON object"
NO_KEY = "keys that are missing or of another type"


def read(source: Source, columns: Columns, problems: Problems, start: int) -> Iterator[Document]:
    """Yield a document a line, from line number `start` on; blank lines do not count."""
    records = islice(_lines(files_of(source, "jsonl")), start, None)
    return documents_of(records, partial(_document, columns, problems), problems)


def holds(source: Source, key: str) -> bool:
    """Tell whether any line has a key; where one has it, the lines after it are not read."""
    return any(key in _keys(line) for _, line in _lines(files_of(source, "jsonl")))


def count(source: Source) -> int:
    """Count the lines of all files, blank ones too; what can be read only once has none."""
    total = 0
    for path in files_of(source, "jsonl"):
        if path.is_file():
            last = b"\n"
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    total += block.count(b"\n")
                    last = block[-1:]
            total += last != b"\n"  # a line may lack its end
    return total


def _keys(line: bytes) -> Collection[str]:
    """Give the keys of a line; one that cannot be read has none, and is reported elsewhere."""
    try:
        return _parsed(decoded(line)).keys()
    except Unreadable:
        return ()


def _lines(files: list[Path]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        name = shown(file)
        for number, line in enumerate(_lines_of(file), start=1):
            if line.strip():
                yield f"{name}:{number}", line


def _lines_of(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as lines:
            yield next(lines, b"").removeprefix(BYTE_ORDER_MARK)
            yield from lines
    except OSError as error:
        raise InputError(f"{shown(file)} cannot be read: {error.strerror}") from error


def _document(columns: Columns, problems: Problems, where: str, line: bytes) -> Document:
    record = _parsed(decoded(line, " of the line"))
    name = _name(record, columns.id)
    text = record.get(columns.text)
    group = None if record.get(columns.group) is None else _name(record, columns.group)
    if not isinstance(text, str):
        raise Unreadable(NO_KEY, f"{columns.text!r} is to be a string")
    if not encodable(name, text, group):
        raise Unreadable(NOT_UNICODE, "an escape such as \\ud800 stands alone")
    found = record.get(columns.label)
    if not isinstance(found, list | None):
        raise Unreadable(NO_KEY, f"{columns.label!r} is to be a list")
    spans = [span for item in found or () for span in _spans(item, text, where, problems)]
    problems.unused.update(record.keys() - set(astuple(columns)))
    settled_spans = settled(spans, f"{where}, document {shown(name)}", problems)
    return Document(name, text, settled_spans, group)


def _parsed(line: str) -> dict[str, Any]:
    record, found = None, "another JSON value"
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        found = f"no JSON from character {error.pos} of the line on"
    except (ValueError, RecursionError):
        found = "a number of too many digits, or too many brackets"
    if not isinstance(record, dict):
        raise Unreadable(NOT_JSON, f"{found}; expected one complete object a line")
    return record


def _name(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if isinstance(value, str):
        return value
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return str(int(value) if value == int(value) else value)
    raise Unreadable(NO_KEY, f"{key!r} is to be a string or a number")


def _spans(item: object, text: str, where: str, problems: Problems) -> Iterator[Span]:
    """Yield the span of an item of the list, if it is one that can be used."""
    span = _span(item)
    if not span:
        detail = 'expected [start, end, "CLASS"] with whole numbers'
        problems.reject(Problem(MALFORMED, where, detail))
    elif within(span, text, where, problems):
        yield span


def _span(item: object) -> Span | None:
    if not isinstance(item, list) or len(item) != 3:
        return None
    start, end, label = item
    if type(start) is not int or type(end) is not int or not isinstance(label, str):
        return None
    return Span(start, end, label) if label and encodable(label) else None


def write(rows: Rows, target: Path, columns: Columns, extra: Collection[str]) -> WriteReport:
    """Write a document a line, with its group where known and confidences where given."""
    tally = Tally()
    with new_file(target) as file:
        for row in rows:
            record = _record(row, columns)
            line = json.dumps(record, ensure_ascii=False, allow_nan=False)
            file.write(f"{line}\n".encode())
            tally.count(row, holds=("spans", "groups", "confidences"))
    return tally.report()


def _record(row: Row, columns: Columns) -> dict[str, Any]:
    document = checked(row.document)
    record: dict[str, Any] = {
        columns.id: document.id,
        columns.text: document.text,
        columns.label: [[span.start, span.end, span.label] for span in document.spans],
    }
    if document.group is not None:
        record[columns.group] = document.group
    if row.confidence is not None:
        record[CONFIDENCE] = float(row.confidence)
    if row.span_confidences is not None:
        record[SPAN_CONFIDENCES] = [float(confidence) for confidence in row.span_confidences]
    return record
