"""Pretrained embeddings: files of word2vec, fastText and GloVe, read by gensim."""

from __future__ import annotations

import logging
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from corpus.errors import InputError, shown
from corpus.formats.files import checked_codec
from corpus.storage.arrays import write_array
from corpus.storage.atomic import new_folder, open_new, refuse_existing
from taggers.embeddings.embedding import Embedding, write_words
from taggers.embeddings.listing import checked_name, write_description
from taggers.embeddings.normalisation import NORMALISATIONS
from taggers.embeddings.vector_formats import (
    VectorFormat,
    check_vectors,
    open_vectors,
    plain_lines,
    refuse_infinite,
)
from taggers.embeddings.vectors import VectorFile
from taggers.features import Words

Progress = Callable[[int, int], None]

_PIECE = 1 << 12  # vectors that are written at once


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

    The file is checked before gensim loads it, so that a damaged header allocates no memory. In
    the text formats, spaces within a word become ``_``.

    Parameters
    ----------
    source : Path
        A file of word2vec (text or binary), fastText (``.vec`` or ``.bin``) or GloVe (text), also
        compressed by gzip (``.gz``); see `corpus.storage.unpacking` for its limits. The format is
        detected from the content.
    folder : Path
        A folder of embeddings, in which a folder is created.
    name : str, optional
        The name of the embedding; by default that of the file, without suffix.
    normalisation : str
        The normalisation of words before they are looked up, applied to those of the file too.
    encoding : str
        The encoding of the words.
    progress : callable, optional
        Called with the number of vectors written, and their total.

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
    with _reading(source), open_vectors(source) as file:
        file_format = check_vectors(file, shown(source), encoding)
    try:
        refuse_existing(target)
    except InputError:
        message = f"{shown(target)} exists already: choose another name with --name"
        raise InputError(message) from None
    with new_folder(target) as staging:
        repeated = _write_embedding(
            source,
            staging,
            file_format,
            normalisation=normalisation,
            encoding=encoding,
            progress=progress or _silent,
        )
    return Embedding.load(target), repeated


def _silent(done: int, total: int) -> None:
    """Report nothing."""


def _write_embedding(
    source: Path,
    staging: Path,
    file_format: VectorFormat,
    *,
    normalisation: str,
    encoding: str,
    progress: Progress,
) -> int:
    """Write an embedding of the vectors of a file, and return the number of repeated words."""
    progress(0, file_format.words)
    vectors = _loaded(source, staging, file_format, encoding)
    lengths = None
    if file_format.kind == "fasttext":
        refuse_infinite(vectors.vectors_ngrams, shown(source))
        if len(vectors.vectors_ngrams):
            write_array(staging / "parts.npy", vectors.vectors_ngrams)
            lengths = (vectors.min_n, vectors.max_n)
    words = _write_vectors(staging, source, vectors, normalisation, progress)
    write_words(staging, words, np.zeros(len(words), np.int64))
    write_description(staging, normalisation, {"file": source.name}, lengths)
    return file_format.words - len(words)


def _loaded(source: Path, staging: Path, file_format: VectorFormat, encoding: str) -> Any:
    """Return the vectors of a file as gensim's `KeyedVectors`."""
    from gensim.models import KeyedVectors  # noqa: PLC0415 - slow to import
    from gensim.models.fasttext import load_facebook_vectors  # noqa: PLC0415 - slow to import

    logging.getLogger("gensim").setLevel(logging.ERROR)  # it warns of each repeated word
    copy = staging / "copy"
    try:
        if not file_format.plain or (file_format.kind == "fasttext" and source.suffix == ".gz"):
            _write_copy(source, copy, file_format)
        path = str(copy if copy.exists() else source)
        if file_format.kind == "fasttext":
            return load_facebook_vectors(path, encoding=encoding)
        with np.errstate(over="ignore"):  # what becomes infinite is refused later
            return KeyedVectors.load_word2vec_format(
                path,
                binary=file_format.kind == "binary",
                encoding=encoding,
                no_header=not (file_format.header and file_format.plain),
            )
    except (ValueError, EOFError, AssertionError, zlib.error):
        raise InputError(
            f"{shown(source)} cannot be read as vectors of {file_format.dimension} numbers: it is "
            "damaged"
        ) from None
    except MemoryError:
        raise InputError(
            f"{shown(source)}: its {file_format.words:,} vectors of {file_format.dimension:,} "
            "components do not fit into memory"
        ) from None
    finally:
        copy.unlink(missing_ok=True)


def _write_copy(source: Path, target: Path, file_format: VectorFormat) -> None:
    """Write a copy that gensim can read, which supports no compressed models or unusual text."""
    with open_vectors(source) as file, open_new(target) as copy:
        if file_format.kind == "fasttext":
            shutil.copyfileobj(file, copy)
        else:
            lines = plain_lines(file, file_format.dimension, header=file_format.header)
            copy.writelines(lines)


def _write_vectors(
    staging: Path, source: Path, vectors: Any, normalisation: str, progress: Progress
) -> list[str]:
    """Write the vectors of distinct normalised words, and return these words."""
    normalise = NORMALISATIONS[normalisation]
    words: dict[str, None] = {}
    number = len(vectors.key_to_index)  # gensim leaves an unused row for each repeated word
    with VectorFile(staging / "vectors.npy", vectors.vector_size) as file:
        for begin in range(0, number, _PIECE):
            rows = []
            spelled = vectors.index_to_key[begin : min(begin + _PIECE, number)]
            for row, word in enumerate(normalise(Words(spelled)), begin):
                if word not in words:
                    words[word] = None
                    rows.append(row)
            some = vectors.vectors[rows]
            refuse_infinite(some, shown(source))
            file.add(some)
            progress(begin + len(spelled), number)
    return list(words)


@contextmanager
def _reading(source: Path) -> Iterator[None]:
    """Raise an `InputError` if a file cannot be read; nothing is written within."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or "it is cut off, or not compressed by gzip"
        raise InputError(f"{shown(source)} cannot be read: {what}") from None
