"""Alignment of the spans of a text with its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.document import Document
from corpus.errors import shown
from corpus.problems import Problem, Problems
from corpus.ragged import owners_of
from corpus.tags import TokenSpans
from corpus.tokens import Tokens

Indices = npt.NDArray[np.int64]

#: The kind of problem of spans that begin or end within a token.
MISALIGNED = "annotations that do not align with tokens"


def touched_tokens(
    documents: Indices,
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
    documents : ndarray of int64, shape (D + 1,)
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
    owners = owners_of(documents) << 32
    first = np.searchsorted(owners + ends, (rows << 32) + begins, side="right")
    last = np.searchsorted(owners + starts, (rows << 32) + finishes, side="left") - 1
    return first, last


def align_spans(
    documents: Sequence[Document], tokens: Tokens, classes: Sequence[str], problems: Problems
) -> TokenSpans:
    """Find the tokens of the spans of documents.

    A span that begins or ends within a token is widened to whole tokens. If two spans touch the
    same token, it belongs to the first of them.

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
    spans = [(row, span) for row, document in enumerate(documents) for span in document.spans]
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
        where = f"document {shown(documents[row].id)}"
        problems.note(Problem(MISALIGNED, where, f"{span}, {outcome}"))
    return TokenSpans(first[kept], last[kept], kinds[kept])
