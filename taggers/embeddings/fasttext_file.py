"""Binary models of fastText, as fastText and gensim write them.

gensim reads them too, but reads on for ever in a word that is cut off, takes over words of another
encoding in another spelling, and takes the bytes of a compressed file for numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from corpus.errors import InputError
from taggers.embeddings.vector_formats import (
    LARGEST,
    LONGEST,
    Floats,
    Piece,
    VectorStream,
    decoded,
    refuse_infinite,
)

#: What a binary model of fastText begins with.
FASTTEXT = (793712314).to_bytes(4, "little")

_HEADER = struct.Struct("<2i12id")
_VERSION, _DIMENSION = 1, 2  # of the fields of the header
_PLACES, _SHORTEST_PART, _LONGEST_PART = 10, 11, 12
_WORDS = struct.Struct("<3i2q")  # entries, words, labels, tokens, and entries that were pruned
_MATRIX = struct.Struct("<?2q")  # whether it is quantized, rows and columns
_AFTER = 10  # bytes that an entry has after its word: an end, how often it occurs, and its type
_PIECE = 1 << 12  # vectors that are given at once


@dataclass(frozen=True, slots=True)
class Parts:
    """The vectors of parts of words.

    Parameters
    ----------
    vectors : ndarray of float32, shape (P, N)
        By the hash of each part.
    lengths : tuple of (int, int)
        Characters that a part has at least and at most.
    """

    vectors: Floats
    lengths: tuple[int, int]


def read_fasttext(file: BinaryIO, name: str, encoding: str) -> tuple[VectorStream, Parts | None]:
    """Read a binary model of fastText, whole.

    Parameters
    ----------
    file : binary file
        At its beginning.
    name : str
        What errors call it.
    encoding : str
        Of the words.

    Raises
    ------
    InputError
        If it is damaged or of another version.
    """
    try:
        header = _unpacked(file, _HEADER)
        number = _number_of_words(header, _unpacked(file, _WORDS))
        words = _words(file, number, name, encoding)
        dimension, places = header[_DIMENSION], header[_PLACES]
        vectors = _matrix(file, number + places, dimension)
        _matrix(file, number, dimension, keep=False)  # what the words predict
        if file.read(1):
            raise ValueError
    except (EOFError, ValueError, struct.error):
        raise InputError(
            f"{name} is a binary model of fastText that is damaged or of another version: was it "
            "cut off?"
        ) from None
    refuse_infinite(vectors, name)
    parts = None
    if places:
        parts = Parts(vectors[number:], (header[_SHORTEST_PART], header[_LONGEST_PART]))
    return VectorStream(number, dimension, _pieces(words, vectors, parts)), parts


def _unpacked(file: BinaryIO, form: struct.Struct) -> tuple[Any, ...]:
    return form.unpack(file.read(form.size))


def _number_of_words(header: tuple[Any, ...], sizes: tuple[Any, ...]) -> int:
    """Give the number of words, or raise a `ValueError` if this is no model that can be read."""
    entries, words, labels, _, pruned = sizes
    parts = header[_PLACES], header[_SHORTEST_PART], header[_LONGEST_PART]
    if header[_VERSION] not in (11, 12) or not 0 < header[_DIMENSION] <= LARGEST or min(parts) < 0:
        raise ValueError
    if labels or pruned > 0 or not 0 < words == entries:
        raise ValueError
    return int(words)


def _words(file: BinaryIO, number: int, name: str, encoding: str) -> list[str]:
    """Read words, and leave the file at the place after them."""
    words: list[str] = []
    data, place = b"", 0
    while len(words) < number:
        while (end := data.find(b"\0", place)) < 0 or len(data) < end + _AFTER:
            more = file.read(LONGEST)
            if not more or (end < 0 and len(data) - place > LONGEST):
                raise EOFError
            data, place = data[place:] + more, 0
        words.append(decoded(data[place:end], encoding, f"{name}, word {len(words) + 1:,}"))
        place = end + _AFTER
    file.seek(place - len(data), 1)
    return words


def _matrix(file: BinaryIO, rows: int, columns: int, *, keep: bool = True) -> Floats:
    """Read a matrix of this shape, or pass over it."""
    if _unpacked(file, _MATRIX) != (False, rows, columns):
        raise ValueError
    size = 4 * rows * columns
    if not keep:
        file.seek(size - 1, 1)
        if not file.read(1):
            raise EOFError
        return np.zeros((0, columns), np.float32)
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return np.frombuffer(data, "<f4").reshape(rows, columns)


def _pieces(words: list[str], vectors: Floats, parts: Parts | None) -> Iterator[Piece]:
    """Yield words with the mean of their own vectors and those of their parts."""
    from gensim.models.fasttext import ft_ngram_hashes  # noqa: PLC0415 - slow to import

    for begin in range(0, len(words), _PIECE):
        some = words[begin : begin + _PIECE]
        means = vectors[begin : begin + len(some)].copy()
        if parts is not None:
            for row, word in enumerate(some):
                places = ft_ngram_hashes(word, *parts.lengths, len(parts.vectors))
                means[row] = np.concatenate([means[[row]], parts.vectors[places]]).mean(axis=0)
        yield some, means
