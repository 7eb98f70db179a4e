"""Formats of files of vectors: word2vec and fastText, text and binary, and GloVe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError

Floats = npt.NDArray[np.float32]

#: Some words, and their vectors.
Piece = tuple[list[str], Floats]

#: Bytes that a line or a word may have.
LONGEST = 1 << 20

#: Components that a vector may have.
LARGEST = 1 << 14

_PIECE = 1 << 12  # vectors that are read at once
_MARK = b"\xef\xbb\xbf"  # the byte-order mark that some editors write
_DIGITS = 100  # that a number may have


@dataclass(frozen=True, slots=True)
class VectorStream:
    """The vectors of a file as they are read.

    Parameters
    ----------
    words : int
        How many the file says there are; 0 where it does not.
    dimension : int
        Components of a vector.
    pieces : iterator of Piece
        All of them, checked; an `InputError` on the way says what is wrong.
    """

    words: int
    dimension: int
    pieces: Iterator[Piece]


def read_vectors(file: BinaryIO, name: str, encoding: str) -> VectorStream:
    """Read a file of word2vec, fastText (text) or GloVe (text); its content says which it is.

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
        If it is none of these.
    """
    begin = len(_MARK) if file.read(len(_MARK)) == _MARK else 0
    file.seek(begin)
    first = file.readline(LONGEST)
    if not first.strip():
        raise InputError(f"{name} is empty or begins with a blank line: expected vectors of words")
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields) and len(first) < _DIGITS:
        words, dimension = map(int, fields)
        if not (words and 0 < dimension <= LARGEST):
            raise InputError(f"{name} says that it has {words} vectors of {dimension} components")
        place = file.tell()
        second = file.readline(LONGEST)
        file.seek(place)
        if _is_line(second.split(), dimension):
            lines = _Lines(file, name, encoding, dimension, number=1)
            return VectorStream(words, dimension, _complete(lines.pieces(), words, name))
        pieces = _binary(file, name, encoding, words, dimension)
        return VectorStream(words, dimension, pieces)
    dimension = len(_numbers(fields[1:]))
    if not 0 < dimension <= LARGEST:
        raise InputError(
            f"{name} is no file of vectors: its first line is neither two numbers, words and "
            "components, nor a word and its vector"
        )
    file.seek(begin)
    return VectorStream(0, dimension, _Lines(file, name, encoding, dimension, number=0).pieces())


def _is_line(fields: Sequence[bytes], dimension: int) -> bool:
    """Say whether fields are a word, which may have spaces, and numbers."""
    return len(_numbers(fields[1:])) > 0 or (
        len(fields) > dimension and len(_numbers(fields[-dimension:])) > 0
    )


def _numbers(fields: Sequence[bytes]) -> Floats:
    """Give fields as numbers, or nothing if they are none."""
    if max(map(len, fields), default=0) > _DIGITS:  # each will take as much memory as the longest
        return np.zeros(0, np.float32)
    try:
        with np.errstate(over="ignore"):  # it gives what is refused as infinite
            return np.array(fields, "S").astype(np.float32)
    except ValueError:
        return np.zeros(0, np.float32)


class _Lines:
    """Reads a word and its vector from each line."""

    def __init__(
        self, file: BinaryIO, name: str, encoding: str, dimension: int, *, number: int
    ) -> None:
        self._file = file
        self._name = name
        self._encoding = encoding
        self._dimension = dimension
        self._number = number  # of the line before

    def pieces(self) -> Iterator[Piece]:
        """Yield the lines, some at a time."""
        words: list[str] = []
        vectors = np.empty((_PIECE, self._dimension), np.float32)
        while line := self._file.readline(LONGEST):
            self._number += 1
            if not line.strip():
                continue
            word, vectors[len(words)] = self._parsed(line)
            words.append(word)
            if len(words) == _PIECE:
                yield words, vectors
                words = []
        if words:
            yield words, vectors[: len(words)]

    def _parsed(self, line: bytes) -> tuple[str, Floats]:
        where = f"{self._name}:{self._number}"
        fields = line.split()
        word, rest = fields[: -self._dimension], fields[-self._dimension :]
        vector = _numbers(rest)
        # A word may have spaces, but not numbers after them.
        extra = len(_numbers(word[1:])) if len(word) > 1 else 0
        if not word or extra or not len(vector):
            found = len(_numbers(fields[1:]))
            raise InputError(
                f"{where}: {f'{found} numbers' if found else 'no vector'}; expected a word and "
                f"{self._dimension} numbers"
            )
        refuse_infinite(vector, where)
        return decoded(b" ".join(word), self._encoding, where), vector


def refuse_infinite(vectors: Floats, where: str) -> None:
    """Raise an `InputError` if a component is infinite or no number."""
    if not np.isfinite(vectors).all():
        raise InputError(f"{where}: a component is not a finite number; leave that word out")


def decoded(word: bytes, encoding: str, where: str) -> str:
    """Decode a word, or raise an `InputError` if it is not of the encoding."""
    try:
        return word.decode(encoding)
    except UnicodeError:  # of which some encodings raise no more special one
        raise InputError(
            f"{where}: a word that is not {encoding}; name its encoding by --encoding, such as "
            "latin-1"
        ) from None


def _complete(pieces: Iterator[Piece], words: int, name: str) -> Iterator[Piece]:
    """Yield pieces, and raise an `InputError` if they are not as many words as was said."""
    found = 0
    for piece in pieces:
        found += len(piece[0])
        yield piece
    if found != words:
        raise InputError(
            f"{name} says that it has {words:,} vectors, and there are {found:,}"
            f"{': was it cut off?' if found < words else ''}"
        )


def _binary(
    file: BinaryIO, name: str, encoding: str, words: int, dimension: int
) -> Iterator[Piece]:
    """Yield words, each ended by a space, and their vectors of four bytes a component."""
    found: list[str] = []
    vectors = np.empty((_PIECE, dimension), np.float32)
    data, place, size = b"", 0, 4 * dimension
    for number in range(1, words + 1):
        where = f"{name}, word {number:,}"
        while (space := data.find(b" ", place)) < 0 or len(data) <= space + size:
            more = file.read(max(LONGEST, size))
            if not more or (space < 0 and len(data) - place > LONGEST):
                raise InputError(
                    f"{where} of {words:,}: the file ends within it, or is no file of word2vec: "
                    "was it cut off?"
                )
            data, place = data[place:] + more, 0
        vector = np.frombuffer(data, "<f4", dimension, space + 1)
        refuse_infinite(vector, where)
        found.append(decoded(data[place:space].lstrip(b"\n"), encoding, where))
        vectors[len(found) - 1] = vector
        place = space + 1 + size
        if len(found) == _PIECE or number == words:
            yield found, vectors[: len(found)]
            found = []
    if (data[place:] + file.read(LONGEST)).strip():  # word2vec ends the last vector with a line
        raise InputError(f"{name} goes on after the {words:,} vectors that it says it has")
