"""Streams and conjunctions are what a look at one token after the other says they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus import ragged
from corpus.batch import Batch, Stream
from taggers.crf import channels as channels_module
from taggers.crf.channels import Channels
from taggers.features.templates import Template, Templates
from taggers.features.words import Words, feature, is_feature
from tests.streams import stream_of
from tests.taggers.crf.conftest import batch_of_words

Documents = list[list[tuple[str, str | None]]]  # words, and what a stream says of them

# Words and values that could be taken for a border, for nothing, or for what joins values.
WORDS = st.sampled_from(["BOS", "EOS", "|", "\\", "a", "A", "Ana", "b", "\\="])
VALUES = st.none() | st.sampled_from(["", "BOS", "EOS", "|", "\\", "x", "a|b", "\\|", "\\=", "|x"])
DOCUMENTS: st.SearchStrategy[Documents] = st.lists(
    st.lists(st.tuples(WORDS, VALUES), max_size=5), max_size=4
)
NAMES = st.sampled_from(["form", "lower", "capitalization", "suffix1", "said"])
TERMS = st.lists(st.tuples(NAMES, st.integers(-2, 2)), min_size=2, max_size=4)


def batch_of(documents: Documents) -> Batch:
    """Make a batch of words and of what a stream says of them."""
    said = stream_of([value for document in documents for _, value in document])
    words = [[word for word, _ in document] for document in documents]
    return batch_of_words(words, streams={"said": said})


def channels_of(terms: Sequence[tuple[str, int]], *more: Sequence[tuple[str, int]]) -> Channels:
    written = [" ".join(f"{name}[{at}]" for name, at in part) for part in (terms, *more)]
    return Channels(Templates.parse(["form"], 1, (), written))


#: A value, or why there is none: "silent", "before" or "after".
Looked = tuple[str, bool]


def looked_at(document: list[tuple[str, str | None]], place: int, name: str) -> Looked:
    if place < 0:
        return "before", False
    if place >= len(document):
        return "after", False
    word, said = document[place]
    if is_feature(name):
        (value,) = feature(name)(Words([word]))
        return value, True
    return ("silent", False) if said is None else (said, True)


def taken_together(
    documents: Documents, terms: Sequence[tuple[str, int]]
) -> list[tuple[Looked, ...]]:
    return [
        tuple(looked_at(document, place + offset, name) for name, offset in terms)
        for document in documents
        for place in range(len(document))
    ]


def values_of(stream: Stream) -> list[str]:
    assert stream.values.dtype == np.int32
    assert (stream.values >= 0).all()  # of every token it says something
    assert len(set(stream.vocabulary)) == len(stream.vocabulary)
    assert set(stream.values.tolist()) == set(range(len(stream.vocabulary)))
    return [stream.vocabulary[value] for value in stream.values.tolist()]


BORDERS: Documents = [[("BOS", "BOS"), ("EOS", None), ("|", "|")], [], [("a", ""), ("BOS", "\\=")]]


@settings(max_examples=60)
@given(batches=st.lists(DOCUMENTS, min_size=1, max_size=3), terms=TERMS)
@example(batches=[BORDERS, [[("a", "x")]]], terms=[("form", -1), ("form", 0)])
@example(batches=[BORDERS], terms=[("form", -1), ("said", 1), ("form", 1)])
@example(batches=[BORDERS, BORDERS], terms=[("said", 0), ("said", 0)])
def test_tokens_have_the_same_conjunction_where_they_have_the_same_values(batches, terms) -> None:
    """Over all batches: what is joined is told apart by its name, which weights are found by."""
    channels = channels_of(terms)
    names: dict[tuple[Looked, ...], str] = {}
    for documents in batches:
        ((template, stream),) = channels.from_batch(batch_of(documents))
        assert template.offsets == (0,)
        actual = values_of(stream)
        expected = taken_together(documents, terms)
        assert len(actual) == len(expected)
        for values, name in zip(expected, actual, strict=True):
            assert names.setdefault(values, name) == name
    assert len(set(names.values())) == len(names)


def test_a_conjunction_is_written_as_its_values() -> None:
    documents: Documents = [[("Ana", "x"), ("de", None), ("B", "y")]]
    (one, first), (two, second) = Channels(
        Templates.parse(
            ["form"], 0, (), ["capitalization[-1] lower", "said[-1] said[1] capitalization"]
        )
    ).from_batch(batch_of(documents))
    assert one.name == "capitalization[-1] lower[0]"
    assert values_of(first) == ["BOS|ana", "first|de", "lower|b"]
    assert two.name == "said[-1] said[1] capitalization[0]"
    assert values_of(second) == ["BOS||first", "x|y|lower", "|EOS|initial"]


@settings(max_examples=50)
@given(documents=DOCUMENTS, terms=TERMS)
def test_however_values_are_numbered_they_are_the_same(documents, terms) -> None:
    batch = batch_of(documents)
    actual = []
    for dense in (0, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ragged, "_DENSE", dense)
            ((_, stream),) = channels_of(terms).from_batch(batch)
            actual.append((stream.vocabulary, stream.values.tolist()))
    assert actual[0] == actual[1]


@settings(max_examples=50)
@given(batches=st.lists(DOCUMENTS, max_size=4), terms=TERMS, kept=st.integers(0, 4))
def test_how_many_words_are_kept_makes_no_difference(batches, terms, kept) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channels_module, "_CACHED_WORDS", kept)
        channels = channels_of(terms)
        for documents in batches:
            batch = batch_of(documents)
            ((_, stream),) = channels.from_batch(batch)
            ((_, alone),) = channels_of(terms).from_batch(batch)
            assert values_of(stream) == values_of(alone)


def test_of_many_words_any_number_can_be_joined() -> None:
    """Of many words there are more combinations than a number has room for."""
    channels = channels_of([("form", at) for at in range(-4, 5)])
    rng = np.random.default_rng(0)
    documents: Documents = [[(f"w{number}", None) for number in rng.permutation(5000)]]
    ((_, stream),) = channels.from_batch(batch_of(documents))
    assert len(stream.vocabulary) == 5000
    ((_, later),) = channels.from_batch(batch_of([[("w1", None), ("new", None)]]))
    assert values_of(later) == [
        "BOS|BOS|BOS|BOS|w1|new|EOS|EOS|EOS",
        "BOS|BOS|BOS|w1|new|EOS|EOS|EOS|EOS",
    ]


def test_streams_come_as_they_are_and_where_they_are_looked_at() -> None:
    batch = batch_of(BORDERS)
    channels = Channels(Templates.parse(["form"], 1, ["said[-1..2]"], ["said[0] form[0]"]))
    (template, stream), (conjunction, _) = channels.from_batch(batch)
    assert stream is batch.streams["said"]
    assert template == Template("said", (-1, 0, 1, 2))
    assert conjunction == Template("said[0] form[0]", (0,))
    assert Channels(Templates.parse(["form"], 1)).from_batch(batch) == []
