"""Batches hold what a list of documents holds, whatever is done to them."""

import itertools
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import (
    NO_VALUE,
    Batch,
    Stream,
    are_among,
    batch_of_texts,
    concatenate,
    concatenate_streams,
    distinct,
    keys_of,
    make_batch,
)
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.tags import UNKNOWN
from corpus.tokens import tokenize
from corpus.tokens.characters import is_hidden
from tests.streams import stream_of

PIECES = [
    *("Ana", "l'home", "col·legi", "28027España", ".", "-", " ", "\r\n", "\ufeff", "\0", "e\u0301"),
    *("👩\u200d⚕\ufe0f", "12345678Z", "_"),
]
CLASSES = ["AGE", "EDAT·AÑO", "B-X", "O", "línea\nnueva", "日本"]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)
thorough = settings(max_examples=60, deadline=None)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Return a document whose spans begin and end where tokens do, often adjacent."""
    text = draw(texts)
    tokens = tokenize([text])
    starts, ends = tokens.starts.tolist(), tokens.ends.tolist()
    spans = []
    token = 0
    while token < len(starts):
        last = draw(st.integers(token, len(starts) - 1))
        if name := draw(st.sampled_from([None, *CLASSES])):
            spans.append(Span(starts[token], ends[last], name))
        token = last + 1
    return Document(draw(texts), text, tuple(spans), draw(st.none() | texts))


corpora = st.lists(documents(), max_size=5)


def unlabelled(corpus: list[Document]) -> list[Document]:
    return [replace(document, spans=()) for document in corpus]


def words_of(batch: Batch) -> list[str]:
    return [batch.vocabulary[word] for word in batch.word_ids.tolist()]


def assert_holds(batch: Batch, corpus: list[Document]) -> None:
    """Check that a batch is sound, and is what the documents make when tokenized alone."""
    assert len(batch) == len(corpus)
    assert batch.to_documents() == corpus
    assert batch.spans() == [list(document.spans) for document in corpus]
    assert len(set(batch.vocabulary)) == len(batch.vocabulary)
    assert set(words_of(batch)) == set(batch.vocabulary)
    columns = [batch.word_ids, batch.starts, batch.ends, batch.tags, batch.document_offsets]
    assert [column.dtype for column in columns] == ["int32", "int32", "int32", "int16", "int64"]
    assert batch.lengths.tolist() == np.diff(batch.document_offsets).tolist()
    alone = [tokenize([document.text]) for document in corpus]
    assert words_of(batch) == [own.vocabulary[word] for own in alone for word in own.word_ids]
    assert batch.starts.tolist() == [start for own in alone for start in own.starts]
    assert batch.ends.tolist() == [end for own in alone for end in own.ends]
    assert batch.lengths.tolist() == [own.n_tokens for own in alone]
    for column in (batch.ids, batch.texts, batch.groups):
        assert column.type == pa.large_string()


def assert_same(left: Batch, right: Batch) -> None:
    for name in ("ids", "texts", "groups"):
        assert getattr(left, name).equals(getattr(right, name))
    for name in ("word_ids", "starts", "ends", "document_offsets", "tags"):
        one, other = getattr(left, name), getattr(right, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    assert left.vocabulary == right.vocabulary
    assert left.labels == right.labels


@given(corpora)
@example([])
@example([Document("", "")])
@thorough
def test_holds_its_documents(corpus: list[Document]) -> None:
    problems = Problems()
    batch = make_batch(iter(corpus), labelled=True, problems=problems)
    assert_holds(batch, corpus)
    assert not problems.counts
    assert UNKNOWN not in batch.tags
    bare = make_batch(corpus, labelled=False)
    assert_holds(bare, unlabelled(corpus))
    assert bare.labels == ()
    assert (bare.tags == UNKNOWN).all()


@given(corpora)
@thorough
def test_texts_in_a_part_of_a_column_are_tokenized_as_those_of_documents(
    corpus: list[Document],
) -> None:
    expected = make_batch(corpus, labelled=False)
    column = pa.concat_arrays([pa.array(["Ana\xad Pu"], pa.large_string()), expected.texts])
    assert_holds(batch_of_texts(column[1:], expected.ids, expected.groups), unlabelled(corpus))
    assert batch_of_texts(column[1:], expected.ids).groups.null_count == len(corpus)


@given(corpora, st.data())
@thorough
def test_takes_documents_as_a_list_does(corpus: list[Document], data: st.DataObject) -> None:
    batch = make_batch(corpus, labelled=True)
    chosen = data.draw(st.lists(st.sampled_from(range(len(corpus))), max_size=7)) if corpus else []
    taken = batch.take(np.array(chosen, np.int64))
    assert_holds(taken, [corpus[index] for index in chosen])
    assert taken.labels == batch.labels
    start, stop = data.draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    assert_holds(batch.slice(start, stop), corpus[start:stop])
    assert_holds(batch, corpus)


@given(st.lists(corpora, min_size=1, max_size=4), st.data())
@thorough
def test_puts_batches_together_as_lists(parts: list[list[Document]], data: st.DataObject) -> None:
    labelled = [data.draw(st.booleans()) for _ in parts]
    batches = [
        make_batch(part, labelled=known) for part, known in zip(parts, labelled, strict=True)
    ]
    whole = concatenate(batches)
    known = [
        part if is_labelled else unlabelled(part)
        for part, is_labelled in zip(parts, labelled, strict=True)
    ]
    assert_holds(whole, [document for part in known for document in part])
    unknown = [
        np.full(batch.n_tokens, not is_labelled)
        for batch, is_labelled in zip(batches, labelled, strict=True)
    ]
    assert np.array_equal(whole.tags == UNKNOWN, np.concatenate(unknown))
    assert set(whole.labels) == {label for batch in batches for label in batch.labels}


@given(corpora, st.booleans(), st.data())
@example([], True, None)
@example([], False, None)
@example([Document("", ""), Document("", " \n", (), "")], True, None)
@example([Document("", "Ana", (Span(0, 3, "línea\nnueva"),))], True, None)
@thorough
def test_comes_back_from_bytes(corpus, labelled, data) -> None:
    batch = make_batch(corpus, labelled=labelled)
    assert_same(Batch.from_bytes(batch.to_bytes()), batch)
    # What was taken out of other bytes goes through bytes again, and has forgotten the rest.
    start = data.draw(st.integers(0, 5)) if data else 0
    part = Batch.from_bytes(batch.to_bytes()).slice(start, 5)
    assert_same(Batch.from_bytes(part.to_bytes()), part)
    assert_holds(part, (corpus if labelled else unlabelled(corpus))[start:5])
    assert_same(concatenate([Batch.from_bytes(part.to_bytes())]), concatenate([part]))


def test_bytes_hold_only_the_documents_taken() -> None:
    corpus = [Document(f"note {number}", f"secret{number} Ana") for number in range(3)]
    batch = make_batch(corpus, labelled=False)
    values = [f"{word}{number}" for number in range(3) for word in ("value", "of", "other")]
    data = batch.with_streams({"x": stream_of(values)}).take(np.array([1])).to_bytes()
    assert b"secret1" in data and b"value1" in data
    for row in "02":
        for word in ("secret", "note ", "value", "of", "other"):
            assert f"{word}{row}".encode() not in data


def test_labels_are_unified_by_name() -> None:
    first = make_batch([Document("a", "Ana 68", (Span(0, 3, "NAME"),))], labelled=True)
    second = make_batch([Document("b", "68 Ana Puig", (Span(0, 2, "AGE"),))], labelled=True)
    # As a tagger that lists its labels in another way.
    labels = ("I-NAME", "B-NAME", "O", "I-CITY", "B-CITY")
    third = make_batch([Document("c", "Ana Puig, Vic ?")], labelled=False)
    third = third.with_tags(np.array([1, 0, 2, 4, UNKNOWN], np.int16), labels)
    whole = concatenate([first, second, third])
    every = ["O", "B-AGE", "I-AGE", "B-CITY", "I-CITY", "B-NAME", "I-NAME"]
    assert whole.labels == tuple(every)
    names = [every[tag] if tag != UNKNOWN else "?" for tag in whole.tags.tolist()]
    assert " ".join(names) == "B-NAME O B-AGE O O B-NAME I-NAME O B-CITY ?"
    assert whole.spans()[2] == [Span(0, 8, "NAME"), Span(10, 13, "CITY")]


MISALIGNED = [
    # text, spans, what they become, how many are noted, how many of those are lost
    ("doctora Puig", [(3, 12, "P")], [(0, 12, "P")], 1, 0),
    ("Ana ", [(0, 4, "P")], [(0, 3, "P")], 1, 0),
    ("el Puigdemont és", [(5, 7, "P")], [(3, 13, "P")], 1, 0),
    ("Ana  Puig", [(3, 5, "P")], [], 1, 1),
    (" \n", [(0, 2, "P")], [], 1, 1),
    # Two spans that meet within a token: it stays with the first, and what is left is the other's.
    ("anapuig 68", [(0, 3, "P"), (3, 7, "S")], [(0, 7, "P")], 2, 1),
    ("anapuig 68", [(0, 3, "P"), (3, 10, "S")], [(0, 7, "P"), (8, 10, "S")], 2, 0),
    ("anapuig", [(0, 2, "P"), (2, 4, "S"), (4, 7, "T")], [(0, 7, "P")], 3, 2),
    ("Ana Puig", [(0, 3, "P"), (5, 8, "S")], [(0, 3, "P"), (4, 8, "S")], 1, 0),
    ("Ana", [(0, 3, "P")], [(0, 3, "P")], 0, 0),
]


@pytest.mark.parametrize(("text", "spans", "expected", "noted", "lost"), MISALIGNED)
def test_spans_that_do_not_align_are_widened_and_named(text, spans, expected, noted, lost) -> None:
    # Neighbours with spans at their ends, for the tokens before and after are not its own.
    left = Document("left", "Vic 1", (Span(4, 5, "N"),))
    right = Document("right", "1 Vic", (Span(0, 1, "N"),))
    document = Document("ward/17", text, tuple(Span(*span) for span in spans))
    problems = Problems()
    batch = make_batch([left, document, right], labelled=True, problems=problems)
    assert batch.spans() == [list(left.spans), [Span(*span) for span in expected], [*right.spans]]
    assert sum(problems.counts.values()) == noted
    named = [problem for kind in problems.named.values() for problem in kind]
    assert [problem.where for problem in named] == ["document ward/17"] * noted
    assert sum("dropped" in problem.detail for problem in named) == lost
    for problem in named:
        assert problem.detail.split(",")[0] in {f"{a}-{b} ({name})" for a, b, name in spans}
        assert not any(word in str(problem) for word in text.split())


@given(st.lists(st.tuples(texts, st.lists(st.integers(0, 20), max_size=6)), max_size=4))
@thorough
def test_a_widened_span_leaves_nothing_uncovered(drawn: list[tuple[str, list[int]]]) -> None:
    """Whatever the spans: every token that one touches is covered, and no other one."""
    corpus = []
    for number, (text, places) in enumerate(drawn):
        cuts = sorted({min(place, len(text)) for place in places})
        pairs = zip(cuts[::2], cuts[1::2], strict=False)
        spans = tuple(Span(start, end, CLASSES[start % 3]) for start, end in pairs)
        corpus.append(Document(str(number), text, spans))
    problems = Problems()
    batch = make_batch(corpus, labelled=True, problems=problems)
    for document, kept in zip(corpus, batch.spans(), strict=True):
        tokens = tokenize([document.text])
        offsets = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
        touched = {
            (start, end)
            for start, end in offsets
            if any(span.start < end and start < span.end for span in document.spans)
        }
        covered = {
            (start, end)
            for start, end in offsets
            if any(span.start <= start and end <= span.end for span in kept)
        }
        assert covered == touched
        assert {span.start for span in kept} <= set(map(itemgetter(0), offsets))
        assert {span.end for span in kept} <= set(map(itemgetter(1), offsets))
    given_spans = {(document.id, span) for document in corpus for span in document.visible_spans}
    found_spans = {
        (document.id, span) for document in batch.to_documents() for span in document.spans
    }
    assert sum(problems.counts.values()) == len(given_spans - found_spans)


# Streams

Said = dict[str, list[list[str | None]]]  # by stream and document
STREAMS = ["header", "stream:header", "id", "ñ·日本"]  # some named as columns are
values = st.none() | st.sampled_from(["", "a", "a b", "\0", "日本"])


@st.composite
def described(draw: st.DrawFn) -> tuple[Batch, Said]:
    """Return a batch with streams, and what they say of each document."""
    batch = make_batch(draw(corpora), labelled=draw(st.booleans()))
    said: Said = {}
    for name in draw(st.lists(st.sampled_from(STREAMS), unique=True)):
        said[name] = [
            draw(st.lists(values, min_size=length, max_size=length))
            for length in batch.lengths.tolist()
        ]
    return batch.with_streams(streams_of(said)), said


def streams_of(said: Said) -> dict[str, Stream]:
    return {name: stream_of([*itertools.chain(*rows)]) for name, rows in said.items()}


def assert_says(batch: Batch, said: Said) -> None:
    actual: Said = {}
    for name, stream in batch.streams.items():
        assert stream.values.dtype == np.int32
        assert len(stream.values) == batch.n_tokens
        assert len(set(stream.vocabulary)) == len(stream.vocabulary)
        every = [
            stream.vocabulary[value] if value >= 0 else None for value in stream.values.tolist()
        ]
        actual[name] = [every[a:b] for a, b in itertools.pairwise(batch.document_offsets.tolist())]
    assert actual == said


@given(described(), st.data())
@thorough
def test_streams_stay_with_their_documents(drawn: tuple[Batch, Said], data: st.DataObject) -> None:
    batch, said = drawn
    assert_says(batch, said)
    rows = st.lists(st.sampled_from(range(len(batch))), max_size=7) if len(batch) else st.just([])
    chosen = data.draw(rows)
    taken = batch.take(np.array(chosen, np.int64))
    assert_says(taken, {name: [parts[row] for row in chosen] for name, parts in said.items()})
    for name, stream in taken.streams.items():
        assert set(stream.vocabulary) == {value for row in chosen for value in said[name][row]} - {
            None
        }
    start, stop = data.draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    assert_says(batch.slice(start, stop), {name: rows[start:stop] for name, rows in said.items()})
    assert_says(batch, said)


@given(st.lists(described(), min_size=1, max_size=4))
@thorough
def test_a_stream_that_a_batch_lacks_is_left_out(drawn: list[tuple[Batch, Said]]) -> None:
    """But for a batch without tokens, of which there is nothing to say."""
    whole = concatenate([batch for batch, _ in drawn])
    names = [
        name
        for name in dict.fromkeys(name for _, said in drawn for name in said)
        if all(name in said for batch, said in drawn if batch.n_tokens)
    ]
    nothing: list[list[list[None]]] = [[[] for _ in range(len(batch))] for batch, _ in drawn]
    rows = zip(drawn, nothing, strict=True)
    parts = [{name: said.get(name, empty) for name in names} for (_, said), empty in rows]
    assert_says(
        whole, {name: [*itertools.chain(*(part[name] for part in parts))] for name in names}
    )
    assert list(whole.streams) == names
    for batch, said in drawn:
        assert_says(batch, said)


@given(described())
@example((make_batch([], labelled=True), {}))
@thorough
def test_streams_come_back_from_bytes(drawn: tuple[Batch, Said]) -> None:
    batch, said = drawn
    again = Batch.from_bytes(batch.to_bytes())
    assert_says(again, said)
    assert_same(again, batch)
    for name, stream in batch.streams.items():
        assert again.streams[name].vocabulary == stream.vocabulary
    part = again.slice(1, 3)
    assert_says(Batch.from_bytes(part.to_bytes()), {name: rows[1:3] for name, rows in said.items()})


def test_a_stream_of_the_same_name_is_replaced() -> None:
    batch = make_batch([Document("a", "Ana Puig")], labelled=False)
    batch = batch.with_streams({"x": stream_of(["1", "2"]), "y": stream_of([None, "3"])})
    other = batch.with_streams({"x": stream_of(["4", None]), "z": stream_of(["5", "6"])})
    assert_says(other, {"x": [["4", None]], "y": [[None, "3"]], "z": [["5", "6"]]})
    assert_says(batch, {"x": [["1", "2"]], "y": [[None, "3"]]})
    assert_says(other.with_streams({}), {"x": [["4", None]], "y": [[None, "3"]], "z": [["5", "6"]]})
    tagged = other.with_tags(np.array([0, 0], np.int16), ["O"]).with_weights(np.ones(1, np.float32))
    assert list(tagged.streams) == ["x", "y", "z"]


@given(corpora)
@thorough
def test_sorting_the_vocabulary_changes_no_document(corpus: list[Document]) -> None:
    batch = make_batch(corpus, labelled=True)
    actual = batch.with_sorted_vocabulary()
    assert list(actual.vocabulary) == sorted(batch.vocabulary)
    assert words_of(actual) == words_of(batch)
    assert_holds(actual, corpus)


def batch_of(corpus: list[str]) -> Batch:
    documents = [Document(str(row), text) for row, text in enumerate(corpus)]
    return make_batch(documents, labelled=False)


def test_an_invisible_character_separates_no_tokens() -> None:
    batch = batch_of(["C\xad/ Mar", "C /\xad Mar", "C/Mar"])
    assert batch.starts.tolist() == [0, 2, 4, 0, 2, 5, 0, 1, 2]
    assert batch.visible_starts().tolist() == [0, 1, 4, 0, 2, 5, 0, 1, 2]


@given(st.lists(texts, max_size=5))
def test_starts_move_over_invisible_characters_only(corpus: list[str]) -> None:
    batch = batch_of(corpus)
    expected = batch.starts.tolist()
    for row, text in enumerate(corpus):
        first, after = batch.document_offsets[row : row + 2].tolist()
        for token in range(first + 1, after):
            between = text[batch.ends[token - 1] : batch.starts[token]]
            if all(map(is_hidden, between)):
                expected[token] = int(batch.ends[token - 1])
    assert batch.visible_starts().tolist() == expected


# Streams alone

VALUES = st.lists(st.none() | st.sampled_from(["", "a", "b", "c c", "\0", "日本"]), max_size=8)


def values_of(stream: Stream) -> list[str | None]:
    """Return the value of each token of a stream that is sound."""
    assert stream.values.dtype == np.int32
    assert len(set(stream.vocabulary)) == len(stream.vocabulary)
    assert stream.values.min(initial=0) >= NO_VALUE
    return [
        stream.vocabulary[value] if value != NO_VALUE else None for value in stream.values.tolist()
    ]


@given(VALUES)
@example([])
@example([None, None])
def test_a_stream_is_the_values_of_its_tokens(values: list[str | None]) -> None:
    stream = stream_of(values)
    assert values_of(stream) == values
    assert stream.vocabulary == tuple(dict.fromkeys(value for value in values if value is not None))


def test_types_that_no_token_has_are_no_harm() -> None:
    """As those of rules that found nothing."""
    stream = Stream(("B-DATE", "I-DATE", "B-AGE"), np.array([2, NO_VALUE, 2], np.int32))
    assert values_of(concatenate_streams([stream, stream_of(["I-DATE"])])) == [
        *("B-AGE", None, "B-AGE", "I-DATE")
    ]
    assert stream.take(np.array([1, 0])).vocabulary == ("B-AGE",)


# Keys

PAIRS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", ""])), max_size=6)


@given(PAIRS, st.lists(PAIRS, max_size=3))
def test_documents_with_the_same_id_and_text_are_the_same(own, others) -> None:
    batch, *other_batches = (
        make_batch([Document(*pair) for pair in pairs], labelled=False) for pairs in (own, *others)
    )
    known = {pair for pairs in others for pair in pairs}
    assert are_among(batch, other_batches).tolist() == [pair in known for pair in own]
    assert distinct(batch).tolist() == [own.index(pair) for pair in dict.fromkeys(own)]
    assert len(set(keys_of(batch).to_pylist())) == len(set(own))
