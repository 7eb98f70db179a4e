"""Units: the lines or sentences of long texts, as separate documents, and the lines of tokens.

The id of a unit is the id of its source, ``#`` and the offset at which it begins. Its group is the
group of the source, or else the id of the source, since all lines of a text belong to one patient.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.document import Document, Span
from corpus.errors import Problem, Problems, quoted
from corpus.ragged import owners_of
from corpus.tokens.characters import LINE_ENDS
from corpus.tokens.sentences import lines, sentences

Indices = npt.NDArray[np.int64]

_LINE_ENDS = [end.encode() for end in LINE_ENDS]

Unit = Literal["document", "line", "sentence"]
UNITS: tuple[str, ...] = get_args(Unit)


def split_document(
    document: Document, unit: Unit, problems: Problems
) -> list[tuple[int, Document]]:
    """Split a document into its units.

    Parameters
    ----------
    document : Document
        The source.
    unit : {"document", "line", "sentence"}
        ``"document"`` returns the source unchanged. A line end also ends a sentence. Blank units
        are skipped.
    problems : Problems
        Collects spans that cross the border of a unit. They are cut at the border.

    Returns
    -------
    list of (int, Document)
        Units with their offset in the source's text.
    """
    if unit == "document":
        return [(0, document)]
    borders = list(_BORDERS[unit](document.text))
    spans = _cut_spans(document, unit, borders, problems)
    group = document.id if document.group is None else document.group
    return [
        (
            start,
            Document(f"{document.id}#{start}", document.text[start:end], tuple(unit_spans), group),
        )
        for (start, end), unit_spans in zip(borders, spans, strict=True)
    ]


def split_documents(
    documents: Iterable[Document], unit: Unit, problems: Problems
) -> Iterator[Document]:
    """Yield the units of documents."""
    for document in documents:
        for _, piece in split_document(document, unit, problems):
            yield piece


def join_spans(pieces: Iterable[tuple[int, Sequence[Span]]]) -> tuple[Span, ...]:
    """Convert the spans of units to offsets in their source.

    Parameters
    ----------
    pieces : iterable of (int, sequence of Span)
        The offset of each unit in the source, and the spans in it.
    """
    return tuple(
        Span(span.start + offset, span.end + offset, span.label)
        for offset, spans in pieces
        for span in spans
    )


_BORDERS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "line": lines,
    "sentence": sentences,
}


def _cut_spans(
    document: Document, unit: str, borders: list[tuple[int, int]], problems: Problems
) -> list[list[Span]]:
    """Return the spans in each unit, relative to its beginning."""
    unit_spans: list[list[Span]] = [[] for _ in borders]
    ends = [end for _, end in borders]
    for span in document.spans:
        whole = False
        for index in range(bisect_right(ends, span.start), len(borders)):
            start, end = borders[index]
            if start >= span.end:
                break
            whole = start <= span.start and span.end <= end
            unit_spans[index] += _piece_of(span, start, end, document.text)
        if not whole:
            problems.note(
                Problem(
                    f"annotations that cross the border of a {unit}",
                    f"document {quoted(document.id)}",
                    f"{span}, cut at the border",
                )
            )
    return unit_spans


def _piece_of(span: Span, start: int, end: int, text: str) -> list[Span]:
    """Cut a span at two offsets and strip white space; the result is empty if it is blank."""
    left, right = max(span.start, start), min(span.end, end)
    piece = text[left:right]
    if (left, right) == (span.start, span.end):
        return [Span(left - start, right - start, span.label)]
    if piece.isspace():
        return []
    left += len(piece) - len(piece.lstrip())
    right -= len(piece) - len(piece.rstrip())
    return [Span(left - start, right - start, span.label)]


def line_numbers(batch: Batch) -> Indices:
    """Return the line number of each token, shape (N,), counted through all documents.

    A line end within a token, which a hyphen breaks, ends no line.
    """
    owners = owners_of(batch.document_offsets)
    data, bounds = _bytes_of(batch)
    rare = np.flatnonzero(data - np.uint8(0x20) >= 0x5F)  # bytes that are not printable ASCII
    breaks = _line_ends(data, rare)
    if not len(breaks):  # every document is one line
        return owners
    continued = rare[(data[rare] & 0xC0) == 0x80]  # UTF-8 continuation bytes

    def character_offsets(byte_offsets: Indices) -> Indices:
        offsets: Indices = byte_offsets - np.searchsorted(continued, byte_offsets)
        return offsets

    origins, breaks = character_offsets(bounds[:-1])[owners], character_offsets(breaks)
    begins = origins + batch.starts
    last = np.searchsorted(begins, breaks) - 1  # token before each line end, -1 if there is none
    breaks = breaks[np.append(origins + batch.ends, -1)[last] <= breaks]
    lines: Indices = np.searchsorted(breaks, begins) + owners
    return lines


def _line_ends(data: npt.NDArray[np.uint8], rare: Indices) -> Indices:
    """Return the first byte of each line end in UTF-8, in order; its last byte is rare."""
    values, ends = data[rare], []
    for *before, last in _LINE_ENDS:
        places = rare[values == last]
        for back, byte in enumerate(reversed(before), start=1):
            places = places[data[places - back] == byte]
        ends.append(places - len(before))
    return np.sort(np.concatenate(ends))


def _bytes_of(batch: Batch) -> tuple[npt.NDArray[np.uint8], Indices]:
    """Return all texts as UTF-8, and the offsets of each, shape (D + 1,)."""
    texts = batch.texts
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
    return content, bounds - bounds[0]
