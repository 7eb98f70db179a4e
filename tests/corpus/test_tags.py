"""Tags: from entities and back, for any tags a tagger may give."""

from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import make_batch
from corpus.errors import Problems
from corpus.evaluation.scoring import score
from corpus.tags import (
    UNKNOWN,
    TokenSpans,
    bio_labels,
    classes_of,
    find_entities,
    tags_of_entities,
    well_formed,
)
from corpus.units import split_documents

LABELS = ("O", "B-AGE", "I-AGE", "B-NAME", "I-NAME")
#: The same labels as a tagger may list them.
SHUFFLED = ("I-NAME", "B-AGE", "O", "I-AGE", "B-NAME")
#: The tags of each document.
tagged = st.lists(st.lists(st.integers(UNKNOWN, 4), max_size=8), max_size=5)
thorough = settings(max_examples=60, deadline=None)


class Entity(NamedTuple):
    """The first and last token of the batch and the class of an entity."""

    first: int
    last: int
    name: str


class Tagged(NamedTuple):
    """Tags of documents, as a batch holds them."""

    tags: np.ndarray
    documents: np.ndarray


def columns(corpus: list[list[int]]) -> Tagged:
    tags = np.array([tag for document in corpus for tag in document], np.int16)
    return Tagged(tags, np.array([0, *accumulate(map(len, corpus))], np.int64))


def entities(found: TokenSpans, labels: tuple[str, ...]) -> list[Entity]:
    names = [classes_of(labels)[index] for index in found.classes.tolist()]
    rows = zip(found.first.tolist(), found.last.tolist(), names, strict=True)
    return [Entity(*row) for row in rows]


def entities_token_by_token(corpus: list[list[int]], labels: tuple[str, ...]) -> list[Entity]:
    """Read tags as CoNLL's evaluation does."""
    actual: list[Entity] = []
    token = 0
    for document in corpus:
        open_class = None
        for tag in document:
            kind, _, name = ("O" if tag == UNKNOWN else labels[tag]).partition("-")
            if kind == "O":
                open_class = None
            elif kind == "I" and name == open_class:
                actual[-1] = actual[-1]._replace(last=token)
            else:
                actual.append(Entity(token, token, name))
                open_class = name
            token += 1
    return actual


@given(tagged, st.sampled_from([LABELS, SHUFFLED]))
@example([[], [], []], LABELS)
@example([], LABELS)
@example([[], [1], [], [2, 2], []], LABELS)
@example([[1, -1, 2], [-1]], LABELS)
@thorough
def test_entities_are_those_found_token_by_token(corpus, labels) -> None:
    actual = find_entities(*columns(corpus), labels)
    assert entities(actual, labels) == entities_token_by_token(corpus, labels)


def test_nothing_is_found_where_nothing_is_labelled() -> None:
    for labels in [(), ("O",)]:
        actual = find_entities(*columns([[-1, -1], [], [-1]]), labels)
        assert entities(actual, labels) == []


@st.composite
def spans_of_tokens(draw: st.DrawFn) -> tuple[list[Entity], np.ndarray]:
    """Return entities that share no token, often adjacent, none across documents."""
    lengths = draw(st.lists(st.integers(0, 8), max_size=5))
    documents = np.array([0, *accumulate(lengths)], np.int64)
    actual = []
    for begin, end in zip(documents[:-1].tolist(), documents[1:].tolist(), strict=True):
        token = begin
        while token < end:
            last = draw(st.integers(token, end - 1))
            if name := draw(st.sampled_from(["AGE", "NAME", None])):
                actual.append(Entity(token, last, name))
            token = last + 1
    return actual, documents


@given(spans_of_tokens(), st.sampled_from([LABELS, SHUFFLED]))
@example(
    ([Entity(0, 0, "AGE"), Entity(1, 2, "AGE"), Entity(3, 3, "AGE")], np.array([0, 4])), LABELS
)
@example(([], np.array([0])), LABELS)
@thorough
def test_entities_become_tags_and_the_same_entities(drawn, labels) -> None:
    expected, documents = drawn
    names = classes_of(labels)
    given_entities = TokenSpans(
        np.array([entity.first for entity in expected], np.int64),
        np.array([entity.last for entity in expected], np.int64),
        np.array([names.index(entity.name) for entity in expected], np.int64),
    )
    tags = tags_of_entities(given_entities, int(documents[-1]), labels)
    assert tags.dtype == np.int16
    assert entities(find_entities(tags, documents, labels), labels) == expected
    assert np.array_equal(well_formed(tags, documents, labels), tags)
    outside = set(range(documents[-1]))
    outside -= {token for first, last, _ in expected for token in range(first, last + 1)}
    assert {token for token, tag in enumerate(tags) if labels[tag] == "O"} == outside


@given(tagged, st.sampled_from([LABELS, SHUFFLED]))
@example([[], [2, 2], [], [4]], LABELS)
@thorough
def test_well_formed_tags_say_the_same_and_are_what_entities_give(corpus, labels) -> None:
    tags, documents = columns(corpus)
    before = tags.copy()
    repaired = well_formed(tags, documents, labels)
    assert np.array_equal(tags, before)
    assert np.array_equal(well_formed(repaired, documents, labels), repaired)
    actual = find_entities(tags, documents, labels)
    assert entities(find_entities(repaired, documents, labels), labels) == entities(actual, labels)
    assert np.array_equal(repaired == UNKNOWN, tags == UNKNOWN)
    written = tags_of_entities(actual, len(tags), labels)
    assert np.array_equal(repaired[tags != UNKNOWN], written[tags != UNKNOWN])


def test_labels_name_each_class_once_and_in_order() -> None:
    assert bio_labels(["NAME", "AGE", "NAME"]) == LABELS
    assert bio_labels([]) == ("O",)
    assert classes_of(SHUFFLED) == ("AGE", "NAME")
    assert classes_of(("O",)) == classes_of(()) == ()
    # A class may be called as it likes.
    odd = ["B-X", "O", "I", "edat-año", "-"]
    assert classes_of(bio_labels(odd)) == tuple(sorted(odd))


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize(
    ("split", "misaligned"),
    [
        (
            "train",
            [
                "S0211-69952009000500017-1",
                "S0212-16112011000600041-1",
                "S0212-71992007000100006-1",
                "S0365-66912011001000003-2",
            ],
        ),
        ("dev", ["S0212-71992005001000009-1"]),
    ],
)
def test_gold_spans_survive(gold, split, unit, misaligned) -> None:
    crossing, problems = Problems(), Problems()
    documents = list(split_documents(gold[split], unit, crossing))
    assert not crossing.counts
    batch = make_batch(documents, labelled=True, problems=problems)
    scores = score(documents, batch.to_documents())
    assert scores.counts("ner").f1 >= 0.9995
    assert scores.counts("ner").false_negatives == len(misaligned)
    # To widen a span leaves nothing of it uncovered.
    assert scores.counts("covered").recall == 1
    (kind,) = problems.counts
    assert problems.counts[kind] == len(misaligned)
    named = [problem.where.removeprefix("document ") for problem in problems.named[kind]]
    assert [name.partition("#")[0] for name in named] == misaligned
    texts = {document.id: document.text for document in documents}
    for problem in problems.named[kind]:
        start, end = map(int, problem.detail.split()[0].split("-"))
        assert texts[problem.where.removeprefix("document ")][start:end] not in str(problem)
