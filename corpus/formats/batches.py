"""Notes as Arrow record batches of one schema, and conversions between these and documents.

`SCHEMA` has the first six columns: ``id``, ``text``, ``group`` (null if unknown) and, as
lists, the ``starts``, ``ends`` and ``labels`` of the annotations. Annotations are sorted and do not
overlap. Up to three columns follow: ``confidence`` and ``span_confidences`` of a tagger, and
``others``, the other columns of the source. These are a struct with a field for each column or,
between files of JSON lines, the JSON object of the other keys.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.ragged import offsets_of

Row = TypeVar("Row")

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
CONFIDENCE_TYPES: Mapping[str, pa.DataType] = {
    CONFIDENCE: pa.float64(),
    SPAN_CONFIDENCES: pa.list_(pa.float64()),
}

#: The name of the column that holds the other columns of the source.
OTHERS = "others"

#: The maximum number of rows of a batch, and the approximate maximum of its bytes (characters).
MOST_ROWS = 4096
MOST_BYTES = 1 << 25

#: The key of the metadata of `OTHERS` under which the names of all columns of the source are.
_ORDER = b"columns"


def schema_with(
    names: Sequence[str], others: Sequence[pa.Field[Any]], metadata: Mapping[Any, Any] | None = None
) -> pa.Schema:
    """Return the schema of the notes of a source with all of its columns.

    Parameters
    ----------
    names : sequence of str
        The names of all columns of the source, in order.
    others : sequence of Field
        The columns that are no part of the note, in order.
    metadata : mapping, optional
        The metadata of the source.
    """
    given = {field.name: field.type for field in others}
    confidences = [
        pa.field(name, kind) for name, kind in CONFIDENCE_TYPES.items() if given.get(name) == kind
    ]
    rest = pa.struct([field for field in others if CONFIDENCE_TYPES.get(field.name) != field.type])
    order = {_ORDER: json.dumps(list(names))}
    fields = [*SCHEMA, *confidences, pa.field(OTHERS, rest, metadata=order)]
    return pa.schema(fields, metadata)


def others_of(schema: pa.Schema) -> list[pa.Field[Any]]:
    """Return the other columns of the source; none if they are JSON objects."""
    kind = schema.field(OTHERS).type if OTHERS in schema.names else None
    return list(kind) if isinstance(kind, pa.StructType) else []


def has_records(schema: pa.Schema) -> bool:
    """Return whether the other columns of the source are JSON objects."""
    return OTHERS in schema.names and schema.field(OTHERS).type == pa.large_string()


def fields_after_notes(schema: pa.Schema) -> dict[str, pa.Field[Any]]:
    """Return the columns that are no part of a note, by the names that a target gives them."""
    confidences = [schema.field(name) for name in CONFIDENCE_TYPES if name in schema.names]
    return {field.name: field for field in [*others_of(schema), *confidences]}


def columns_after_notes(batch: pa.RecordBatch) -> dict[str, pa.Array[Any]]:
    """Return the columns that are no part of a note, by the names that a target gives them."""
    names = [field.name for field in others_of(batch.schema)]
    columns = dict(zip(names, batch.column(OTHERS).flatten() if names else (), strict=True))
    return columns | {
        name: batch.column(name) for name in CONFIDENCE_TYPES if name in batch.schema.names
    }


def in_order(schema: pa.Schema, columns: Columns) -> list[str]:
    """Return the names of all columns of a target: in the order of the source, then new ones."""
    names = dict.fromkeys([columns.id, columns.text, columns.label, columns.group])
    names |= fields_after_notes(schema)
    metadata = (schema.field(OTHERS).metadata or {}) if OTHERS in schema.names else {}
    order = json.loads(metadata.get(_ORDER, b"[]"))
    return list(dict.fromkeys([*(name for name in order if name in names), *names]))


def values_of_others(batch: pa.RecordBatch) -> Counter[str]:
    """Count the values of each other column that are not null."""
    if OTHERS not in batch.schema.names:
        return Counter()
    others = batch.column(OTHERS)
    if isinstance(others, pa.StructArray):
        names = [field.name for field in others.type]
        values = zip(names, others.flatten(), strict=True)
        return +Counter({name: len(column) - column.null_count for name, column in values})
    keys = map(msgspec.json.Decoder(dict[str, msgspec.Raw]).decode, others.drop_null().to_pylist())
    return Counter(chain.from_iterable(keys))


def batches_of(documents: Iterable[Document]) -> Iterator[pa.RecordBatch]:
    """Yield documents as record batches of bounded size.

    Raises
    ------
    InputError
        If `documents` raises it, after the preceding documents were yielded.
    """
    return map(batch_of, parts_of(documents, lambda document: len(document.text)))


def parts_of(rows: Iterable[Row], size_of: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Yield rows in lists of bounded size; an error is raised after the preceding rows."""
    remaining = iter(rows)
    while True:
        part, error = _next_part(remaining, size_of)
        if part:
            yield part
        if error:
            raise error
        if not part:
            return


def _next_part(
    rows: Iterator[Row], size_of: Callable[[Row], int]
) -> tuple[list[Row], InputError | None]:
    part: list[Row] = []
    size = 0
    try:
        for row in rows:
            size += size_of(row)
            part.append(row)
            if len(part) >= MOST_ROWS or size >= MOST_BYTES:
                break
    except InputError as error:
        return part, error
    return part, None


def batch_of(documents: Sequence[Document]) -> pa.RecordBatch:
    """Return documents as one record batch."""
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
    return pa.record_batch(arrays, schema=SCHEMA)


def list_array(offsets: Any, values: pa.Array[Any]) -> pa.ListArray[Any]:
    """Build a list array of values, split at offsets."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def unlabelled(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the notes of a batch without annotations and other columns."""
    offsets = np.zeros(len(batch) + 1, np.int32)
    nothing = [
        list_array(offsets, pa.array([], field.type.value_type)) for field in list(SCHEMA)[3:]
    ]
    return pa.record_batch([*batch.columns[:3], *nothing], schema=SCHEMA)


def with_annotations(
    batch: pa.RecordBatch,
    lists: Sequence[pa.ListArray[Any]],
    confidences: Mapping[str, pa.Array[Any]],
) -> pa.RecordBatch:
    """Return the notes of a batch with other annotations and confidences.

    Parameters
    ----------
    batch : RecordBatch
        The notes.
    lists : sequence of ListArray
        The starts, ends and labels of the annotations.
    confidences : mapping of str to Array
        The confidences, by the names in `CONFIDENCE_TYPES`; all that the notes have are replaced.
    """
    columns = [*batch.columns[:3], *lists, *confidences.values()]
    if OTHERS in batch.schema.names:
        columns.append(batch.column(OTHERS))
    return pa.record_batch(columns, schema=with_confidences(batch.schema, confidences))


def with_confidences(schema: pa.Schema, names: Iterable[str]) -> pa.Schema:
    """Return the schema of notes with these confidences, which are in `CONFIDENCE_TYPES`."""
    fields = [*SCHEMA, *(pa.field(name, CONFIDENCE_TYPES[name]) for name in names)]
    others = [schema.field(OTHERS)] if OTHERS in schema.names else []
    return pa.schema([*fields, *others], schema.metadata)


def with_column(batch: pa.RecordBatch, name: str, values: Sequence[str]) -> pa.RecordBatch:
    """Return the notes of a batch with one more column of the source.

    Raises
    ------
    InputError
        If they have a column of this name.
    """
    schema, given = batch.schema, fields_after_notes(batch.schema)
    taken = given.keys() | ({name} & values_of_others(batch).keys() if has_records(schema) else ())
    if name in taken:
        raise InputError(f"the notes have a column {name!r} already: remove or rename it")
    if has_records(schema):
        keys = [json.dumps({name: value})[1:-1] for value in values]
        others = pa.array(
            [
                f"{{{key}{',' if record != '{}' else ''}{record[1:]}"
                for key, record in zip(keys, batch.column(OTHERS).to_pylist(), strict=True)
            ],
            pa.large_string(),
        )
        return batch.set_column(schema.get_field_index(OTHERS), schema.field(OTHERS), others)
    columns = columns_after_notes(batch) | {name: pa.array(values, pa.large_string())}
    fields = [*others_of(schema), pa.field(name, pa.large_string())]
    metadata = schema.field(OTHERS).metadata if OTHERS in schema.names else None
    struct = pa.StructArray.from_arrays([columns[field.name] for field in fields], fields=fields)
    kept = [field for field in schema if field.name != OTHERS]
    whole = pa.schema([*kept, pa.field(OTHERS, struct.type, metadata=metadata)], schema.metadata)
    return pa.record_batch([*(batch.column(field.name) for field in kept), struct], schema=whole)


def relabelled(
    batch: pa.RecordBatch, classes: Mapping[str, str] | None, dropped: Counter[str]
) -> pa.RecordBatch:
    """Rename the labels of documents to classes and drop all others.

    Parameters
    ----------
    batch : RecordBatch
        The documents.
    classes : mapping of str to str or None
        The class of each label; None keeps every label.
    dropped : Counter of str
        Counts the annotations of all other labels, which are dropped.
    """
    if classes is None:
        return batch
    labels = batch.column("labels").flatten().dictionary_encode()
    names = [classes.get(name) for name in labels.dictionary.to_pylist()]
    renamed = pa.array(names, pa.string()).take(labels.indices)
    kept = renamed.is_valid().to_numpy(zero_copy_only=False)
    lost = pc.value_counts(labels.filter(pa.array(~kept)).dictionary_decode()).to_pylist()
    dropped.update({count["values"]: count["counts"] for count in lost})
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    offsets = columns["starts"].offsets.to_numpy() - columns["starts"].offsets[0].as_py()
    columns["labels"] = list_array(offsets, renamed)
    for name in columns.keys() & {"starts", "ends", "labels", SPAN_CONFIDENCES}:
        given = columns[name].is_valid().to_numpy(zero_copy_only=False)  # confidences may be null
        own = np.repeat(given, np.diff(offsets))
        values = columns[name].flatten().filter(pa.array(kept[own]))
        new_offsets = pa.array(offsets_of(kept & own)[offsets], pa.int32())
        columns[name] = pa.ListArray.from_arrays(new_offsets, values, mask=pa.array(~given))
    return pa.record_batch([columns[name] for name in batch.schema.names], schema=batch.schema)


def documents_of(batch: pa.RecordBatch) -> Iterator[Document]:
    """Yield the documents of a record batch."""
    ids, texts, groups = (batch.column(name).to_pylist() for name in ("id", "text", "group"))
    yield from map(Document, ids, texts, spans_of(batch), groups)


def spans_of(batch: pa.RecordBatch) -> Iterator[tuple[Span, ...]]:
    """Yield the annotations of each document of a record batch."""
    lists = [batch.column(name) for name in ("starts", "ends", "labels")]
    spans = list(map(Span, *(values.flatten().to_pylist() for values in lists)))
    offsets = lists[0].offsets.to_pylist()
    for start, end in pairwise(offset - offsets[0] for offset in offsets):
        yield tuple(spans[start:end])


def to_bytes(batch: pa.RecordBatch) -> bytes:
    """Write a record batch as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: bytes) -> pa.RecordBatch:
    """Read what `to_bytes` wrote."""
    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()


def conforming(
    batches: Iterable[pa.RecordBatch], columns: Columns
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Convert record batches to the types of `SCHEMA`, and return them with their schema.

    Raises
    ------
    ValueError
        If a column of `SCHEMA` is missing or another one is unknown, or batches differ in their
        schema.
    InputError
        If another column has the name under which a part of the document is written.
    """
    remaining = iter(batches)
    first = next(remaining, None)
    if first is None:
        return SCHEMA, iter(())
    given = {field.name: field for field in first.schema}
    missing = [name for name in SCHEMA.names if name not in given]
    if missing:
        raise ValueError(f"record batches of documents have no column {', '.join(missing)}")
    after = [given[name] for name in (*CONFIDENCE_TYPES, OTHERS) if name in given]
    schema = pa.schema([*SCHEMA, *after], first.schema.metadata)
    if len(schema) < len(given):
        raise ValueError(f"record batches of documents have columns outside of {OTHERS!r}")
    for name in fields_after_notes(schema):
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


def regrouped(
    batches: Iterable[pa.RecordBatch],
    rows: int | None = None,
    size: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in other batches, which do not depend on how many the given ones have.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Batches of one schema.
    rows, size : int, optional
        The limits of a batch: its rows, and the bytes of its texts, which its last row may exceed.
    """
    rows, size = rows or MOST_ROWS, size or MOST_BYTES
    waiting: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for whole in batches:
        ends = np.cumsum(pc.binary_length(whole.column("text")).to_numpy())
        start = 0
        while start < len(whole):
            before = int(ends[start - 1]) if start else 0
            stop = int(np.searchsorted(ends, before + size - n_bytes)) + 1
            stop = min(stop, start + rows - n_rows, len(whole))
            waiting.append(whole.slice(start, stop - start))
            n_rows += stop - start
            n_bytes += int(ends[stop - 1]) - before
            start = stop
            if n_rows >= rows or n_bytes >= size:
                yield concatenated(waiting)
                waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield concatenated(waiting)


def with_whole_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches that do not end within a group, if its rows are side by side.

    A group that is larger than a batch is in several.
    """
    waiting: pa.RecordBatch | None = None
    for batch in batches:
        if waiting is not None:
            of_next = pc.equal(waiting.column("group"), batch.column("group")[0])
            others = ~pc.fill_null(of_next, False).to_numpy(zero_copy_only=False)
            end = int(np.flatnonzero(np.append(True, others))[-1])
            if 0 < end < len(waiting):
                batch = concatenated([waiting.slice(end), batch])  # noqa: PLW2901
                waiting = waiting.slice(0, end)
            yield waiting
        waiting = batch
        if not batch.column("group")[-1].is_valid:  # the next batch does not go on with it
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def concatenated(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Concatenate record batches of one schema; at least one."""
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).combine_chunks()
    (batch,) = table.to_batches()
    return batch
