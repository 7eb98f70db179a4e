"""Documents and their annotated spans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from corpus.arguments import elements_of, require_text
from corpus.errors import InputError, quoted


class DocumentError(InputError):
    """A document is invalid: a span lies outside of its text, or two spans overlap."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A labelled span of a document's text.

    Parameters
    ----------
    start, end : int
        Half-open offsets in code points into the text as stored.
    label : str
        The class of the span, such as ``"PERSON"``.

    Raises
    ------
    TypeError, InputError
        If a part is of another type, or has half a surrogate pair.
    """

    start: int
    end: int
    label: str

    def __post_init__(self) -> None:
        require_text("label", self.label)
        if type(self.start) is int and type(self.end) is int:
            return
        for name, offset in (("start", self.start), ("end", self.end)):
            if not hasattr(offset, "__index__"):  # which integers of NumPy have
                raise TypeError(f"{name}: expected int, not {type(offset).__name__}")
            object.__setattr__(self, name, int(offset))

    def __str__(self) -> str:
        return f"{self.start}-{self.end} ({quoted(self.label)})"


@dataclass(frozen=True, slots=True)
class Document:
    """A note, or a line or sentence of a note, with its annotations.

    Parameters
    ----------
    id : str
        The name of the document in messages and files.
    text : str
        The text exactly as stored.
    spans : tuple of Span
        The annotations, sorted by offset. They do not overlap.
    group : str, optional
        The patient, if known; None if empty. Documents of a group are always in the same part of a
        split.

    Raises
    ------
    TypeError, InputError
        If a part is of another type, or has half a surrogate pair.
    DocumentError
        If a span is empty, lies outside the text, has no label or overlaps another.
    """

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    group: str | None = None

    def __post_init__(self) -> None:
        require_text("id", self.id)
        require_text("text", self.text)
        if self.group is not None:
            require_text("group", self.group)
        spans = tuple(sorted(elements_of(self.spans, "spans", Span)))
        object.__setattr__(self, "spans", spans)
        object.__setattr__(self, "group", self.group or None)
        for span in spans:
            if not 0 <= span.start < span.end <= len(self.text):
                raise DocumentError(
                    f"document {quoted(self.id)}: span {span} is empty or lies outside the "
                    f"text of {len(self.text)} characters"
                )
            if not span.label:
                raise DocumentError(
                    f"document {quoted(self.id)}: span {span.start}-{span.end} has no label"
                )
        for left, right in pairwise(spans):
            if right.start < left.end:
                raise DocumentError(f"document {quoted(self.id)}: spans {left} and {right} overlap")

    def with_classes(self, classes: Mapping[str, str] | None) -> Document:
        """Rename the labels to classes and drop all others; None keeps every label."""
        if classes is None:
            return self
        spans = (
            replace(span, label=classes[span.label]) for span in self.spans if span.label in classes
        )
        return replace(self, spans=tuple(spans))

    @property
    def visible_spans(self) -> tuple[Span, ...]:
        """The annotations without characters at their edges that have no glyph, as tokens are."""
        return tuple(map(self._visible, self.spans))

    def _visible(self, span: Span) -> Span:
        start, end = span.start, span.end
        edges = self.text[start] + self.text[end - 1]
        if edges.isascii() and edges.isprintable():  # mostly, and ten times as fast
            return span
        from corpus.tokens.characters import (  # noqa: PLC0415 - numpy is slow to import
            is_hidden,
        )

        while start < end and is_hidden(self.text[start]):
            start += 1
        while start < end and is_hidden(self.text[end - 1]):
            end -= 1
        return Span(start, end, span.label) if start < end else span
