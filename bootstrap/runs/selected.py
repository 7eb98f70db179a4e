"""Documents of an iteration as a table: ``selected.parquet`` and ``queried.parquet`` of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from bootstrap.selection import ChosenDocuments
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.tags import UNKNOWN

_LABEL = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("label", pa.large_string())])
_PART = pa.struct([("start", pa.int64()), ("end", pa.int64())])
_SELECTED = pa.schema(
    [
        ("id", pa.large_string()),
        ("text", pa.large_string()),
        ("label", pa.large_list(_LABEL)),
        ("group", pa.large_string()),
        ("iteration", pa.int32()),
        ("confidence", pa.float64()),
        ("open", pa.large_list(_PART)),  # parts of the text with unknown tags
    ]
)


def table_of(selected: ChosenDocuments | None, iteration: int) -> pa.Table:
    """Convert the documents selected or annotated in an iteration to a table."""
    if selected is None:
        return _SELECTED.empty_table()
    batch = selected.batch
    spans = [
        [{"start": span.start, "end": span.end, "label": span.label} for span in document]
        for document in batch.spans()
    ]
    columns = [
        batch.ids,
        batch.texts,
        pa.array(spans, _SELECTED.field("label").type),
        batch.groups,
        pa.array([iteration] * len(batch), pa.int32()),
        pa.array(selected.confidence),
        pa.array(_unknown_parts(batch), _SELECTED.field("open").type),
    ]
    return pa.table(columns, schema=_SELECTED)


def documents_of(table: pa.Table, classes: Sequence[str]) -> ChosenDocuments:
    """Convert a table from `table_of` to documents with these classes."""
    documents = [
        Document(row["id"], row["text"], tuple(Span(**span) for span in row["label"]), row["group"])
        for row in table.to_pylist()
    ]
    batch = make_batch(documents, labelled=True, classes=classes)
    batch = _with_unknown(batch, table["open"].to_pylist())
    return ChosenDocuments(batch, table["confidence"].to_numpy())


def _with_unknown(batch: Batch, parts: Sequence[Sequence[Mapping[str, int]]]) -> Batch:
    """Return the batch with unknown tags in some parts of each document."""
    tags = batch.tags.copy()
    for row, document in enumerate(parts):
        first, last = batch.document_offsets[row : row + 2]
        for part in document:
            inside = batch.starts[first:last] >= part["start"]
            tags[first:last][inside & (batch.ends[first:last] <= part["end"])] = UNKNOWN
    return batch.with_tags(tags, batch.labels)


def _unknown_parts(batch: Batch) -> list[list[dict[str, int]]]:
    """Return the parts of each document with unknown tags."""
    parts: list[list[dict[str, int]]] = [[] for _ in range(len(batch))]
    unknown = batch.tags == UNKNOWN
    before = np.concatenate([[False], unknown[:-1]])
    before[batch.document_offsets[:-1][batch.lengths > 0]] = False
    after = np.concatenate([unknown[1:], [False]])
    after[batch.document_offsets[1:][batch.lengths > 0] - 1] = False
    first, last = np.flatnonzero(unknown & ~before), np.flatnonzero(unknown & ~after)
    owners = np.searchsorted(batch.document_offsets, first, side="right") - 1
    for owner, start, end in zip(owners, batch.starts[first], batch.ends[last], strict=True):
        parts[owner].append({"start": int(start), "end": int(end)})
    return parts
