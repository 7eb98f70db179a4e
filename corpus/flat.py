"""The columns of notes as flat arrays: the bytes of all texts, and all spans."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.ragged import owners_of
from corpus.tokens.characters import LINE_ENDS, may_change

Indices = npt.NDArray[np.int64]

_HYPHEN, _TAB, *_SIMPLE_ENDS = b"-\t\n\r"
#: The bytes of the characters of Latin-1 that are always read as they are.
_USUAL = [
    int.from_bytes(character.encode(), "big")
    for character in map(chr, range(0xA1, 0x100))
    if not may_change(character)
]

_LINE_ENDS = [end.encode() for end in LINE_ENDS]


class FlatTexts:
    """Texts in UTF-8, one after the other, without a copy.

    Offsets count code points from the beginning of the first text, unless they are in bytes.

    Parameters
    ----------
    texts : pyarrow.LargeStringArray, length D
        Any texts; none is null.

    Attributes
    ----------
    data : ndarray of uint8
        The bytes of all texts.
    byte_offsets, offsets : ndarray of int64, shape (D + 1,)
        Where each text begins and the last one ends, in bytes and in code points.
    continued : ndarray of int64
        The bytes that continue a character.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        byte_offsets = byte_offsets_of(texts)
        self.byte_offsets = byte_offsets - byte_offsets[0]
        data = texts.buffers()[2] or pa.py_buffer(b"")
        self._buffer = data.slice(int(byte_offsets[0]), int(self.byte_offsets[-1]))
        self.data = np.frombuffer(self._buffer, np.uint8)
        # What is not printable ASCII: line ends, and the bytes of other characters.
        self._rare = np.flatnonzero(self.data - np.uint8(0x20) >= 0x5F)
        self.continued = self._rare[(self.data[self._rare] & 0xC0) == 0x80]
        self._begun = self.continued - np.arange(len(self.continued))  # characters before each
        self.offsets = self.in_characters(self.byte_offsets)

    def in_characters(self, offsets: Indices) -> Indices:
        """Convert offsets in bytes to offsets in code points."""
        characters: Indices = offsets - np.searchsorted(self.continued, offsets)
        return characters

    def in_bytes(self, offsets: Indices) -> Indices:
        """Convert offsets in code points to offsets in bytes."""
        places: Indices = offsets + np.searchsorted(self._begun, offsets, side="right")
        return places

    def line_ends(self) -> Indices:
        """Return the offset of each character that ends a line."""
        values, firsts = self.data[self._rare], []
        for *before, last in _LINE_ENDS:
            places = self._rare[values == last]
            for back, byte in enumerate(reversed(before), start=1):
                places = places[self.data[places - back] == byte]
            firsts.append(places - len(before))
        return self.in_characters(np.sort(np.concatenate(firsts)))

    def unusual_rows(self) -> Indices:
        """Return the texts with characters that `corpus.tokens.normalisation` may change.

        Printable ASCII, tabs, the other characters of Latin-1 but soft hyphens and spaces, and ends
        of lines that no hyphen precedes are read as they are.
        """
        heads = self._rare[(self.data[self._rare] & 0xC0) != 0x80]
        values, before = self.data[heads], self.data[heads - 1]
        pairs = values.astype(np.uint16) << 8 | self.data[(heads + 1) % max(len(self.data), 1)]
        is_usual = np.isin(pairs, _USUAL) | (values == _TAB)
        is_usual |= np.isin(values, _SIMPLE_ENDS) & (before != _HYPHEN)
        return np.unique(np.searchsorted(self.byte_offsets, heads[~is_usual], side="right") - 1)

    def pieces(self, starts: Indices, ends: Indices) -> pa.LargeStringArray:
        """Return what is before, in, between and after ranges of characters, without a copy.

        Parameters
        ----------
        starts, ends : ndarray of int64, shape (R,)
            Half-open offsets of ranges, in order, that do not overlap.

        Returns
        -------
        pyarrow.LargeStringArray, length 2 R + 1
            Range ``r`` is piece ``2 r + 1``.
        """
        borders = np.zeros(2 * len(starts) + 2, np.int64)
        borders[1:-1:2], borders[2::2], borders[-1] = starts, ends, self.offsets[-1]
        return pa.LargeStringArray.from_buffers(
            len(borders) - 1, pa.py_buffer(self.in_bytes(borders)), self._buffer
        )

    def ranges(self, starts: Indices, ends: Indices) -> pa.LargeStringArray:
        """Return a copy of ranges as `pieces` takes them."""
        return self.pieces(starts, ends).take(pa.array(np.arange(1, 2 * len(starts), 2)))


def byte_offsets_of(texts: pa.LargeStringArray) -> Indices:
    """Return where each text begins in the buffer of all, and where the last one ends."""
    if not len(texts):  # there may be no buffer
        return np.zeros(1, np.int64)
    return np.frombuffer(texts.buffers()[1], np.int64)[texts.offset :][: len(texts) + 1]


def flat_spans(notes: pa.RecordBatch, text_offsets: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the row of each span of notes, and its half-open offsets in all texts."""
    starts, ends = notes.column("starts"), notes.column("ends")
    rows = owners_of(starts.offsets.to_numpy())
    origin = text_offsets[rows]
    return rows, starts.flatten().to_numpy() + origin, ends.flatten().to_numpy() + origin


def span_lists(
    rows: Indices, length: int, *columns: Indices | pa.StringArray
) -> list[pa.ListArray[Any]]:
    """Return columns of spans, in the order of their rows, as list columns of `length` rows."""
    offsets = pa.array(np.searchsorted(rows, np.arange(length + 1)), pa.int32())
    values = (pa.array(c, pa.int32()) if isinstance(c, np.ndarray) else c for c in columns)
    return [pa.ListArray.from_arrays(offsets, column) for column in values]
