"""The documents of a round, compared with sets of words document by document."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.active_learning.choice import ChoiceLimits, choose_round
from corpus.batch import make_batch
from corpus.document import Document, Span
from taggers import Tagging

WORDS = ["Anna", "anna", "7", "12", "35", "tos", "Vic", ":"]


def tagging_of(batch):
    return Tagging(batch.tags, batch.labels, np.ones(len(batch)))


@st.composite
def cases(draw):
    """Documents with tags, a utility for each, and limits."""
    documents = []
    for index in range(draw(st.integers(1, 10))):
        words = draw(st.lists(st.sampled_from(WORDS), max_size=6))
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        spans = tuple(
            Span(int(end) - len(word), int(end), kind)
            for word, end in zip(words, ends, strict=True)
            if (kind := draw(st.sampled_from(["", "", "PERSON", "LOCATION"])))
        )
        documents.append(Document(str(index), " ".join(words), spans))
    utility = draw(
        st.lists(
            st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=len(documents), max_size=len(documents)
        )
    )
    limits = ChoiceLimits(
        documents=draw(st.integers(0, 6)),
        tokens=draw(st.none() | st.integers(0, 12)),
        near_duplicate=draw(st.sampled_from([0.3, 0.5, 1.0, math.inf])),
        class_share=draw(st.sampled_from([0.0, 0.5, 1.0])),
        turn=draw(st.integers(0, 3)),
        full=draw(st.booleans()),
    )
    return documents, utility, limits


def words_of(document):
    """Return the distinct words of a document, and the classes of its entities."""
    outside, text = [], list(document.text)
    for span in document.spans:
        text[span.start : span.end] = " " * (span.end - span.start)
    outside = "".join(text).lower().translate(dict.fromkeys(range(48, 58), "0")).split()
    return {*outside, *((span.label,) for span in document.spans)}


@given(cases())
def test_a_round_is_filled_one_document_after_the_other(case):
    documents, utility, limits = case
    batch = make_batch(documents, labelled=True, classes=["PERSON", "LOCATION"])
    found = choose_round(np.array(utility), batch, limits, tagging_of(batch)).tolist()

    sets, lengths = [words_of(each) for each in documents], batch.lengths.tolist()
    order = sorted(range(len(documents)), key=lambda i: (-utility[i], i))
    expected, tokens = [], math.inf if limits.tokens is None else limits.tokens

    def fill(allowed, size, near_duplicates=False):
        nonlocal tokens
        for place in order:
            if len(expected) >= size:
                return
            alike = any(
                len(sets[place] & sets[other]) / len(sets[place] | sets[other])
                >= limits.near_duplicate
                for other in expected
            )
            fits = allowed(place) and 0 < lengths[place] <= tokens and place not in expected
            if fits and (near_duplicates or not alike):
                expected.append(place)
                tokens -= lengths[place]

    if limits.class_share:
        total = round(limits.class_share * limits.documents)
        odd = limits.turn % 2  # the class that has the odd document
        for number, name in enumerate(("LOCATION", "PERSON")):
            share = total // 2 + (total % 2 if number == odd else 0)
            fill(
                lambda i, name=name: any(s.label == name for s in documents[i].spans),
                len(expected) + share,
            )
    fill(lambda i: True, limits.documents)
    if limits.full:
        fill(lambda i: True, limits.documents, near_duplicates=True)
    assert found == expected


def test_documents_that_differ_in_a_name_alone_are_near_duplicates():
    texts = ["Nombre : Anna", "Nombre : Pere", "Nombre : Vic", "se cita a Pere en Olot"]
    spans = [(Span(9, len(text), "PERSON"),) for text in texts[:2]]
    documents = [
        *(Document(str(i), texts[i], spans[i]) for i in range(2)),
        Document("2", texts[2], (Span(9, 12, "LOCATION"),)),
        Document("3", texts[3]),
    ]
    batch = make_batch(documents, labelled=True)
    utility, limits = np.array([0.9, 0.8, 0.7, 0.1]), ChoiceLimits(4, near_duplicate=1)
    assert choose_round(utility, batch, limits, tagging_of(batch)).tolist() == [0, 2, 3]
    assert choose_round(utility, batch, limits).tolist() == [0, 1, 2, 3]


def test_with_a_share_for_classes_a_rare_class_appears():
    documents = [Document(str(i), f"Ana {i}", (Span(0, 3, "PERSON"),)) for i in range(9)]
    documents.append(Document("9", "Vic", (Span(0, 3, "LOCATION"),)))
    batch = make_batch(documents, labelled=True)
    utility = np.linspace(1, 0, 10)
    without = choose_round(utility, batch, ChoiceLimits(4), tagging_of(batch))
    shared = choose_round(utility, batch, ChoiceLimits(4, class_share=0.5), tagging_of(batch))
    assert without.tolist() == [0, 1, 2, 3]
    assert sorted(shared.tolist()) == [0, 1, 2, 9]


def test_classes_take_turns_in_small_rounds():
    """Of eight classes, a share of three documents serves all in eight rounds, equally often."""
    kinds = [f"C{number}" for number in range(8)]
    documents = [
        Document(f"{kind}{i}", f"Ana {i}", (Span(0, 3, kind),)) for kind in kinds for i in range(3)
    ]
    batch = make_batch(documents, labelled=True)
    found = []
    for turn in range(8):
        limits = ChoiceLimits(3, class_share=1.0, turn=turn)
        chosen = choose_round(np.zeros(24), batch, limits, tagging_of(batch))
        assert len(chosen) == 3
        found += [documents[index].spans[0].label for index in chosen]
    assert sorted(found) == sorted(3 * kinds)
