"""The files of embeddings: names, descriptions, vectors, normalisations and clusterings."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, UnreadableError, unreadable
from corpus.storage.atomic import open_anew, write_atomically
from corpus.storage.manifest import digests_of_files, manifest_bytes
from corpus.storage.opening import folders_with
from taggers.features.words import Words

#: The description of an embedding, written last: its folder is complete once this file exists.
DESCRIPTION = "embedding.json"

#: The version of the files of an embedding.
FORMAT = 2

Floats = npt.NDArray[np.float32]

#: Rows before the words' rows: zeros for padding and for positions outside of a document, and the
#: mean of all vectors for unknown words. `FIRST` is the row of the first word.
PADDING, UNKNOWN, FIRST = 0, 1, 2

_HEADER = 128  # bytes: as NumPy pads it

#: Normalisations of words before counting and lookup, by name. They determine which spellings share
#: a vector (paper 003, section 3.1).
NORMALISATIONS: dict[str, Callable[[Words], list[str]]] = {
    "none": lambda words: words.forms,
    # The lower case of a composed word can be decomposed: ǰ has no composed capital.
    "lower": lambda words: Words(words.lowers).forms,
    "unaccented": lambda words: words.unaccented,
    "digits": lambda words: Words(words.zeroed).forms,
}

#: The description of a clustering, written after its array.
CLUSTERS = re.compile(r"clusters-([1-9][0-9]*)\.json")

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def checked_name(name: str) -> str:
    """Check the name of an embedding, which is part of feature names, and return it.

    Raises
    ------
    InputError
        If the name has other characters than letters without accents, digits, ``_``, ``.`` and
        ``-``.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f'"{name}" cannot be the name of an embedding; expected letters a to z, digits, '
            "_, . and -"
        )
    return name


def embedding_folders(folder: Path) -> list[Path]:
    """Return the folders of the embeddings in a folder, or the folder itself, by name."""
    if (folder / DESCRIPTION).is_file():
        return [folder]
    return folders_with(folder, DESCRIPTION)


def cluster_files(folder: Path) -> list[tuple[str, Path]]:
    """Return the names of the clusterings in a folder of embeddings, and their files."""
    files = []
    for embedding in embedding_folders(folder):
        matches = (CLUSTERS.fullmatch(path.name) for path in embedding.iterdir())
        for k in sorted(int(match[1]) for match in matches if match):
            files.append((f"{embedding.name}-k{k}", embedding / f"clusters-{k}.json"))
    return files


@contextmanager
def errors_of(path: Path, what: str) -> Iterator[None]:
    """Convert errors of damaged files to an `InputError`: the path holds no `what`."""
    try:
        yield
    except UnreadableError:
        raise
    except InputError as error:
        raise InputError(f"{path} holds no {what}: {error}") from None
    except (OSError, TypeError, ValueError) as error:
        raise unreadable(path, error) or InputError(
            f"{path} holds no {what}, or it is damaged"
        ) from None


def write_description(
    folder: Path,
    normalisation: str,
    settings: Mapping[str, Any],
    part_lengths: tuple[int, int] | None = None,
) -> None:
    """Write the description of an embedding, its last file, with the digests of the others.

    Parameters
    ----------
    folder : Path
        The folder of the embedding, which contains all other files.
    normalisation : str
        The normalisation of the words.
    settings : mapping
        The settings of training, or the source of pretrained vectors.
    part_lengths : tuple of (int, int), optional
        The minimum and maximum length of the character n-grams with vectors in ``parts.npy``.
    """
    description = {
        "format": FORMAT,
        "normalisation": normalisation,
        "parts": part_lengths,
        "settings": settings,
    }
    names = sorted(path.name for path in folder.glob("*.npy"))
    content = manifest_bytes(description, digests_of_files(folder, names))
    write_atomically(folder / DESCRIPTION, content)


def write_vectors(path: Path, dimension: int, pieces: Iterable[Floats]) -> None:
    """Write vectors in NumPy's format, in one pass and without their number in advance.

    The pieces have the shape (words, dimension), and the vectors of consecutive words.
    """
    total, number = np.zeros(dimension), 0
    with open_anew(path) as file:
        file.seek(_HEADER + FIRST * dimension * 4)
        for vectors in pieces:
            file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
            total += vectors.sum(axis=0, dtype=np.float64)
            number += len(vectors)
        header = io.BytesIO()
        layout = {"descr": "<f4", "fortran_order": False, "shape": (number + FIRST, dimension)}
        np.lib.format.write_array_header_1_0(header, layout)
        assert header.tell() == _HEADER
        mean = total / max(number, 1)
        file.seek(0)
        file.write(header.getvalue() + np.array([total * 0, mean], "<f4").tobytes())
