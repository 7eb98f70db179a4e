"""Other texts in the place of spans, and the map of offsets between old and new texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus.flat import FlatTexts, Indices, byte_offsets_of, flat_spans, span_lists
from corpus.ragged import offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class OffsetMap:
    """A map between offsets in old texts and in new ones, in which spans were replaced.

    Characters outside of replaced spans are in both texts. A replaced span as a whole became its
    new text: what starts or ends within the one starts or ends with the other. What starts or ends
    where a text was removed does not contain it. An annotation that is empty leads nowhere.

    Parameters
    ----------
    borders : ndarray of int64, shape (2, 2 R + 2)
        Offsets from the beginning of the first old and the first new text: 0, the start and end of
        each replaced span, and the end of the last text.
    text_offsets : ndarray of int64, shape (2, D + 1)
        Where each old and each new text begins, and the last one ends.
    """

    borders: Indices
    text_offsets: Indices

    def convert(self, rows: Indices, offsets: Indices, side: Literal["start", "end"]) -> Indices:
        """Convert offsets in old texts to offsets in new ones.

        Parameters
        ----------
        rows : ndarray of int, shape (N,)
            The row of the text of each offset.
        offsets : ndarray of int, shape (N,)
            Offsets in code points.
        side : {"start", "end"}
            Whether something starts or ends there.
        """
        (old, new), (text_offsets, new_text_offsets) = self.borders, self.text_offsets
        places = text_offsets[rows] + offsets
        near = np.searchsorted(old, places, side="right") - 1
        if side == "end":
            near = np.searchsorted(old, places)
        replaced = near % 2 == (side == "start")  # spans are between odd borders and even ones
        moved = new[near] + np.where(replaced, 0, places - old[near])
        begins, ends = new_text_offsets[rows], new_text_offsets[rows + 1]
        converted: Indices = np.clip(moved, begins, ends) - begins
        return converted

    @property
    def inverse(self) -> OffsetMap:
        """The map from new texts to old ones."""
        return OffsetMap(self.borders[::-1], self.text_offsets[::-1])


def replace_spans(
    notes: pa.RecordBatch, texts: pa.LargeStringArray
) -> tuple[pa.RecordBatch, OffsetMap]:
    """Replace the spans of notes by other texts.

    Parameters
    ----------
    notes : RecordBatch
        Notes (`corpus.formats.batches.SCHEMA`) with S spans, and any other columns.
    texts : pyarrow.LargeStringArray, length S
        The new text of each span, in order; null leaves a span as it is.

    Returns
    -------
    notes : RecordBatch
        The notes with new texts. Spans are where their new texts are, and empty if these are.
    offsets : OffsetMap
        The map of offsets, with which other annotations are carried over.
    """
    source = FlatTexts(notes.column("text"))
    rows, starts, ends = flat_spans(notes, source.offsets)
    replaced, texts = np.flatnonzero(texts.is_valid()), texts.drop_null()
    pieces = source.pieces(starts[replaced], ends[replaced])
    is_span = np.arange(len(pieces)) % 2 == 1
    new = pc.replace_with_mask(pieces, pa.array(is_span), texts)
    in_bytes, in_new_bytes = byte_offsets_of(pieces), byte_offsets_of(new)
    borders = source.in_characters(in_bytes)
    lengths = np.diff(borders)
    lengths[is_span] = pc.utf8_length(texts)
    new_borders = offsets_of(lengths)
    # The end of the last span that was replaced before each note; a note moves as this does.
    last = 2 * np.searchsorted(rows[replaced], np.arange(len(notes) + 1))
    byte_offsets = source.byte_offsets + (in_new_bytes - in_bytes)[last]
    text_offsets = source.offsets + (new_borders - borders)[last]
    offsets = OffsetMap(np.stack([borders, new_borders]), np.stack([source.offsets, text_offsets]))
    columns = dict(zip(notes.schema.names, notes.columns, strict=True))
    columns["text"] = pa.LargeStringArray.from_buffers(
        len(notes), pa.py_buffer(byte_offsets), new.buffers()[2]
    )
    columns["starts"], columns["ends"] = span_lists(
        rows,
        len(notes),
        offsets.convert(rows, starts - source.offsets[rows], "start"),
        offsets.convert(rows, ends - source.offsets[rows], "end"),
    )
    return pa.record_batch(list(columns.values()), schema=notes.schema), offsets
