"""Mentions are replaced, all other text stays the same to the byte, and nothing fails open."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.anonymizer import (
    CROSSING,
    NO_VALUE,
    REPLACED,
    UNCHANGED,
    UNKNOWN_CLASS,
    Mentions,
    anonymize,
)
from anonymizers.keys import Key
from anonymizers.mention import Mention
from anonymizers.operator import Operator
from anonymizers.policy import POLICIES, Policy, read_policy
from anonymizers.spans import Spans
from corpus.document import Document, Span
from corpus.formats.batches import batch_of

KEY = Key(bytes(range(32)))
CLASSES = ["PERSON", "DATE", "AGE", "LOCATION", "TELEPHONE", "EMAIL", "ID", "UNHEARD OF"]


def anonymized(documents: list[Document], policy: Policy, key: Key = KEY):  # type: ignore[no-untyped-def]
    notes = batch_of(documents)
    mentions = Mentions.of_spans(notes, Spans.of_notes(notes, "model"), policy)
    return anonymize(notes, mentions, policy, key)


TEXT = (
    "Ana\r\nPuig\tGarcía, \u202b12/3/2010\u202c; 45 a\u0303; 😀 Olot\u00a0 aná@x.es 93 555 01 02."
)


@given(st.data(), st.sampled_from(POLICIES))
def test_text_outside_of_mentions_is_the_same(data: st.DataObject, name: str) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(TEXT)), max_size=8)))
    spans = [
        Span(a, b, data.draw(st.sampled_from(CLASSES)))
        for a, b in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    document = Document("1", TEXT, tuple(spans), "p")
    result = anonymized([Document("0", "nada"), document], read_policy(name))
    untouched, changed = result.notes.column("text").to_pylist()
    assert untouched == "nada" and 0 not in result.spans.rows
    old = Spans.of_notes(batch_of([document]), "model")
    kept = Mentions.of_spans(batch_of([document]), old, read_policy(name)).spans
    places = list(zip(kept.starts.tolist(), kept.ends.tolist(), strict=True))
    new = list(zip(result.spans.starts.tolist(), result.spans.ends.tolist(), strict=True))
    assert pieces(TEXT, places) == pieces(changed, new)
    assert result.counts.mentions.total() == len(places)


def pieces(text: str, places: list[tuple[int, int]]) -> list[str]:
    ends = [0, *(end for _, end in places)]
    starts = [*(start for start, _ in places), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


@pytest.mark.parametrize(
    ("spans", "text", "outcome"),
    [
        ([(0, 3, "PERSON")], "<PERSON> Puig", REPLACED),
        ([(0, 3, "UNHEARD OF")], "<UNHEARD OF> Puig", UNKNOWN_CLASS),
        ([(0, 8, "PERSON")], "<PERSON>", REPLACED),
    ],
)
def test_what_happened_is_counted(spans, text, outcome) -> None:  # type: ignore[no-untyped-def]
    document = Document("1", "Ana Puig", tuple(Span(*span) for span in spans))
    result = anonymized([document], read_policy("placeholders"))
    assert result.notes.column("text").to_pylist() == [text]
    ((key, number),) = result.counts.mentions.items()
    assert (key[0], key[1], key[3], number) == (spans[0][2], "model", outcome, 1)
    assert (result.counts.notes, result.counts.changed) == (1, 1)


def test_spans_that_cross_become_one_placeholder() -> None:
    notes = batch_of([Document("1", "Ana Puig García")])
    names = np.array(["PERSON", "LOCATION"], object)
    spans = Spans(np.array([0, 0]), np.array([0, 4]), np.array([8, 15]), names, names)
    policy = read_policy("surrogates")
    result = anonymize(notes, Mentions.of_spans(notes, spans, policy), policy, KEY)
    assert result.notes.column("text").to_pylist() == ["<LOCATION>"]
    assert [key[2:] for key in result.counts.mentions] == [("placeholder", CROSSING)]


def test_what_has_no_surrogate_becomes_a_placeholder() -> None:
    document = Document("1", "el 31/02/2010 y !!", (Span(3, 13, "DATE"), Span(16, 18, "PERSON")))
    result = anonymized([document], read_policy("surrogates"))
    assert result.notes.column("text").to_pylist() == ["el <DATE> y <PERSON>"]
    assert {key[3] for key in result.counts.mentions} == {NO_VALUE}


def test_a_patient_has_the_same_surrogates_in_all_notes_in_any_order() -> None:
    def note(number: int, text: str, *spans: tuple[int, int, str], group: str = "p") -> Document:
        return Document(str(number), text, tuple(Span(*span) for span in spans), group)

    documents = [
        note(1, "Marta Puig, 12/03/2010", (0, 10, "PERSON"), (12, 22, "DATE")),
        note(2, "Sra. PUIG", (5, 9, "PERSON")),
        note(3, "Marta Puig", (0, 10, "PERSON"), group="q"),
    ]
    policy = read_policy("surrogates")
    texts = anonymized(documents, policy).notes.column("text").to_pylist()
    again = anonymized(documents[::-1], policy).notes.column("text").to_pylist()
    assert texts == again[::-1]
    surname = texts[0].partition(",")[0].split()[1]
    assert texts[1].split()[1].lower() == surname.lower() != "puig"
    assert texts[2] != texts[0].partition(",")[0]
    other = anonymized(documents, policy, Key(bytes(32))).notes.column("text").to_pylist()
    assert all(a != b for a, b in zip(texts, other, strict=True))


class Failing(Operator, frozen=True):
    """Fails as its option says, as an operator of another package may."""

    how: dict[str, str]

    def replace(self, mention: Mention, key: Key) -> str | None:
        match self.how["way"]:
            case "exit":
                sys.exit(mention.text)
            case "same":
                return mention.text
        return "\ud800" if self.how["way"] == "half" else None

    def replace_all(self, mentions, key):  # type: ignore[no-untyped-def]
        if self.how["way"] == "nothing":
            return None
        return (self.replace(mention, key) for mention in mentions)


@pytest.mark.parametrize("way", ["exit", "half", "nothing", "none", "same"])
def test_an_operator_that_fails_leaves_no_text_and_no_error(way: str) -> None:
    policy = read_policy("placeholders")
    policy = Policy(policy.categories, {"person": Failing({"way": way})})
    result = anonymized([Document("1", "Ana", (Span(0, 3, "PERSON"),))], policy)
    expected = ("Ana", UNCHANGED) if way == "same" else ("<PERSON>", NO_VALUE)
    ((key, _),) = result.counts.mentions.items()
    assert (result.notes["text"][0].as_py(), key[3]) == expected


@pytest.mark.parametrize("end", [12, 21])
def test_a_name_within_what_stays_does_not_stay(end: int) -> None:
    notes = batch_of([Document("1", "médico Anna Puig aquí")])
    names = np.array(["PROFESSION", "PERSON"], object)
    spans = Spans(np.array([0, 0]), np.array([0, 7]), np.array([end, 16]), names, names)
    policy = read_policy("limited")
    mentions = Mentions.of_spans(notes, spans, policy)
    result = anonymize(notes, mentions, policy, KEY)
    (text,) = result.notes.column("text").to_pylist()
    assert "Anna" not in text and "Puig" not in text
