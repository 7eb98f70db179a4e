"""Conversion between BIO tags of tokens, entities and the spans of texts.

A class ``PERSON`` has two labels: ``B-PERSON`` begins an entity and ``I-PERSON`` continues it.
``O`` is the label of all other tokens (paper 003, section 2.3.2).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.document import Document
from corpus.errors import Problem, Problems, quoted
from corpus.ragged import owners_of, ranges_of
from corpus.tokens import Tokens

Indices = npt.NDArray[np.int64]

#: The kind of problem of spans that begin or end within a token.
MISALIGNED = "annotations that do not align with tokens"

#: The unknown tag, for tokens that are not annotated.
UNKNOWN = -1


#: The Unicode categories of control characters and of the ends of lines and paragraphs.
_NOT_IN_LABELS = frozenset(("Cc", "Zl", "Zp"))


def is_label(name: str) -> bool:
    """Return whether a tagger may have a class of this name: any text of one line."""
    return bool(name) and not any(unicodedata.category(char) in _NOT_IN_LABELS for char in name)


def bio_labels(classes: Iterable[str]) -> tuple[str, ...]:
    """Return the labels of classes: ``O`` first, then ``B-`` and ``I-`` of each class by name.

    >>> bio_labels(["PERSON", "DATE"])
    ('O', 'B-DATE', 'I-DATE', 'B-PERSON', 'I-PERSON')
    """
    labels = ["O"]
    for name in sorted(set(classes)):
        labels += [f"B-{name}", f"I-{name}"]
    return tuple(labels)


def classes_of(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the classes of labels, in order."""
    return tuple(sorted({label[2:] for label in labels if label != "O"}))


@dataclass(frozen=True, slots=True, eq=False)
class TokenSpans:
    """Entities as runs of tokens.

    Parameters
    ----------
    first, last : ndarray of int64, shape (S,)
        The first and the last token of each entity.
    classes : ndarray of int64, shape (S,)
        The index of each entity's class among ``classes_of(labels)``.
    """

    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]

    def take(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> TokenSpans:
        """Return the entities of some rows, or those with a flag."""
        return TokenSpans(self.first[rows], self.last[rows], self.classes[rows])

    def by_token(self, number: int) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Return the class of the entity of each token (or -1), and whether the token begins it."""
        classes, begins = np.full(number, -1, np.int64), np.zeros(number, bool)
        lengths = self.last - self.first + 1
        classes[ranges_of(self.first, lengths)] = np.repeat(self.classes, lengths)
        begins[self.first] = True
        return classes, begins

    def covered(self, number: int) -> npt.NDArray[np.bool_]:
        """Return which of a number of tokens are in any entity; entities may overlap."""
        covered = np.zeros(number, bool)
        covered[ranges_of(self.first, self.last - self.first + 1)] = True
        return covered


def find_entities(
    tags: npt.NDArray[np.int16], document_offsets: npt.NDArray[np.int64], labels: Sequence[str]
) -> TokenSpans:
    """Find the entities that tags describe.

    Parameters
    ----------
    tags : ndarray of int16, shape (N,)
        Indices into `labels`; -1, the unknown tag, counts as ``O``.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens; no entity crosses a document boundary.
    labels : sequence of str
        ``O``, ``B-`` and ``I-`` labels.

    Returns
    -------
    TokenSpans
        In the order of their tokens. An ``I-`` that follows no token of its class begins an
        entity, as in the CoNLL evaluation.
    """
    kind, begins_always = _label_tables(labels)
    token_class = kind[tags]  # -1, the unknown tag, indexes the last entry
    before = np.full(len(tags), -1, np.int64)
    before[1:] = token_class[:-1]
    before[document_offsets[:-1][document_offsets[:-1] < len(tags)]] = -1
    inside = token_class >= 0
    begins = inside & (begins_always[tags] | (token_class != before))
    first = np.flatnonzero(begins)
    # An entity ends before a token that begins another entity or is outside of all entities.
    ends = np.ones(len(tags), bool)
    ends[:-1] = begins[1:] | ~inside[1:]
    last = np.flatnonzero(ends & inside)
    return TokenSpans(first, last, token_class[first])


def _label_tables(
    labels: Sequence[str],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Build tables of the class of each label (-1: none) and of whether it is a ``B-``."""
    index = {name: position for position, name in enumerate(classes_of(labels))}
    kind = [-1 if label == "O" else index[label[2:]] for label in labels]
    return np.array([*kind, -1]), np.array([*(label[0] == "B" for label in labels), False])


def well_formed(
    tags: npt.NDArray[np.int16], document_offsets: npt.NDArray[np.int64], labels: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Convert every ``I-`` that begins an entity to a ``B-``."""
    entities = find_entities(tags, document_offsets, labels)
    begin = np.array([labels.index(f"B-{name}") for name in classes_of(labels)], np.int16)
    repaired = tags.copy()
    repaired[entities.first] = begin[entities.classes] if len(begin) else 0
    return repaired


def tags_of_entities(
    entities: TokenSpans, number: int, labels: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Convert entities to tags.

    Parameters
    ----------
    entities : TokenSpans
        Entities without common tokens.
    number : int
        The number of tokens, N.
    labels : sequence of str
        Labels that include ``O``, and the ``B-`` and ``I-`` of every class.

    Returns
    -------
    ndarray of int16, shape (N,)
    """
    return tags_of_tokens(*entities.by_token(number), labels)


def tags_of_tokens(
    classes: Indices, begins: npt.NDArray[np.bool_], labels: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Convert the class of each token (or -1), and whether it begins an entity, to tags.

    See `TokenSpans.by_token`, and `tags_of_entities` for the labels.
    """
    names = classes_of(labels)
    begin, inside = (
        np.array([*(labels.index(f"{side}-{name}") for name in names), labels.index("O")], np.int16)
        for side in "BI"
    )
    return np.where(begins, begin[classes], inside[classes])


def touched_tokens(
    document_offsets: Indices,
    starts: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
    *,
    rows: Indices,
    begins: Indices,
    finishes: Indices,
) -> tuple[Indices, Indices]:
    """Find the first and the last token that each span of text touches.

    Parameters
    ----------
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    starts, ends : ndarray of int32, shape (N,)
        Half-open offsets of the tokens in the text of their document.
    rows, begins, finishes : ndarray of int64, shape (S,)
        The document of each span, and its half-open offsets in the text.

    Returns
    -------
    first, last : ndarray of int64, shape (S,)
        ``last`` is less than ``first`` for a span that touches no token.
    """
    # Keys that combine document and offset, and increase along the batch.
    owners = owners_of(document_offsets) << 32
    first = np.searchsorted(owners + ends, (rows << 32) + begins, side="right")
    last = np.searchsorted(owners + starts, (rows << 32) + finishes, side="left") - 1
    return first, last


def align_spans(
    documents: Sequence[Document], tokens: Tokens, classes: Sequence[str], problems: Problems
) -> TokenSpans:
    """Find the tokens of the spans of documents.

    Characters at the edges of a span that have no glyph do not count. A span that begins or ends
    within a token is widened to whole tokens. If two spans touch the same token, it belongs to the
    first of them.

    Parameters
    ----------
    documents : sequence of Document
        The annotated documents, D of them.
    tokens : Tokens
        The tokens of their texts.
    classes : sequence of str
        The classes; every label of a span is one of them.
    problems : Problems
        Collects the spans that do not align with tokens.

    Returns
    -------
    TokenSpans
        In the order of the documents and their spans, without spans that have no token.
    """
    spans = [
        (row, span) for row, document in enumerate(documents) for span in document.visible_spans
    ]
    index = {name: position for position, name in enumerate(classes)}
    rows = np.array([row for row, _ in spans], np.int64)
    starts = np.array([span.start for _, span in spans], np.int64)
    ends = np.array([span.end for _, span in spans], np.int64)
    kinds = np.array([index[span.label] for _, span in spans], np.int64)
    first, last = touched_tokens(
        tokens.document_offsets, tokens.starts, tokens.ends, rows=rows, begins=starts, finishes=ends
    )
    if len(first):
        previous_last = np.maximum.accumulate(last)[:-1]
        first[1:] = np.maximum(first[1:], previous_last + 1)
    kept = last >= first
    aligned = kept.copy()
    aligned[kept] = (tokens.starts[first[kept]] == starts[kept]) & (
        tokens.ends[last[kept]] == ends[kept]
    )
    for position in np.flatnonzero(~aligned).tolist():
        row, span = spans[position]
        outcome = "widened to whole tokens" if kept[position] else "dropped: no token of its own"
        where = f"document {quoted(documents[row].id)}"
        problems.note(Problem(MISALIGNED, where, f"{span}, {outcome}"))
    return TokenSpans(first[kept], last[kept], kinds[kept])
