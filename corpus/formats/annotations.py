"""Checks of annotations read from files: offsets, duplicates and overlaps."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from itertools import pairwise

from corpus.document import Span
from corpus.errors import Problem, Problems
from corpus.formats.records import encodable

OUTSIDE = "annotations outside of the text"
MALFORMED = "malformed annotations"
DISAGREEING = "annotations that disagree with the text"
DUPLICATE = "duplicate annotations"
OVERLAPPING = "overlapping annotations"
DISCONTINUOUS = "discontinuous annotations"

#: Kinds of annotations that are rejected while the rest of the document is read.
UNUSABLE = (OUTSIDE, MALFORMED, DISAGREEING)


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

    Of overlapping spans, the longest is kept. Ties are resolved by offset, then by label.

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
    return _longest(unique, where, problems)


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
