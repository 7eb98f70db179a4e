"""Checks of columns as sources hold them: whole arrays first, single rows only where these fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.document import Document, Span
from corpus.errors import InputError, Problem, ProblemError, Problems, shown
from corpus.formats.annotations import MALFORMED, settled, within
from corpus.formats.batches import (
    SCHEMA,
    batches_of,
    concatenated,
    documents_of,
    list_array,
    others_of,
    schema_with,
)
from corpus.formats.columns import SPAN_CONFIDENCES, Columns
from corpus.formats.records import NOT_UTF8, NULL, Unreadable, parsed_records
from corpus.formats.rows import Row
from corpus.ragged import offsets_of

NOT_WHOLE = "ids or groups that are broken numbers"
UNMATCHED = "confidences of spans that do not match the annotations"

_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FlatSpans:
    """The annotations of some documents, one after the other.

    Parameters
    ----------
    lengths : ndarray of int64, shape (D,)
        Annotations of each document.
    starts, ends : pyarrow.Array of integers, length S
        Half-open offsets.
    labels : pyarrow.Array of strings, length S
        Classes.
    """

    lengths: npt.NDArray[np.int64]
    starts: pa.Array[Any]
    ends: pa.Array[Any]
    labels: pa.Array[Any]

    @classmethod
    def none(cls, documents: int) -> FlatSpans:
        """Return no annotations of some documents."""
        offsets = pa.array([], pa.int64())
        return cls(np.zeros(documents, np.int64), offsets, offsets, pa.array([], pa.string()))


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a source as they stand.

    Parameters
    ----------
    ids, texts, groups : pyarrow.Array of strings, length D
        A null id or text makes no document.
    spans : FlatSpans
        The annotations.
    others : mapping of str to pyarrow.Array
        The other columns that are carried along.
    broken : ndarray of bool, shape (D,)
        Rows whose id or group is no whole number.
    """

    ids: pa.Array[Any]
    texts: pa.Array[Any]
    groups: pa.Array[Any]
    spans: FlatSpans
    others: Mapping[str, pa.Array[Any]]
    broken: _Mask


def check_names(names: list[str], file: str, columns: Columns) -> None:
    """Check that a file has the columns of documents, each once.

    Raises
    ------
    InputError
        If the text is missing, or the ids although their column was named, or a column is there
        twice.
    """
    for part in ("id", "text"):
        name = getattr(columns, part)
        if name not in names and (part == "text" or not columns.is_default("id")):
            listed = shown(", ".join(names[:30]) + (", ..." if len(names) > 30 else ""))
            raise InputError(
                f"{file} has no column {name!r}: its columns are {listed}; name those of id and "
                "text"
            )
    for name in astuple(columns):
        if names.count(name) > 1:
            raise InputError(f"{file} has several columns {name!r}: expected one")


def checked_batches(
    part: Part,
    where: Callable[[int], str],
    problems: Problems,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a part of a source, as one batch or, before an error, less.

    Parameters
    ----------
    part : Part
        The rows.
    where : callable
        Names the file and row of a row of the part.
    problems : Problems
        Collects all that cannot be used, or stops at it.

    Raises
    ------
    ProblemError
        At the first problem of a kind that `problems` is to stop at, after the rows before it.
    """
    part = _with_spans_in_order(part)
    slow = part.broken | ~_sound(part)
    batch = _assembled(part)
    if not slow.any():
        yield batch
        return
    fixed, kept, error = [], ~slow, None
    document = partial(_document, part, problems)
    for row in np.flatnonzero(slow).tolist():
        try:
            for parsed in parsed_records([(where(row), row)], document, problems):
                fixed.append((row, _fixed(parsed, batch, row, where(row), problems)))
        except ProblemError as problem:
            kept[row:], error = False, problem
            break
    rows = np.flatnonzero(kept)
    order = np.argsort([*rows.tolist(), *(row for row, _ in fixed)], kind="stable")
    pieces = [batch.take(pa.array(rows)), *(piece for _, piece in fixed)]
    if len(order):
        yield concatenated(pieces).take(pa.array(order))
    if error:
        raise error


def _document(part: Part, problems: Problems, where: str, row: int) -> Document:
    """Build the document of a single row, and report all that is wrong with it."""
    if part.broken[row]:
        raise Unreadable(NOT_WHOLE, "expected whole numbers")
    begin = int(part.spans.lengths[:row].sum())
    places = slice(begin, begin + int(part.spans.lengths[row]))
    columns = (part.spans.starts, part.spans.ends, part.spans.labels)
    parts = [[_value_of(value) for value in column[places]] for column in columns]
    names: list[Any] = [_value_of(column[row]) for column in (part.ids, part.texts, part.groups)]
    if _INVALID in names or _INVALID in parts[2]:
        raise Unreadable(NOT_UTF8, "expected strings in UTF-8")
    name, text, group = names
    if name is None or text is None:
        raise Unreadable(NULL, f"the {'id' if name is None else 'text'} is null")
    spans = []
    for start, end, label in zip(*parts, strict=True):
        if start is None or end is None or not label:
            problems.reject(Problem(MALFORMED, where, "start, end or label is null or empty"))
            continue
        span = Span(start, end, label)
        if within(span, text, where, problems):
            spans.append(span)
    return Document(name, text, settled(spans, f"{where}, document {shown(name)}", problems), group)


def _fixed(
    document: Document, batch: pa.RecordBatch, row: int, where: str, problems: Problems
) -> pa.RecordBatch:
    """Return a document as a batch of its own, with the other columns of its row."""
    (fixed,) = batches_of([Row(document)], {})
    others = {name: batch.column(name).slice(row, 1) for name in others_of(batch.schema)}
    if SPAN_CONFIDENCES in others:
        kind = others[SPAN_CONFIDENCES].type
        parts = (batch.column(name)[row].as_py() for name in ("starts", "ends", "labels"))
        spans = list(map(Span, *parts))
        given = others[SPAN_CONFIDENCES][0].as_py()
        others[SPAN_CONFIDENCES] = pa.array(
            [confidences_of(document, given, spans, where, problems)], kind
        )
    return pa.record_batch([*fixed.columns, *others.values()], schema=batch.schema)


def confidences_of(
    document: Document,
    given: Sequence[float] | None,
    spans: Sequence[Span | None],
    where: str,
    problems: Problems,
) -> list[float] | None:
    """Return the confidence of each span that is left of those of a row, whatever their order."""
    if given is None:
        return None
    if len(given) != len(spans):
        problems.note(Problem(UNMATCHED, where, f"{len(given)} for {len(spans)} are left out"))
        return None
    confidences = dict(zip(reversed(spans), reversed(given), strict=True))
    return [confidences[span] for span in document.spans]


def _assembled(part: Part) -> pa.RecordBatch:
    spans = part.spans
    offsets = offsets_of(spans.lengths)
    bounds = (bound.cast(pa.int32(), safe=False) for bound in (spans.starts, spans.ends))
    lists = (list_array(offsets, values) for values in (*bounds, spans.labels))
    arrays = [part.ids, part.texts, part.groups, *lists]
    schema = schema_with({name: column.type for name, column in part.others.items()})
    columns = [array.cast(field.type) for array, field in zip(arrays, SCHEMA, strict=True)]
    return pa.record_batch([*columns, *part.others.values()], schema=schema)


def _offsets(values: pa.Array[Any]) -> npt.NDArray[np.int64]:
    """Return offsets as signed integers; null ones, and ones too large for that, are negative."""
    signed = values.cast(pa.int64(), safe=False).fill_null(-1)
    return np.asarray(signed.to_numpy(zero_copy_only=False))


def _with_spans_in_order(part: Part) -> Part:
    """Sort annotations that are not in order of their offsets."""
    spans = part.spans
    if SPAN_CONFIDENCES in part.others or not len(spans.starts):
        return part
    owners = np.repeat(np.arange(len(spans.lengths)), spans.lengths)
    starts = _offsets(spans.starts)
    if not np.any((starts[1:] < starts[:-1]) & (owners[1:] == owners[:-1])):
        return part
    order = pa.array(np.lexsort((_offsets(spans.ends), starts, owners)))
    columns = (column.take(order) for column in (spans.starts, spans.ends, spans.labels))
    return replace(part, spans=FlatSpans(spans.lengths, *columns))


def _sound(part: Part) -> _Mask:
    """Return which rows are documents as they stand."""
    spans = part.spans
    sound = _encoded(part.ids) & _encoded(part.texts) & _encoded(part.groups)
    sound &= np.asarray(part.ids.is_valid()) & np.asarray(part.texts.is_valid())
    owners = np.repeat(np.arange(len(spans.lengths)), spans.lengths)
    starts, ends = _offsets(spans.starts), _offsets(spans.ends)
    lengths = pc.utf8_length(part.texts).cast(pa.int64()).fill_null(0)
    limits = lengths.to_numpy(zero_copy_only=False)[owners]
    usable = (starts >= 0) & (starts < ends) & (ends <= limits) & _encoded(spans.labels)
    usable &= np.asarray(pc.not_equal(spans.labels, "").fill_null(False))
    usable[1:] &= (starts[1:] >= ends[:-1]) | (owners[1:] != owners[:-1])
    sound[owners[~usable]] = False
    confidences = part.others.get(SPAN_CONFIDENCES)
    if confidences is not None:
        numbers = pc.list_value_length(confidences).cast(pa.int64()).fill_null(-1)
        numbers = numbers.to_numpy(zero_copy_only=False)
        sound &= (numbers < 0) | (numbers == spans.lengths)
    return sound


def verified(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a record batch whose rows are documents.

    Raises
    ------
    DocumentError
        If annotations of a row are outside of its text or overlap.
    InputError
        If a row has no id or text, or annotations without all of their parts.
    """
    lists = [batch.column(name) for name in ("starts", "ends", "labels")]
    lengths = [
        pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False) for values in lists
    ]
    if not all(np.array_equal(lengths[0], other) for other in lengths[1:]):
        raise InputError("record batches of documents: starts, ends and labels differ in length")
    starts, ends, labels = (values.flatten() for values in lists)
    spans = FlatSpans(lengths[0].astype(np.int64), starts, ends, labels)
    names, nothing = ("id", "text", "group"), np.zeros(len(batch), bool)
    ids, texts, groups = (batch.column(name) for name in names)
    for row in np.flatnonzero(~_sound(Part(ids, texts, groups, spans, {}, nothing))).tolist():
        one = batch.slice(row, 1)
        parts = [one.column(name).null_count for name in ("id", "text")]
        parts += [one.column(name).flatten().null_count for name in ("starts", "ends", "labels")]
        if any(parts):
            raise InputError(f"record batches of documents: a part of row {row} is null")
        next(documents_of(one))  # raises, unless the annotations are only not in order
    return batch


def _encoded(strings: pa.Array[Any]) -> _Mask:
    """Return which strings are UTF-8; nulls are."""
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return np.array([_value_of(scalar) is not _INVALID for scalar in strings], bool)
    return np.ones(len(strings), bool)


#: Stands for a value that is not UTF-8.
_INVALID = object()


def _value_of(scalar: pa.Scalar[Any]) -> object:
    """Return a value as a Python object, or `_INVALID` if a string in it is not UTF-8."""
    try:
        value: object = scalar.as_py()
    except UnicodeDecodeError:
        return _INVALID
    return value
