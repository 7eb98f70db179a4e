"""Scores of predicted against gold annotations: of documents, and of batches.

`score` compares documents by their spans, and serves files. `score_batches` compares the tags of
batches in arrays, and serves what scores the same documents again and again, such as the
self-training loop.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.alignment import touched_tokens
from corpus.batch import Batch
from corpus.document import Document, Span
from corpus.errors import InputError, shown
from corpus.scores import MEASURES, ConfusionCounts, Scores
from corpus.tags import classes_of, find_entities
from corpus.tokens import tokenize

__all__ = [
    "MEASURES",
    "ConfusionCounts",
    "Entities",
    "GoldBatch",
    "Scores",
    "score",
    "score_batches",
]

_Offsets = tuple[int, int]
_T = TypeVar("_T", Span, tuple[int, int])
_LINE_ENDS = re.compile(r"[\r\n]+")


def score(gold: Iterable[Document], predicted: Iterable[Document]) -> Scores:
    """Compare predicted with gold documents by their ids.

    Parameters
    ----------
    gold, predicted : iterable of Document
        A document that only one of them has is all missed, or all spurious.

    Returns
    -------
    Scores
        Of the gold documents in order, then of those that are only predicted.

    Raises
    ------
    InputError
        If an id comes twice, or the text of a document is not the same on both sides.
    """
    golden, found = _by_id(gold, "gold"), _by_id(predicted, "predicted")
    names = tuple({**golden, **found})
    pairs = [_pair(golden.get(name), found.get(name)) for name in names]
    covered = _covered_counts(pairs)
    measures = {
        "ner": [_strict(set(left), set(right)) for _, left, right in pairs],
        "span": [_strict(_offsets(left), _offsets(right)) for _, left, right in pairs],
        "span_merged": [_merged(text, left, right) for text, left, right in pairs],
        "covered": covered,
    }
    return Scores(
        ids=names,
        measures={name: _array(counts) for name, counts in measures.items()},
        classes=_class_counts(pairs),
        lines=np.array(
            [_lines(golden[name].text) if name in golden else 0 for name in names], np.int64
        ),
    )


_Pair = tuple[str, tuple[Span, ...], tuple[Span, ...]]


def _by_id(documents: Iterable[Document], side: str) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for document in documents:
        if document.id in found:
            raise InputError(
                f"document {shown(document.id)} is twice among the {side} documents; "
                "ids must be unique"
            )
        found[document.id] = document
    return found


def _pair(gold: Document | None, predicted: Document | None) -> _Pair:
    if gold is not None and predicted is not None and gold.text != predicted.text:
        raise InputError(
            f"document {shown(gold.id)} has another text in the gold corpus ({len(gold.text)} "
            f"characters) than in the predicted one ({len(predicted.text)}): their offsets cannot "
            "be compared"
        )
    either = gold or predicted
    return (
        either.text if either else "",
        gold.spans if gold else (),
        predicted.spans if predicted else (),
    )


def _array(counts: Sequence[ConfusionCounts]) -> npt.NDArray[np.int64]:
    return np.array(counts, np.int64).reshape(-1, 3)


def _offsets(spans: Iterable[Span]) -> set[_Offsets]:
    return {(span.start, span.end) for span in spans}


def _class_counts(pairs: Sequence[_Pair]) -> dict[str, npt.NDArray[np.int64]]:
    """Count strict entities by class; each document only for the classes it has."""
    names = [{span.label for span in (*left, *right)} for _, left, right in pairs]
    counts = {name: np.zeros((len(pairs), 3), np.int64) for name in sorted(set().union(*names))}
    for row, (_, left, right) in enumerate(pairs):
        for name in names[row]:
            counts[name][row] = _strict(_of_class(left, name), _of_class(right, name))
    return counts


def _of_class(spans: Iterable[Span], name: str) -> set[Span]:
    return {span for span in spans if span.label == name}


def _strict(gold: set[_T], predicted: set[_T]) -> ConfusionCounts:
    return ConfusionCounts(len(gold & predicted), len(predicted - gold), len(gold - predicted))


def _merged(text: str, gold: Sequence[Span], predicted: Sequence[Span]) -> ConfusionCounts:
    """Count as MEDDOCAN's scorer does for its merged spans.

    True positives are the exact matches and the matches between joined spans. What is false or
    missed is an original span that lies in none of those.
    """
    left, right = _offsets(gold), _offsets(predicted)
    matches = (left & right) | (_join(text, left) & _join(text, right))
    return ConfusionCounts(
        len(matches), len(_outside(right - left, matches)), len(_outside(left - right, matches))
    )


def _join(text: str, spans: set[_Offsets]) -> set[_Offsets]:
    """Join neighbours whose gap holds no alphanumeric character; an empty gap is such a gap."""
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
    # How far the matches that begin at or before each one reach.
    reach = [0, *accumulate((end for _, end in ordered), max)]
    return [(start, end) for start, end in spans if reach[bisect_right(begins, start)] < end]


def _lines(text: str) -> int:
    """Count the lines of a text that are not blank."""
    return sum(bool(line.strip()) for line in _LINE_ENDS.split(text))


def _covered_counts(pairs: Sequence[_Pair]) -> list[ConfusionCounts]:
    """Count the tokens that each side covers (paper 004, Evaluation metrics)."""
    busy = [index for index, (_, left, right) in enumerate(pairs) if left or right]
    tokens = tokenize([pairs[index][0] for index in busy])
    counts = [ConfusionCounts(0, 0, 0)] * len(pairs)
    for position, index in enumerate(busy):
        here = slice(*tokens.document_offsets[position : position + 2].tolist())
        starts, ends = tokens.starts[here], tokens.ends[here]
        gold, predicted = (_covered(spans, starts, ends) for spans in pairs[index][1:])
        counts[index] = ConfusionCounts(
            int((gold & predicted).sum()),
            int((predicted & ~gold).sum()),
            int((gold & ~predicted).sum()),
        )
    return counts


def _covered(
    spans: Iterable[Span], starts: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Compute which tokens a span covers at least partly, shape (tokens,)."""
    covered = np.zeros(len(starts), bool)
    for span in spans:
        # Offsets of the tokens' own type: for any other one, numpy copies the tokens each time.
        first = np.searchsorted(ends, np.int32(span.start), side="right")
        covered[first : np.searchsorted(starts, np.int32(span.end), side="left")] = True
    return covered


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
    def from_documents(cls, documents: Sequence[Document]) -> Self:
        """Build the columns from the spans of documents."""
        spans = [(row, span) for row, document in enumerate(documents) for span in document.spans]
        names = tuple(sorted({span.label for _, span in spans}))
        index = {name: position for position, name in enumerate(names)}
        columns = np.array(
            [(row, span.start, span.end, index[span.label]) for row, span in spans], np.int64
        ).reshape(-1, 4)
        rows, starts, ends, classes = columns.T
        return cls(rows, starts, ends, classes, names)

    @classmethod
    def from_tags(cls, batch: Batch) -> Self:
        """Build the columns from the tags of a batch; unknown tags are no entity."""
        found = find_entities(batch.tags, batch.document_offsets, batch.labels)
        return cls(
            rows=np.searchsorted(batch.document_offsets, found.first, side="right") - 1,
            starts=batch.starts[found.first].astype(np.int64),
            ends=batch.ends[found.last].astype(np.int64),
            classes=found.classes,
            names=classes_of(batch.labels),
        )


@dataclass(frozen=True, slots=True, eq=False)
class GoldBatch:
    """A batch with its gold entities, to score predictions against.

    The tags of a batch cannot express an annotation that begins or ends within a token: they are
    widened to whole tokens. The entities keep the offsets as annotated, so that no prediction of
    whole tokens matches such an annotation, as in `score`.

    Parameters
    ----------
    batch : Batch
        The documents, tokenized and tagged.
    entities : Entities
        Their annotations.
    lines : ndarray of int64, shape (D,)
        Non-blank lines of each document.
    """

    batch: Batch
    entities: Entities
    lines: npt.NDArray[np.int64]

    @classmethod
    def from_documents(cls, documents: Sequence[Document], batch: Batch) -> Self:
        """Build it from annotated documents and the batch that `make_batch` made of them."""
        return cls(batch, Entities.from_documents(documents), _lines_of(batch))

    @classmethod
    def from_tags(cls, batch: Batch) -> Self:
        """Build it from a tagged batch whose annotations all align with tokens."""
        return cls(batch, Entities.from_tags(batch), _lines_of(batch))


def _lines_of(batch: Batch) -> npt.NDArray[np.int64]:
    return np.array([_lines(text) for text in batch.texts.to_pylist()], np.int64)


def score_batches(gold: GoldBatch | Batch, predicted: Batch) -> Scores:
    """Compare the tags of a batch with gold annotations of the same documents.

    Parameters
    ----------
    gold : GoldBatch or Batch
        The annotations; those of a `Batch` are the entities that its tags describe.
    predicted : Batch
        The same documents in the same order, with predicted tags.

    Returns
    -------
    Scores
        Equal to that of `score` on the same documents, without ``"span_merged"``.

    Raises
    ------
    ValueError
        If the documents differ.
    """
    if isinstance(gold, Batch):
        gold = GoldBatch.from_tags(gold)
    batch, left, right = gold.batch, gold.entities, Entities.from_tags(predicted)
    if not batch.ids.equals(predicted.ids):
        raise ValueError("the gold and the predicted batch hold different documents")
    same_offsets, same_class = _matches(left, right)
    strict = same_offsets & same_class
    labels = [np.array(side.names, object)[side.classes] for side in (left, right)]
    number = len(batch)
    return Scores(
        ids=tuple(batch.ids.to_pylist()),
        measures={
            "ner": _per_document(left.rows, right.rows, strict, number),
            "span": _per_document(left.rows, right.rows, same_offsets, number),
            "covered": _covered_by_tokens(batch, left, right),
        },
        classes={
            name: _per_document(
                left.rows[labels[0] == name],
                right.rows[labels[1] == name],
                strict[labels[1] == name],
                number,
            )
            for name in sorted({*labels[0], *labels[1]})
        },
        lines=gold.lines,
    )


def _matches(
    gold: Entities, predicted: Entities
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Compute which predicted entities have the offsets, and the class, of a gold entity."""
    if not len(gold.rows):
        nothing = np.zeros(len(predicted.rows), bool)
        return nothing, nothing
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
    """Count matches, false and missed entities by document, shape (D, 3)."""
    right, found, wanted = (
        np.bincount(rows, minlength=number) for rows in (predicted[matches], predicted, gold)
    )
    return np.stack([right, found - right, wanted - right], axis=1).astype(np.int64)


def _covered_by_tokens(batch: Batch, gold: Entities, predicted: Entities) -> npt.NDArray[np.int64]:
    """Count the tokens that each side covers, by document, shape (D, 3)."""
    left, right = (_covered_tokens(batch, side) for side in (gold, predicted))
    owners = np.repeat(np.arange(len(batch)), batch.lengths)
    masks = (left & right, right & ~left, left & ~right)
    counts = [np.bincount(owners[mask], minlength=len(batch)) for mask in masks]
    return np.stack(counts, axis=1).astype(np.int64)


def _covered_tokens(batch: Batch, entities: Entities) -> npt.NDArray[np.bool_]:
    """Compute which tokens of a batch an entity covers at least partly, shape (N,)."""
    first, last = touched_tokens(
        batch.document_offsets,
        batch.starts,
        batch.ends,
        rows=entities.rows,
        begins=entities.starts,
        finishes=entities.ends,
    )
    touched = last >= first
    changes = np.zeros(batch.n_tokens + 1, np.int64)
    np.add.at(changes, first[touched], 1)
    np.add.at(changes, last[touched] + 1, -1)
    covered: npt.NDArray[np.bool_] = np.cumsum(changes[:-1]) > 0
    return covered
