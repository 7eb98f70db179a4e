"""Spans from several sources, which may overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.flat import span_lists
from corpus.ragged import owners_of
from corpus.replacement import OffsetMap

Indices = npt.NDArray[np.int64]

#: The first code point that can be a mark on the character before it.
_FIRST_MARK = "\u0300"


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """S spans of a batch of notes.

    Parameters
    ----------
    rows, starts, ends : ndarray of int64, shape (S,)
        The row of the note of each span, and its half-open offsets.
    labels : ndarray of object, shape (S,)
        Their classes.
    sources : ndarray of object, shape (S,)
        What has found them.
    """

    rows: Indices
    starts: Indices
    ends: Indices
    labels: npt.NDArray[np.object_]
    sources: npt.NDArray[np.object_]

    @classmethod
    def of_notes(cls, notes: pa.RecordBatch, source: str) -> Self:
        """Return the spans of notes, all from one source."""
        starts, ends, labels = (notes.column(name) for name in ("starts", "ends", "labels"))
        names = np.array(labels.flatten().to_pylist(), object)
        return cls(
            owners_of(starts.offsets.to_numpy()),
            starts.flatten().to_numpy().astype(np.int64),
            ends.flatten().to_numpy().astype(np.int64),
            names,
            np.full(len(names), source, object),
        )

    @classmethod
    def joined(cls, several: Iterable[Self]) -> Self:
        """Return spans of the same notes, those of the first source first."""
        parts = list(several)
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.starts for part in parts]),
            np.concatenate([part.ends for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.sources for part in parts]),
        )

    def lists(self, notes: int) -> list[pa.ListArray[Any]]:
        """Return the list columns of a number of notes; the spans are in order."""
        labels = pa.array(self.labels, pa.string())
        return span_lists(self.rows, notes, self.starts, self.ends, labels)

    def moved(self, offsets: OffsetMap) -> Self:
        """Return the spans where they are in new texts."""
        starts = offsets.convert(self.rows, self.starts, "start")
        ends = offsets.convert(self.rows, self.ends, "end")
        return replace(self, starts=starts, ends=ends)

    def take(self, indices: Indices) -> Self:
        """Select spans."""
        return type(self)(
            self.rows[indices],
            self.starts[indices],
            self.ends[indices],
            self.labels[indices],
            self.sources[indices],
        )


def resolved(
    spans: Spans, texts: Sequence[str]
) -> tuple[Spans, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return spans in order that do not overlap and cover all that the given ones do.

    A span within another one is left out; of equal ones, the first stays. Spans that cross become
    one, with the class and the source of the longest. No span begins or ends between a character
    and the marks on it; empty spans are left out.

    Parameters
    ----------
    spans : Spans
        Spans in any order.
    texts : sequence of str
        The texts of the notes.

    Returns
    -------
    spans : Spans
    crossing : ndarray of bool, shape (S,)
        Which spans were several that cross.
    mixed : ndarray of bool, shape (S,)
        Which spans were several of different classes.
    """
    starts, ends = _at_characters(spans, texts)
    order = np.lexsort((-ends, starts, spans.rows))
    order = order[ends[order] > starts[order]]
    if not len(order):
        return spans.take(order), np.zeros(0, bool), np.zeros(0, bool)
    spans, starts, ends = spans.take(order), starts[order], ends[order]
    origin = spans.rows * (int(ends.max()) + 1)
    reach = np.maximum.accumulate(origin + ends)
    begins = np.append(True, origin[1:] + starts[1:] >= reach[:-1])
    group = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    last = np.maximum.reduceat(ends, first)
    longest = np.lexsort((np.arange(len(group)), starts - ends, group))[first]
    kept = spans.take(longest)
    crossing = (last - starts[first]) > (ends - starts)[longest]
    mixed = np.logical_or.reduceat(spans.labels != kept.labels[group], first).astype(bool)
    return Spans(kept.rows, starts[first], last, kept.labels, kept.sources), crossing, mixed


def _at_characters(spans: Spans, texts: Sequence[str]) -> tuple[Indices, Indices]:
    """Return the offsets of spans, moved so that marks stay with their characters."""
    starts, ends = spans.starts.copy(), spans.ends.copy()
    rows = zip(spans.rows.tolist(), spans.starts.tolist(), spans.ends.tolist(), strict=True)
    for number, (row, start, end) in enumerate(rows):
        text = texts[row]
        # Most spans begin and end at characters that are no marks.
        if text[start : start + 1] >= _FIRST_MARK and start < end:
            starts[number] -= min(start, _marks(text[: start + 1][::-1]))
        if text[end : end + 1] >= _FIRST_MARK and start < end:
            ends[number] += _marks(text[end:])
    return starts, ends


def _marks(text: str) -> int:
    """Return the number of marks at the beginning of a text."""
    return next((n for n, character in enumerate(text) if not _is_mark(character)), len(text))


def _is_mark(character: str) -> bool:
    return character >= _FIRST_MARK and unicodedata.category(character)[0] == "M"
