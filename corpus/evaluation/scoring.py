"""Evaluation of predicted against gold annotations, of documents or of batches.

`score` compares the spans of documents, such as those read from files. `score_batches` compares the
tags of batches, which is faster for documents that are scored repeatedly, as in a run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.batch import Batch
from corpus.document import Document, Span
from corpus.errors import InputError, quoted
from corpus.evaluation.measures import MEASURES, ConfusionCounts, Scores
from corpus.ragged import owners_of, ranges_of
from corpus.tags import classes_of, find_entities, touched_tokens
from corpus.tokens import Tokens, tokenize
from corpus.units import count_lines

_Offsets = tuple[int, int]


def score(gold: Iterable[Document], predicted: Iterable[Document]) -> Scores:
    """Compare predicted with gold documents by their ids.

    Parameters
    ----------
    gold, predicted : iterable of Document
        If a document is only in `gold`, its entities are missed. If it is only in `predicted`, its
        entities are false positives.

    Returns
    -------
    Scores
        Scores of the gold documents in order, then of those that are only in `predicted`.

    Raises
    ------
    InputError
        If an id is not unique, or the gold and predicted texts of a document differ.

    Examples
    --------
    >>> gold = Document("1", "Anna Puig, Olot", (Span(0, 9, "PERSON"), Span(11, 15, "PLACE")))
    >>> score([gold], [replace(gold, spans=gold.spans[:1])]).counts().recall
    0.5
    """
    gold_by_id, predicted_by_id = _by_id(gold, "gold"), _by_id(predicted, "predicted")
    names = tuple({**gold_by_id, **predicted_by_id})
    pairs = [_pair(gold_by_id.get(name), predicted_by_id.get(name)) for name in names]
    # Texts without annotations have no covered tokens: they need not be tokenized.
    tokens = tokenize([text if left or right else "" for text, left, right in pairs])
    gold_entities = Entities.from_spans([left for _, left, _ in pairs])
    predicted_entities = Entities.from_spans([right for _, _, right in pairs])
    texts = [gold_by_id[name].text if name in gold_by_id else "" for name in names]
    counts = count_lines(pa.array(texts, pa.large_string()))
    scores = _compare(names, tokens, gold_entities, predicted_entities, counts)
    merged = np.array([_merged(*pair) for pair in pairs], np.int64).reshape(-1, 3)
    measures = {**scores.measures, "span_merged": merged}
    return replace(scores, measures={name: measures[name] for name in MEASURES})


_Pair = tuple[str, tuple[Span, ...], tuple[Span, ...]]


def _by_id(documents: Iterable[Document], side: str) -> dict[str, Document]:
    by_id: dict[str, Document] = {}
    for number, document in enumerate(documents, start=1):
        if document.id in by_id:
            name = quoted(document.id, f"number {number}")
            raise InputError(
                f"document {name} occurs twice in the {side} documents; ids must be unique"
            )
        by_id[document.id] = document
    return by_id


def _pair(gold: Document | None, predicted: Document | None) -> _Pair:
    if gold is not None and predicted is not None and gold.text != predicted.text:
        raise InputError(
            f"document {quoted(gold.id)} has different texts in the gold corpus ({len(gold.text)} "
            f"characters) and in the predicted corpus ({len(predicted.text)}): their offsets "
            "cannot be compared"
        )
    text = gold.text if gold else predicted.text if predicted else ""
    left, right = (document.visible_spans if document else () for document in (gold, predicted))
    return text, left, right


def _offsets(spans: Iterable[Span]) -> set[_Offsets]:
    return {(span.start, span.end) for span in spans}


def _merged(text: str, gold: Sequence[Span], predicted: Sequence[Span]) -> ConfusionCounts:
    """Count merged spans as the MEDDOCAN scorer does."""
    # True positives are the exact matches and the matches between joined spans. False positives and
    # false negatives are the original spans that no match contains.
    left, right = _offsets(gold), _offsets(predicted)
    matches = (left & right) | (_join(text, left) & _join(text, right))
    return ConfusionCounts(
        len(matches), len(_outside(right - left, matches)), len(_outside(left - right, matches))
    )


def _join(text: str, spans: set[_Offsets]) -> set[_Offsets]:
    """Join neighbouring spans with no alphanumeric character between them."""
    joined: list[_Offsets] = []
    for start, end in sorted(spans):
        if joined and not any(map(str.isalnum, text[joined[-1][1] : start])):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return set(joined)


def _outside(spans: set[_Offsets], matches: set[_Offsets]) -> list[_Offsets]:
    """Return the spans that no match contains."""
    ordered = sorted(matches)
    begins = [start for start, _ in ordered]
    # The largest end of the matches that begin at or before each match.
    reach = [0, *accumulate((end for _, end in ordered), max)]
    return [(start, end) for start, end in spans if reach[bisect_right(begins, start)] < end]


@dataclass(frozen=True, slots=True, eq=False)
class Entities:
    """The entities of documents as columns, ordered by document and offset.

    Parameters
    ----------
    rows : ndarray of int64, shape (E,)
        The index of each entity's document.
    starts, ends : ndarray of int64, shape (E,)
        Half-open offsets in code points, relative to the document's text. Entities of a document
        do not overlap.
    classes : ndarray of int64, shape (E,)
        Indices into `names`.
    names : tuple of str
        The classes.
    """

    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    names: tuple[str, ...]

    @classmethod
    def from_spans(cls, spans_by_document: Sequence[Sequence[Span]]) -> Self:
        """Build the columns from the spans of each document."""
        spans = [(row, span) for row, inside in enumerate(spans_by_document) for span in inside]
        names = tuple(sorted({span.label for _, span in spans}))
        index = {name: position for position, name in enumerate(names)}
        columns = np.array(
            [(row, span.start, span.end, index[span.label]) for row, span in spans], np.int64
        ).reshape(-1, 4)
        rows, starts, ends, classes = columns.T
        return cls(rows, starts, ends, classes, names)

    @classmethod
    def from_tags(cls, batch: Batch) -> Self:
        """Build the columns from the tags of a batch; unknown tags count as ``O``."""
        tagged = find_entities(batch.tags, batch.document_offsets, batch.labels)
        return cls(
            rows=np.searchsorted(batch.document_offsets, tagged.first, side="right") - 1,
            starts=batch.starts[tagged.first].astype(np.int64),
            ends=batch.ends[tagged.last].astype(np.int64),
            classes=tagged.classes,
            names=classes_of(batch.labels),
        )


@dataclass(frozen=True, slots=True, eq=False)
class GoldBatch:
    """A batch with its gold entities, to score predictions against.

    Characters at the edges of an annotation that have no glyph do not count. An annotation that
    begins or ends within a token is widened to whole tokens in the tags of a batch. The entities
    keep the offsets as annotated. Therefore no prediction of whole tokens matches such an
    annotation, as in `score`.

    Parameters
    ----------
    batch : Batch
        The documents, tokenized and tagged.
    entities : Entities
        Their annotations.
    lines : ndarray of int64, shape (D,)
        The number of non-blank lines of each document.
    """

    batch: Batch
    entities: Entities
    lines: npt.NDArray[np.int64]

    @classmethod
    def from_documents(cls, documents: Sequence[Document], batch: Batch) -> Self:
        """Build the gold batch from annotated documents and the batch that `make_batch` returns."""
        return cls(
            batch,
            Entities.from_spans([document.visible_spans for document in documents]),
            count_lines(batch.texts),
        )

    @classmethod
    def from_tags(cls, batch: Batch) -> Self:
        """Build the gold batch from a tagged batch whose annotations all align with tokens."""
        return cls(batch, Entities.from_tags(batch), count_lines(batch.texts))


def score_batches(gold: GoldBatch | Batch, predicted: Batch) -> Scores:
    """Compare the tags of a batch with gold annotations of the same documents.

    Parameters
    ----------
    gold : GoldBatch or Batch
        The annotations. For a `Batch`, the entities that its tags describe.
    predicted : Batch
        The same documents in the same order, with predicted tags.

    Returns
    -------
    Scores
        Equal to the result of `score` on the same documents, without ``"span_merged"``.

    Raises
    ------
    ValueError
        If the documents differ.
    """
    if isinstance(gold, Batch):
        gold = GoldBatch.from_tags(gold)
    if not gold.batch.ids.equals(predicted.ids):
        raise ValueError("the gold and the predicted batch hold different documents")
    names = tuple(gold.batch.ids.to_pylist())
    return _compare(names, gold.batch, gold.entities, Entities.from_tags(predicted), gold.lines)


def _compare(
    names: tuple[str, ...],
    tokens: Tokens | Batch,
    gold: Entities,
    predicted: Entities,
    lines: npt.NDArray[np.int64],
) -> Scores:
    """Compare predicted with gold entities, except by merged spans."""
    same_offsets, same_class = matches(gold, predicted)
    strict = same_offsets & same_class
    labels = [np.array(side.names, object)[side.classes] for side in (gold, predicted)]
    number = len(names)
    return Scores(
        ids=names,
        measures={
            "ner": _per_document(gold.rows, predicted.rows, strict, number),
            "span": _per_document(gold.rows, predicted.rows, same_offsets, number),
            "covered": _covered_by_tokens(tokens, gold, predicted),
        },
        classes={
            name: _per_document(
                gold.rows[labels[0] == name],
                predicted.rows[labels[1] == name],
                strict[labels[1] == name],
                number,
            )
            for name in sorted({*labels[0], *labels[1]})
        },
        lines=lines,
    )


def matches(
    gold: Entities, predicted: Entities
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Compute which predicted entities have the offsets, and which the class, of a gold entity."""
    if not len(gold.rows):
        no_match = np.zeros(len(predicted.rows), bool)
        return no_match, no_match
    # Entities of a document do not overlap: at most one begins at an offset.
    keys, wanted = ((side.rows << 32) + side.starts for side in (gold, predicted))
    nearest = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    offsets = (keys[nearest] == wanted) & (gold.ends[nearest] == predicted.ends)
    index = {name: position for position, name in enumerate(gold.names)}
    classes = np.array([index.get(name, -1) for name in predicted.names], np.int64)
    return offsets, gold.classes[nearest] == classes[predicted.classes]


def _per_document(
    gold: npt.NDArray[np.int64],
    predicted: npt.NDArray[np.int64],
    matches: npt.NDArray[np.bool_],
    number: int,
) -> npt.NDArray[np.int64]:
    """Count true positives, false positives and false negatives by document, shape (D, 3)."""
    matched, total_predicted, total_gold = (
        np.bincount(rows, minlength=number) for rows in (predicted[matches], predicted, gold)
    )
    counts = [matched, total_predicted - matched, total_gold - matched]
    return np.stack(counts, axis=1).astype(np.int64)


def _covered_by_tokens(
    tokens: Tokens | Batch, gold: Entities, predicted: Entities
) -> npt.NDArray[np.int64]:
    """Count covered tokens by document, shape (D, 3) (paper 004, Evaluation metrics)."""
    left, right = (_covered_tokens(tokens, side) for side in (gold, predicted))
    owners = owners_of(tokens.document_offsets)
    number = len(tokens.document_offsets) - 1
    return _per_document(owners[left], owners[right], left[right], number)


def _covered_tokens(tokens: Tokens | Batch, entities: Entities) -> npt.NDArray[np.bool_]:
    """Compute which tokens an entity covers at least partly, shape (N,)."""
    first, last = touched_tokens(
        tokens.document_offsets,
        tokens.starts,
        tokens.ends,
        rows=entities.rows,
        begins=entities.starts,
        finishes=entities.ends,
    )
    covered = np.zeros(tokens.n_tokens, bool)
    covered[ranges_of(first, np.maximum(last + 1 - first, 0))] = True
    return covered
