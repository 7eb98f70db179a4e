"""Checks of the columns of sources: whole arrays first, single rows only where arrays fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.document import Document, Span
from corpus.errors import InputError, Problem, ProblemError, Problems, number_of
from corpus.formats.batches import SCHEMA, batch_of, concatenated, documents_of, list_array
from corpus.formats.records import (
    MALFORMED,
    NOT_UTF8,
    NULL,
    Unreadable,
    of_document,
    parsed_records,
    settled,
    within,
)
from corpus.formats.sources import SPAN_CONFIDENCES, Columns
from corpus.ragged import offsets_of, owners_of

NOT_WHOLE = "ids or groups that are broken numbers"
UNMATCHED = "confidences of spans that do not match the annotations"

#: Names of columns that are no text of a note, even in a file without a header.
USUAL_NAMES = (
    "id",
    "text",
    "texto",
    "nota",
    "note",
    "label",
    "labels",
    "group",
    "groups",
    "patient",
)

_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FlatSpans:
    """The annotations of D documents, one after the other.

    Parameters
    ----------
    offsets : ndarray of int64, shape (D + 1,)
        Annotations ``offsets[d]`` to ``offsets[d + 1]`` belong to document ``d``.
    starts, ends : pyarrow.Array of integers, length S
        Half-open offsets.
    labels : pyarrow.Array of strings, length S
        Classes.
    """

    offsets: npt.NDArray[np.int64]
    starts: pa.Array[Any]
    ends: pa.Array[Any]
    labels: pa.Array[Any]

    @classmethod
    def from_lists(cls, lists: pa.Array[Any], *columns: pa.Array[Any]) -> FlatSpans:
        """Build the columns from starts, ends and labels, which are as long as the lists."""
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
        return cls(offsets_of(lengths), *columns)


@dataclass(frozen=True, slots=True)
class Part:
    """Some unchecked rows of a source.

    Parameters
    ----------
    ids, texts, groups : pyarrow.Array of strings, length D
        A null id or text makes no document.
    spans : FlatSpans
        The annotations.
    broken : ndarray of bool, shape (D,)
        Rows whose id or group is no whole number.
    schema : pyarrow.Schema
        The schema of the notes.
    more : mapping of str to pyarrow.Array
        The columns that follow those of `SCHEMA` in it.
    """

    ids: pa.Array[Any]
    texts: pa.Array[Any]
    groups: pa.Array[Any]
    spans: FlatSpans
    broken: _Mask
    schema: pa.Schema = SCHEMA
    more: Mapping[str, pa.Array[Any]] = field(default_factory=dict)


def check_names(
    names: list[str], file: str, columns: Columns, how: str = "", advice: str = ""
) -> None:
    """Check that a file has each column of documents exactly once.

    A message also says `how` the file was read, and gives `advice`.

    Raises
    ------
    InputError
        If the text is missing, or the ids although their column was named, or a column is there
        twice.
    """
    for part in ("id", "text"):
        name = getattr(columns, part)
        if name not in names and (part == "text" or not columns.is_default("id")):
            raise InputError(
                f"{file} has no column {name!r}: it has {_listed(names)}{how}; name those of id "
                f"and text{advice}"
            )
    for name in astuple(columns):
        if names.count(name) > 1:
            raise InputError(f"{file} has several columns {name!r}: expected one")


def _listed(names: Sequence[str]) -> str:
    """Return the number of columns, and the usual names among theirs; others may be text."""
    among = ", ".join(dict.fromkeys(name for name in names if name.lower() in USUAL_NAMES))
    number = number_of(len(names), "column")
    return f"{number}, among them {among}" if among else number


def checked_batches(
    part: Part, where: Callable[[int], str], problems: Problems
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a part of a source: one batch, or fewer rows before an error.

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
    batch = _assembled(part)
    fix = partial(_fixed, part, problems)
    pieces, after, error = [], 0, None
    for row in np.flatnonzero(~_sound(part)).tolist():
        pieces.append(batch.slice(after, row - after))
        after = row + 1
        try:
            pieces += parsed_records([(where(row), row)], fix, problems)
        except ProblemError as problem:
            error, after = problem, len(batch)
            break
    pieces = [piece for piece in [*pieces, batch.slice(after)] if len(piece)]
    if pieces:
        yield concatenated(pieces)
    if error:
        raise error


def _fixed(part: Part, problems: Problems, where: str, row: int) -> pa.RecordBatch:
    """Return a single row as a batch, and report all of its problems."""
    if part.broken[row]:
        raise Unreadable(NOT_WHOLE, "expected whole numbers")
    places = slice(*part.spans.offsets[row : row + 2].tolist())
    columns = (part.spans.starts, part.spans.ends, part.spans.labels)
    parts = [[_value_of(value) for value in column[places]] for column in columns]
    names: list[Any] = [_value_of(column[row]) for column in (part.ids, part.texts, part.groups)]
    if _INVALID in names or _INVALID in parts[2]:
        raise Unreadable(NOT_UTF8, "expected strings in UTF-8")
    name, text, group = names
    if name is None or text is None:
        raise Unreadable(NULL, f"the {'id' if name is None else 'text'} is null")
    spans: list[Span | None] = []
    usable = []
    for start, end, label in zip(*parts, strict=True):
        span = None if start is None or end is None or not label else Span(start, end, label)
        spans.append(span)
        if span is None:
            problems.reject(Problem(MALFORMED, where, "start, end or label is null or empty"))
        elif within(span, text, where, problems):
            usable.append(span)
    settled_spans = settled(usable, of_document(where, name), problems)
    document = Document(name, text, settled_spans, group)
    more = {name: column.slice(row, 1) for name, column in part.more.items()}
    if SPAN_CONFIDENCES in more:
        given, kind = more[SPAN_CONFIDENCES][0].as_py(), more[SPAN_CONFIDENCES].type
        left = _confidences_of(document, given, spans, where, problems)
        more[SPAN_CONFIDENCES] = pa.array([left], kind)
    fixed = batch_of([document])
    return pa.record_batch([*fixed.columns, *more.values()], schema=part.schema)


def _confidences_of(
    document: Document,
    given: Sequence[float] | None,
    spans: Sequence[Span | None],
    where: str,
    problems: Problems,
) -> list[float] | None:
    """Return the confidence of each remaining span of a row, whatever their order."""
    if given is None:
        return None
    if len(given) != len(spans):
        problems.note(Problem(UNMATCHED, where, f"{len(given)} for {len(spans)} are left out"))
        return None
    confidences = dict(zip(reversed(spans), reversed(given), strict=True))
    return [confidences[span] for span in document.spans]


def _assembled(part: Part) -> pa.RecordBatch:
    spans = part.spans
    bounds = (bound.cast(pa.int32(), safe=False) for bound in (spans.starts, spans.ends))
    lists = (list_array(spans.offsets, values) for values in (*bounds, spans.labels))
    groups = pc.if_else(pc.equal(part.groups, ""), None, part.groups)  # an empty one is unknown
    arrays = [part.ids, part.texts, groups, *lists]
    columns = [array.cast(field.type) for array, field in zip(arrays, SCHEMA, strict=True)]
    return pa.record_batch([*columns, *part.more.values()], schema=part.schema)


def _offsets(values: pa.Array[Any]) -> npt.NDArray[np.int64]:
    """Return offsets as signed integers; null and too large offsets become negative."""
    signed = values.cast(pa.int64(), safe=False).fill_null(-1)
    return np.asarray(signed.to_numpy(zero_copy_only=False))


def _with_spans_in_order(part: Part) -> Part:
    """Sort annotations that are not in order of their offsets."""
    spans = part.spans
    if SPAN_CONFIDENCES in part.more or not len(spans.starts):
        return part
    owners = owners_of(spans.offsets)
    starts = _offsets(spans.starts)
    if not np.any((starts[1:] < starts[:-1]) & (owners[1:] == owners[:-1])):
        return part
    order = pa.array(np.lexsort((_offsets(spans.ends), starts, owners)))
    columns = (column.take(order) for column in (spans.starts, spans.ends, spans.labels))
    return replace(part, spans=FlatSpans(spans.offsets, *columns))


def _sound(part: Part) -> _Mask:
    """Return which rows are valid documents without changes."""
    spans = part.spans
    sound = ~part.broken & _encoded(part.ids) & _encoded(part.texts) & _encoded(part.groups)
    sound &= np.asarray(part.ids.is_valid()) & np.asarray(part.texts.is_valid())
    owners = owners_of(spans.offsets)
    starts, ends = _offsets(spans.starts), _offsets(spans.ends)
    lengths = pc.utf8_length(part.texts).cast(pa.int64()).fill_null(0)
    limits = lengths.to_numpy(zero_copy_only=False)[owners]
    usable = (starts >= 0) & (starts < ends) & (ends <= limits) & _encoded(spans.labels)
    usable &= np.asarray(pc.not_equal(spans.labels, "").fill_null(False))
    usable[1:] &= (starts[1:] >= ends[:-1]) | (owners[1:] != owners[:-1])
    sound[owners[~usable]] = False
    confidences = part.more.get(SPAN_CONFIDENCES)
    if confidences is not None:
        numbers = pc.list_value_length(confidences).cast(pa.int64()).fill_null(-1)
        numbers = numbers.to_numpy(zero_copy_only=False)
        sound &= (numbers < 0) | (numbers == np.diff(spans.offsets))
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
    lengths = [pc.list_value_length(values).fill_null(0) for values in lists]
    if not all(map(lengths[0].equals, lengths)):
        raise InputError("record batches of documents: starts, ends and labels differ in length")
    if SPAN_CONFIDENCES in batch.schema.names:
        numbers = pc.coalesce(pc.list_value_length(batch.column(SPAN_CONFIDENCES)), lengths[0])
        if not numbers.equals(lengths[0]):
            raise InputError(
                "record batches of documents: span_confidences and annotations differ in length"
            )
    spans = FlatSpans.from_lists(lists[0], *(values.flatten() for values in lists))
    names, nothing = ("id", "text", "group"), np.zeros(len(batch), bool)
    ids, texts, groups = (batch.column(name) for name in names)
    for row in np.flatnonzero(~_sound(Part(ids, texts, groups, spans, nothing))).tolist():
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
