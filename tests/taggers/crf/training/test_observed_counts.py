"""What occurs together, and how often, against loops over every token."""

import itertools
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf.training.observed_counts import Pairs, count_pairs, transitions

Counts = dict[tuple[int, int], float]


@dataclass(frozen=True)
class Corpus:
    """Tagged documents of a few words; -1 is an unknown tag."""

    words: np.ndarray
    documents: np.ndarray
    tags: np.ndarray
    weights: np.ndarray
    types: int
    labels: int


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    types, labels = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    token = st.tuples(st.integers(0, types - 1), st.integers(-1, labels - 1))
    documents = draw(st.lists(st.lists(token, max_size=5), max_size=5))
    tokens = [token for document in documents for token in document]
    weight = st.integers(0, 8).map(lambda eighths: eighths / 8)  # sums of these are exact
    weights = draw(st.lists(weight, min_size=len(documents), max_size=len(documents)))
    return Corpus(
        np.array([word for word, _ in tokens], np.int32),
        np.cumsum([0, *map(len, documents)], dtype=np.int64),
        np.array([tag for _, tag in tokens], np.int16),
        np.array(weights, np.float64),
        types,
        labels,
    )


def documents_of(corpus: Corpus) -> list[tuple[list[int], list[int], float]]:
    rows = zip(corpus.documents[:-1], corpus.documents[1:], corpus.weights.tolist(), strict=True)
    return [
        (corpus.words[start:stop].tolist(), corpus.tags[start:stop].tolist(), weight)
        for start, stop, weight in rows
    ]


def counted(pairs: Pairs) -> Counts:
    """Return the count of each row and label."""
    found = {}
    for row in range(len(pairs.begins) - 1):
        labels = pairs.labels[pairs.begins[row] : pairs.begins[row + 1]].tolist()
        assert labels == sorted(set(labels))
        counts = pairs.counts[pairs.begins[row] : pairs.begins[row + 1]].tolist()
        found.update({(row, label): count for label, count in zip(labels, counts, strict=True)})
    return found


def pairs_of(corpus: Corpus, codes: np.ndarray, window: int, least: float = 0.0) -> Pairs:
    """Count the values of features that apply everywhere in a window."""
    offsets = [range(-window, window + 1)] * codes.shape[1]
    shape = int(codes.max()) + 1, 2 * window + 1, corpus.labels
    counts = count_pairs(corpus.words, corpus.documents, corpus.tags, codes, offsets, shape=shape)
    return Pairs.from_matrix(counts, least)


def words_of(corpus: Corpus, window: int, least: float = 0.0) -> Pairs:
    """Count the words themselves, and the positions before and after documents."""
    codes = np.arange(corpus.types + 2, dtype=np.int32)[:, None]
    return pairs_of(corpus, codes, window, least)


def looped_words(corpus: Corpus, offsets: int) -> Counts:
    counts: Counts = defaultdict(float)
    for words, tags, _ in documents_of(corpus):
        for place, tag in enumerate(tags):
            if tag < 0:
                continue
            for offset in range(offsets):
                other = place + offset - offsets // 2
                word = words[other] if 0 <= other < len(words) else corpus.types + (other >= 0)
                counts[word * offsets + offset, tag] += 1
    return counts


@given(corpus=corpora(), window=st.integers(0, 7))
def test_words_with_labels_are_counted_as_in_a_loop(corpus: Corpus, window: int) -> None:
    """Also where the window is longer than the documents, and where a document counts 0."""
    offsets = 2 * window + 1
    found = words_of(corpus, window)
    assert len(found.begins) == (corpus.types + 2) * offsets + 1
    assert counted(found) == looped_words(corpus, offsets)


@given(corpus=corpora(), window=st.integers(0, 3), data=st.data())
def test_values_with_labels_are_counted_as_in_a_loop(
    corpus: Corpus, window: int, data: st.DataObject
) -> None:
    """Words share values, and a word may have a value twice or none."""
    offsets, features, values = 2 * window + 1, data.draw(st.integers(1, 3)), 4
    code = st.integers(-1, values - 1)
    row = st.lists(code, min_size=features, max_size=features)
    rows = st.lists(row, min_size=corpus.types + 2, max_size=corpus.types + 2)
    codes = np.array(data.draw(rows), np.int32)
    codes[0, 0] = values - 1
    found = pairs_of(corpus, codes, window)
    expected: Counts = defaultdict(float)
    for (row, tag), count in looped_words(corpus, offsets).items():
        for value in codes[row // offsets].tolist():
            if value >= 0:
                expected[value * offsets + row % offsets, tag] += count
    assert len(found.begins) == values * offsets + 1
    assert counted(found) == expected


@given(corpus=corpora())
def test_labels_that_follow_each_other_are_counted_as_in_a_loop(corpus: Corpus) -> None:
    expected = np.zeros((corpus.labels, corpus.labels))
    for _, tags, weight in documents_of(corpus):
        for before, after in itertools.pairwise(tags):
            if before >= 0 and after >= 0:
                expected[before, after] += weight
    found = transitions(corpus.documents, corpus.tags, corpus.weights, corpus.labels)
    assert found.tolist() == expected.tolist()


@given(corpus=corpora(), window=st.integers(0, 2), least=st.integers(0, 24).map(lambda n: n / 8))
def test_what_is_too_rare_is_left_out(corpus: Corpus, window: int, least: float) -> None:
    pairs, kept = words_of(corpus, window), words_of(corpus, window, least)
    assert len(kept.begins) == len(pairs.begins)
    expected = {pair: count for pair, count in counted(pairs).items() if count >= least}
    assert counted(kept) == expected


def test_a_document_of_one_token_sees_borders_at_every_other_offset() -> None:
    corpus = Corpus(
        words=np.zeros(1, np.int32),
        documents=np.array([0, 1]),
        tags=np.zeros(1, np.int16),
        weights=np.ones(1),
        types=1,
        labels=1,
    )
    word, begin, end = 0, 5, 10  # the first row of each, with five offsets
    expected = {begin + 0, begin + 1, word + 2, end + 3, end + 4}
    assert {row for row, _ in counted(words_of(corpus, 2))} == expected
