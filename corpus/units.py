"""Units: the lines or sentences of long texts, as separate notes, and the lines of tokens.

The id of a unit is the id of its note, ``#`` and the offset at which it begins. Its group is the
group of the note, or else the id of the note, since all lines of a text belong to one patient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch
from corpus.document import Document, Span
from corpus.errors import Problem, Problems, quoted
from corpus.flat import FlatTexts, Indices, flat_spans, span_lists
from corpus.formats.batches import batches_of, documents_of
from corpus.ragged import owners_of, ranges_of
from corpus.tokens.sentences import lines, sentences

Integers = npt.NDArray[np.signedinteger[Any]]

Unit = Literal["document", "line", "sentence"]
UNITS: tuple[str, ...] = get_args(Unit)


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The units of notes.

    Parameters
    ----------
    batch : RecordBatch
        The units, in the schema of notes. Their annotations count from the beginning of the unit.
    owners : ndarray of int64, shape (len(batch),)
        The row of the note of each unit, in increasing order.
    offsets : ndarray of int64, shape (len(batch),)
        The offset in the note's text at which each unit begins.
    """

    batch: pa.RecordBatch
    owners: Indices
    offsets: Indices

    def joined_spans(
        self, notes: int, rows: Indices, starts: Integers, ends: Integers, labels: pa.StringArray
    ) -> list[pa.ListArray[Any]]:
        """Return the list columns of the spans of a number of notes from those of their units.

        Parameters
        ----------
        notes : int
            The number of notes.
        rows : ndarray of int, shape (S,)
            The unit of each span, in increasing order.
        starts, ends : ndarray of int, shape (S,)
            Half-open offsets of each span in its unit.
        labels : pyarrow.StringArray, length S
            The class of each span.
        """
        origins = self.offsets[rows]
        return span_lists(self.owners[rows], notes, starts + origins, ends + origins, labels)


def split_batch(notes: pa.RecordBatch, unit: Unit, problems: Problems) -> Units:
    """Split notes into their units.

    Parameters
    ----------
    notes : RecordBatch
        The notes; units have the first six columns (`corpus.formats.batches.SCHEMA`).
    unit : {"document", "line", "sentence"}
        ``"document"`` returns the notes unchanged. A line end also ends a sentence. Blank units
        are skipped.
    problems : Problems
        Collects annotations that cross the border of a unit. They are cut at the border.
    """
    if unit == "document":
        return Units(notes, np.arange(len(notes)), np.zeros(len(notes), np.int64))
    ids, texts, groups = (notes.column(name) for name in ("id", "text", "group"))
    source, owners, borders = _unit_borders(texts, unit)
    offsets = borders[0] - source.offsets[owners]
    rows, numbers = pa.array(owners), pa.array(offsets).cast(pa.large_string())
    columns = [
        pc.binary_join_element_wise(ids.take(rows), numbers, pa.scalar("#", ids.type)),
        source.ranges(*borders),
        pc.coalesce(groups, ids).take(rows),
        *_cut_spans(notes, source, borders, unit, problems),
    ]
    return Units(pa.record_batch(columns, notes.schema.names[:6]), owners, offsets)


def unit_texts(texts: pa.LargeStringArray, unit: Unit) -> pa.LargeStringArray:
    """Return the texts of all units of texts; see `split_batch`."""
    if unit == "document":
        return texts
    source, _, borders = _unit_borders(texts, unit)
    return source.ranges(*borders)


def count_lines(texts: pa.LargeStringArray) -> Indices:
    """Return the number of lines of each text that are not blank."""
    _, owners, _ = _unit_borders(texts, "line")
    return np.bincount(owners, minlength=len(texts))


def _unit_borders(
    texts: pa.LargeStringArray, unit: str
) -> tuple[FlatTexts, Indices, tuple[Indices, Indices]]:
    """Return texts with a line end after each, the text of each unit, and the units' borders."""
    nothing, line_end = (pa.scalar(value, texts.type) for value in ("", "\n"))
    source = FlatTexts(pc.binary_join_element_wise(texts, nothing, line_end))
    starts, ends = (lines if unit == "line" else sentences)(source)
    return source, np.searchsorted(source.offsets, starts, side="right") - 1, (starts, ends)


def _cut_spans(
    notes: pa.RecordBatch,
    source: FlatTexts,
    borders: tuple[Indices, Indices],
    unit: str,
    problems: Problems,
) -> list[pa.ListArray[Any]]:
    """Return the list columns of the spans of units with the given borders in all texts."""
    starts, ends = borders
    rows, begins, finishes = flat_spans(notes, source.offsets)
    labels = notes.column("labels").flatten()
    # A piece for each span and each unit that it touches.
    firsts = np.searchsorted(ends, begins, side="right")
    touched = np.searchsorted(starts, finishes) - firsts
    spans, units = np.repeat(np.arange(len(rows)), touched), ranges_of(firsts, touched)
    lefts = np.maximum(begins[spans], starts[units])
    rights = np.minimum(finishes[spans], ends[units])
    whole = (lefts == begins[spans]) & (rights == finishes[spans])
    cut = np.flatnonzero(~whole)
    texts = source.ranges(lefts[cut], rights[cut])
    left = rights[cut] - pc.utf8_length(pc.utf8_ltrim_whitespace(texts)).to_numpy()
    rights[cut] = lefts[cut] + pc.utf8_length(pc.utf8_rtrim_whitespace(texts)).to_numpy()
    lefts[cut] = left
    for span in np.flatnonzero(np.bincount(spans[whole], minlength=len(rows)) == 0).tolist():
        row = int(rows[span])
        start, end = (side[span] - source.offsets[row] for side in (begins, finishes))
        problems.note(
            Problem(
                f"annotations that cross the border of a {unit}",
                f"document {quoted(notes.column('id')[row].as_py())}",
                f"{Span(start, end, labels[span].as_py())}, cut at the border",
            )
        )
    kept = np.flatnonzero(lefts < rights)  # blank pieces are not
    units = units[kept]
    lefts, rights = lefts[kept] - starts[units], rights[kept] - starts[units]
    return span_lists(units, len(starts), lefts, rights, labels.take(pa.array(spans[kept])))


def split_documents(
    documents: Iterable[Document], unit: Unit, problems: Problems
) -> Iterator[Document]:
    """Yield the units of documents; see `split_batch`."""
    for notes in batches_of(documents):
        yield from documents_of(split_batch(notes, unit, problems).batch)


def line_numbers(batch: Batch) -> Indices:
    """Return the line number of each token, shape (N,), counted through all documents.

    A line end within a token, which a hyphen breaks, ends no line.
    """
    owners = owners_of(batch.document_offsets)
    texts = FlatTexts(batch.texts)
    breaks = texts.line_ends()
    if not len(breaks):  # every document is one line
        return owners
    origins = texts.offsets[owners]
    begins = origins + batch.starts
    last = np.searchsorted(begins, breaks) - 1  # token before each line end, -1 if there is none
    breaks = breaks[np.append(origins + batch.ends, -1)[last] <= breaks]
    lines: Indices = np.searchsorted(breaks, begins) + owners
    return lines
