"""How often every word of a corpus occurs, and in how many documents: one pass over it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.storage import new_file
from corpus.tokens import Tokens, in_chunks, tokenize

Counts = npt.NDArray[np.int64]

#: Characters that are counted together: what they need at once is small.
_PIECE = 1 << 18

_COLUMNS = pa.schema(
    [
        pa.field("word", pa.large_string()),
        pa.field("count", pa.int64()),
        pa.field("documents", pa.int64()),
    ]
)
#: Rows that are written at once.
_ROWS = 1 << 16

_TOTAL = b"documents"  # the key of the number of all documents in the file's metadata


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """The words of a corpus, the most frequent first.

    Parameters
    ----------
    words : pyarrow.LargeStringArray
        Distinct words as they are written, composed (NFC): V of them. Words that are as frequent
        stand in the order of their characters.
    counts : ndarray of int64, shape (V,)
        How many tokens are each word.
    documents : ndarray of int64, shape (V,)
        In how many documents each occurs.
    total : int
        How many documents there are, those without any word too.
    """

    words: pa.LargeStringArray
    counts: Counts
    documents: Counts
    total: int

    def __len__(self) -> int:
        """Give the number of words, V."""
        return len(self.words)

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return int(self.counts.sum())

    def save(self, path: Path) -> None:
        """Write a new Parquet file.

        Raises
        ------
        InputError
            If there is something of this name, or it cannot be made.
        """
        table = pa.table([self.words, self.counts, self.documents], schema=_COLUMNS)
        table = table.replace_schema_metadata({_TOTAL: str(self.total)})
        with new_file(path) as file:
            pq.write_table(
                table, file, compression="zstd", row_group_size=_ROWS, use_dictionary=False
            )

    @classmethod
    def load(cls, path: Path) -> WordCounts:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If it is not there, damaged or something else.
        """
        try:
            table = pq.read_table(path)
            total = int((table.schema.metadata or {})[_TOTAL])
            columns = [table[field.name].combine_chunks() for field in _COLUMNS]
        except (OSError, ValueError, KeyError, pa.ArrowException):
            raise InputError(
                f"{shown(path)} holds no counts of words; expected a file of bootstrap count"
            ) from None
        if [column.type for column in columns] != _COLUMNS.types or any(
            column.null_count for column in columns
        ):
            raise InputError(
                f"{shown(path)} holds no counts of words: its columns are not "
                f"{', '.join(_COLUMNS.names)} as bootstrap count writes them"
            )
        words, counts, documents = columns
        return cls(words, counts.to_numpy(), documents.to_numpy(), total)


class WordCounter:
    """Counts the words of texts, piece after piece, and numbers them as it meets them.

    Attributes
    ----------
    total : int
        How many documents were counted.
    """

    def __init__(self) -> None:
        self.total = 0
        self._lexicon = _Lexicon()
        self._counts: Counts = np.zeros(1024, np.int64)
        self._documents: Counts = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        """Give the number of words met so far."""
        return len(self._lexicon)

    def add(self, tokens: Tokens) -> npt.NDArray[np.int32]:
        """Count the words of some documents.

        Parameters
        ----------
        tokens : Tokens
            Those of D documents, N together.

        Returns
        -------
        ndarray of int32, shape (N,)
            The number of the word of each token.
        """
        composed = [unicodedata.normalize("NFC", word) for word in tokens.vocabulary]
        words = self._lexicon.numbers(composed)[tokens.word_ids]
        self._counts = _added(self._counts, words, len(self))
        owners = np.repeat(
            np.arange(len(tokens.document_offsets) - 1), np.diff(tokens.document_offsets)
        )
        pairs = np.unique(owners * len(self) + words)  # a word counts once for each document
        self._documents = _added(self._documents, pairs % max(len(self), 1), len(self))
        self.total += len(tokens.document_offsets) - 1
        return words

    def counts(self) -> WordCounts:
        """Give all counts."""
        return self.ranked()[0]

    def ranked(self) -> tuple[WordCounts, npt.NDArray[np.int64]]:
        """Give all counts, and for each of their words the number that it was given."""
        words = self._lexicon.words()
        counts, documents = self._counts[: len(self)], self._documents[: len(self)]
        table = pa.table({"word": words, "count": counts})
        keys = [("count", "descending"), ("word", "ascending")]
        order = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)
        return WordCounts(words.take(order), counts[order], documents[order], self.total), order


class _Lexicon:
    """Numbers words in the order in which they are met.

    Words are told apart by their 64-bit hashes, in sorted arrays that are merged as they grow, each
    at least twice as long as the next. That is a third of the memory of a dict, and among five
    million words, two share a hash with a probability of 1 in a million.
    """

    def __init__(self) -> None:
        self._size = 0
        self._runs: list[tuple[Counts, npt.NDArray[np.int32]]] = []  # hashes and their numbers
        self._words: list[pa.LargeStringArray] = []

    def __len__(self) -> int:
        return self._size

    def numbers(self, words: Sequence[str]) -> npt.NDArray[np.int32]:
        """Give the number of each word; what is new gets one."""
        hashes = np.fromiter(map(hash, words), np.int64, len(words))
        hashes, first, places = np.unique(hashes, return_index=True, return_inverse=True)
        found = np.full(len(hashes), -1, np.int32)
        for known, numbers in self._runs:
            place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
            found = np.where(known[place] == hashes, numbers[place], found)
        if len(new := np.flatnonzero(found < 0)):
            order = new[np.argsort(first[new])]  # that in which they are met
            found[order] = np.arange(self._size, self._size + len(new), dtype=np.int32)
            self._words.append(
                pa.array([words[place] for place in first[order]], pa.large_string())
            )
            self._size += len(new)
            self._add(hashes[new], found[new])
        return found[places.reshape(-1)]

    def _add(self, hashes: Counts, numbers: npt.NDArray[np.int32]) -> None:
        while self._runs and len(self._runs[-1][0]) < 2 * len(hashes):
            known, before = self._runs.pop()
            hashes, numbers = np.concatenate([known, hashes]), np.concatenate([before, numbers])
            order = np.argsort(hashes)
            hashes, numbers = hashes[order], numbers[order]
        self._runs.append((hashes, numbers))

    def words(self) -> pa.LargeStringArray:
        """Give all words, by their numbers."""
        self._words = [pa.concat_arrays([pa.array([], pa.large_string()), *self._words])]
        return self._words[0]


def _added(counts: Counts, words: npt.NDArray[np.integer[Any]], size: int) -> Counts:
    """Count words on, in an array that grows where it is too small."""
    if size > len(counts):
        counts = np.concatenate([counts, np.zeros(size + size // 4 - len(counts), np.int64)])
    counts += np.bincount(words, minlength=len(counts))
    return counts


def count_words(
    documents: Iterable[Document], *, progress: Callable[[int], None] | None = None
) -> WordCounts:
    """Count the words of a corpus in one pass.

    Parameters
    ----------
    documents : iterable of Document
        Read as they come. Memory depends on the number of different words: some 60 bytes each.
    progress : callable, optional
        Told how many documents are counted.

    Returns
    -------
    WordCounts
    """
    counter = WordCounter()
    for texts in in_pieces(document.text for document in documents):
        counter.add(tokenize(texts))
        if progress:
            progress(counter.total)
    return counter.counts()


def in_pieces(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts together, so many that it pays to look at them at once, and no more."""
    return in_chunks(texts, _PIECE)
