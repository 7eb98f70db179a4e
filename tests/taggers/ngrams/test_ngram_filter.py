"""The n-grams that may be entities, against a look at each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.tags import find_entities
from corpus.units import line_numbers
from taggers.ngrams.ngram_filter import NGramFilter
from taggers.ngrams.windows import BORDER, windows_of
from tests.streams import stream_of

WORDS = ("Ana", "ana", "de", "Vic", "12", "99", "-", "x", "sola")
LINES = st.lists(st.sampled_from([*WORDS, "\n"]), max_size=9)
SPANS = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), max_size=3)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Draw annotated documents of a few words."""
    documents = []
    for number in range(draw(st.integers(1, 5))):
        words = draw(LINES)
        starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        spans, end = [], 0
        for first, length in sorted(draw(SPANS)):
            last = first + length - 1
            if first >= end and last < len(words) and "\n" not in (words[first], words[last]):
                spans.append(Span(starts[first], starts[last] + len(words[last]), "PERSON"))
                end = last + 1
        documents.append(Document(str(number), " ".join(words), tuple(spans)))
    return make_batch(documents, labelled=True, classes=["PERSON"])


def folded(batch: Batch) -> list[str]:
    """Return the words of tokens in lower case with zeros."""
    words = ("".join("0" if c.isdigit() else c for c in w.lower()) for w in batch.vocabulary)
    of_types = list(words)
    return [of_types[word] for word in batch.word_ids.tolist()]


@given(batches(), batches(), st.integers(1, 4), st.integers(1, 5))
def test_ngrams_are_those_whose_words_entities_have(
    train: Batch, batch: Batch, least: int, length: int
) -> None:
    learned = NGramFilter.from_training(train, least)
    first, last = learned.find(batch, length)
    entities = find_entities(train.tags, train.document_offsets, train.labels)
    known, within = folded(train), train.tags > 0
    lines = line_numbers(train)
    crosses = any(lines[entities.first] != lines[entities.last])

    def allowed(word: str, tokens: set[int]) -> bool:
        places = [row for row, other in enumerate(known) if other == word]
        return len(places) < least or bool(tokens & set(places))

    begins, ends = (set(rows.tolist()) for rows in (entities.first, entities.last))
    inside = set(np.flatnonzero(within).tolist())
    words, lines = folded(batch), line_numbers(batch)
    owners = np.repeat(np.arange(len(batch)), batch.lengths)
    expected = [
        (i, j)
        for i in range(batch.n_tokens)
        for j in range(i, min(i + length, batch.n_tokens))
        if owners[i] == owners[j]
        and (crosses or lines[i] == lines[j])
        and allowed(words[i], begins)
        and allowed(words[j], ends)
        and all(allowed(word, inside) for word in words[i : j + 1])
    ]
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


@given(batches())
def test_every_entity_of_training_documents_is_found(train: Batch) -> None:
    entities = find_entities(train.tags, train.document_offsets, train.labels)
    first, last = NGramFilter.from_training(train, 1).find(train, 9)
    pairs = set(zip(first.tolist(), last.tolist(), strict=True))
    assert set(zip(entities.first.tolist(), entities.last.tolist(), strict=True)) <= pairs


def test_parts_of_speech_say_where_ngrams_begin_and_end() -> None:
    train = make_batch([Document("1", "x", (Span(0, 1, "PERSON"),))], labelled=True)
    batch = make_batch([Document("2", "del doctor Puig operado come ( 3")], labelled=False)
    learned = NGramFilter.from_training(train, 5)
    for tags in (
        ("pr+det", "n", None, "vblex.pp", "vblex.pri", "lpar", "num"),
        ("ADP", "NOUN", "PROPN", "VERB.Part", "VERB.Fin", "PUNCT", "NUM"),
    ):
        first, last = learned.find(batch, 3, stream_of(tags))
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == [
            *((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3), (6, 6)),
        ]


@given(batches(), st.integers(1, 6), st.data())
def test_windows_have_the_words_and_the_contexts(
    batch: Batch, length: int, data: st.DataObject
) -> None:
    first, last = NGramFilter.from_training(batch, 1).find(batch, data.draw(st.integers(1, 4)))
    windows = windows_of(first, last, batch.document_offsets, length)
    assert windows.shape == (len(first), 3, length)
    for row, (i, j) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        document = np.searchsorted(batch.document_offsets, i, side="right") - 1
        begin, end = batch.document_offsets[document : document + 2].tolist()
        left, right = list(range(begin, i))[-length:], list(range(j + 1, end))[:length]
        words = list(range(i, j + 1))[:length]
        assert windows[row, 0].tolist() == [BORDER] * (length - len(left)) + left
        assert windows[row, 1].tolist() == words + [BORDER] * (length - len(words))
        assert windows[row, 2].tolist() == right + [BORDER] * (length - len(right))
