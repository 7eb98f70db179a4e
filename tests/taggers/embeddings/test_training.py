"""Vectors are those that gensim trains by itself, whatever happens on the way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gensim
import numpy as np
import pytest
from gensim.models import FastText, Word2Vec
from gensim.models.fasttext import ft_ngram_hashes
from gensim.models.word2vec import MAX_WORDS_IN_BATCH
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taggers.embeddings import training
from taggers.embeddings.embedding import Embedding, write_words
from taggers.embeddings.training import (
    BEGUN,
    LONGEST_PART,
    PLACES,
    SHORTEST_PART,
    RankedSentences,
    Task,
    TrainingOptions,
    train,
    write_numbers,
)

KINDS = ["word2vec", "fasttext"]
Sentences = list[list[str]]


def nothing(done: int) -> None:
    """Hear of no progress."""


def sentences_of(tokens: int, seed: int = 1) -> Sentences:
    """Draw sentences of so many tokens, some words far more often than others."""
    draw = random.Random(seed)
    words = [f"{draw.choice(['ca', 'neu', 'hospi', 'x'])}{number}ñ" for number in range(80)]
    sentences: Sentences = []
    while tokens:
        length = min(draw.randint(1, 30), tokens)
        sentences.append([words[int(draw.paretovariate(0.6)) % len(words)] for _ in range(length)])
        tokens -= length
    return sentences


def task_of(folder: Path, sentences: Sentences, least: int = 1, **options: Any) -> Task:
    """Prepare training as a folder of embeddings does: words have numbers, vectors ranks."""
    notes, work = folder / "notes", folder / ".work"
    for path in (folder, notes, work):
        path.mkdir()
    numbers: dict[str, int] = {}
    for word in (word for sentence in sentences for word in sentence):
        numbers.setdefault(word, len(numbers))
    lengths = np.array([len(sentence) for sentence in sentences], np.int32)
    of_words = np.array([numbers[word] for sentence in sentences for word in sentence], np.int32)
    write_numbers(notes, [(lengths, of_words)])
    counts = ranked(sentences, least)
    write_words(work, list(counts), np.array(list(counts.values()), np.int64))
    ranks = {word: rank for rank, word in enumerate(counts)}
    np.save(work / "ranks.npy", np.array([ranks.get(word, -1) for word in numbers], np.int32))
    given = {"dimension": 12, "window": 3, "epochs": 4, "min_count": least, "random_state": 7}
    (work / BEGUN).touch()
    taken = TrainingOptions(**{**given, **options})
    return Task(taken, notes, work, folder / "made", "lower", {"epochs": taken.epochs})


def ranked(sentences: Sentences, least: int) -> dict[str, int]:
    counts = Counter(word for sentence in sentences for word in sentence)
    kept = {word: count for word, count in counts.items() if count >= least}
    return dict(sorted(kept.items(), key=lambda item: (-item[1], item[0])))


def by_gensim(sentences: Sentences, options: TrainingOptions) -> Any:
    """Train as the documentation of gensim says."""
    given = {
        "sg": 1,
        "vector_size": options.dimension,
        "window": options.window,
        "min_count": 1,
        "seed": options.random_state,
        "workers": 1,
        "sample": options.sample,
        "negative": options.negative,
        "sorted_vocab": 0,
    }
    counts = ranked(sentences, options.min_count)
    if options.kind == "word2vec":
        model = Word2Vec(**given)
    else:
        model = FastText(**given, min_n=SHORTEST_PART, max_n=LONGEST_PART, bucket=PLACES)
    model.build_vocab_from_freq(counts)
    tokens = sum(counts.values())
    model.train(
        [[word for word in sentence if word in counts] for sentence in sentences],
        total_words=tokens,
        epochs=options.epochs,
    )
    return model.wv


def written(task: Task) -> dict[str, np.ndarray]:
    """Return the vectors that a training made, and see that it left nothing else."""
    assert not task.folder.exists()
    of_words = {"words.npy", "word_ends.npy", "counts.npy", "hashes.npy", "embedding.json"}
    there = {path.name for path in task.target.iterdir()} - of_words
    assert there == {"vectors.npy"} | ({"parts.npy"} if task.options.kind == "fasttext" else set())
    embedding = Embedding.load(task.target)
    assert embedding.normalisation == "lower"
    assert embedding.settings == {"epochs": task.options.epochs}
    return {name: np.load(task.target / name) for name in sorted(there)}


# Notes as numbers


def write(folder: Path, sentences: list[list[int]], size: int) -> None:
    """Write sentences, so many at a time."""
    batches = [sentences[begin : begin + size] for begin in range(0, len(sentences), size)]
    write_numbers(
        folder,
        (
            (
                np.array([len(sentence) for sentence in batch], np.int32),
                np.array([word for sentence in batch for word in sentence], np.int32),
            )
            for batch in batches
        ),
    )


@settings(max_examples=30)
@given(
    sentences=st.lists(st.lists(st.integers(0, 11), max_size=9), max_size=12),
    ranks=st.lists(st.integers(-1, 5), min_size=12, max_size=12),
    longest=st.integers(1, 5),
    read=st.integers(1, 5),
)
@example(sentences=[], ranks=[1] * 12, longest=1, read=1)
@example(sentences=[[0, 1, 2]], ranks=[-1] * 12, longest=1, read=1)
@example(sentences=[[0] * 6, [], [1] * 7], ranks=[3, 4] * 6, longest=3, read=1)
def test_sentences_are_those_of_a_loop_over_words(sentences, ranks, longest, read) -> None:
    expected: list[list[int]] = []
    for sentence in sentences:
        known = [ranks[word] for word in sentence if ranks[word] >= 0]
        expected += [known[begin : begin + longest] for begin in range(0, len(known), longest)]
    told: list[int] = []
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_SENTENCES", read)
        patch.setattr(training, "LONGEST", longest)
        write(Path(name), sentences, 4)
        ranked = RankedSentences(Path(name), np.array(ranks, np.int32), told.append)
        assert list(ranked) == expected
        assert len(told) == -(-len(sentences) // read)
        assert told[-1:] == [sum(map(len, expected))] * bool(sentences)
        assert told == sorted(told)
        assert list(ranked) == expected  # from the first one on, each time
        assert ranked.error is None


# What is trained


@pytest.mark.parametrize(
    ("kind", "least", "epochs"), [("word2vec", 1, 1), ("word2vec", 3, 11), ("fasttext", 3, 4)]
)
def test_vectors_are_those_of_gensim(tmp_path: Path, kind: str, least: int, epochs: int) -> None:
    sentences = sentences_of(2000)
    task = task_of(tmp_path / "task", sentences, least, kind=kind, epochs=epochs, sample=1e-2)
    train(nothing, task)
    arrays, expected = written(task), by_gensim(sentences, task.options)
    assert np.array_equal(arrays["vectors.npy"][2:], expected.vectors)
    if kind == "fasttext":
        assert np.array_equal(arrays["parts.npy"], expected.vectors_ngrams)


def test_the_learning_rate_falls_within_an_epoch_too(tmp_path: Path) -> None:
    """Where an epoch is more than the 10,000 words that gensim works on at once."""
    sentences = sentences_of(35_000)
    task = task_of(tmp_path / "task", sentences, epochs=2)
    train(nothing, task)
    expected = by_gensim(sentences, task.options).vectors
    np.testing.assert_allclose(written(task)["vectors.npy"][2:], expected, rtol=1e-3, atol=1e-5)


def test_progress_counts_the_tokens_of_all_epochs(tmp_path: Path) -> None:
    sentences = sentences_of(900)
    task = task_of(tmp_path / "task", sentences, 3, epochs=3)
    tokens = sum(ranked(sentences, 3).values())
    told: list[int] = []
    train(told.append, task)
    assert told == [tokens, 2 * tokens, 3 * tokens]


# What is interrupted


class StoppedError(Exception):
    """Somebody is no longer there to be told."""


def stopping(epoch: int, tokens: int) -> Callable[[int], None]:
    """Return what raises an exception when it is told of an epoch."""

    def send(done: int) -> None:
        if done > (epoch - 1) * tokens:
            raise StoppedError(epoch)

    return send


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epochs", [(1,), (3,), (1, 2, 4)])
def test_a_training_that_was_interrupted_ends_as_one_that_was_not(tmp_path, kind, epochs) -> None:
    sentences = sentences_of(1500)
    straight = task_of(tmp_path / "straight", sentences, kind=kind)
    train(nothing, straight)
    task = task_of(tmp_path / "task", sentences, kind=kind)
    for epoch in epochs:
        with pytest.raises(StoppedError):
            train(stopping(epoch, 1500), task)
        assert (task.folder / "checkpoint").exists() == (epoch > 1)
        assert not task.target.exists()
    told: list[int] = []
    train(told.append, task)
    assert told == [1500 * epoch for epoch in range(epochs[-1], 5)]
    resumed, expected = written(task), written(straight)
    assert resumed.keys() == expected.keys()
    assert all(np.array_equal(resumed[name], expected[name]) for name in expected)


def test_notes_that_cannot_be_read_are_no_endless_wait(tmp_path: Path) -> None:
    task = task_of(tmp_path / "task", sentences_of(300))
    (task.notes / "numbers").unlink()
    with pytest.raises(FileNotFoundError):
        train(nothing, task)


def test_gensim_has_the_internals_that_training_sets() -> None:
    """They are not part of gensim's public interface: pyproject.toml bounds its version."""
    model = Word2Vec([["a", "b"]], min_count=1, vector_size=2)
    for name in ("random", "syn1neg"):
        assert hasattr(model, name), f"gensim {gensim.__version__}: Word2Vec has no {name}"
    for name in ("key_to_index", "vectors"):
        assert hasattr(model.wv, name), f"gensim {gensim.__version__}: KeyedVectors has no {name}"
    assert callable(ft_ngram_hashes)
    assert training.LONGEST == MAX_WORDS_IN_BATCH  # gensim leaves out what follows in a sentence
