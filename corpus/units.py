"""Units: the lines or sentences of long texts, as separate documents.

The id of a unit is the id of its source, ``#`` and the offset at which it begins. Its group is the
group of the source, or else the id of the source, since all lines of a text belong to one patient.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, get_args

from corpus.document import Document, Span
from corpus.errors import shown
from corpus.problems import Problem, Problems
from corpus.tokens.normalisation import Normalised, normalise

Unit = Literal["document", "line", "sentence"]
UNITS: tuple[str, ...] = get_args(Unit)

_LINE = re.compile(r"[^\r\n]+")
# A sentence ends at a mark that is followed by white space and a possible beginning of a sentence.
# Possessive quantifiers avoid quadratic time on long runs of dots.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'»”)\]]*+\s++(?=[¿¡\"'«“(\[]*+[A-ZÀ-ÖØ-Þ0-9])")
# Initials, and abbreviations that precede a name or a number: their full stop ends no sentence.
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:[^\W\d_]|[dD]r[ae]?s?|DRA?|[sS]r(?:t?a)?s?|[pP]rof|[lL]ic|[hH]osp|[cC]tra|[aA]vd?a?"
    r"|[pP]l|[pP]za|[uU]rb|[sS]t[ao]?|[nN]tra|[nN]úm|[nN]um|[nN]º|[tT]el|[tT]lf|[eE]j|[pP]ág"
    r"|[vV]s|[aA]prox|[cC]ol|[fF]ec|[hH]ist)\.$"
)
# An abbreviated unit of measurement, which may end a sentence: "a las 10 h."
_UNIT = re.compile(r"\d\s[ghlms]\.$")
# A full stop that ends no sentence before a number: "no. 3", "3. 10. 2013", "Mayor 3. 28007".
_BEFORE_NUMBER = re.compile(r"(?<![\w/:,-])(?:[nN]o|\d{1,2})\.$")
# The number of an item of a list, which begins a sentence.
_ITEM = re.compile(r"\W*\d{1,2}(?:\.\d{1,2})*\.")
_CONTEXT = 12  # characters before the end of a sentence that decide whether it ends


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

    Returns
    -------
    tuple of Span
    """
    return tuple(
        Span(span.start + offset, span.end + offset, span.label)
        for offset, spans in pieces
        for span in spans
    )


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for match in _LINE.finditer(text):
        if not match.group().isspace():
            yield match.span()


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    normalised = normalise(text) is not None
    for start, end in _lines(text):
        begin = start
        line = normalise(text[start:end]) if normalised else None
        breaks = _breaks(text, start, end) if line is None else _breaks_in_source(text, line, start)
        for stop, following in breaks:
            yield begin, stop
            begin = following
        if not text[begin:end].isspace():
            yield begin, end


def _breaks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a line but the last ends, and where the next one begins."""
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        stop = match.end() - (len(match.group()) - len(match.group().rstrip()))
        tail = text[max(begin, stop - _CONTEXT) : stop]
        if not _continues(tail, stop - begin, text[match.end()]):
            yield stop, match.end()
            begin = match.end()


def _breaks_in_source(text: str, line: Normalised, start: int) -> Iterator[tuple[int, int]]:
    """Yield the breaks of a normalised line that begins at an offset of a text.

    Characters that are not displayed belong to the sentences beside them, those within white space
    to the sentence before it.
    """
    for stop, following in _breaks(line.text, 0, len(line.text)):
        first, last = start + int(line.starts[stop]), start + int(line.ends[following - 1])
        yield first + len(text[first:last].rstrip()), last


def _continues(tail: str, length: int, following: str) -> bool:
    """Return whether a sentence continues after a full stop.

    Parameters
    ----------
    tail : str
        The last characters of the sentence, up to the full stop.
    length : int
        The number of characters of the sentence so far.
    following : str
        The first character after the white space.
    """
    if length <= _CONTEXT and _ITEM.fullmatch(tail):
        return True
    if _BEFORE_NUMBER.search(tail) and following.isdigit():
        return True
    return bool(_ABBREVIATION.search(tail)) and not _UNIT.search(tail)


_BORDERS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "line": _lines,
    "sentence": _sentences,
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
                    f"document {shown(document.id)}",
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
