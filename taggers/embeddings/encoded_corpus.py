"""Notes encoded as word numbers on disk, to be read once per epoch of training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus.ragged import offsets_of
from corpus.storage.atomic import open_new

#: The lengths of sentences, and the numbers of the words of all of them.
Piece = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]

#: Maximum length of a sentence in gensim; longer sentences are split.
LONGEST = 10_000

#: Sentences that are read at once.
_PIECE = 1 << 10


def write_numbers(folder: Path, pieces: Iterable[Piece]) -> None:
    """Write notes into a folder.

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


def read_numbers(folder: Path) -> Iterator[Piece]:
    """Yield batches of the sentences that `write_numbers` wrote."""
    with (folder / "lengths").open("rb") as lengths, (folder / "numbers").open("rb") as numbers:
        while len(of_sentences := np.fromfile(lengths, np.int32, _PIECE)):
            yield of_sentences, np.fromfile(numbers, np.int32, int(of_sentences.sum()))


class RankedSentences:
    """The sentences of numbered notes as lists of the ranks of their words.

    Parameters
    ----------
    folder : Path
        The notes.
    ranks : ndarray of int32
        The rank of the word of each number, or -1: such words are left out.
    progress : callable
        Called with the number of words with a rank so far.
    """

    def __init__(
        self, folder: Path, ranks: npt.NDArray[np.int32], progress: Callable[[int], None]
    ) -> None:
        self._folder = folder
        self._ranks = ranks
        self._progress = progress

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the sentences from the first one on."""
        done = 0
        for lengths, numbers in read_numbers(self._folder):
            ranks = self._ranks[numbers]
            known = ranks >= 0
            ends = offsets_of(known)[np.cumsum(lengths)]
            tokens = ranks[known].tolist()
            for start, end in pairwise([0, *ends.tolist()]):
                for begin in range(start, end, LONGEST):
                    yield tokens[begin : min(begin + LONGEST, end)]
            done += len(tokens)
            self._progress(done)
