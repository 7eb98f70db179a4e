"""A folder of embeddings: each in a folder of its own, with its clusters."""

from __future__ import annotations

from pathlib import Path

from corpus.errors import InputError, shown
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.listing import embedding_folders


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
    found = embedding_folders(folder)
    if not found:
        raise InputError(
            f"{shown(folder)} holds no embedding; bootstrap embed train makes one of notes, and "
            "bootstrap embed load of a file of vectors"
        )
    return [Embedding.load(path) for path in found]
