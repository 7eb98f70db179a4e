"""CSV and TSV with named columns: a document a row, its annotations as in JSON lines.

A file ending in ``.tsv`` has tabs between columns, any other one commas. Values are quoted where
needed. An empty value is none, but for the text, which is then empty. Other columns are carried
along as text.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.document import Span
from corpus.errors import InputError, shown
from corpus.formats.annotations import span_of, spans_of_items
from corpus.formats.batches import CONFIDENCE_TYPES, SCHEMA, documents_of, others_of
from corpus.formats.columns import Columns, ReadOptions, Source
from corpus.formats.files import count_lines, new_text_file, open_text
from corpus.formats.jsonl import storable
from corpus.formats.records import Unreadable, checked_text, encodable
from corpus.formats.rows import Tally
from corpus.formats.sources import files_of, name_within, suffix_of
from corpus.formats.tabular.checks import FlatSpans, Part, check_names, checked_batches
from corpus.formats.tabular.delimited_rows import DelimitedRows
from corpus.problems import Problem, Problems

BAD_ROW = "rows of another number of columns"
UNCLOSED = "quotation marks that are not closed"
NO_LIST = "annotations that are not a JSON list"
NO_NUMBER = "confidences that are not numbers"

_BYTE_ORDER_MARK = "\ufeff"


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield record batches of the rows, from row number `start` on; the header is row 1.

    Raises
    ------
    InputError
        If a file has no column for texts, or a row that is too large.
    """
    files = files_of(source, "csv")
    others = _others_of_all(files, options) if options.carry else {}
    skipped = 0
    for path in files:
        reader = _Reader(path, name_within(path, source.root), options, others, problems)
        yield from reader.batches(options.start - skipped)
        skipped += reader.rows


def _others_of_all(files: list[Path], options: ReadOptions) -> Mapping[str, pa.DataType]:
    """Return the columns beside those of documents that any file has, and their types."""
    taken = {*SCHEMA.names, *astuple(options.columns)}
    names: dict[str, pa.DataType] = {}
    for path in files:
        header = _header(path, options.encoding)
        if not encodable(*header):
            raise InputError(
                f"{shown(path)}, row 1: a name of a column is not in {options.encoding}; name "
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
        return _names(filter(None, DelimitedRows(text, _delimiter_of(path), shown(path))))


def _names(rows: Iterator[list[str]]) -> list[str]:
    """Return the names of the columns, which are the first row; none if there is no name."""
    names = [name.removeprefix(_BYTE_ORDER_MARK) for name in next(rows, [])]
    return names if any(names) else []


def _delimiter_of(path: Path) -> str:
    return "\t" if suffix_of(path) == ".tsv" else ","


class _Reader:
    """A reader of the documents of a file; `rows` counts the rows read so far."""

    def __init__(
        self,
        path: Path,
        name: str,
        options: ReadOptions,
        others: Mapping[str, pa.DataType],
        problems: Problems,
    ) -> None:
        self._path, self._shown, self._name = path, shown(path), name
        self._columns, self._encoding = options.columns, options.encoding
        self._others, self._problems = others, problems
        self._header: list[str] = []
        self.rows = 0

    def batches(self, start: int) -> Iterator[pa.RecordBatch]:
        """Yield record batches of the rows from number `start` on, which counts from 0."""
        with open_text(self._path, self._encoding, "") as text:
            table = DelimitedRows(text, _delimiter_of(self._path), self._shown)
            rows = filter(None, iter(table))
            self._header = _names(rows)
            if not self._header:
                return
            check_names(self._header, self._shown, self._columns)
            for _ in islice(rows, max(0, start)):
                self.rows += 1
            while block := table.next_block(rows):
                where = partial(self._where, self.rows + 2)
                self.rows += len(block)
                part = self._part(block, self.rows + 2 - len(block))
                look = partial(self._look, block)
                yield from checked_batches(part, where, look, self._problems)
            if table.quotes % 2 or not table.is_closed:
                detail = "the text of a row may be that of the rows after it: correct the file"
                self._problems.reject(Problem(UNCLOSED, self._shown, detail))

    def _where(self, first: int, row: int) -> str:
        return f"{self._shown}, row {first + row}"

    def _part(self, block: list[list[str]], first: int) -> Part:
        columns, width = self._columns, len(self._header)
        suspect = np.array([len(fields) != width for fields in block])
        if suspect.any():
            block = [fields if len(fields) == width else [""] * width for fields in block]
        values = dict(zip(self._header, zip(*block, strict=True), strict=True))
        unused = values.keys() - astuple(columns) - self._others.keys()
        self._problems.unused.update(dict.fromkeys(unused, len(block)))
        nothing = ("",) * len(block)
        if columns.id not in values:
            values[columns.id] = tuple(f"{self._name}:{first + row}" for row in range(len(block)))
        ids, texts, labels, groups = (
            _strings(values.get(name, nothing), suspect) for name in astuple(columns)
        )
        others = {}
        for name, kind in self._others.items():
            column = _without_empty(_strings(values.get(name, nothing), suspect))
            if name in CONFIDENCE_TYPES:
                numbers = [self._confidence(value, kind) for value in column.to_pylist()]
                column = pa.array(numbers, kind)
            others[name] = column
        spans = _flat_spans(labels, suspect)
        return Part(_without_empty(ids), texts, _without_empty(groups), spans, others, suspect)

    def _look(self, block: list[list[str]], where: str, row: int) -> None:
        """Refuse a row that cannot be read, and report annotations that are not in its part."""
        fields, columns = block[row], self._columns
        if len(fields) != len(self._header):
            raise Unreadable(BAD_ROW, f"{len(fields)} instead of {len(self._header)}")
        values = dict(zip(self._header, fields, strict=True))
        for part in (*astuple(columns), *self._others):
            checked_text(values.get(part, ""), self._encoding, "of a value")
        items = _items(values.get(columns.label))
        if items is None:
            raise Unreadable(
                NO_LIST, f'column {columns.label!r}: expected [[start, end, "CLASS"], ...]'
            )
        unusable = [item for item in items if not _usable([item])]
        spans_of_items(unusable, values[columns.text], where, self._problems)

    def _confidence(self, value: str | None, kind: pa.DataType) -> Any:
        """Return the confidences in a value; None if there are none that can be used."""
        try:
            return pa.scalar(json.loads(value or "null"), kind).as_py()
        except (ValueError, RecursionError, pa.ArrowException, TypeError):
            self._problems.count(NO_NUMBER)
            return None


def _strings(values: Sequence[str], suspect: npt.NDArray[np.bool_]) -> pa.Array[Any]:
    """Return values as a column; those that could not be decoded are empty, and suspect."""
    try:
        return pa.array(values, pa.large_string())
    except UnicodeEncodeError:
        wrong = np.array([not encodable(value) for value in values])
    suspect |= wrong
    return pa.array(np.where(wrong, "", np.array(values, object)), pa.large_string())


def _without_empty(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return a column with null in the place of empty strings."""
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def _items(text: str | None) -> list[Any] | None:
    """Return the annotations of a row; None if they are not a list."""
    if not text:
        return []
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return items if isinstance(items, list) else None


def _flat_spans(labels: pa.Array[Any], suspect: npt.NDArray[np.bool_]) -> FlatSpans:
    """Return annotations as columns; rows in which some cannot be read are suspect."""
    spans: list[Span] = []
    lengths = np.zeros(len(labels), np.int64)
    is_given = pc.invert(pc.is_in(labels, pa.array(["", "[]"], labels.type)))
    for row in np.flatnonzero(is_given).tolist():
        items = _items(labels[row].as_py())
        usable = _usable(items or [])
        suspect[row] |= items is None or len(usable) < len(items)
        lengths[row] = len(usable)
        spans += usable
    return FlatSpans(
        lengths,
        pa.array([span.start for span in spans], pa.int32()),
        pa.array([span.end for span in spans], pa.int32()),
        pa.array([span.label for span in spans], pa.string()),
    )


def _usable(items: list[Any]) -> list[Span]:
    """Return the annotations whose offsets fit into a column."""
    spans = (span for span in map(span_of, items) if span)
    return [span for span in spans if abs(span.start) + abs(span.end) < 1 << 31]


class _LineFeeds:
    """A target of `csv.writer` whose rows end with a line feed.

    The writer quotes values with a carriage return only where rows end with one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, row: str) -> None:
        """Write a row that ends with a carriage return and a line feed."""
        self._file.write(f"{row[:-2]}\n".encode())


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    target: Path,
    columns: Columns,
    tally: Tally,
) -> None:
    """Write a header, and a document a row."""
    others = list(others_of(schema))
    with new_text_file(target) as file:
        writer = csv.writer(cast(Any, _LineFeeds(file)), delimiter=_delimiter_of(target))
        writer.writerow([*astuple(columns), *others])
        for batch in batches:
            values = [map(_as_text, batch.column(name).to_pylist()) for name in others]
            for document, *fields in zip(documents_of(batch), *values, strict=True):
                if not document.id:
                    raise InputError("a document has an empty id, which CSV cannot hold")
                spans = [[span.start, span.end, span.label] for span in document.spans]
                label = json.dumps(spans, ensure_ascii=False)
                writer.writerow([document.id, document.text, label, document.group, *fields])
            tally.count_batch(batch)


def _as_text(value: object) -> str:
    """Return a value that has parts as JSON, and another one as text."""
    value = storable(value)
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
