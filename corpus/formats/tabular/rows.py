"""Rows of text files (JSON lines, CSV), gathered into record batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from corpus.errors import Problems
from corpus.formats.batches import SCHEMA, parts_of
from corpus.formats.records import spans_of_items
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES
from corpus.formats.tabular.checks import FlatSpans, Part, checked_batches
from corpus.ragged import offsets_of

NO_NUMBER = "confidences that are not numbers"

Item = tuple[int, int, str]

_Offset = Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)]
_ITEMS = msgspec.json.Decoder(list[tuple[_Offset, _Offset, str]] | None)
_CONFIDENCES: Mapping[str, msgspec.json.Decoder[Any]] = {
    CONFIDENCE: msgspec.json.Decoder(float | None),
    SPAN_CONFIDENCES: msgspec.json.Decoder(list[float] | None),
}


class Row(NamedTuple):
    """A row of a file.

    Parameters
    ----------
    where : str
        The file and the number of the row.
    size : int
        The number of its characters or bytes.
    id, text : str
        The id and the text of the note.
    group : str or None
        The patient.
    spans : sequence of (int, int, str)
        The annotations, unchecked.
    more : mapping of str to object
        The values of the columns that follow those of `SCHEMA`, by name.
    """

    where: str
    size: int
    id: str
    text: str
    group: str | None
    spans: Sequence[Item]
    more: Mapping[str, Any]


def batches_of_rows(
    rows: Iterable[Row], schema: pa.Schema, problems: Problems
) -> Iterator[pa.RecordBatch]:
    """Yield rows as record batches of a schema, after checking their annotations.

    Raises
    ------
    ProblemError
        At the first problem of a kind that `problems` is to stop at, after the rows before it.
    """
    for part in parts_of(rows, lambda row: row.size):
        places, _, *columns, items, more = zip(*part, strict=True)
        names, texts, groups = (pa.array(column, pa.large_string()) for column in columns)
        starts, ends, labels = (
            zip(*chain.from_iterable(items), strict=True) if any(items) else ((),) * 3
        )
        spans = FlatSpans(
            offsets_of(list(map(len, items))),
            pa.array(starts, pa.int64()),
            pa.array(ends, pa.int64()),
            pa.array(labels, pa.string()),
        )
        others = {
            field.name: pa.array([values.get(field.name) for values in more], field.type)
            for field in list(schema)[len(SCHEMA) :]
        }
        unchecked = Part(names, texts, groups, spans, np.zeros(len(part), bool), schema, others)
        yield from checked_batches(unchecked, places.__getitem__, problems)


def items_of(
    content: str | msgspec.Raw, text: str, where: str, problems: Problems
) -> Sequence[Item] | None:
    """Return annotations in JSON, ``[[start, end, "CLASS"], ...]``; malformed ones are rejected.

    Returns
    -------
    sequence of (int, int, str) or None
        None if it is not a list.
    """
    try:
        return _ITEMS.decode(content) or ()
    except msgspec.DecodeError:  # one by one
        pass
    try:
        items = json.loads(bytes(content) if isinstance(content, msgspec.Raw) else content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(items, list):
        return None
    spans = spans_of_items(items, text, where, problems)
    return [(span.start, span.end, span.label) for span in spans]


def confidence_of(name: str, content: str | msgspec.Raw | None, problems: Problems) -> Any:
    """Return the value of a column of confidences; None if it cannot be used."""
    try:
        return _CONFIDENCES[name].decode(content) if content else None
    except msgspec.DecodeError:
        problems.count(NO_NUMBER)
        return None


def json_of(value: object) -> Any:
    """Convert a value of another column to what JSON can hold: dates become strings."""
    return msgspec.to_builtins(value, enc_hook=str)
