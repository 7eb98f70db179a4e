"""Pretrained embeddings: files of word2vec, fastText and GloVe.

Vectors are read one by one and written at once, so that a file needs no memory for what its header
declares. Only binary models of fastText are loaded as a whole, by gensim, which trusts the header
and never ends within a truncated vocabulary. They are therefore checked before.
"""

from __future__ import annotations

import gzip
import logging
import mmap
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from corpus.errors import InputError
from corpus.formats.files import checked_codec
from corpus.storage.arrays import write_array
from corpus.storage.atomic import new_folder, open_new, refuse_existing
from corpus.storage.unpacking import most_unpacked, refuse_more_than_memory, unpacking_error
from taggers.embeddings.embedding import Embedding, write_words
from taggers.embeddings.embedding_files import (
    NORMALISATIONS,
    Floats,
    checked_name,
    write_description,
    write_vectors,
)
from taggers.features.words import Words

Progress = Callable[[int, int], None]

#: Maximum number of bytes of a line or a word.
LONGEST = 1 << 20
#: Maximum dimension of a vector.
LARGEST = 1 << 14

_PIECE = 1 << 10  # vectors that are written at once
_WORD_SIZE = 150  # bytes of memory that gensim needs for a word beside its vector
_MARK = b"\xef\xbb\xbf"  # the byte-order mark that some editors write
_DIGITS = 100  # maximum length of a number

#: The magic number of a binary model of fastText.
_FASTTEXT = (793712314).to_bytes(4, "little")
_HEADER = struct.Struct("<2i12id")
_SIZES = struct.Struct("<3i2q")  # entries, words, labels, tokens, and entries that were pruned
_MATRIX = struct.Struct("<?2q")  # whether it is quantized, rows and columns
_ENTRY = 9  # bytes that an entry has after its word: how often it occurs, and its type


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The words and vectors of a file, their number (0 if unknown) and the vectors of n-grams."""

    entries: Iterator[tuple[str, Floats]]
    dimension: int
    number: int = 0
    parts: Floats | None = None
    part_lengths: tuple[int, int] | None = None


def load_pretrained(
    source: Path,
    folder: Path,
    *,
    name: str | None = None,
    normalisation: str = "none",
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> tuple[Embedding, int]:
    """Convert a file of pretrained vectors to an embedding.

    In the text formats, spaces within a word become ``_``, as word2vec writes phrases.

    Parameters
    ----------
    source : Path
        A file of word2vec (text or binary), fastText (``.vec`` or ``.bin``) or GloVe (text), also
        compressed by gzip (``.gz``); see `corpus.storage.unpacking` for its limits. The format is
        detected from the content.
    folder : Path
        A folder of embeddings, in which a folder is created.
    name : str, optional
        The name of the embedding; by default the name of the file, without suffix.
    normalisation : str
        The normalisation of words before look-up; the words of the file are normalised too.
    encoding : str
        The encoding of the words.
    progress : callable, optional
        Called with the number of vectors read, and their total, or 0 if that is unknown.

    Returns
    -------
    embedding : Embedding
    repeated : int
        Number of words that were skipped because they equal an earlier word after normalisation.

    Raises
    ------
    InputError
        If the file is damaged or of another format, or an embedding of this name exists.
    """
    target = folder / checked_name(name or source.name.partition(".")[0])
    checked_codec(encoding)
    with _errors_of_reading(source), source.open("rb"):
        pass  # what cannot be read makes no folder
    try:
        refuse_existing(target)
    except InputError:
        message = f"{target} exists already: choose another name with --name"
        raise InputError(message) from None
    report, read = progress or (lambda done, total: None), 0
    words: dict[str, None] = {}

    def distinct(vectors: _Vectors) -> Iterator[Floats]:
        nonlocal read
        while entries := list(islice(vectors.entries, _PIECE)):
            rows = []
            spellings = Words([word for word, _ in entries])
            normalised = NORMALISATIONS[normalisation](spellings)
            for word, (_, vector) in zip(normalised, entries, strict=True):
                if word not in words:
                    words[word] = None
                    rows.append(vector)
            read += len(entries)
            report(read, vectors.number)
            yield np.array(rows, np.float32).reshape(-1, vectors.dimension)

    with new_folder(target) as staging, _opened(source, staging) as file:
        report(0, 0)
        vectors = _read(file, str(source), encoding)
        write_vectors(staging / "vectors.npy", vectors.dimension, distinct(vectors))
        if vectors.parts is not None:
            write_array(staging / "parts.npy", vectors.parts)
        write_words(staging, list(words), np.zeros(len(words), np.int64))
        write_description(staging, normalisation, {"file": source.name}, vectors.part_lengths)
    return Embedding.load(target), read - len(words)


@contextmanager
def _errors_of_reading(source: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or "it is cut off, or not compressed by gzip"
        raise InputError(f"{source} cannot be read: {what}") from None


@contextmanager
def _opened(source: Path, staging: Path) -> Iterator[BinaryIO]:
    """Open a file of vectors, or a temporary copy of a compressed one, unpacked up to a limit."""
    if source.suffix != ".gz":
        with source.open("rb") as file:
            yield file
        return
    copy = staging / "copy"
    size = source.stat().st_size
    with gzip.open(source) as content, open_new(copy) as unpacked:
        piece = b"-"
        while piece:
            with _errors_of_reading(source):
                piece = content.read(LONGEST)
            unpacked.write(piece)
            if unpacked.tell() > most_unpacked(size):
                raise unpacking_error(str(source), size)
    with copy.open("rb") as file:
        yield file
    copy.unlink()


def _read(file: BinaryIO, name: str, encoding: str) -> _Vectors:
    """Detect the format of a file of vectors, and return what it contains."""
    begin = file.read(len(_FASTTEXT))
    if begin == _FASTTEXT:
        return _read_fasttext(file, name, encoding)
    file.seek(len(_MARK) if begin.startswith(_MARK) else 0)
    start = file.tell()
    first = file.readline(LONGEST)
    if not first.strip():
        raise InputError(f"{name} is empty or begins with a blank line: expected vectors of words")
    fields = first.split()
    if len(fields) != 2 or not all(map(bytes.isdigit, fields)) or len(first) > _DIGITS:
        dimension = len(_numbers(fields[1:]))
        if not 0 < dimension <= LARGEST:
            raise InputError(
                f"{name} is not a file of vectors: its first line is neither two numbers, words "
                "and components, nor a word and its vector"
            )
        file.seek(start)
        return _Vectors(_text_entries(file, name, encoding, dimension), dimension)
    number, dimension = map(int, fields)
    if not (number and 0 < dimension <= LARGEST):
        raise InputError(
            f"{name} declares other numbers in its first line than it may; expected at least one "
            f"vector, and 1 to {LARGEST:,} components"
        )
    start = file.tell()
    second = file.readline(LONGEST).split()[1:]
    file.seek(start)
    if _numbers(second) or _numbers(second[-dimension:]):
        entries = _text_entries(file, name, encoding, dimension, declared=number)
    else:
        entries = _binary_entries(file, name, encoding, dimension, number)
    return _Vectors(entries, dimension, number)


def _text_entries(
    file: BinaryIO, name: str, encoding: str, dimension: int, declared: int | None = None
) -> Iterator[tuple[str, Floats]]:
    """Yield the word and the vector of each line that is not blank."""
    number, line_number = 0, 0 if declared is None else 1
    while line := file.readline(LONGEST):
        line_number += 1
        if not (fields := line.split()):
            continue
        number += 1
        where = f"{name}:{line_number}"
        word, values = fields[:-dimension], _numbers(fields[-dimension:])
        # A word may have spaces, but not numbers after them.
        if not word or not values or _numbers(word[1:]):
            numbers = len(_numbers(fields[1:]))
            raise InputError(
                f"{where}: {f'{numbers} numbers' if numbers else 'no vector'}; expected a word and "
                f"{dimension} numbers"
            )
        with np.errstate(over="ignore"):  # what becomes infinite is refused
            vector = np.array(values, np.float32)
        _refuse_infinite(vector, where)
        yield _decoded(b"_".join(word), encoding, where), vector
    if declared not in (None, number):
        raise InputError(
            f"{name} contains {number:,} vectors, and declares another number of them"
            f"{': was it cut off?' if number < (declared or 0) else ''}"
        )


def _numbers(fields: Sequence[bytes]) -> list[float]:
    """Return fields as numbers, or an empty list if a field is not a number."""
    try:
        return [float(field) for field in fields]
    except ValueError:
        return []


def _binary_entries(
    file: BinaryIO, name: str, encoding: str, dimension: int, number: int
) -> Iterator[tuple[str, Floats]]:
    """Yield words, each with a space and a vector of four bytes a component after it."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place, size = file.tell(), 4 * dimension
        for row in range(1, number + 1):
            where = f"{name}, word {row:,} of {number:,}"
            end = data.find(b" ", place, place + LONGEST)
            place, word = end + 1 + size, data[place:end].lstrip(b"\n")
            if end < 0 or place > len(data):
                raise InputError(
                    f"{where}: the file ends within it, or is no file of word2vec: was it cut off?"
                )
            vector = np.frombuffer(data[place - size : place], "<f4")
            _refuse_infinite(vector, where)
            yield _decoded(word, encoding, where), vector  # word2vec ends each with a line
        if data[place : place + LONGEST].strip():
            raise InputError(f"{name} contains data after the {number:,} vectors that it declares")


def _read_fasttext(file: BinaryIO, name: str, encoding: str) -> _Vectors:
    """Check that a binary model of fastText contains what its header declares, and load it."""
    from gensim.models.fasttext import load_facebook_vectors  # noqa: PLC0415 - slow to import

    try:
        number, dimension = _check_fasttext(file, name, encoding)
        logging.getLogger("gensim").setLevel(logging.ERROR)
        vectors = load_facebook_vectors(str(file.name), encoding=encoding)
    except (AssertionError, EOFError, ValueError, struct.error):
        raise InputError(
            f"{name} is a binary model of fastText that is damaged or of another version: was it "
            "cut off?"
        ) from None
    _refuse_infinite(vectors.vectors, name)
    _refuse_infinite(vectors.vectors_ngrams, name)
    entries = zip(vectors.index_to_key, vectors.vectors, strict=True)
    if not len(vectors.vectors_ngrams):
        return _Vectors(entries, dimension, number)
    lengths = vectors.min_n, vectors.max_n
    return _Vectors(entries, dimension, number, vectors.vectors_ngrams, lengths)


def _check_fasttext(file: BinaryIO, name: str, encoding: str) -> tuple[int, int]:
    """Return the numbers of words and components, or refuse what gensim cannot read."""
    # A vocabulary of distinct words follows the header, and then two matrices.
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        _, version, dimension, *_, buckets, min_n, max_n, _, _ = _HEADER.unpack_from(data)
        entries, number, labels, _, pruned = _SIZES.unpack_from(data, _HEADER.size)
        known = version in (11, 12) and min(buckets, min_n, max_n) >= 0 and not labels
        known &= not buckets or 0 < min_n <= max_n
        if not known or pruned > 0 or not 0 < number == entries or not 0 < dimension <= LARGEST:
            raise ValueError
        refuse_more_than_memory(
            4 * (number + buckets) * dimension + _WORD_SIZE * number,
            f"{name}: its {number + buckets:,} vectors of {dimension:,} components",
        )
        words, place = set(), _HEADER.size + _SIZES.size
        for row in range(1, number + 1):
            end = data.find(b"\0", place, place + LONGEST)
            if end < 0:
                raise EOFError
            words.add(_decoded(data[place:end], encoding, f"{name}, word {row:,}"))
            place = end + 1 + _ENTRY
        rows = number + buckets
        matrices = 2 * _MATRIX.size + 4 * dimension * (rows + number)
        if data[place : place + _MATRIX.size] != _MATRIX.pack(False, rows, dimension):
            raise ValueError
        if len(words) < number or place + matrices != len(data):
            raise ValueError
    return number, dimension


def _refuse_infinite(vectors: Floats, where: str) -> None:
    if not np.isfinite(vectors).all():
        raise InputError(f"{where}: a component is not a finite number; remove that word")


def _decoded(word: bytes, encoding: str, where: str) -> str:
    try:
        return word.decode(encoding)
    except UnicodeError:  # some encodings raise no more special one
        raise InputError(
            f"{where}: a word is not encoded as {encoding}; pass the encoding by --encoding, such "
            "as latin-1"
        ) from None
