"""Conversion of the records of a source to documents, with checks of their annotations.

What cannot be read becomes a problem.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from corpus.arguments import encodable
from corpus.document import Span
from corpus.errors import Problem, Problems, quoted
from corpus.formats.files import LONGEST_LINE

Record = TypeVar("Record")
Parsed = TypeVar("Parsed")

#: Kinds of problems that several formats have in common.
NOT_UTF8 = "text that is not UTF-8"
NULL = "rows without an id or a text"
NOT_ENCODED = "text that is not in the encoding of its file"
NOT_UNICODE = "text with half a surrogate pair"
NOT_READABLE = "files that cannot be read"
TOO_LONG = "lines or files that are too long"

OUTSIDE = "annotations outside of the text"
MALFORMED = "malformed annotations"
DISAGREEING = "annotations that disagree with the text"
NO_ID = "documents without an id, which are named by file and row"
DUPLICATE = "duplicate annotations"
OVERLAPPING = "overlapping annotations"
DISCONTINUOUS = "discontinuous annotations"

#: Kinds of annotations that are rejected while the rest of the document is read.
UNUSABLE = (OUTSIDE, MALFORMED, DISAGREEING)


class Unreadable(Exception):  # noqa: N818 - a fact about a record, caught before it is an error
    """A record cannot be converted to a document.

    Parameters
    ----------
    kind : str
        The kind of problem.
    detail : str
        What was found and what was expected, without any text of the note.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


def parsed_records(
    records: Iterable[tuple[str, Record]],
    parse: Callable[[str, Record], Parsed],
    problems: Problems,
) -> Iterator[Parsed]:
    """Yield the documents of records, and reject unreadable records.

    Parameters
    ----------
    records : iterable of (str, Record)
        The position of each record (file, or file and line), and the record.
    parse : callable
        Converts a position and a record to a document, or raises `Unreadable`.
    problems : Problems
        Collects unreadable records, or raises an error at the first.

    Raises
    ------
    ProblemError
        At the first unreadable record, if invalid input stops the program.
    """
    for where, record in records:
        problem = None
        try:
            parsed = parse(where, record)
        except Unreadable as error:
            problem = Problem(error.kind, where, error.detail)
        if problem:  # outside of the handler, whose context may contain note text
            problems.reject(problem)
        else:
            yield parsed


def checked_line(line: str, encoding: str = "utf-8") -> str:
    """Return a line of `corpus.formats.files.lines_of` if it is complete and could be decoded.

    Raises
    ------
    Unreadable
        If it is too long, or was not in the encoding of the file.
    """
    if len(line) > LONGEST_LINE:
        raise Unreadable(TOO_LONG, f"the line has more than {LONGEST_LINE:,} characters, the limit")
    return checked_text(line, encoding, "of the line")


def checked_text(text: str, encoding: str, what: str) -> str:
    """Return text of a file if all of it could be decoded; `what` completes the message.

    Raises
    ------
    Unreadable
        If it was not in the encoding of the file.
    """
    try:
        text.encode()
        return text
    except UnicodeEncodeError as error:
        place = error.start
    raise not_encoded(encoding, f"character {place} {what}")


def not_encoded(encoding: str, place: str) -> Unreadable:
    """Return the error of text that is not in the encoding of its file from a place on."""
    if encoding == "utf-8":
        return Unreadable(NOT_UTF8, f"{place} (counted from 0); name another encoding, as latin-1")
    return Unreadable(NOT_ENCODED, f"{place} (counted from 0) is no character of {encoding}")


def of_document(where: str, name: str) -> str:
    """Return the place of a record, with the id of its document if a message may quote it."""
    return f"{where}, document {name}" if quoted(name, "") else where


def within(span: Span, text: str, where: str, problems: Problems) -> bool:
    """Return whether a span lies within a text; a span that does not is rejected."""
    if 0 <= span.start < span.end <= len(text):
        return True
    detail = f"{span} is empty or outside of the text of {len(text)} characters"
    problems.reject(Problem(OUTSIDE, where, detail))
    return False


def spans_of_items(
    items: Iterable[object], text: str, where: str, problems: Problems
) -> list[Span]:
    """Return the spans of a list ``[[start, end, "CLASS"], ...]``; malformed items are rejected."""
    spans = []
    for item in items:
        span = span_of(item)
        if span is None:
            detail = 'expected [start, end, "CLASS"] with whole numbers'
            problems.reject(Problem(MALFORMED, where, detail))
        elif within(span, text, where, problems):
            spans.append(span)
    return spans


def span_of(item: object) -> Span | None:
    """Convert an item of a list of annotations to a span; None if it is malformed."""
    if not isinstance(item, list) or len(item) != 3:
        return None
    start, end, label = item
    if type(start) is not int or type(end) is not int or not isinstance(label, str):
        return None
    return Span(start, end, label) if label and encodable(label) else None


def settled(spans: Iterable[Span], where: str, problems: Problems) -> tuple[Span, ...]:
    """Return the spans of a document in order, without duplicates and overlaps.

    Of overlapping spans, the longest is kept, or they are joined. Ties are resolved by offset,
    then by label.

    Parameters
    ----------
    spans : iterable of Span
        Spans within the text.
    where : str
        The file, line and document for messages.
    problems : Problems
        Collects each duplicate and each span that is dropped.

    Raises
    ------
    ProblemError
        At the first overlap, if conflicts stop the program.
    """
    ordered = sorted(spans)
    unique = ordered[:1]
    for left, right in pairwise(ordered):
        if left == right:
            problems.note(Problem(DUPLICATE, where, f"{left} is kept once"))
        else:
            unique.append(right)
    if all(left.end <= right.start for left, right in pairwise(unique)):
        return tuple(unique)
    settle = _joined if problems.conflicts == "joined" else _longest
    return settle(unique, where, problems)


def _joined(spans: list[Span], where: str, problems: Problems) -> tuple[Span, ...]:
    joined: list[Span] = []
    for span in spans:
        if joined and span.start < joined[-1].end:
            first = joined.pop()
            problems.conflict(Problem(OVERLAPPING, where, f"{first} and {span} are joined"))
            # Of two classes, the text is of neither: no rule for one of them may decide about it.
            names = dict.fromkeys([*first.label.split("+"), span.label])
            end = max(first.end, span.end)
            span = Span(first.start, end, "+".join(names))  # noqa: PLW2901
        joined.append(span)
    return tuple(joined)


def _longest(spans: list[Span], where: str, problems: Problems) -> tuple[Span, ...]:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span)):
        longer = _overlapping(span, kept)
        if longer:
            is_stop = problems.conflicts == "stop"
            detail = "{} and {}" if is_stop else "{} is kept, {} is left out"
            problems.conflict(Problem(OVERLAPPING, where, detail.format(longer, span)))
        else:
            insort(kept, span)
    return tuple(kept)


def _overlapping(span: Span, kept: list[Span]) -> Span | None:
    place = bisect_left(kept, span)
    if place and kept[place - 1].end > span.start:
        return kept[place - 1]
    if place < len(kept) and kept[place].start < span.end:
        return kept[place]
    return None
