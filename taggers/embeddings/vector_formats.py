"""Checks of files of pretrained vectors, before gensim allocates memory according to the header.

gensim reads word2vec, fastText and GloVe, but it trusts the header, ignores data after the declared
vectors, hangs on a truncated vocabulary of fastText, and does not report the damaged line.
"""

from __future__ import annotations

import gzip
import io
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, shown
from corpus.storage.unpacking import LimitedReader, refuse_more_than_memory

Floats = npt.NDArray[np.float32]

#: Maximum number of bytes of a line or a word.
LONGEST = 1 << 20

#: The most empty lines. A compressed file could have a thousand of them in a byte.
_MOST_EMPTY = 100_000
#: Maximum dimension of a vector.
LARGEST = 1 << 14

_WORD_SIZE = 150  # bytes of memory that gensim needs for a word beside its vector
_MARK = b"\xef\xbb\xbf"  # the byte-order mark that some editors write
_DIGITS = 100  # maximum length of a number
_PARTS_OF_LINE = re.compile(rb"[^\s]+( -?[0-9][0-9.e+-]*)+ ?\r?\n?")

#: The magic number of a binary model of fastText.
_FASTTEXT = (793712314).to_bytes(4, "little")
_HEADER = struct.Struct("<2i12id")
_VERSION, _DIMENSION = 1, 2  # of the fields of the header
_BUCKETS, _MIN_N, _MAX_N = 10, 11, 12
_SIZES = struct.Struct("<3i2q")  # entries, words, labels, tokens, and entries that were pruned
_MATRIX = struct.Struct("<?2q")  # whether it is quantized, rows and columns
_ENTRY = 9  # bytes that an entry has after its word: how often it occurs, and its type


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """The format and the size of a file of vectors.

    Parameters
    ----------
    kind : {"text", "binary", "fasttext"}
        Text of word2vec, fastText and GloVe; binary vectors of word2vec; a model of fastText.
    words : int
        Number of word vectors.
    dimension : int
        Dimension of the vectors.
    header : bool
        Whether the first line states these numbers.
    plain : bool
        Whether gensim can read it as it is: a text without byte-order mark, with a word without
        spaces in each line, and single spaces between it and the numbers.
    """

    kind: Literal["text", "binary", "fasttext"]
    words: int
    dimension: int
    header: bool = True
    plain: bool = True


def open_vectors(path: Path) -> BinaryIO:
    """Open a file of vectors; one whose name ends in ``.gz`` is decompressed, up to a limit.

    Raises
    ------
    InputError
        When more is read than a file of this size may contain.
    """
    if path.suffix != ".gz":
        return path.open("rb")
    content = gzip.open(path)  # noqa: SIM115 - closed with what it is returned in
    return io.BufferedReader(LimitedReader(content, shown(path), path.stat().st_size))


def check_vectors(file: BinaryIO, name: str, encoding: str) -> VectorFormat:
    """Check a file of vectors and return its format.

    Parameters
    ----------
    file : binary file
        The file, at its beginning. It is read once, without keeping vectors in memory.
    name : str
        The name of the file in messages.
    encoding : str
        The encoding of the words.

    Raises
    ------
    InputError
        If the file is damaged or of another format.
    """
    if file.read(len(_FASTTEXT)) == _FASTTEXT:
        file.seek(0)
        return _check_fasttext(file, name, encoding)
    file.seek(0)
    marked = file.read(len(_MARK)) == _MARK
    file.seek(len(_MARK) if marked else 0)
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
        file.seek(len(_MARK) if marked else 0)
        words, plain = _check_lines(file, name, encoding, dimension, before=0)
        refuse_too_many(name, words, dimension)
        return VectorFormat("text", words, dimension, header=False, plain=plain and not marked)
    words, dimension = map(int, fields)
    if not (words and 0 < dimension <= LARGEST):
        raise InputError(
            f"{name} declares {words:,} vectors of {dimension:,} components; expected at least "
            f"one vector, and 1 to {LARGEST:,} components"
        )
    place = file.tell()
    second = file.readline(LONGEST).split()
    file.seek(place)
    if not (len(_numbers(second[1:])) or len(_numbers(second[1:][-dimension:]))):
        refuse_too_many(name, words, dimension)
        _check_binary(file, name, encoding, words, dimension)
        return VectorFormat("binary", words, dimension)
    found, plain = _check_lines(file, name, encoding, dimension, before=1)
    if found != words:
        raise InputError(
            f"{name} declares {words:,} vectors, but contains {found:,}"
            f"{': was it cut off?' if found < words else ''}"
        )
    refuse_too_many(name, words, dimension)
    return VectorFormat("text", words, dimension, plain=plain and not marked)


def refuse_too_many(name: str, words: int, dimension: int, parts: int = 0) -> None:
    """Raise an `InputError` if vectors do not fit into memory, which gensim would take for them.

    Parameters
    ----------
    name : str
        The name of the file in messages.
    words, dimension, parts : int
        The number of words, of the components of a vector, and of vectors of n-grams.
    """
    needed = 4 * (words + parts) * dimension + _WORD_SIZE * words
    of_parts = f" and {parts:,} of n-grams" if parts else ""
    refuse_more_than_memory(
        needed, f"{name}: its {words:,} vectors{of_parts} of {dimension:,} components"
    )


def plain_lines(file: BinaryIO, dimension: int, *, header: bool) -> Iterator[bytes]:
    """Yield the lines of a text that was checked as gensim reads them, without the header.

    Spaces within a word become ``_``, as word2vec writes phrases.
    """
    if file.read(len(_MARK)) != _MARK:
        file.seek(0)
    if header:
        file.readline()
    for line in file:
        if fields := line.split():
            word = b"_".join(fields[:-dimension])
            yield b" ".join([word, *fields[-dimension:]]) + b"\n"


def _check_lines(
    file: BinaryIO, name: str, encoding: str, dimension: int, *, before: int
) -> tuple[int, bool]:
    """Check lines of a word and its vector; return their number, and whether all are plain."""
    words, plain, number = 0, True, before
    while line := file.readline(LONGEST):
        number += 1
        fields = line.split()
        if not fields:
            plain = False
            if number - before - words > _MOST_EMPTY:
                raise InputError(
                    f"{name}:{number}: more than {_MOST_EMPTY:,} empty lines; expected a word and "
                    "its vector in each"
                )
            continue
        words += 1
        if len(fields) != dimension + 1 or not _PARTS_OF_LINE.fullmatch(line):
            plain = _is_plain(line, fields, dimension, f"{name}:{number}") and plain
        _decoded(b" ".join(fields[:-dimension]), encoding, f"{name}:{number}")
    return words, plain


def _is_plain(line: bytes, fields: Sequence[bytes], dimension: int, where: str) -> bool:
    """Check an unusual line, and return whether gensim can read it."""
    word, vector = fields[:-dimension], _numbers(fields[-dimension:])
    # A word may have spaces, but not numbers after them.
    extra = len(_numbers(word[1:])) if len(word) > 1 else 0
    if not word or extra or not len(vector):
        found = len(_numbers(fields[1:]))
        raise InputError(
            f"{where}: {f'{found} numbers' if found else 'no vector'}; expected a word and "
            f"{dimension} numbers"
        )
    refuse_infinite(vector, where)
    return line.rstrip() == b" ".join(fields) and len(word) == 1


def _numbers(fields: Sequence[bytes]) -> Floats:
    """Return fields as numbers, or an empty array if a field is not a number."""
    if max(map(len, fields), default=0) > _DIGITS:  # each would take the memory of the longest
        return np.zeros(0, np.float32)
    try:
        with np.errstate(over="ignore"):  # it becomes infinite, and is refused
            return np.array(fields, "S").astype(np.float32)
    except ValueError:
        return np.zeros(0, np.float32)


def refuse_infinite(vectors: Floats, where: str) -> None:
    """Raise an `InputError` if a component is infinite or no number."""
    if not np.isfinite(vectors).all():
        raise InputError(f"{where}: a component is not a finite number; remove that word")


def _check_binary(file: BinaryIO, name: str, encoding: str, number: int, dimension: int) -> None:
    """Check words, each with a space and a vector of four bytes a component after it."""
    words, rest = _read_words(file, number, b" ", after=4 * dimension, name=name, encoding=encoding)
    if len(words) < number:
        raise InputError(
            f"{name}, word {len(words) + 1:,} of {number:,}: the file ends within it, or is no "
            "file of word2vec: was it cut off?"
        )
    if (rest + file.read(LONGEST)).strip():  # word2vec ends the last vector with a line
        raise InputError(f"{name} contains data after the {number:,} vectors that it declares")


def _check_fasttext(file: BinaryIO, name: str, encoding: str) -> VectorFormat:
    """Check that a binary model of fastText contains exactly what its header declares."""
    try:
        header = _unpacked(file, _HEADER)
        number = _number_of_words(header, _unpacked(file, _SIZES))
        refuse_too_many(name, number, header[_DIMENSION], header[_BUCKETS])
        words, rest = _read_words(file, number, b"\0", after=_ENTRY, name=name, encoding=encoding)
        if len(set(words)) < number:  # the file ends, or gensim would assign vectors wrongly
            raise ValueError
        file.seek(-len(rest), 1)
        dimension = header[_DIMENSION]
        _skip_matrix(file, number + header[_BUCKETS], dimension)
        _skip_matrix(file, number, dimension)  # of the output layer
        if file.read(1):
            raise ValueError
    except (EOFError, ValueError, struct.error):
        raise InputError(
            f"{name} is a binary model of fastText that is damaged or of another version: was it "
            "cut off?"
        ) from None
    return VectorFormat("fasttext", number, dimension)


def _number_of_words(header: tuple[Any, ...], sizes: tuple[Any, ...]) -> int:
    """Return the number of words, or raise a `ValueError` if gensim cannot read such a model."""
    entries, words, labels, _, pruned = sizes
    parts = header[_BUCKETS], header[_MIN_N], header[_MAX_N]
    if header[_VERSION] not in (11, 12) or not 0 < header[_DIMENSION] <= LARGEST or min(parts) < 0:
        raise ValueError
    if labels or pruned > 0 or not 0 < words == entries:
        raise ValueError
    return int(words)


def _skip_matrix(file: BinaryIO, rows: int, columns: int) -> None:
    """Skip a matrix, or raise an error if it has another shape or is truncated."""
    if _unpacked(file, _MATRIX) != (False, rows, columns):
        raise ValueError
    file.seek(4 * rows * columns - 1, 1)
    if not file.read(1):
        raise EOFError


def _unpacked(file: BinaryIO, form: struct.Struct) -> tuple[Any, ...]:
    return form.unpack(file.read(form.size))


def _read_words(
    file: BinaryIO, number: int, end: bytes, *, after: int, name: str, encoding: str
) -> tuple[list[str], bytes]:
    """Read words that end with a character and have `after` bytes after it.

    Returns
    -------
    words : list of str
        Fewer than `number` if the file ends before.
    rest : bytes
        What was read after them.
    """
    words: list[str] = []
    data, place = b"", 0
    while len(words) < number:
        while (found := data.find(end, place)) < 0 or len(data) <= found + after:
            more = file.read(max(LONGEST, after))
            if not more or (found < 0 and len(data) - place > LONGEST):
                return words, b""
            data, place = data[place:] + more, 0
        word = data[place:found].lstrip(b"\n")  # word2vec ends each vector with a line
        words.append(_decoded(word, encoding, f"{name}, word {len(words) + 1:,}"))
        place = found + 1 + after
    return words, data[place:]


def _decoded(word: bytes, encoding: str, where: str) -> str:
    """Decode a word, or raise an `InputError` if it is not of the encoding."""
    try:
        return word.decode(encoding)
    except UnicodeError:  # of which some encodings raise no more special one
        raise InputError(
            f"{where}: a word is not encoded as {encoding}; pass the encoding by --encoding, such "
            "as latin-1"
        ) from None
