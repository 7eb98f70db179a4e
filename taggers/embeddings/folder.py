"""A folder of embeddings: each in a folder of its own, with its clusters."""

from __future__ import annotations

import re
from pathlib import Path

from corpus.errors import InputError, shown
from taggers.embeddings.embedding import DESCRIPTION, Embedding

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def find_embeddings(folder: Path) -> list[Embedding]:
    """Open the embeddings of a folder, or the one that it is.

    Returns
    -------
    list of Embedding
        By their names.

    Raises
    ------
    InputError
        If there is none, or one is damaged.
    """
    if (folder / DESCRIPTION).is_file():
        return [Embedding.load(folder)]
    found = sorted(path.parent for path in folder.glob(f"*/{DESCRIPTION}"))
    found = [path for path in found if not path.name.startswith(".")]
    if not found:
        raise InputError(
            f"{shown(folder)} holds no embedding; bootstrap embed makes one of notes, and "
            "bootstrap embed load of a file of vectors"
        )
    return [Embedding.load(path) for path in found]


def checked_name(name: str) -> str:
    """Give back the name of an embedding, which is part of the names of features.

    Raises
    ------
    InputError
        If it has other characters than letters without accents, digits, points and lines.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f'"{shown(name)}" cannot be the name of an embedding; expected letters a to z, digits, '
            "_, . and -"
        )
    return name
