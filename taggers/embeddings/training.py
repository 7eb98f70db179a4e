"""Training of word2vec and fastText (gensim) on notes whose words were numbered.

It runs in a process of its own that imports nothing else: the vectors are all that needs memory.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from corpus.storage import publish_folder, replaced_folder
from taggers.embeddings.encoded_corpus import RankedSentences
from taggers.embeddings.listing import write_description
from taggers.embeddings.vectors import VectorFile
from taggers.string_table import StringTable

#: The learning rate at the begin and at the end: those of word2vec.
FIRST_RATE, LAST_RATE = 0.025, 0.0001

#: In a folder whose training has begun: what is trained.
BEGUN = "task.json"

_PIECE = 1 << 14  # vectors that are written at once


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How vectors are trained.

    Parameters
    ----------
    kind : {"word2vec", "fasttext"}
        Of words, or of words and their parts, so that a word never seen has a vector too.
    dimension : int
        Components of a vector, N.
    window : int
        Words looked at on each side, at most.
    epochs : int
        Passes over the notes.
    min_count : int
        Words that occur less often get no vector.
    random_state : int
        With one worker, the same number gives the same vectors.
    workers : int
        Threads. With several the order of their work is that of chance.
    sample : float
        Share of all tokens above which a word is passed over at random.
    negative : int
        Words drawn for each pair.
    """

    kind: Literal["word2vec", "fasttext"] = "word2vec"
    dimension: int = 100
    window: int = 5
    epochs: int = 5
    min_count: int = 5
    random_state: int = 0
    workers: int = 1
    sample: float = 1e-3
    negative: int = 5


#: What fastText cuts words into: parts of so many characters, each in one of so many places.
SHORTEST_PART, LONGEST_PART, PLACES = 3, 6, 200_000


@dataclass(frozen=True, slots=True)
class Task:
    """What the training process needs.

    Parameters
    ----------
    options : TrainingOptions
        How to train.
    notes : Path
        Numbered notes (see `taggers.embeddings.encoded_corpus`).
    folder : Path
        It holds ``words.npy``, ``word_ends.npy``, ``counts.npy`` and ``ranks.npy``: the vectors'
        words, how often they occur, and for each number in the notes the rank of its word, or -1.
        ``vectors.npy`` is written there, and ``parts.npy`` of fastText.
    target : Path
        What the folder is called when the embedding is complete.
    normalisation : str
        What words became.
    settings : mapping
        How the embedding is made.
    """

    options: TrainingOptions
    notes: Path
    folder: Path
    target: Path
    normalisation: str
    settings: Mapping[str, Any]


def train(send: Callable[[int], None], task: Task) -> None:
    """Train vectors and make an embedding; what was trained before is gone on with.

    Parameters
    ----------
    send : callable
        Told of the tokens done, those of the epochs before among them.
    task : Task
        What to do.
    """
    logging.getLogger("gensim").setLevel(logging.ERROR)
    options = task.options
    counts = np.load(task.folder / "counts.npy")
    model = _model(options, counts, task.folder)
    checkpoint = _Checkpoint(task.folder / "checkpoint", model)
    tokens = int(counts.sum())
    ranks = np.load(task.folder / "ranks.npy", mmap_mode="r")
    for epoch in range(checkpoint.load(), options.epochs):

        def progress(done: int, before: int = epoch * tokens) -> None:
            send(before + done)

        sentences = _Heard(RankedSentences(task.notes, ranks, progress))
        model.train(
            sentences,
            total_words=tokens,  # without a number of sentences, the rate falls with the words
            epochs=1,
            start_alpha=_rate(epoch / options.epochs),
            end_alpha=_rate((epoch + 1) / options.epochs),
        )
        if sentences.error:
            raise sentences.error
        if epoch + 1 < options.epochs:
            checkpoint.save(epoch + 1)
    with VectorFile(task.folder / "vectors.npy", options.dimension) as file:
        for begin in range(0, len(counts), _PIECE):  # sums of pieces need no copy of the whole
            file.add(model.wv.vectors[begin : begin + _PIECE])
    if options.kind == "fasttext":
        np.save(task.folder / "parts.npy", model.wv.vectors_ngrams)
    checkpoint.remove()
    for name in ("ranks.npy", BEGUN):
        (task.folder / name).unlink(missing_ok=True)
    lengths = (SHORTEST_PART, LONGEST_PART) if options.kind == "fasttext" else None
    write_description(task.folder, task.normalisation, task.settings, lengths)
    publish_folder(task.folder, task.target)


def _rate(share: float) -> float:
    """Give the learning rate after a share of the training: it falls on a line."""
    return FIRST_RATE - (FIRST_RATE - LAST_RATE) * share


class _Heard:
    """Gives sentences, and ends where that fails.

    gensim asks for them in a thread of its own. An exception would end that thread, and gensim
    would wait for it for ever.

    Attributes
    ----------
    error : Exception or None
        What they failed of.
    """

    def __init__(self, sentences: Iterable[list[int]]) -> None:
        self.error: Exception | None = None
        self._sentences = sentences

    def __iter__(self) -> Iterator[list[int]]:
        try:
            yield from self._sentences
        except Exception as error:  # whatever it is, the other thread raises it
            self.error = error


def _model(options: TrainingOptions, counts: npt.NDArray[np.int64], folder: Path) -> Any:
    """Make an untrained model whose words are their ranks."""
    given = {
        "sg": 1,
        "vector_size": options.dimension,
        "window": options.window,
        "min_count": 1,  # what is rarer has no rank
        "seed": options.random_state,
        "workers": options.workers,
        "sample": options.sample,
        "negative": options.negative,
        "sorted_vocab": 0,
    }
    if options.kind == "word2vec":
        return _word2vec(given, counts)
    from gensim.models.fasttext import FastText  # noqa: PLC0415 - slow to import

    words = StringTable(np.load(folder / "words.npy"), np.load(folder / "word_ends.npy")).strings()
    parts = {"min_n": SHORTEST_PART, "max_n": LONGEST_PART, "bucket": PLACES}
    model = FastText(**given, **parts)
    model.build_vocab_from_freq(dict(zip(words, counts.tolist(), strict=True)))
    model.wv.key_to_index = {rank: rank for rank in range(len(counts))}
    return model


def _word2vec(given: dict[str, Any], counts: npt.NDArray[np.int64]) -> Any:
    """Make a model of word2vec.

    gensim keeps three objects and two tables in memory for each word; here a word is its rank, and
    what gensim would compute from dicts is computed from the counts.
    """
    from gensim.models.word2vec import Word2Vec  # noqa: PLC0415 - slow to import

    model = Word2Vec(**given)
    ranks = range(len(counts))
    model.wv.key_to_index = model.wv.index_to_key = ranks
    model.wv.expandos = {"count": counts, "sample_int": sampled(counts, model.sample)}
    model.cum_table = drawn(counts, model.ns_exponent)
    model.corpus_total_words = int(counts.sum())
    model.init_weights()
    return model


def sampled(counts: npt.NDArray[np.int64], sample: float) -> npt.NDArray[np.uint32]:
    """Give the probability that a token of each word is looked at, of 2^32 - 1."""
    if not sample:
        return np.full(len(counts), 2**32 - 1, np.uint32)
    threshold = sample * counts.sum()
    kept = (np.sqrt(counts / threshold) + 1) * (threshold / counts)
    share: npt.NDArray[np.uint32] = (np.minimum(kept, 1.0) * (2**32 - 1)).astype(np.uint32)
    return share


def drawn(counts: npt.NDArray[np.int64], exponent: float) -> npt.NDArray[np.uint32]:
    """Give the sums of the probabilities by which words are drawn, of 2^31 - 1."""
    sums = np.cumsum(counts.astype(np.float64) ** exponent)
    table: npt.NDArray[np.uint32] = np.rint(sums / sums[-1] * (2**31 - 1)).astype(np.uint32)
    return table


class _Checkpoint:
    """What a model is after an epoch, so that training can go on from there."""

    def __init__(self, folder: Path, model: Any) -> None:
        self._folder = folder
        self._model = model

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Give the arrays that training changes."""
        model, vectors = self._model, self._model.wv
        if hasattr(vectors, "vectors_ngrams"):
            words = {"words": vectors.vectors_vocab, "parts": vectors.vectors_ngrams}
        else:
            words = {"words": vectors.vectors}
        return {**words, "hidden": model.syn1neg}

    def save(self, epoch: int) -> None:
        """Write the model as it is after so many epochs."""
        kind, keys, place, *gauss = self._model.random.get_state()
        state = [kind, keys.tolist(), place, *gauss]
        with replaced_folder(self._folder) as staging:
            for name, array in self._arrays().items():
                np.save(staging / f"{name}.npy", array)
            (staging / "state.json").write_text(json.dumps({"epoch": epoch, "random": state}))

    def load(self) -> int:
        """Take over what was saved, and give the epochs that are done."""
        try:
            state = json.loads((self._folder / "state.json").read_text())
        except FileNotFoundError:
            return 0
        for name, array in self._arrays().items():
            array[:] = np.load(self._folder / f"{name}.npy", mmap_mode="r")
        kind, keys, *rest = state["random"]
        self._model.random.set_state((kind, np.array(keys, np.uint32), *rest))
        return int(state["epoch"])

    def remove(self) -> None:
        """Remove what was saved."""
        shutil.rmtree(self._folder, ignore_errors=True)
