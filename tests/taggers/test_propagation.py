"""Names that come again are tagged as a slow reading of the rules tags them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.errors import InputError
from corpus.patients import number_patients
from corpus.tags import bio_labels, classes_of, find_entities, well_formed
from taggers.base import Tagging
from taggers.options import Reach
from taggers.propagation import MIN_PROBABILITY, propagate

LABELS = bio_labels(["LOC", "PERSON"])
CLASSES = classes_of(LABELS)


@dataclass(frozen=True)
class Entity:
    """Tokens of a document, with the probability of each class."""

    first: int
    last: int
    kind: str
    row: tuple[float, ...]


Found = list[list[Entity]]  # by document


def batch_of(documents: Sequence[Sequence[str]]) -> Batch:
    batch = make_batch(
        [Document(str(number), " ".join(words)) for number, words in enumerate(documents)],
        labelled=False,
    )
    assert [batch.vocabulary[word] for word in batch.word_ids] == [
        word for document in documents for word in document
    ]
    return batch


def entities_of(tagging: Tagging, batch: Batch) -> Found:
    """Return the entities of each document, whose rows are in the order of `find_entities`."""
    spans = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    assert tagging.entity_probabilities.shape == (len(spans.first), len(classes_of(tagging.labels)))
    result: Found = [[] for _ in range(len(batch))]
    columns = (spans.first, spans.last, spans.classes, tagging.entity_probabilities)
    for first, last, kind, row in zip(*(column.tolist() for column in columns), strict=True):
        document = int(np.searchsorted(batch.document_offsets, first, side="right")) - 1
        begin = int(batch.document_offsets[document])
        name = classes_of(tagging.labels)[kind]
        result[document].append(Entity(first - begin, last - begin, name, tuple(row)))
    return result


def lent_by(
    documents: Sequence[Sequence[str]], tagged: Found, notes: Sequence[int], classes: Sequence[str]
) -> dict[tuple[int, str], str]:
    """Return the class of each word that the full names of a note lend; the first name counts."""
    lent: dict[tuple[int, str], str] = {}
    for words, entities, note in zip(documents, tagged, notes, strict=True):
        for entity in entities:
            sure = entity.row[CLASSES.index(entity.kind)] >= MIN_PROBABILITY
            if sure and entity.last > entity.first and entity.kind in classes:
                for word in words[entity.first : entity.last + 1]:
                    lent.setdefault((note, word), entity.kind)
    return lent


def is_name(words: Sequence[str], place: int) -> bool:
    word = words[place]
    beside = [*words[max(place - 1, 0) : place], *words[place + 1 : place + 2]]
    return len(word) >= 3 and word[0].isupper() and "@" not in beside


def added_to(words: Sequence[str], free: Sequence[bool]) -> set[int]:
    """Take each run of free words from its first name to its last."""
    added: set[int] = set()
    place = 0
    while place < len(words):
        end = place
        while end < len(words) and free[end]:
            end += 1
        names = [number for number in range(place, end) if is_name(words, number)]
        if names:
            added.update(range(names[0], names[-1] + 1))
        place = max(end, place + 1)
    return added


def with_texts(
    documents: Sequence[Sequence[str]], tagged: Found, notes: Sequence[int], classes: Sequence[str]
) -> list[dict[tuple[int, int], str]]:
    """Return where the texts of entities stand again, the longest and leftmost first."""
    texts: dict[tuple[int, tuple[str, ...]], str] = {}
    for words, entities, note in zip(documents, tagged, notes, strict=True):
        for entity in entities:
            text = tuple(words[entity.first : entity.last + 1])
            is_long = len("".join(text)) >= 4
            is_marked = text[0][0].isupper() or any(map(str.isdigit, "".join(text)))
            sure = entity.row[CLASSES.index(entity.kind)] >= MIN_PROBABILITY
            if entity.kind in classes and sure and is_long and is_marked:
                texts.setdefault((note, text), entity.kind)
    places: list[dict[tuple[int, int], str]] = []
    for words, entities, note in zip(documents, tagged, notes, strict=True):
        taken = {place for e in entities for place in range(e.first, e.last + 1)}
        places.append({})
        for length in range(len(words), 0, -1):
            for first in range(len(words) - length + 1):
                end = first + length
                kind = texts.get((note, tuple(words[first:end])))
                beside = [*words[max(first - 1, 0) : first], *words[end : end + 1]]
                if kind and "@" not in beside and taken.isdisjoint(range(first, end)):
                    places[-1][first, end - 1] = kind
                    taken.update(range(first, end))
    return places


def by_the_rules(
    documents: Sequence[Sequence[str]],
    tagged: Found,
    notes: Sequence[int],
    reaches: Mapping[str, str],
) -> tuple[Found, list[set[int]]]:
    """Return the entities of documents after propagation, and which tokens are added."""
    lent = lent_by(documents, tagged, notes, [c for c in reaches if reaches[c] == "words"])
    recurring = with_texts(documents, tagged, notes, list(reaches))
    after: Found = []
    every: list[set[int]] = []
    for words, entities, note, texts in zip(documents, tagged, notes, recurring, strict=True):
        kinds: list[str | None] = [None] * len(words)
        known = {(entity.first, entity.last): entity.kind for entity in entities}
        for (first, last), kind in (known | texts).items():
            kinds[first : last + 1] = [kind] * (last + 1 - first)
        free = [
            kind is None and (note, word) in lent for kind, word in zip(kinds, words, strict=True)
        ]
        added = added_to(words, free)
        for place in added:
            kinds[place] = lent[note, words[place]]
        begins = {first for first, _ in known | texts}
        spans: list[list[int]] = []
        for place, kind in enumerate(kinds):
            if kind is None:
                continue
            joins = place > 0 and kinds[place - 1] == kind
            joins &= place not in begins or place - 1 in added
            if joins:
                spans[-1][1] = place
            else:
                spans.append([place, place])
        old = {(entity.first, entity.last): entity.row for entity in entities}
        after.append([])
        for first, last in spans:
            name = kinds[first]
            new = tuple(MIN_PROBABILITY if known == name else 0.0 for known in CLASSES)
            after[-1].append(Entity(first, last, name, old.get((first, last), new)))
        every.append(added.union(*(range(first, last + 1) for first, last in texts)))
    return after, every


@dataclass(frozen=True)
class Case:
    """Tagged documents and the note of each."""

    documents: list[list[str]]
    batch: Batch
    tagging: Tagging
    notes: list[int]

    def propagated(self, reaches: Mapping[str, Reach]) -> Tagging:
        return propagate(self.tagging, self.batch, np.array(self.notes, np.int64), reaches)


def tagging_of(batch: Batch, tags: Sequence[int], rows: Sequence[Sequence[float]]) -> Tagging:
    result = well_formed(np.array(tags, np.int16), batch.document_offsets, LABELS)
    number = len(find_entities(result, batch.document_offsets, LABELS).first)
    tokens = np.linspace(0.1, 0.8, len(result))
    return Tagging(
        result,
        LABELS,
        np.linspace(0.2, 0.7, len(batch)),
        tokens,
        np.tile(tokens[:, None], (1, len(LABELS))),
        np.array([list(row) for row in rows[:number]], np.float64).reshape(number, len(CLASSES)),
    )


# Most words are names, and most entities long and sure: otherwise little is lent.
_WORDS = st.sampled_from(["Ana", "Mar", "Puig", "Ana", "de", "Li", "mar", "@", "y", "2018"])
_SURENESS = st.sampled_from([0.0, 0.5, MIN_PROBABILITY - 1e-9, MIN_PROBABILITY, 1.0, 1.0])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw tagged documents, of which one begins with a name that lends all its words."""
    documents = draw(st.lists(st.lists(_WORDS, max_size=9), min_size=1, max_size=5))
    full = draw(st.integers(0, len(documents) - 1))
    lender = draw(st.lists(_WORDS, min_size=2, max_size=5))
    documents[full][:0] = lender
    number = sum(map(len, documents))
    label = st.sampled_from([0, 0, 0, 1, 2, 3, 3, 4, 4])
    tags = draw(st.lists(label, min_size=number, max_size=number))
    place = sum(map(len, documents[:full]))
    tags[place : place + len(lender)] = [3, *[4] * (len(lender) - 1)]
    row = st.lists(_SURENESS, min_size=len(CLASSES), max_size=len(CLASSES))
    rows = draw(st.lists(row, min_size=number, max_size=number))
    many = len(documents)
    notes = draw(st.lists(st.integers(0, 1), min_size=many, max_size=many))
    batch = batch_of(documents)
    bare = tagging_of(batch, tags, rows)
    before = np.searchsorted(find_entities(bare.tags, batch.document_offsets, LABELS).first, place)
    rows[int(before)] = [1.0] * len(CLASSES)
    return Case(documents, batch, tagging_of(batch, tags, rows), notes)


_REACHES = st.sampled_from(["text", "words"])
_ASKED = st.one_of(
    st.fixed_dictionaries({"PERSON": _REACHES}, optional={"LOC": _REACHES}),
    st.dictionaries(st.sampled_from(CLASSES), _REACHES),
)


@given(cases(), _ASKED)
def test_tags_and_probabilities_are_those_of_the_rules(
    case: Case, asked: Mapping[str, Reach]
) -> None:
    before = entities_of(case.tagging, case.batch)
    tags, rows = case.tagging.tags.copy(), case.tagging.entity_probabilities.copy()
    expected, added = by_the_rules(case.documents, before, case.notes, asked)
    actual = case.propagated(asked)
    assert actual.labels == LABELS
    assert actual.tags.dtype == np.int16
    assert entities_of(actual, case.batch) == expected
    assert (well_formed(actual.tags, case.batch.document_offsets, LABELS) == actual.tags).all()
    places = [
        int(begin) + place
        for begin, places_added in zip(case.batch.document_offsets[:-1], added, strict=True)
        for place in places_added
    ]
    tokens = case.tagging.token_confidence.copy()
    tokens[places] = MIN_PROBABILITY
    assert (actual.token_confidence == tokens).all()
    assert (actual.confidence == case.tagging.confidence).all()
    assert actual.marginals is case.tagging.marginals
    assert (case.tagging.tags == tags).all()  # what is given stays as it was
    assert (case.tagging.entity_probabilities == rows).all()
    assert not (case.tagging.token_confidence == MIN_PROBABILITY).any()


# By hand: the tags of PERSON are B and I, those of LOC are L and l.

_LETTERS = dict(zip("OLlBI", range(5), strict=True))


def made(*documents: str, tags: str, sure: Sequence[float] = (), notes: Sequence[int] = ()) -> Case:
    """Tag documents by letters, those of documents between spaces."""
    words = [document.split() for document in documents]
    assert [len(part) for part in tags.split(" ")] == [len(word) for word in words]
    batch = batch_of(words)
    rows = [[probability, probability] for probability in (*sure, *[1.0] * batch.n_tokens)]
    numbers = [_LETTERS[letter] for letter in tags.replace(" ", "")]
    tagging = tagging_of(batch, numbers, rows)
    assert tagging.tags.tolist() == numbers, "the tags are not well formed"
    return Case(words, batch, tagging, list(notes) or [0] * len(words))


def letters(tagging: Tagging, batch: Batch) -> str:
    """Return the tags of documents, a letter each."""
    text = "".join("OLlBI"[number] for number in tagging.tags)
    return " ".join(
        text[first:last]
        for first, last in zip(batch.document_offsets, batch.document_offsets[1:], strict=False)
    )


@pytest.mark.parametrize(
    ("documents", "before", "after"),
    [
        (["Vigo", "en Vigo", "vigo"], "L OO O", "L OL O"),
        (["Ana Puig", "Ana Puig Mar", "Ana Puig Mar"], "BI BII OOO", "BI BII BII"),
        (["Ana Puig", "Ana Puig Ana Puig"], "BI OOOO", "BI BIBI"),
        (["Vigo", "Vigo", "Vigo"], "L B O", "L B L"),
        (["Vigo", "Vigo @ x", "x @ Vigo"], "L OOO OOO", "L OOO OOO"),
        (["Ana @ x", "Ana @ x"], "Lll OOO", "Lll Lll"),
        (["vigo 2", "vigo 2", "vigo"], "Ll OO O", "Ll Ll O"),
        (["Ana", "Ana"], "B O", "B O"),
    ],
)
def test_a_text_is_tagged_wherever_it_stands_again(documents, before, after) -> None:
    case = made(*documents, tags=before)
    actual = case.propagated({"PERSON": "text", "LOC": "text"})
    assert letters(actual, case.batch) == after


def test_without_the_probabilities_of_tokens_there_are_none() -> None:
    case = made("Ana Puig", "Puig", tags="BI O")
    bare = replace(case, tagging=replace(case.tagging, token_confidence=None, marginals=None))
    actual = bare.propagated({"PERSON": "words"})
    assert letters(actual, case.batch) == "BI B"
    assert actual.token_confidence is None and actual.marginals is None


def test_without_an_entity_nothing_changes() -> None:
    batch = batch_of([["Ana", "Puig"], ["Ana"]])
    outside = Tagging(np.zeros(3, np.int16), ("O",), np.ones(2), None, None, np.zeros((0, 0)))
    propagated = propagate(outside, batch, np.arange(2), {})
    assert propagated.tags.tolist() == [0, 0, 0]


def test_a_class_that_the_tagger_does_not_know_is_an_error_that_lists_those_it_knows() -> None:
    case = made("Ana Puig", tags="BI")
    for asked in ({"DOCTOR": "text"}, {"PERSON": "text", "DOCTOR": "words"}, {"person": "text"}):
        with pytest.raises(InputError, match=r"does not tag (DOCTOR|person); it tags LOC, PERSON"):
            case.propagated(asked)
    # It is known before there is anything to tag.
    empty = batch_of([])
    with pytest.raises(InputError, match="does not tag DOCTOR"):
        propagate(tagging_of(empty, [], []), empty, np.arange(0), {"DOCTOR": "text"})


@given(st.lists(st.sampled_from([None, None, "p", "q", ""]), max_size=8))
def test_documents_of_a_group_are_of_one_note_and_others_stand_alone(groups) -> None:
    batch = make_batch(
        [Document(str(number), "Ana", (), group) for number, group in enumerate(groups)],
        labelled=False,
    )
    numbers = number_patients(batch.groups, batch.ids)
    assert numbers.dtype == np.int64 and numbers.shape == (len(groups),)
    for left, one in enumerate(groups):
        for right, other in enumerate(groups):
            together = left == right or (bool(one) and one == other)
            assert (numbers[left] == numbers[right]) == together
