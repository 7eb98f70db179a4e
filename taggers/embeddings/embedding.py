"""Word embeddings, stored in a folder and opened by memory map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.kernels.hash_index import ABSENT, HashIndex, is_crowded
from corpus.kernels.hashing import Hashes, hash_values
from corpus.storage.arrays import Expected, read_array, write_array
from corpus.storage.manifest import Manifest, read_fields
from corpus.storage.opening import MODEL, check_folder
from taggers.embeddings.embedding_files import (
    DESCRIPTION,
    FIRST,
    FORMAT,
    NORMALISATIONS,
    UNKNOWN,
    Floats,
    embedding_folders,
    errors_of,
)
from taggers.features.words import Words
from taggers.string_table import StringTable

Rows = npt.NDArray[np.int32]

_HASH_NAMESPACE = "word"
_CHECKED_WORDS = 64  # whose hashes are computed again when an embedding is opened
_PIECE = 1 << 14  # vectors that are compared at once
_LONGEST_PART = 2**31 - 1  # characters of an n-gram

#: The array in each file.
_ARRAYS = {
    "words": Expected("uint8", (None,)),
    "word_ends": Expected("int64", (None,), 0, order="ascending"),
    "counts": Expected("int64", (None,), 0),
    "hashes": Expected("uint64", (None,)),
    "vectors": Expected("float32", (None, None)),
    "parts": Expected("float32", (None, None)),
}
#: Arrays whose values are not checked, which would take seconds.
_VECTORS = ("vectors", "parts")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A word whose vector is similar to another word's vector.

    Parameters
    ----------
    word : str
        The word as spelled in the embedding.
    similarity : float
        The cosine of the angle between the vectors.
    count : int
        The count of the word in the notes; 0 if unknown.
    """

    word: str
    similarity: float
    count: int


class Embedding:
    """The vectors of V words.

    Attributes
    ----------
    folder : Path
        The folder of the embedding.
    normalisation : str
        The normalisation of words before lookup, a key of `NORMALISATIONS`.
    names : StringTable
        The words, the most frequent first.
    counts : ndarray of int64, shape (V,)
        The count of each word; 0 if unknown.
    vectors : ndarray of float32, shape (V + 2, N)
        A row of zeros, the mean of all vectors, and the vector of each word.
    settings : dict
        The settings of training, or the source of pretrained vectors.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self._manifest = manifest
        # Vectors are large, and are verified on request.
        manifest.verify(name for name in manifest.names if Path(name).stem not in _VECTORS)
        self.normalisation = manifest.fields.text("normalisation")
        if self.normalisation not in NORMALISATIONS:
            raise InputError(f"the normalisation is none of {', '.join(NORMALISATIONS)}")
        self._normalise = NORMALISATIONS[self.normalisation]
        self.settings: dict[str, Any] = dict(manifest.fields.fields("settings").values)
        self.names = StringTable(_mapped(manifest, "words"), _mapped(manifest, "word_ends"))
        self.counts = _mapped(manifest, "counts")
        self.vectors: Floats = _mapped(manifest, "vectors")
        self._parts: Floats | None = None
        if (lengths := manifest.fields.value("parts")) is not None:
            least, most = map(int, lengths)
            if not 0 < least <= most <= _LONGEST_PART:
                raise InputError(f"the n-grams have {least} to {most} characters")
            self._parts, self._part_lengths = _mapped(manifest, "parts"), (least, most)
        hashes = _mapped(manifest, "hashes")
        if is_crowded(hashes):
            raise InputError("hashes.npy has values that are no hashes of words")
        self._index = HashIndex(hashes)
        self._check()

    def _check(self) -> None:
        """Raise a `ValueError` if the files are inconsistent."""
        sizes = {len(self.names), len(self.counts), len(self.vectors) - FIRST}
        if sizes != {len(self._index.hashes)}:
            raise InputError(f"its files have different numbers of words: {sorted(sizes)}")
        if self.names.ends[-1:].tolist() != [len(self.names.text)][: len(self)]:
            raise InputError("the text of its words does not have the expected length")
        if self._parts is not None and self._parts.shape[1] != self.dimension:
            raise InputError("the vectors of words and of n-grams have different dimensions")
        some = np.linspace(0, len(self) - 1, min(len(self), _CHECKED_WORDS)).astype(int)
        expected = word_hashes([self.names[index] for index in some.tolist()])
        if (self._index.hashes[some] != expected).any():
            raise InputError("hashes.npy has other hashes than those of its words")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open an embedding.

        Raises
        ------
        InputError
            If the folder holds none, or one that is damaged or of another version.
        """
        with errors_of(folder, "embedding"):
            check_folder(folder, MODEL)
            fields = read_fields(folder / DESCRIPTION)
            if fields.value("format") == FORMAT:
                return cls(folder, Manifest(folder / DESCRIPTION, fields))
        raise InputError(
            f"{folder} holds an embedding of another format; this version reads format "
            f"{FORMAT}: train or load it again"
        )

    def verify(self) -> int:
        """Compare all files of the embedding with their digests, including the vectors.

        Returns
        -------
        int
            The number of files, without the files of clusterings.

        Raises
        ------
        InputError
            If one of them has changed since it was written.
        """
        self._manifest.verify()
        return 1 + len(self._manifest.names)

    @property
    def name(self) -> str:
        """The name of the embedding and of its folder."""
        return self.folder.name

    def __len__(self) -> int:
        """Return the number of words, V."""
        return len(self.names)

    @property
    def dimension(self) -> int:
        """The dimension of the vectors, N."""
        return int(self.vectors.shape[1])

    def rows(self, types: Sequence[str]) -> Rows:
        """Return the rows of words (paper 003, algorithm 2).

        Parameters
        ----------
        types : sequence of str
            T words, before normalisation.

        Returns
        -------
        ndarray of int32, shape (T,)
            The row of the word itself, or else of the word in lower case, or else of its lemma, or
            else `UNKNOWN`.
        """
        rows = self._rows(Words(types))
        for forms in ("lowers", "lemmas"):
            missing = np.flatnonzero(rows == UNKNOWN)
            if len(missing):
                words = Words([types[index] for index in missing.tolist()])
                rows[missing] = self._rows(Words(getattr(words, forms)))
        return rows

    def _rows(self, words: Words) -> Rows:
        codes = self._index.positions(word_hashes(self._normalise(words)))
        return np.where(codes == ABSENT, UNKNOWN, codes + FIRST).astype(np.int32)

    def vectors_of(self, types: Sequence[str]) -> Floats:
        """Return the vectors of words, shape (T, N).

        An unknown word has the mean of the vectors of its character n-grams (fastText), or else the
        mean of all vectors.
        """
        rows = self.rows(types)
        vectors: Floats = self.vectors[rows]
        if self._parts is not None:
            from gensim.models.fasttext import ft_ngram_hashes  # noqa: PLC0415 - slow to import

            missing = np.flatnonzero(rows == UNKNOWN).tolist()
            words = self._normalise(Words([types[index] for index in missing]))
            for index, word in zip(missing, words, strict=True):
                if places := ft_ngram_hashes(word, *self._part_lengths, len(self._parts)):
                    vectors[index] = self._parts[places].mean(axis=0)
        return vectors

    def word_of(self, word: str) -> tuple[str, int] | None:
        """Return the word of the embedding that a word is mapped to, and its count, if any."""
        row = int(self.rows([word])[0])
        return None if row == UNKNOWN else (self.names[row - FIRST], int(self.counts[row - FIRST]))

    def neighbours(self, word: str, number: int) -> list[Neighbour]:
        """Return the words whose vectors have the smallest angle to a word's vector.

        Returns
        -------
        list of Neighbour
            The nearest first; empty if there is no vector for the word.
        """
        row = int(self.rows([word])[0])
        if row == UNKNOWN and self._parts is None:
            return []
        vector = self.vectors_of([word])[0]
        vector = vector / max(float(np.linalg.norm(vector)), 1e-12)
        similar = np.concatenate([piece @ vector for piece in self.directions()])
        if row >= FIRST:
            similar[row - FIRST] = -np.inf
        best = np.argsort(-similar, kind="stable")[: min(number, len(self) - (row >= FIRST))]
        return [
            Neighbour(self.names[index], float(similar[index]), int(self.counts[index]))
            for index in best.tolist()
        ]

    def directions(self) -> Iterator[Floats]:
        """Yield the normalised vectors of words in pieces, without keeping them in memory."""
        for begin in range(FIRST, len(self.vectors), _PIECE):
            piece = _unmapped(self.vectors, begin, begin + _PIECE)
            lengths = np.linalg.norm(piece, axis=1, keepdims=True)
            yield piece / np.maximum(lengths, 1e-12)


def _mapped(manifest: Manifest, name: str) -> npt.NDArray[Any]:
    """Map one of the files, and raise an `InputError` if it holds something else."""
    path = manifest.path(f"{name}.npy")
    return read_array(path, _ARRAYS[name], mapped=True, checked=name not in _VECTORS)


def _unmapped(array: npt.NDArray[Any], begin: int, end: int) -> npt.NDArray[Any]:
    """Read rows of a mapped array from its file, without keeping its pages in memory."""
    if not isinstance(array, np.memmap):  # an empty array is not mapped
        return array[begin:end]
    width = array.shape[1]
    count, offset = (min(end, len(array)) - begin) * width, begin * width * array.itemsize
    rows = np.fromfile(str(array.filename), array.dtype, count, offset=array.offset + offset)
    return rows.reshape(-1, width)


def word_hashes(words: Sequence[str]) -> Hashes:
    """Compute the hashes of words in the vocabulary of an embedding."""
    return hash_values(_HASH_NAMESPACE, words)


def write_words(folder: Path, words: Sequence[str], counts: npt.NDArray[np.int64]) -> None:
    """Write the words of an embedding, the most frequent first, and their counts."""
    names = StringTable.from_strings(words)
    write_array(folder / "words.npy", names.text)
    write_array(folder / "word_ends.npy", names.ends)
    write_array(folder / "counts.npy", counts.astype(np.int64))
    write_array(folder / "hashes.npy", word_hashes(words))


def find_embeddings(folder: Path) -> list[Embedding]:
    """Load the embeddings of a folder, or the single embedding that the folder itself is.

    Returns
    -------
    list of Embedding
        Sorted by name.

    Raises
    ------
    InputError
        If there is no embedding, or one is damaged.
    """
    folders = embedding_folders(folder)
    if not folders:
        raise InputError(
            f"{folder} holds no embedding; train one by bootstrap embed train, or load "
            "pretrained vectors by bootstrap embed load"
        )
    return [Embedding.load(path) for path in folders]
