"""Word counts and document frequencies of a corpus, computed in one pass."""

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

from corpus.errors import InputError
from corpus.flat import byte_offsets_of
from corpus.patients import PatientSets, patient_keys
from corpus.ragged import owners_of
from corpus.storage.atomic import new_file
from corpus.storage.tables import read_columns, table_errors_of, write_table
from corpus.tokens import Tokens, tokenize

Int64Array = npt.NDArray[np.int64]

#: Bytes of the texts that are tokenized at a time; bounds the memory needed.
_PIECE = 1 << 18

_COLUMNS = pa.schema(
    [
        pa.field("word", pa.large_string()),
        pa.field("count", pa.int64()),
        pa.field("documents", pa.int64()),
    ]
)
#: Rows per row group of the file.
_ROWS = 1 << 16

_PATIENTS = "patients"  # a column of files that count them
_OPTIONAL = pa.schema([pa.field(_PATIENTS, pa.int32())])

_TOTAL = b"documents"  # the metadata key of the total number of documents


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Word counts of a corpus, the most frequent word first.

    Parameters
    ----------
    words : pyarrow.LargeStringArray
        The V distinct words as written, in Unicode normalization form C. Words of equal frequency
        are in the order of their code points.
    counts : ndarray of int64, shape (V,)
        The number of tokens of each word.
    documents : ndarray of int64, shape (V,)
        The document frequency of each word.
    total : int
        The number of documents, including those without words.
    patients : ndarray of int32, shape (V,), or None
        The number of patients in whose documents each word occurs, up to
        `corpus.patients.MOST_PATIENTS`; a document without a known patient
        counts as its own patient. None if patients were not counted.
    """

    words: pa.LargeStringArray
    counts: Int64Array
    documents: Int64Array
    total: int
    patients: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        """Return the number of words, V."""
        return len(self.words)

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.counts.sum())

    def save(self, path: Path) -> None:
        """Write the counts to a new Parquet file.

        Raises
        ------
        InputError
            If the file exists or cannot be created.
        """
        table = pa.table([self.words, self.counts, self.documents], schema=_COLUMNS)
        if self.patients is not None:
            table = table.append_column(_PATIENTS, pa.array(self.patients, pa.int32()))
        table = table.replace_schema_metadata({_TOTAL: str(self.total)})
        with new_file(path) as file:
            write_table(table, file, row_group_size=_ROWS, use_dictionary=False)

    @classmethod
    def load(cls, path: Path) -> WordCounts:
        """Read a file that `save` wrote.

        Raises
        ------
        InputError
            If the file does not exist, is damaged or is not a file of word counts.
        """
        expected = "a file of word counts; expected a file of bootstrap count"
        with table_errors_of(path, expected, "count the words again"):
            table = read_columns(path, _COLUMNS, optional=_OPTIONAL)
            total = int((table.schema.metadata or {})[_TOTAL])
        words, *numbers = (column.combine_chunks() for column in table.columns)
        occurrences, documents, *patients = (column.to_numpy() for column in numbers)
        counts = cls(words, occurrences, documents, total, *patients)
        counts._check(path)
        return counts

    def _check(self, path: Path) -> None:
        """Raise an `InputError` if no corpus can have these counts."""
        right = not len(self) or (
            self.documents.min() > 0
            and self.documents.max() <= self.total
            and (self.documents <= self.counts).all()
            and self.counts.sum(dtype=np.float64) < 2.0**62
        )
        if not (right and 0 <= self.total < 2**62):
            raise InputError(
                f"{path} is damaged: expected that each word occurs in one or more of its "
                "documents, at least once in each; count again by bootstrap count"
            )


class WordCounter:
    """An incremental counter of words, which numbers them in order of first appearance.

    Parameters
    ----------
    with_patients : bool
        Whether to count patients, which takes 5 bytes more for each word, and 64 bytes more for
        each word of several patients.

    Attributes
    ----------
    total : int
        The number of documents counted so far.
    """

    def __init__(self, *, with_patients: bool = False) -> None:
        self.total = 0
        self._patients = PatientSets() if with_patients else None
        self._words = _WordNumbers()
        self._counts: Int64Array = np.zeros(1024, np.int64)
        self._documents: Int64Array = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        """Return the number of distinct words so far."""
        return len(self._words)

    def add(
        self, tokens: Tokens, patients: pa.LargeStringArray | None = None
    ) -> npt.NDArray[np.int32]:
        """Count the words of documents.

        Parameters
        ----------
        tokens : Tokens
            The N tokens of D documents.
        patients : pyarrow.LargeStringArray, length D, optional
            The key of the patient of each document (see `corpus.patients.patient_keys`), if
            patients are counted.

        Returns
        -------
        ndarray of int32, shape (N,)
            The number of the word of each token.
        """
        composed = [unicodedata.normalize("NFC", word) for word in tokens.vocabulary]
        words = self._words.numbers(composed)[tokens.word_ids]
        self._counts = _add_counts(self._counts, words, len(self))
        owners = owners_of(tokens.document_offsets)
        pairs = np.unique(owners * len(self) + words)  # count a word once per document
        self._documents = _add_counts(self._documents, pairs % max(len(self), 1), len(self))
        if self._patients is not None:
            self._patients.add(words, tokens.document_offsets, patients, len(self))
        self.total += len(tokens.document_offsets) - 1
        return words

    def counts(self) -> WordCounts:
        """Return the counts so far."""
        return self.ranked()[0]

    def ranked(self) -> tuple[WordCounts, npt.NDArray[np.int64]]:
        """Return the counts so far, and the number that was assigned to each of their words."""
        words = self._words.words()
        counts, documents = self._counts[: len(self)], self._documents[: len(self)]
        table = pa.table({"word": words, "count": counts})
        keys = [("count", "descending"), ("word", "ascending")]
        order = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)
        patients = self._patients.numbers(len(self))[order] if self._patients else None
        words = words.take(order)
        return WordCounts(words, counts[order], documents[order], self.total, patients), order


class _WordNumbers:
    """A table of words, numbered in order of first appearance.

    Words are identified by their 64-bit hashes, in sorted arrays that are merged as they grow, each
    at least twice as long as the next. This needs a third of the memory of a dict. Among five
    million words, the probability of a collision is 1 in a million.
    """

    def __init__(self) -> None:
        self._size = 0
        self._runs: list[tuple[Int64Array, npt.NDArray[np.int32]]] = []  # hashes and their numbers
        self._words: list[pa.LargeStringArray] = []

    def __len__(self) -> int:
        return self._size

    def numbers(self, words: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the number of each word; new words are added."""
        hashes = np.fromiter(map(hash, words), np.int64, len(words))
        hashes, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        ids = np.full(len(hashes), -1, np.int32)
        for known, numbers in self._runs:
            place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
            ids = np.where(known[place] == hashes, numbers[place], ids)
        if len(new := np.flatnonzero(ids < 0)):
            order = new[np.argsort(first[new])]  # the order of first appearance
            ids[order] = np.arange(self._size, self._size + len(new), dtype=np.int32)
            self._words.append(
                pa.array([words[place] for place in first[order]], pa.large_string())
            )
            self._size += len(new)
            self._add(hashes[new], ids[new])
        return ids[inverse.reshape(-1)]

    def _add(self, hashes: Int64Array, numbers: npt.NDArray[np.int32]) -> None:
        while self._runs and len(self._runs[-1][0]) < 2 * len(hashes):
            known, before = self._runs.pop()
            hashes, numbers = np.concatenate([known, hashes]), np.concatenate([before, numbers])
            order = np.argsort(hashes)
            hashes, numbers = hashes[order], numbers[order]
        self._runs.append((hashes, numbers))

    def words(self) -> pa.LargeStringArray:
        """Return all words in the order of their numbers."""
        self._words = [pa.concat_arrays([pa.array([], pa.large_string()), *self._words])]
        return self._words[0]


def _add_counts(counts: Int64Array, words: npt.NDArray[np.integer[Any]], size: int) -> Int64Array:
    """Add occurrences of words to counts, in an array that grows if it is too small."""
    if size > len(counts):
        counts = np.concatenate([counts, np.zeros(size + size // 4 - len(counts), np.int64)])
    counts += np.bincount(words, minlength=len(counts))
    return counts


#: The tokens of documents, and the keys of their patients.
Piece = tuple[Tokens, pa.LargeStringArray]


def count_words(
    batches: Iterable[pa.RecordBatch], *, progress: Callable[[int], None] | None = None
) -> WordCounts:
    """Count the words of a corpus in one pass.

    Parameters
    ----------
    batches : iterable of RecordBatch
        The documents, as in `corpus.formats.batches`. Memory grows with the vocabulary: about 65
        bytes per word, and 64 more per word of several patients.
    progress : callable, optional
        Called with the number of documents counted so far.
    """
    return count_tokens(map(tokenized, in_pieces(batches)), progress=progress)


def count_tokens(
    pieces: Iterable[Piece], *, progress: Callable[[int], None] | None = None
) -> WordCounts:
    """Count the words of documents that have been tokenized; see `count_words`."""
    counter = WordCounter(with_patients=True)
    for tokens, patients in pieces:
        counter.add(tokens, patients)
        if progress:
            progress(counter.total)
    return counter.counts()


def in_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Divide batches of documents into ones of a size that is efficient to tokenize."""
    return (batch[piece] for batch in batches for piece in pieces_of(batch.column("text")))


def tokenized(batch: pa.RecordBatch) -> Piece:
    """Tokenize documents for `count_tokens`, which may be done in another process."""
    return tokenize(batch.column("text")), patient_keys(batch.column("group"), batch.column("id"))


def pieces_of(texts: pa.LargeStringArray) -> Iterator[slice]:
    """Yield parts of texts of a size that is efficient to tokenize, and bounded in memory."""
    byte_offsets, begin = byte_offsets_of(texts), 0
    while begin < len(texts):
        end = max(int(np.searchsorted(byte_offsets, byte_offsets[begin] + _PIECE)), begin + 1)
        yield slice(begin, end)
        begin = end
