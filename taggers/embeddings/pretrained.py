"""Vectors made elsewhere: files of word2vec, fastText and GloVe, text and binary."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from corpus.errors import InputError, shown
from corpus.storage import new_folder
from taggers.embeddings.embedding import Embedding, write_words
from taggers.embeddings.fasttext_file import FASTTEXT, Parts, read_fasttext
from taggers.embeddings.listing import checked_name, write_description
from taggers.embeddings.normalisation import NORMALISATIONS
from taggers.embeddings.vector_formats import Piece, VectorStream, read_vectors
from taggers.embeddings.vectors import VectorFile
from taggers.features import Words

Progress = Callable[[int, int], None]


def load_foreign(
    source: Path,
    folder: Path,
    *,
    name: str | None = None,
    normalisation: str = "none",
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> tuple[Embedding, int]:
    """Make an embedding of a file of vectors.

    Parameters
    ----------
    source : Path
        A file of word2vec (text or binary), fastText (``.vec`` or ``.bin``) or GloVe (text), also
        compressed by gzip. Which it is, its content says.
    folder : Path
        A folder of embeddings; this one gets a folder in it.
    name : str, optional
        Of the embedding; by default that of the file, without suffix.
    normalisation : str
        What words of notes become before they are looked up. The words of the file become the same.
    encoding : str
        Of the words.
    progress : callable, optional
        Told how many vectors are read, and of how many; 0 where the file does not say.

    Returns
    -------
    embedding : Embedding
    repeated : int
        Words that were there before, as they are or after normalising: they are left out.

    Raises
    ------
    InputError
        If the file is damaged or none of these, or an embedding of this name is there.
    """
    target = folder / checked_name(name or source.name.partition(".")[0])
    _check_encoding(encoding)
    with _opened(source):  # before a folder is made for it
        pass
    if os.path.lexists(target):
        raise InputError(f"{shown(target)} is there already: name another one with --name")
    with new_folder(target) as staging:
        taken = _taken(source, staging, normalisation, encoding, progress or _silent)
    return Embedding.load(target), taken


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise InputError(
            f"there is no encoding {shown(encoding)}; utf-8 and latin-1 are some"
        ) from None


def _silent(done: int, total: int) -> None:
    """Report nothing."""


def _taken(
    source: Path, folder: Path, normalisation: str, encoding: str, progress: Progress
) -> int:
    """Write an embedding of a file, and count the words that are repeated."""
    with _opened(source) as file:
        with _reading(source):
            stream, parts = _begun(file, source, encoding)
        stream = replace(stream, pieces=_read(stream.pieces, source))
        repeated = _write(folder, stream, normalisation, progress)
    if parts is not None:
        np.save(folder / "parts.npy", parts.vectors)
    lengths = None if parts is None else parts.lengths
    write_description(folder, normalisation, {"file": source.name}, lengths)
    return repeated


@contextmanager
def _reading(source: Path) -> Iterator[None]:
    """Raise an `InputError` if a file cannot be read; nothing is written within."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or "it is cut off, or not compressed by gzip"
        raise InputError(f"{shown(source)} cannot be read: {what}") from None


def _opened(source: Path) -> BinaryIO:
    with _reading(source):
        return cast(BinaryIO, gzip.open(source) if source.suffix == ".gz" else source.open("rb"))


def _begun(file: BinaryIO, source: Path, encoding: str) -> tuple[VectorStream, Parts | None]:
    """Begin to read a file of any of the formats."""
    begin = file.read(len(FASTTEXT))
    file.seek(0)
    if begin == FASTTEXT:
        return read_fasttext(file, shown(source), encoding)
    return read_vectors(file, shown(source), encoding), None


def _read(pieces: Iterator[Piece], source: Path) -> Iterator[Piece]:
    with _reading(source):
        yield from pieces


def _write(folder: Path, stream: VectorStream, normalisation: str, progress: Progress) -> int:
    normalise = NORMALISATIONS[normalisation]
    words: dict[str, None] = {}
    done = 0
    with VectorFile(folder / "vectors.npy", stream.dimension) as file:
        for found, vectors in stream.pieces:
            kept = []
            for row, word in enumerate(normalise(Words(found))):
                if word not in words:
                    words[word] = None
                    kept.append(row)
            file.add(vectors[kept])
            done += len(found)
            progress(done, stream.words)
    write_words(folder, list(words), np.zeros(len(words), np.int64))
    return done - len(words)
