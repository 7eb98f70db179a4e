"""Training of word2vec and fastText (gensim) on notes encoded as word numbers.

Training runs in a separate process that imports little else, so that memory is left to the vectors.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from corpus.ragged import offsets_of
from corpus.storage.arrays import write_array
from corpus.storage.atomic import new_folder, open_new, publish_folder, write_atomically
from taggers.embeddings.embedding_files import write_description, write_vectors
from taggers.string_table import StringTable

#: The initial and the final learning rate, as in word2vec.
FIRST_RATE, LAST_RATE = 0.025, 0.0001

#: The file that marks a folder whose training has begun, and describes the training.
BEGUN = "task.json"

#: The lengths of sentences, and the numbers of the words of all of them.
Piece = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]

#: Maximum length of a sentence in gensim; longer sentences are split.
LONGEST = 10_000

#: Minimum and maximum length of the character n-grams of fastText, and number of hash buckets.
SHORTEST_PART, LONGEST_PART, PLACES = 3, 6, 200_000

_PIECE = 1 << 14  # vectors that are written at once
_SENTENCES = 1 << 10  # that are read at once


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """Options of the training of vectors.

    Parameters
    ----------
    kind : {"word2vec", "fasttext"}
        The algorithm. fastText also trains vectors of character n-grams, from which vectors of
        unknown words are computed.
    dimension : int
        Dimension of the vectors, N.
    window : int
        Maximum distance between the current and the predicted word.
    epochs : int
        Number of passes over the notes.
    min_count : int
        Minimum count of the words with a vector.
    random_state : int
        Seed. Training is reproducible with one worker.
    workers : int
        Number of threads. With several, results are not reproducible.
    sample : float
        Share of all tokens above which frequent words are downsampled.
    negative : int
        Number of negative samples per pair.
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


@dataclass(frozen=True, slots=True)
class Task:
    """The input of a training process.

    Parameters
    ----------
    options : TrainingOptions
        How to train.
    notes : Path
        The folder of the encoded notes (see `write_numbers`).
    folder : Path
        A folder with ``words.npy``, ``word_ends.npy``, ``counts.npy`` and ``ranks.npy``: the words
        with a vector, their counts, and the rank of the word of each number in the notes, or -1.
        ``vectors.npy`` and, for fastText, ``parts.npy`` are written there.
    target : Path
        The final path of the folder, once the embedding is complete.
    normalisation : str
        The normalisation of the words.
    settings : mapping
        The settings of training, for the description of the embedding.
    """

    options: TrainingOptions
    notes: Path
    folder: Path
    target: Path
    normalisation: str
    settings: Mapping[str, Any]


def train(send: Callable[[int], None], task: Task) -> None:
    """Train vectors and write an embedding, from the last checkpoint if there is one.

    Parameters
    ----------
    send : callable
        Called with the number of tokens trained on, including earlier epochs.
    task : Task
        The options and files.
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

        sentences = RankedSentences(task.notes, ranks, progress)
        model.train(
            sentences,
            total_words=tokens,  # lets the learning rate decrease with the number of words
            epochs=1,
            start_alpha=_rate(epoch / options.epochs),
            end_alpha=_rate((epoch + 1) / options.epochs),
        )
        if sentences.error:
            raise sentences.error
        if epoch + 1 < options.epochs:
            checkpoint.save(epoch + 1)
    vectors = model.wv.vectors
    pieces = (vectors[begin : begin + _PIECE] for begin in range(0, len(vectors), _PIECE))
    write_vectors(task.folder / "vectors.npy", options.dimension, pieces)
    if options.kind == "fasttext":
        write_array(task.folder / "parts.npy", model.wv.vectors_ngrams)
    shutil.rmtree(task.folder / "checkpoint", ignore_errors=True)
    for name in ("ranks.npy", BEGUN):
        (task.folder / name).unlink(missing_ok=True)
    lengths = (SHORTEST_PART, LONGEST_PART) if options.kind == "fasttext" else None
    write_description(task.folder, task.normalisation, task.settings, lengths)
    publish_folder(task.folder, task.target)


def _rate(share: float) -> float:
    """Return the learning rate after a share of the training: it decreases linearly."""
    return FIRST_RATE - (FIRST_RATE - LAST_RATE) * share


def write_numbers(folder: Path, pieces: Iterable[Piece]) -> None:
    """Write notes into a folder, to be read once per epoch.

    Parameters
    ----------
    folder : Path
        The folder of the files ``lengths`` and ``numbers``, of int32 in native byte order.
    pieces : iterable of Piece
        Batches of sentences.
    """
    with open_new(folder / "lengths") as lengths, open_new(folder / "numbers") as numbers:
        for of_sentences, of_words in pieces:
            lengths.write(of_sentences.astype(np.int32).tobytes())
            numbers.write(of_words.astype(np.int32).tobytes())


class RankedSentences:
    """The sentences of numbered notes as lists of the ranks of their words.

    gensim reads sentences in a separate thread. An exception would end that thread, and gensim
    would wait for it indefinitely. The sentences therefore end at an exception and store it.

    Parameters
    ----------
    folder : Path
        The notes that `write_numbers` wrote.
    ranks : ndarray of int32
        The rank of the word of each number, or -1: such words are left out.
    progress : callable
        Called with the number of words with a rank so far.

    Attributes
    ----------
    error : Exception or None
        The exception that ended them.
    """

    def __init__(
        self, folder: Path, ranks: npt.NDArray[np.int32], progress: Callable[[int], None]
    ) -> None:
        self._folder = folder
        self._ranks = ranks
        self._progress = progress
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the sentences from the first one on."""
        try:
            yield from self._sentences()
        except Exception as error:  # raised again in the main thread
            self.error = error

    def _sentences(self) -> Iterator[list[int]]:
        done = 0
        with (
            (self._folder / "lengths").open("rb") as lengths,
            (self._folder / "numbers").open("rb") as numbers,
        ):
            while len(of_sentences := np.fromfile(lengths, np.int32, _SENTENCES)):
                ranks = self._ranks[np.fromfile(numbers, np.int32, int(of_sentences.sum()))]
                known = ranks >= 0
                ends = offsets_of(known)[np.cumsum(of_sentences)]
                tokens = ranks[known].tolist()
                for start, end in pairwise([0, *ends.tolist()]):
                    for begin in range(start, end, LONGEST):
                        yield tokens[begin : min(begin + LONGEST, end)]
                done += len(tokens)
                self._progress(done)


def _model(options: TrainingOptions, counts: npt.NDArray[np.int64], folder: Path) -> Any:
    """Build an untrained model whose words are their ranks."""
    arguments = {
        "sg": 1,
        "vector_size": options.dimension,
        "window": options.window,
        "min_count": 1,  # rare words have no rank already
        "seed": options.random_state,
        "workers": options.workers,
        "sample": options.sample,
        "negative": options.negative,
        "sorted_vocab": 0,
    }
    ranks = range(len(counts))
    if options.kind == "word2vec":
        from gensim.models.word2vec import Word2Vec  # noqa: PLC0415 - slow to import

        model = Word2Vec(**arguments)
        model.build_vocab_from_freq(dict(zip(ranks, counts.tolist(), strict=True)))
        return model
    from gensim.models.fasttext import FastText  # noqa: PLC0415 - slow to import

    # The vectors of its words depend on their letters.
    words = StringTable(np.load(folder / "words.npy"), np.load(folder / "word_ends.npy")).strings()
    parts = {"min_n": SHORTEST_PART, "max_n": LONGEST_PART, "bucket": PLACES}
    model = FastText(**arguments, **parts)
    model.build_vocab_from_freq(dict(zip(words, counts.tolist(), strict=True)))
    model.wv.key_to_index = dict(enumerate(ranks))
    return model


class _Checkpoint:
    """The states of a model after epochs, a folder each; training can be resumed from the last."""

    def __init__(self, folder: Path, model: Any) -> None:
        self._folder = folder
        self._model = model

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that training changes."""
        model, vectors = self._model, self._model.wv
        if hasattr(vectors, "vectors_ngrams"):
            words = {"words": vectors.vectors_vocab, "parts": vectors.vectors_ngrams}
        else:
            words = {"words": vectors.vectors}
        return {**words, "hidden": model.syn1neg}

    def save(self, epoch: int) -> None:
        """Write the state of the model after a number of epochs."""
        kind, keys, place, *gauss = self._model.random.get_state()
        state = [kind, keys.tolist(), place, *gauss]
        before = self._saved()
        with new_folder(self._folder / str(epoch)) as staging:
            for name, array in self._arrays().items():
                write_array(staging / f"{name}.npy", array)
            write_atomically(staging / "random.json", json.dumps(state).encode())
        for earlier in before:
            shutil.rmtree(self._folder / str(earlier))

    def load(self) -> int:
        """Load the saved state, and return the number of completed epochs."""
        epoch = max(self._saved(), default=0)
        if epoch:
            folder = self._folder / str(epoch)
            for name, array in self._arrays().items():
                array[:] = np.load(folder / f"{name}.npy", mmap_mode="r")
            kind, keys, *rest = json.loads((folder / "random.json").read_text())
            self._model.random.set_state((kind, np.array(keys, np.uint32), *rest))
        return epoch

    def _saved(self) -> list[int]:
        return [int(path.name) for path in self._folder.glob("[0-9]*")]
