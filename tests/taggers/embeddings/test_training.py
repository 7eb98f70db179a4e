"""Vectors are those that gensim trains by itself, whatever happens on the way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gensim
import numpy as np
import pytest
from gensim.models import FastText, Word2Vec
from gensim.models.fasttext import ft_ngram_hashes
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taggers.embeddings.embedding import Embedding, write_words
from taggers.embeddings.encoded_corpus import write_numbers
from taggers.embeddings.training import (
    BEGUN,
    LONGEST_PART,
    PLACES,
    SHORTEST_PART,
    Task,
    TrainingOptions,
    drawn,
    sampled,
    train,
)

COUNTS = st.one_of(
    hnp.arrays(np.int64, st.integers(1, 60), elements=st.integers(1, 60)),
    hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(1, 10**9)),
)
KINDS = ["word2vec", "fasttext"]
Sentences = list[list[str]]


def nothing(done: int) -> None:
    """Hear of no progress."""


def sentences_of(tokens: int, seed: int = 1) -> Sentences:
    """Draw sentences of so many tokens, some words far more often than others."""
    draw = random.Random(seed)
    words = [f"{draw.choice(['ca', 'neu', 'hospi', 'x'])}{number}ñ" for number in range(80)]
    found: Sentences = []
    while tokens:
        length = min(draw.randint(1, 30), tokens)
        found.append([words[int(draw.paretovariate(0.6)) % len(words)] for _ in range(length)])
        tokens -= length
    return found


def task_of(folder: Path, sentences: Sentences, least: int = 1, **options: Any) -> Task:
    """Prepare training as a folder of embeddings does: words have numbers, vectors ranks."""
    notes, work = folder / "notes", folder / ".work"
    for path in (folder, notes, work):
        path.mkdir()
    numbers: dict[str, int] = {}
    for word in (word for sentence in sentences for word in sentence):
        numbers.setdefault(word, len(numbers))
    lengths = np.array([len(sentence) for sentence in sentences], np.int32)
    of_words = np.array([numbers[word] for each in sentences for word in each], np.int32)
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
    return dict(sorted(kept.items(), key=lambda each: (-each[1], each[0])))


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


def assert_equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert np.array_equal(array, expected[name]), name


# What is computed from counts


def tables_of_gensim(counts: np.ndarray, sample: float) -> tuple[list[int], list[int]]:
    model = Word2Vec(vector_size=1, min_count=1, sample=sample, sorted_vocab=0)
    model.build_vocab_from_freq({str(rank): count for rank, count in enumerate(counts.tolist())})
    return model.wv.expandos["sample_int"].tolist(), model.cum_table.tolist()


@settings(max_examples=30)
@given(counts=COUNTS, sample=st.sampled_from([0.0, 1e-3, 1e-5, 0.2, 0.9]))
@example(counts=np.array([1]), sample=1e-3)
@example(counts=np.array([10**9] * 3), sample=1e-5)
def test_tables_are_those_of_gensim(counts: np.ndarray, sample: float) -> None:
    share, sums = tables_of_gensim(counts, sample)
    assert sampled(counts, sample).tolist() == share
    assert drawn(counts, 0.75).tolist() == sums


# What is trained


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [1, 3])
def test_vectors_are_those_of_gensim(tmp_path: Path, kind: str, least: int) -> None:
    sentences = sentences_of(4000)
    task = task_of(tmp_path / "task", sentences, least, kind=kind, sample=1e-2)
    train(nothing, task)
    found = written(task)
    expected = by_gensim(sentences, task.options)
    assert np.array_equal(found["vectors.npy"][2:], expected.vectors)
    assert not found["vectors.npy"][0].any()
    if kind == "fasttext":
        assert np.array_equal(found["parts.npy"], expected.vectors_ngrams)


def test_a_lone_epoch_and_many_are_those_of_gensim(tmp_path: Path) -> None:
    sentences = sentences_of(500)
    for epochs in (1, 2, 11):
        task = task_of(tmp_path / f"{epochs}", sentences, epochs=epochs, random_state=epochs)
        train(nothing, task)
        expected = by_gensim(sentences, task.options)
        assert np.array_equal(written(task)["vectors.npy"][2:], expected.vectors)


def test_the_learning_rate_falls_within_an_epoch_too(tmp_path: Path) -> None:
    """Where an epoch is more than the 10,000 words that gensim works on at once."""
    sentences = sentences_of(35_000)
    task = task_of(tmp_path / "task", sentences, epochs=2)
    train(nothing, task)
    expected = by_gensim(sentences, task.options).vectors
    np.testing.assert_allclose(written(task)["vectors.npy"][2:], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_task_gives_the_same_files(tmp_path: Path, kind: str) -> None:
    sentences = sentences_of(800)
    tasks = [task_of(tmp_path / name, sentences, kind=kind) for name in "ab"]
    for task in tasks:
        train(nothing, task)
    assert_equal(written(tasks[0]), written(tasks[1]))
    other = task_of(tmp_path / "c", sentences, kind=kind, random_state=8)
    train(nothing, other)
    assert not np.array_equal(written(other)["vectors.npy"], written(tasks[0])["vectors.npy"])


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
@pytest.mark.parametrize("epochs", [(1,), (2,), (3,), (2, 3), (1, 2, 4)])
def test_a_training_that_was_interrupted_ends_as_one_that_was_not(
    tmp_path: Path, kind: str, epochs: tuple[int, ...]
) -> None:
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
    assert_equal(written(task), written(straight))


def test_notes_that_cannot_be_read_are_no_endless_wait(tmp_path: Path) -> None:
    task = task_of(tmp_path / "task", sentences_of(300))
    (task.notes / "numbers").unlink()
    with pytest.raises(FileNotFoundError):
        train(nothing, task)


def test_gensim_has_the_internals_that_training_sets() -> None:
    """They are not part of gensim's public interface: pyproject.toml bounds its version."""
    model = Word2Vec([["a", "b"]], min_count=1, vector_size=2)
    for name in ("cum_table", "corpus_total_words", "ns_exponent", "random", "syn1neg"):
        assert hasattr(model, name), f"gensim {gensim.__version__}: Word2Vec has no {name}"
    for name in ("key_to_index", "index_to_key", "expandos", "vectors"):
        assert hasattr(model.wv, name), f"gensim {gensim.__version__}: KeyedVectors has no {name}"
    assert {"count", "sample_int"} <= set(model.wv.expandos)
    assert callable(model.init_weights)
    assert callable(ft_ngram_hashes)
