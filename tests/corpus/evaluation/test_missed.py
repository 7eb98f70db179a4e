"""What predictions leave in gold documents."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.evaluation.error_analysis import (
    MISSED,
    WRONG_BORDER,
    WRONG_CLASS,
    EntityError,
    pair_mentions,
)
from corpus.evaluation.missed import NoteCounts, find_missed, missed_kinds
from corpus.evaluation.scoring import score

TEXT = "a b c d e f g h"


@st.composite
def notes(draw: st.DrawFn) -> list[Document]:
    """Draw three notes with entities of single letters or several."""
    documents = []
    for name in "xyz":
        bounds = sorted(draw(st.sets(st.integers(0, 8), max_size=6)))
        pairs = list(zip(bounds[::2], bounds[1::2], strict=False))
        labels = draw(st.lists(st.sampled_from("AB"), min_size=len(pairs), max_size=len(pairs)))
        spans = (Span(2 * i, 2 * j - 1, label) for (i, j), label in zip(pairs, labels, strict=True))
        documents.append(Document(name, TEXT, tuple(spans)))
    return documents


@given(gold=notes(), predicted=notes())
def test_what_is_not_found_is_of_one_kind(gold: list[Document], predicted: list[Document]) -> None:
    missed = find_missed(gold, predicted)
    assert sum(missed.kinds.values()) == score(gold, predicted).counts().false_negatives
    covered = {
        document.id: {c for span in document.spans for c in range(span.start, span.end)}
        for document in predicted
    }
    left = [
        (document.id, span.label)
        for document in gold
        for span in document.spans
        if not covered[document.id] & set(range(span.start, span.end))
    ]
    assert missed.kinds[MISSED] == len(left)
    assert missed.all_notes == NoteCounts(3, len({name for name, _ in left}))
    for label, counts in missed.notes.items():
        own = {d.id for d in gold if any(span.label == label for span in d.spans)}
        assert counts == NoteCounts(len(own), len({name for name, other in left if other == label}))


@given(gold=notes(), predicted=notes())
def test_errors_are_of_the_same_kinds(gold: list[Document], predicted: list[Document]) -> None:
    errors = [
        EntityError(row, *pair)
        for row, (left, right) in enumerate(zip(gold, predicted, strict=True))
        for pair in pair_mentions(left.spans, right.spans)
    ]
    kinds = sum(missed_kinds(errors).values(), Counter[str]())
    assert kinds == Counter(find_missed(gold, predicted).kinds)


def test_a_border_is_wrong_if_an_entity_of_the_class_overlaps() -> None:
    gold = Document("x", TEXT, (Span(0, 5, "A"), Span(6, 9, "B"), Span(10, 11, "A")))
    predicted = Document("x", TEXT, (Span(0, 1, "B"), Span(2, 5, "A"), Span(6, 9, "A")))
    kinds = find_missed([gold], [predicted]).kinds
    assert kinds == {MISSED: 1, WRONG_BORDER: 1, WRONG_CLASS: 1}
    assert find_missed([gold], []).kinds[MISSED] == 3
