"""A folder of embeddings, each in a subfolder with its clusters."""

from __future__ import annotations

from pathlib import Path

from corpus.errors import InputError, shown
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.listing import embedding_folders


def find_embeddings(folder: Path) -> list[Embedding]:
    """Load the embeddings of a folder, or the single embedding that the folder itself is.

    Returns
    -------
    list of Embedding
        Sorted by name.

    Raises
    ------
    InputError
        If there is no embedding, or one is damaged.
    """
    found = embedding_folders(folder)
    if not found:
        raise InputError(
            f"{shown(folder)} holds no embedding; train one by bootstrap embed train, or load "
            "pretrained vectors by bootstrap embed load"
        )
    return [Embedding.load(path) for path in found]
