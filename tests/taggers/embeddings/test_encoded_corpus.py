"""Notes as numbers are read again as they were written."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taggers.embeddings import encoded_corpus
from taggers.embeddings.encoded_corpus import RankedSentences, read_numbers, write_numbers

WORDS = 12  # of which the numbers are those of

Sentences = list[list[int]]
SENTENCES = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=9), max_size=12)
SIZES = st.integers(1, 5)


def write(folder: Path, sentences: Sentences, size: int) -> None:
    """Write sentences, so many at a time."""
    write_numbers(
        folder,
        (
            (
                np.array([len(each) for each in sentences[begin : begin + size]], np.int64),
                np.array([word for each in sentences[begin : begin + size] for word in each], "i8"),
            )
            for begin in range(0, len(sentences), size)
        ),
    )


@settings(max_examples=30)
@given(sentences=SENTENCES, written=SIZES, read=SIZES)
@example(sentences=[], written=1, read=1)
@example(sentences=[[], [], []], written=2, read=1)
@example(sentences=[[], [1], []], written=1, read=3)
def test_what_is_written_is_read(sentences: Sentences, written: int, read: int) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_corpus, "_PIECE", read)
        write(Path(name), sentences, written)
        found: Sentences = []
        for lengths, numbers in read_numbers(Path(name)):
            assert lengths.dtype == numbers.dtype == np.int32
            assert 0 < len(lengths) <= read
            assert lengths.sum() == len(numbers)
            found += [each.tolist() for each in np.split(numbers, np.cumsum(lengths)[:-1])]
        assert found == sentences


@settings(max_examples=30)
@given(
    sentences=SENTENCES,
    ranks=st.lists(st.integers(-1, 5), min_size=WORDS, max_size=WORDS),
    longest=st.integers(1, 5),
    read=SIZES,
)
@example(sentences=[[0, 1, 2]], ranks=[-1] * WORDS, longest=1, read=1)
@example(sentences=[[0] * 6, [], [1] * 7], ranks=[3, 4] * 6, longest=3, read=1)
def test_sentences_are_those_of_a_loop_over_words(
    sentences: Sentences, ranks: list[int], longest: int, read: int
) -> None:
    expected: Sentences = []
    for sentence in sentences:
        known = [ranks[word] for word in sentence if ranks[word] >= 0]
        expected += [known[begin : begin + longest] for begin in range(0, len(known), longest)]
    told: list[int] = []
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_corpus, "_PIECE", read)
        patch.setattr(encoded_corpus, "LONGEST", longest)
        write(Path(name), sentences, 4)
        of_words = np.array(ranks, np.int32)
        ranked = RankedSentences(Path(name), of_words, told.append)
        assert list(ranked) == expected
        assert [len(told), told[-1:]] == [
            -(-len(sentences) // read),
            [sum(map(len, expected))] * bool(sentences),
        ]
        assert told == sorted(told)
        assert list(ranked) == expected  # from the first one on, each time
    assert told == told[: len(told) // 2] * 2


def test_progress_is_told_where_sentences_were_given(tmp_path: Path) -> None:
    write(tmp_path, [[0, 1], [2, 0], [0]], 1)
    told: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_corpus, "_PIECE", 2)
        ranked = iter(RankedSentences(tmp_path, np.array([0, -1, 1], np.int32), told.append))
        assert [next(ranked), next(ranked), told] == [[0], [1, 0], []]
        assert [next(ranked), told] == [[0], [3]]
        assert [next(ranked, None), told] == [None, [3, 4]]


def test_words_are_as_many_as_gensim_looks_at() -> None:
    """It leaves out what is behind them in a sentence."""
    from gensim.models.word2vec import MAX_WORDS_IN_BATCH

    assert encoded_corpus.LONGEST == MAX_WORDS_IN_BATCH
