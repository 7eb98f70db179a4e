"""The file layout of embeddings: names, descriptions and clusterings in a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

from corpus.errors import InputError, shown
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import digests_of_files, manifest_bytes

#: The description of an embedding, written last: its folder is complete once this file exists.
DESCRIPTION = "embedding.json"

#: The version of the files of an embedding.
FORMAT = 2

#: Exceptions raised by damaged files; NumPy raises the last three for headers.
DAMAGED = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, AttributeError),
    *(IndexError, SyntaxError, TokenError),
)

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
            f'"{shown(name)}" cannot be the name of an embedding; expected letters a to z, digits, '
            "_, . and -"
        )
    return name


def embedding_folders(folder: Path) -> list[Path]:
    """Return the folders of the embeddings in a folder, or the folder itself, by name."""
    if (folder / DESCRIPTION).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{DESCRIPTION}"))
    return [path for path in found if not path.name.startswith(".")]


def cluster_files(folder: Path) -> list[tuple[str, Path]]:
    """Return the names of the clusterings in a folder of embeddings, and their files."""
    found = []
    for embedding in embedding_folders(folder):
        ks = [
            int(match[1])
            for path in embedding.iterdir()
            if (match := CLUSTERS.fullmatch(path.name))
        ]
        found += [(f"{embedding.name}-k{k}", embedding / f"clusters-{k}.json") for k in sorted(ks)]
    return found


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
