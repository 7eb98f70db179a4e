"""Spliced copies hold what tokenizing their texts anew gives."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document, Span
from corpus.tags import UNKNOWN, find_entities
from corpus.tokens import tokenize
from taggers.augmentation.splicing import Replacements, splice

thorough = settings(max_examples=150, deadline=None)

WORDS = ["Ana", "Vist", "col·legi", "l'home", "12/3/2010", "👩", "e\u0301s", "de", "NHC", "."]
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
gaps = st.sampled_from(["", " ", "\n", " - ", "\ufeff", "ç"])
pieces = st.tuples(gaps, words, st.sampled_from([None, "A", "B"]))
phrase_lists = st.lists(words, min_size=1, max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Return a document with spans that are whole tokens."""
    text, spans = "", []
    for gap, word, label in draw(st.lists(pieces, max_size=5)):
        text += gap
        if label:
            spans.append((len(text), len(text) + len(word), label))
        text += word
    text += draw(gaps)
    tokens = tokenize([text])
    starts, ends = set(tokens.starts.tolist()), set(tokens.ends.tolist())
    kept = tuple(Span(*span) for span in spans if span[0] in starts and span[1] in ends)
    return Document(draw(st.text("xyz", max_size=3)), text, kept, draw(st.none() | st.just("g")))


def replaced(document: Document, chosen: dict[int, str]) -> Document:
    """Replace the spans of a document by texts, one string operation after another."""
    text, spans = document.text, []
    for number, span in reversed(list(enumerate(document.spans))):
        new = chosen.get(number, text[span.start : span.end])
        text = text[: span.start] + new + text[span.end :]
        shift = len(new) - (span.end - span.start)
        spans = [Span(other.start + shift, other.end + shift, other.label) for other in spans]
        spans.append(Span(span.start, span.start + len(new), span.label))
    return Document(document.id, text, tuple(spans), document.group)


def entities_by_document(batch: Batch) -> list[list[tuple[int, int]]]:
    result = find_entities(batch.tags, batch.document_offsets, batch.labels)
    owners = np.searchsorted(batch.document_offsets, result.first, side="right") - 1
    rows: list[list[tuple[int, int]]] = [[] for _ in range(len(batch))]
    for owner, first, last in zip(owners, result.first, result.last, strict=True):
        rows[owner].append((int(first), int(last)))
    return rows


def replacements_of(rows: list[tuple[int, int, int, int]]) -> Replacements:
    return Replacements(*np.array(rows, np.int64).reshape(-1, 4).T)


def phrases_of(texts: list[str]) -> Batch:
    return make_batch([Document(f"p{n}", text) for n, text in enumerate(texts)], labelled=False)


def is_tokenized_alike(document: Document) -> bool:
    """Return whether every span of a document begins and ends where a token does."""
    tokens = tokenize([document.text])
    starts, ends = set(tokens.starts.tolist()), set(tokens.ends.tolist())
    return all(span.start in starts and span.end in ends for span in document.spans)


@thorough
@given(st.lists(documents(), min_size=1, max_size=4), phrase_lists, st.data())
def test_copies_are_the_documents_with_replaced_texts(
    corpus: list[Document], texts: list[str], data: st.DataObject
) -> None:
    batch = make_batch(corpus, labelled=True, classes=("A", "B"))
    phrases, entities = phrases_of(texts), entities_by_document(batch)
    assume(all(len(a) == len(b.spans) for a, b in zip(entities, corpus, strict=True)))
    chosen = data.draw(st.lists(st.integers(0, len(corpus) - 1), max_size=6))
    rows, expected = [], []
    for copy, document in enumerate(chosen):
        new = {}
        for number, (first, last) in enumerate(entities[document]):
            phrase = data.draw(st.none() | st.integers(0, len(texts) - 1))
            if phrase is not None:
                new[number] = texts[phrase]
                rows.append((copy, first, last, phrase))
        expected.append(replaced(corpus[document], new))
    assume(all(is_tokenized_alike(copy) for copy in expected))
    copies = splice(batch, np.array(chosen, np.int64), replacements_of(rows), phrases)
    again = make_batch(expected, labelled=True, classes=("A", "B"))
    assert copies.to_documents() == expected
    assert_same_tokens(copies, again)


def assert_same_tokens(one: Batch, other: Batch) -> None:
    for name in ("ids", "texts", "groups"):
        assert getattr(one, name).equals(getattr(other, name))
    for name in ("starts", "ends", "document_offsets", "tags"):
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype
        assert left.tolist() == right.tolist()
    assert one.word_ids.dtype == np.int32
    assert one.labels == other.labels
    assert [one.vocabulary[word] for word in one.word_ids] == [
        other.vocabulary[word] for word in other.word_ids
    ]
    assert set(one.vocabulary) == set(other.vocabulary)
    assert len(one.vocabulary) == len(other.vocabulary)


def test_a_copy_keeps_weights_and_drops_streams() -> None:
    batch = make_batch([Document("a", "Ana ve"), Document("b", "Pau")], labelled=True)
    batch = batch.with_weights(np.array([0.5, 2], np.float32))
    batch = batch.with_streams({"header": Stream.from_values([None, "x", None])})
    copies = splice(batch, np.array([1, 0, 1]), replacements_of([]), phrases_of([]))
    assert copies.weights.tolist() == [2, 0.5, 2]
    assert copies.streams == {}
    assert copies.texts.to_pylist() == ["Pau", "Ana ve", "Pau"]


def test_unknown_and_outside_tags_are_those_of_the_phrase() -> None:
    batch = make_batch([Document("a", "x y z", (Span(4, 5, "A"),))], labelled=True)
    batch = batch.with_tags(np.array([UNKNOWN, 0, 2], np.int16), batch.labels)  # I-A begins
    rows = [(0, 0, 0, 0), (0, 1, 1, 0), (0, 2, 2, 0)]
    copies = splice(batch, np.zeros(1, np.int64), replacements_of(rows), phrases_of(["m n"]))
    assert copies.tags.tolist() == [-1, -1, 0, 0, 1, 2]


def test_a_phrase_without_tokens_is_refused() -> None:
    batch = make_batch([Document("a", "x")], labelled=True)
    with pytest.raises(ValueError, match="without tokens"):
        splice(batch, np.zeros(1, np.int64), replacements_of([(0, 0, 0, 0)]), phrases_of([" "]))
