"""Documents as Arrow record batches of one schema, and conversions between the two.

`SCHEMA` has the first six columns: ``id``, ``text``, ``group`` (null if unknown) and, as
lists, the ``starts``, ``ends`` and ``labels`` of the annotations. Annotations are sorted and do not
overlap. The other columns of the source follow under their own names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from itertools import accumulate, chain, pairwise
from typing import Any

import pyarrow as pa

from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats.rows import Row
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES, Columns

SCHEMA = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("text", pa.large_string()),
        pa.field("group", pa.large_string()),
        pa.field("starts", pa.list_(pa.int32())),
        pa.field("ends", pa.list_(pa.int32())),
        pa.field("labels", pa.list_(pa.string())),
    ]
)

#: Types of the columns of confidences.
CONFIDENCE_TYPES = {CONFIDENCE: pa.float64(), SPAN_CONFIDENCES: pa.list_(pa.float64())}

#: The maximum number of rows of a batch, and the approximate maximum of its bytes (characters).
MOST_ROWS = 4096
MOST_BYTES = 1 << 25


def schema_with(others: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema of documents with additional columns."""
    return pa.schema([*SCHEMA, *(pa.field(name, kind) for name, kind in others.items())])


def others_of(schema: pa.Schema) -> dict[str, pa.DataType]:
    """Return the names and types of the additional columns of a schema."""
    return {field.name: field.type for field in schema if field.name not in SCHEMA.names}


def batches_of(rows: Iterable[Row], others: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    """Yield documents as record batches of bounded size.

    Parameters
    ----------
    rows : iterable of Row
        The documents with their additional columns.
    others : mapping of str to DataType
        The additional columns, which each row must have.

    Raises
    ------
    InputError
        If `rows` raises it, after the preceding documents were yielded.
    """
    schema = schema_with(others)
    for part in parts_of(rows):
        yield batch_of(part, schema)


def parts_of(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows in lists of bounded size; an error is raised after the preceding rows."""
    remaining = iter(rows)
    while True:
        part, error = _next_part(remaining)
        if part:
            yield part
        if error:
            raise error
        if not part:
            return


def _next_part(rows: Iterator[Row]) -> tuple[list[Row], InputError | None]:
    part: list[Row] = []
    size = 0
    try:
        for row in rows:
            size += len(row.document.text)
            size += sum(len(value) for value in row.others.values() if isinstance(value, str))
            part.append(row)
            if len(part) >= MOST_ROWS or size >= MOST_BYTES:
                break
    except InputError as error:
        return part, error
    return part, None


def batch_of(rows: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Return documents as one record batch."""
    documents = [row.document for row in rows]
    spans = [document.spans for document in documents]
    flat = list(chain.from_iterable(spans))
    offsets = list(accumulate(map(len, spans), initial=0))
    lists = [[span.start for span in flat], [span.end for span in flat]]
    arrays = [
        pa.array([document.id for document in documents], pa.large_string()),
        pa.array([document.text for document in documents], pa.large_string()),
        pa.array([document.group for document in documents], pa.large_string()),
        *(list_array(offsets, pa.array(values, pa.int32())) for values in lists),
        list_array(offsets, pa.array([span.label for span in flat], pa.string())),
    ]
    for name, kind in others_of(schema).items():
        arrays.append(pa.array([row.others[name] for row in rows], kind))
    return pa.record_batch(arrays, schema=schema)


def list_array(offsets: Any, values: pa.Array[Any]) -> pa.ListArray[Any]:
    """Build a list array of values, split at offsets."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def documents_of(batch: pa.RecordBatch) -> Iterator[Document]:
    """Yield the documents of a record batch."""
    ids, texts, groups = (batch.column(name).to_pylist() for name in ("id", "text", "group"))
    spans = spans_of(batch)
    yield from map(Document, ids, texts, spans, groups)


def spans_of(batch: pa.RecordBatch) -> Iterator[tuple[Span, ...]]:
    """Yield the annotations of each document of a record batch."""
    lists = [batch.column(name) for name in ("starts", "ends", "labels")]
    spans = list(map(Span, *(values.flatten().to_pylist() for values in lists)))
    offsets = lists[0].offsets.to_pylist()
    for start, end in pairwise(offset - offsets[0] for offset in offsets):
        yield tuple(spans[start:end])


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield the documents of a record batch with their additional columns."""
    others = {name: batch.column(name).to_pylist() for name in others_of(batch.schema)}
    values = zip(*others.values(), strict=True) if others else ((),) * len(batch)
    for document, of_row in zip(documents_of(batch), values, strict=True):
        yield Row(document, dict(zip(others, of_row, strict=True)))


def conforming(
    batches: Iterable[pa.RecordBatch], columns: Columns
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Convert record batches to the types of `SCHEMA`, and return them with their schema.

    Raises
    ------
    ValueError
        If a column of `SCHEMA` is missing, or batches differ in their schema.
    InputError
        If an additional column has the name under which a part of the document is written.
    """
    remaining = iter(batches)
    first = next(remaining, None)
    if first is None:
        return SCHEMA, iter(())
    missing = [name for name in SCHEMA.names if name not in first.schema.names]
    if missing:
        raise ValueError(f"record batches of documents have no column {', '.join(missing)}")
    schema = schema_with(others_of(first.schema))
    for name in others_of(schema):
        if name in astuple(columns):
            raise InputError(
                f"column {name!r} is also the name of a part of the note: choose another name"
            )
    return schema, (_conformed(batch, schema) for batch in chain([first], remaining))


def _conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.equals(schema):
        return batch
    if sorted(batch.schema.names) != sorted(schema.names):
        raise ValueError("record batches of one source have different columns")
    return batch.select(schema.names).cast(schema)


def regrouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of bounded size, with small batches concatenated."""
    waiting: list[pa.RecordBatch] = []
    for whole in batches:
        for start in range(0, len(whole), MOST_ROWS):
            part = whole.slice(start, MOST_ROWS)
            if sum(map(len, waiting)) + len(part) > MOST_ROWS:
                yield concatenated(waiting)
                waiting = []
            waiting.append(part)
            if sum(batch.nbytes for batch in waiting) >= MOST_BYTES:
                yield concatenated(waiting)
                waiting = []
    if waiting:
        yield concatenated(waiting)


def concatenated(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Concatenate record batches of one schema; at least one."""
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).combine_chunks()
    (batch,) = table.to_batches()
    return batch
