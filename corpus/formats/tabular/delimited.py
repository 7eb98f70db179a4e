"""CSV and TSV with named columns: a document a row, its annotations as in JSON lines.

A file ending in ``.tsv`` has tabs between columns, any other one commas. Values are quoted where
needed. A value that is empty without quotes is none, but for the text, which is then empty. Other
columns are carried along as text.
"""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from corpus.document import Document, Span
from corpus.errors import InputError, shown
from corpus.formats.annotations import MALFORMED, settled, within
from corpus.formats.batches import CONFIDENCE_TYPES, MOST_BYTES, SCHEMA
from corpus.formats.columns import ReadOptions
from corpus.formats.encodings import transcoded
from corpus.formats.files import LONGEST_LINE, count_lines, open_source
from corpus.formats.jsonl import span_of
from corpus.formats.records import NULL, Unreadable, not_encoded
from corpus.formats.source import Source
from corpus.formats.sources import files_of, name_within
from corpus.formats.tabular.checks import INVALID, FlatSpans, Part, checked_batches, value_of
from corpus.formats.tabular.csv_batches import csv_batches
from corpus.formats.tabular.delimited_writing import delimiter_of, write
from corpus.problems import Problem, ProblemError, Problems

__all__ = ["count", "has_column", "read", "write"]

BAD_ROW = "rows of another number of columns"
UNCLOSED = "quotation marks that are not closed"
NO_LIST = "annotations that are not a JSON list"
NO_NUMBER = "confidences that are not numbers"

#: What a file begins with whose byte-order mark is not removed.
_BYTE_ORDER_MARK = "\ufeff"


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield record batches of the rows, from row number `start` on; the header is row 1.

    Raises
    ------
    InputError
        If a file has no header, no column for texts, or a row that is too large.
    """
    files = files_of(source, "csv")
    others = _others_of_all(files, options) if options.carry else []
    skipped = 0
    for path in files:
        reader = _Reader(path, name_within(path, source.root), options, others, problems)
        yield from reader.batches(options.start - skipped)
        skipped += reader.rows


def has_column(source: Source, name: str) -> bool:
    """Return whether any file has a column."""
    return any(name in _header(path, "utf-8") for path in files_of(source, "csv"))


def count(source: Source) -> int:
    """Count the rows of all files, roughly: line feeds inside of values count as well."""
    return sum(max(0, count_lines(path) - 1) for path in files_of(source, "csv"))


def _others_of_all(files: list[Path], options: ReadOptions) -> list[str]:
    """Return the columns beside those of documents that any file has."""
    taken = {*SCHEMA.names, *astuple(options.columns)}
    names = (name for path in files for name in _header(path, options.encoding))
    return [name for name in dict.fromkeys(names) if name not in taken]


def _complete(lines: Iterable[str], where: str) -> Iterator[str]:
    """Yield lines, or raise an `InputError` at one that was cut since it is too long."""
    for line in lines:
        if len(line) == LONGEST_LINE:
            raise InputError(f"{where}: its first row has more than {LONGEST_LINE:,} characters")
        yield line


def _header(path: Path, encoding: str) -> list[str]:
    """Return the names of the columns of a file; none if the file is empty."""
    with open_source(path) as file:
        text = io.TextIOWrapper(transcoded(file, encoding), "utf-8", errors="replace", newline="")
        lines = iter(partial(text.readline, LONGEST_LINE), "")
        rows = csv.reader(_complete(lines, shown(path)), delimiter=delimiter_of(path))
        try:
            names = next((row for row in rows if row), [])
        except csv.Error as error:
            raise InputError(f"{shown(path)}: its first row is no header: {error}") from None
        finally:
            text.detach()
    header = [name.removeprefix(_BYTE_ORDER_MARK) for name in names]
    return header if any(header) else []


class _Reader:
    """Reads the rows of a file.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Its name in ids.
    options : ReadOptions
        What is asked for.
    others : list of str
        Columns that are carried along.
    problems : Problems
        Collects rows that cannot be read, or stops at the first.

    Attributes
    ----------
    rows : int
        Rows read so far.
    """

    def __init__(
        self, path: Path, name: str, options: ReadOptions, others: list[str], problems: Problems
    ) -> None:
        self._path, self._shown, self._name = path, shown(path), name
        self._columns, self._options = options.columns, options
        self._others, self._problems = others, problems
        self._header = _header(path, options.encoding)
        self._invalid: list[pa_csv.InvalidRow] = []
        self.rows = 0

    def batches(self, start: int) -> Iterator[pa.RecordBatch]:
        """Yield record batches of the rows from number `start` on, which counts from 0."""
        if not self._header:
            return
        self._check_columns()
        for raw, numbers in self._raw_batches(start):
            wanted = np.flatnonzero(numbers - 2 >= start)
            if len(wanted):
                self._count_unused(len(wanted))
                rest = raw.slice(int(wanted[0]))
                yield from self._checked(rest, numbers[wanted])

    def _check_columns(self) -> None:
        columns, header = self._columns, self._header
        for part in ("id", "text"):
            name = getattr(columns, part)
            if name not in header and (part == "text" or not columns.is_default("id")):
                listed = shown(", ".join(header[:30]))
                raise InputError(
                    f"{self._shown} has no column {name!r}: its columns are {listed}; name those "
                    f"of id and text"
                )
        for name in astuple(columns):
            if header.count(name) > 1:
                raise InputError(f"{self._shown} has several columns {name!r}: expected one")

    def _raw_batches(self, start: int) -> Iterator[tuple[pa.RecordBatch, Any]]:
        """Yield rows as strings with their numbers, and report those that are not rows."""
        parts = {*astuple(self._columns), *self._others}
        wanted = [name for name in dict.fromkeys(self._header) if name in parts]
        with open_source(self._path) as opened:
            file, first = _Complete(transcoded(opened, self._options.encoding)), 2
            for batch in self._parsed(file, wanted):
                invalid = [row.number for row in self._invalid]
                numbers = np.arange(first, first + len(batch) + len(invalid))
                numbers = numbers[~np.isin(numbers, invalid)][: len(batch)]
                end = int(numbers[-1]) + 1 if len(numbers) else first
                before = self._invalid[: bisect_left(invalid, end)]
                bad = {row.number: row for row in before}
                # Only removed from the front: a thread of Arrow may append.
                del self._invalid[: len(before)]
                self.rows += end - first
                yield from self._without_invalid(batch, numbers, bad, start)
                first = end
            bad = {row.number: row for row in self._invalid}
            self.rows += len(bad)
            yield from self._without_invalid(None, np.array([], np.int64), bad, start)
            if file.quotes % 2:
                detail = "the text of a row may be that of the rows after it: correct the file"
                self._problems.reject(Problem(UNCLOSED, self._shown, detail))

    def _without_invalid(
        self, batch: pa.RecordBatch | None, numbers: Any, bad: dict[int, Any], start: int
    ) -> Iterator[tuple[pa.RecordBatch, Any]]:
        """Report the rows that cannot be read; the rows before one that stops come first."""
        error = None
        for number, row in sorted(bad.items()):
            if number - 2 < start:
                continue
            detail = f"{row.actual_columns} instead of {row.expected_columns}"
            try:
                self._problems.reject(Problem(BAD_ROW, f"{self._shown}, row {number}", detail))
            except ProblemError as problem:
                error, numbers = problem, numbers[numbers < number]
                break
        if batch is not None and len(numbers):
            yield batch.slice(0, len(numbers)), numbers
        if error:
            raise error

    def _parsed(self, file: _Complete, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from csv_batches(
                cast(IO[bytes], file),
                pa_csv.ReadOptions(use_threads=False, block_size=MOST_BYTES),
                pa_csv.ConvertOptions(
                    check_utf8=False,
                    column_types=dict.fromkeys(wanted, pa.large_string()),
                    include_columns=wanted,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
                self._invalid.append,
                delimiter=delimiter_of(self._path),
                newlines_in_values=True,
            )
        except pa.ArrowInvalid as error:
            raise InputError(f"{self._shown} cannot be read as CSV: {_reason(error)}") from None
        except pa.ArrowKeyError:  # a column that the header has where it is decoded leniently
            raise InputError(
                f"{self._shown}, row 1: a name of a column is not in {self._options.encoding}, or "
                "has a quotation mark inside; name another encoding, such as latin-1, or correct it"
            ) from None

    def _count_unused(self, rows: int) -> None:
        unused = set(self._header).difference(astuple(self._columns), self._others)
        self._problems.unused.update(dict.fromkeys(unused, rows))

    def _checked(self, batch: pa.RecordBatch, numbers: Any) -> Iterator[pa.RecordBatch]:
        columns, present, nulls = self._columns, batch.schema.names, pa.nulls(len(batch))
        ids = batch.column(columns.id) if columns.id in present else self._ids(numbers)
        group = batch.column(columns.group) if columns.group in present else nulls
        label = batch.column(columns.label) if columns.label in present else nulls
        spans, odd = _flat_spans(label)
        others = {name: self._other(batch, name) for name in self._others}
        values = [ids, batch.column(columns.text), label, group]
        values = [each.cast(pa.large_string()) for each in values]
        values[1] = values[1].fill_null("")
        part = Part(values[0], values[1], values[3], spans, others, odd)
        document = partial(_document, values, self._options, self._problems)
        yield from checked_batches(part, partial(self._where, numbers), document, self._problems)

    def _other(self, batch: pa.RecordBatch, name: str) -> pa.Array[Any]:
        """Return a column that is carried along: text, but for confidences."""
        kind = CONFIDENCE_TYPES.get(name, pa.large_string())
        if name not in batch.schema.names:
            return pa.nulls(len(batch), kind)
        column = batch.column(name)
        if name not in CONFIDENCE_TYPES:
            return column
        found = [_confidence(text, kind) for text in column.to_pylist()]
        for _ in range(found.count(None)):
            self._problems.count(NO_NUMBER)
        return pa.array([None if each is None else each.as_py() for each in found], kind)

    def _ids(self, numbers: Any) -> pa.Array[Any]:
        return pa.array([f"{self._name}:{number}" for number in numbers], pa.large_string())

    def _where(self, numbers: Any, row: int) -> str:
        return f"{self._shown}, row {numbers[row]}"


class _Complete(io.RawIOBase):
    """A file with a line feed at its end, without which a header alone cannot be read.

    Attributes
    ----------
    quotes : int
        Quotation marks read so far.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._ended, self.quotes = file, False, 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read as many bytes as are asked for, or all that are left."""
        data = self._file.read(size)
        self.quotes += data.count(b'"')
        if self._ended or len(data) == size:
            return data
        self._ended = True
        return data + b"\n"


def _reason(error: pa.ArrowInvalid) -> str:
    """Return what is wrong with a file, without quoting it."""
    if "straddl" in str(error):
        return f"a row has more than {MOST_BYTES:,} bytes; is a quotation mark missing?"
    return "its quotation marks or columns are not those of a table"


def _confidence(text: str | None, kind: pa.DataType) -> pa.Scalar[Any] | None:
    """Return the confidences in a value; None if there are none that can be used."""
    try:
        return pa.scalar(json.loads(text or "null"), kind)
    except (ValueError, RecursionError, pa.ArrowException, TypeError):
        return None


def _items(text: str | None) -> list[Any] | None:
    """Return the annotations of a row; None if they are not a list."""
    if not text:
        return []
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return items if isinstance(items, list) else None


def _flat_spans(column: pa.Array[Any]) -> tuple[FlatSpans, Any]:
    """Return annotations as columns, and the rows in which some cannot be read."""
    starts, ends, labels = [], [], []
    lengths, odd = np.zeros(len(column), np.int64), np.zeros(len(column), bool)
    for row, scalar in enumerate(column):
        value = value_of(scalar)
        items = None if value is INVALID else _items(cast(str | None, value))
        spans = [span_of(item) for item in items or ()]
        usable = [span for span in spans if span and abs(span.start) + abs(span.end) < 1 << 31]
        odd[row] = items is None or len(usable) < len(spans)
        lengths[row] = len(usable)
        starts += [span.start for span in usable]
        ends += [span.end for span in usable]
        labels += [span.label for span in usable]
    flat = [pa.array(starts, pa.int32()), pa.array(ends, pa.int32())]
    return FlatSpans(lengths, flat[0], flat[1], pa.array(labels, pa.string())), odd


def _document(
    values: list[pa.Array[Any]], options: ReadOptions, problems: Problems, where: str, row: int
) -> Document:
    """Build the document of a single row, and report all that is wrong with it."""
    columns = options.columns
    found = [value_of(each[row]) for each in values]
    if INVALID in found:
        raise not_encoded(options.encoding)
    name, text, label, group = cast(list[str | None], found)
    if name is None or text is None:
        raise Unreadable(NULL, f"column {columns.id!r} is empty")
    items = _items(label)
    if items is None:
        raise Unreadable(
            NO_LIST, f'column {columns.label!r}: expected [[start, end, "CLASS"], ...]'
        )
    spans = [span for item in items for span in _spans(item, text, where, problems)]
    return Document(name, text, settled(spans, f"{where}, document {shown(name)}", problems), group)


def _spans(item: object, text: str, where: str, problems: Problems) -> Iterator[Span]:
    span = span_of(item)
    if not span:
        detail = 'expected [start, end, "CLASS"] with whole numbers'
        problems.reject(Problem(MALFORMED, where, detail))
    elif within(span, text, where, problems):
        yield span
