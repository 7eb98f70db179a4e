"""Scores of batches equal those of the documents that the tags describe."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.evaluation.measures import Scores
from corpus.evaluation.scoring import GoldBatch, score, score_batches
from corpus.tags import UNKNOWN, bio_labels

#: Words, punctuation, line ends, and marks that join or split tokens.
CHARACTERS = "ab1²,. -\n\r\u0301·"


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """Draw documents whose spans begin and end anywhere, within tokens too."""
    actual = []
    for number in range(draw(st.integers(0, 4))):
        text = draw(st.text(st.sampled_from(CHARACTERS), max_size=14))
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
        labels = [draw(st.sampled_from(["A", "B", None])) for _ in pairwise(cuts)]
        pairs = zip(pairwise(cuts), labels, strict=True)
        spans = [Span(start, end, label) for (start, end), label in pairs if label]
        actual.append(Document(f"d{number}", text, tuple(spans)))
    return actual


def equal(left: Scores, right: Scores) -> bool:
    """Compare what both have."""
    return (
        left.ids == right.ids
        and left.leak == right.leak
        and list(left.classes) == list(right.classes)
        and all((left.classes[name] == right.classes[name]).all() for name in left.classes)
        and all((left.measures[name] == right.measures[name]).all() for name in left.measures)
        and (left.lines == right.lines).all()
    )


@given(documents(), st.data())
@example([Document("d0", "\u0301", (Span(0, 1, "A"),))], None)
@settings(max_examples=60, deadline=None)
def test_scores_of_batches_are_those_of_their_documents(gold, data) -> None:
    """Tags are drawn around those of the gold documents, over labels numbered in another way."""
    batch = make_batch(gold, labelled=True)
    labels = bio_labels(["A", "B", "C"][(data.draw(st.integers(0, 1)) if data else 0) :])
    number = batch.n_tokens
    tags = np.full(number, UNKNOWN, np.int16)
    if data:
        choices = st.integers(-1, len(labels) - 1)
        tags = np.array(data.draw(st.lists(choices, min_size=number, max_size=number)), np.int16)
        if data.draw(st.booleans()) and batch.labels:
            drawn = batch.with_tags(tags, labels).take(np.arange(len(batch)))
            right = np.array([labels.index(n) if n in labels else -1 for n in batch.labels])
            tags = np.where(drawn.tags % 2 == 0, right[batch.tags], drawn.tags).astype(np.int16)
    predicted = batch.with_tags(tags, labels)
    of_documents = score(gold, predicted.to_documents())
    assert equal(score_batches(GoldBatch.from_documents(gold, batch), predicted), of_documents)
    # Without the annotations as they were, the gold entities are those of the tags.
    aligned = score(batch.to_documents(), predicted.to_documents())
    assert equal(score_batches(batch, predicted), aligned)


def test_other_documents_are_refused() -> None:
    left, right = (make_batch([Document(name, "Ana")], labelled=False) for name in "ab")
    with pytest.raises(ValueError, match="different documents"):
        score_batches(left, right)
