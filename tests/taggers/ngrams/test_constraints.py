"""The final filter, and which of overlapping entities remains."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.tags import TokenSpans, find_entities
from taggers.ngrams.constraints import Constraints, leftmost_longest, masks_of

MENTIONS = {"EMAIL": "ana.{}@mail.es", "AGE": "{} años", "RARE": "x{}"}


def batch_of(number: int, *kinds: str) -> Batch:
    documents = []
    for row in range(number):
        for kind in kinds:
            text = MENTIONS[kind].format(row)
            documents.append(
                Document(f"{kind}-{row}", f"en {text}.", (Span(3, 3 + len(text), kind),))
            )
    return make_batch(documents, labelled=True, classes=MENTIONS)


def test_entities_have_the_characters_and_the_words_of_their_class() -> None:
    constraints = Constraints.from_training(batch_of(40, "EMAIL", "AGE"))
    other = batch_of(60, "EMAIL", "AGE", "RARE")
    entities = find_entities(other.tags, other.document_offsets, other.labels)
    met = constraints.met(masks_of(other), entities.first, entities.last)
    age, email, rare = range(3)
    for kind in (age, email):
        assert met[entities.classes == kind, kind].all()
    assert not met[entities.classes == email, age].any()
    assert not met[entities.classes == age, email].any()
    assert met[:, rare].all()  # of which there were too few
    longer = constraints.met(
        masks_of(other), entities.first, entities.last + 1
    )  # with the full stop
    assert not longer[entities.classes == age, age].any()


def test_exceptions_do_not_lift_a_constraint() -> None:
    train = batch_of(400, "AGE")
    odd = make_batch([Document("odd", "@", (Span(0, 1, "AGE"),))], labelled=True, classes=MENTIONS)
    entities = find_entities(train.tags, train.document_offsets, train.labels)
    texts = [document.text for document in train.to_documents()]
    spans = [document.spans for document in train.to_documents()]
    documents = [
        Document(str(row), text, own)
        for row, (text, own) in enumerate(zip(texts, spans, strict=True))
    ]
    both = make_batch([*documents, *odd.to_documents()], labelled=True, classes=MENTIONS)
    constraints = Constraints.from_training(both)
    assert constraints.met(masks_of(train), entities.first, entities.last)[:, 0].all()
    assert not constraints.met(masks_of(odd), np.array([0]), np.array([0]))[0, 0]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=12))
def test_of_overlapping_spans_the_leftmost_longest_remains(pairs: list[tuple[int, int]]) -> None:
    first = np.array([begin for begin, _ in pairs], np.int64)
    last = first + np.array([more for _, more in pairs], np.int64)
    kept = leftmost_longest(TokenSpans(first, last, np.zeros(len(pairs), np.int64)))
    expected, end = [], -1
    for begin in range(31):
        here = [row for row in range(len(pairs)) if first[row] == begin]
        if begin > end and here:
            longest = max(here, key=lambda row: (last[row], -row))
            expected.append(longest)
            end = last[longest]
    assert kept.tolist() == expected
