"""Documents to write, one by one, and the count of what a format could not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats.columns import Kept
from corpus.formats.records import encodable

if TYPE_CHECKING:
    import pyarrow as pa

_NOTHING: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Row:
    """A document to write, with the columns that stand beside it.

    Parameters
    ----------
    document : Document
        The document.
    confidence : float, optional
        How sure a tagger was of the document.
    span_confidences : sequence of float, optional
        How sure it was of each span.
    others : mapping of str to object
        Other columns of the source, by name.

    Raises
    ------
    ValueError
        If there is not one confidence for each span.
    """

    document: Document
    confidence: float | None = None
    span_confidences: Sequence[float] | None = None
    others: Mapping[str, object] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        given = self.span_confidences
        if given is not None and len(given) != len(self.document.spans):
            raise ValueError("expected one confidence for each span of a document")


#: What is written.
Rows = Iterable[Row]


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What was written, and what the format could not hold.

    Parameters
    ----------
    documents, spans : int
        How many were written.
    left_out : dict
        How many ``"spans"``, ``"groups"``, ``"confidences"``, ``"span confidences"`` or values of
        ``"other columns"`` the format could not hold, and ``"span boundaries inside tokens"`` where
        only tokens have tags; what was not lost is not named.
    """

    documents: int
    spans: int
    left_out: dict[str, int] = field(default_factory=dict)


#: How much of a row is lost where a format does not keep a part.
_LEFT_OUT: dict[Kept, Callable[[Row], int]] = {
    "spans": lambda row: len(row.document.spans),
    "groups": lambda row: row.document.group is not None,
    "confidences": lambda row: row.confidence is not None,
    "span confidences": lambda row: len(row.span_confidences or ()),
    "other columns": lambda row: sum(value is not None for value in row.others.values()),
}


@dataclass(slots=True)
class Tally:
    """A count of what is written and what is left out.

    Parameters
    ----------
    keeps : frozenset of str
        What the format holds, as in `corpus.formats.table.Format`.
    """

    keeps: frozenset[Kept]
    documents: int = 0
    spans: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    _missing: list[Kept] = field(init=False)

    def __post_init__(self) -> None:
        self._missing = [part for part in _LEFT_OUT if part not in self.keeps]

    def count(self, row: Row) -> None:
        """Count a document that was written."""
        self.documents += 1
        if "spans" in self.keeps:
            self.spans += len(row.document.spans)
        for part in self._missing:
            self.lose(part, _LEFT_OUT[part](row))

    def count_batch(self, batch: pa.RecordBatch) -> None:
        """Count documents that were written in a format that keeps everything."""
        self.documents += len(batch)
        self.spans += len(batch.column("starts").flatten())

    def lose(self, what: str, number: int) -> None:
        """Count what was left out of documents that are counted as written."""
        if number:
            self.left_out[what] += number

    def report(self) -> WriteReport:
        """Return the counts."""
        return WriteReport(self.documents, self.spans, dict(self.left_out))


def checked(document: Document) -> Document:
    """Return a document that can be written as UTF-8.

    Raises
    ------
    InputError
        If its id, text, group or a label has half a surrogate pair.
    """
    labels = (span.label for span in document.spans)
    if not encodable(document.id, document.text, document.group, *labels):
        raise InputError(
            f"document {shown(document.id)}: half a surrogate pair cannot be written as UTF-8"
        )
    return document
