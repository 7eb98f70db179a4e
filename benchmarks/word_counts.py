"""Word counts of notes, as the file of dictionary models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.counts import count_words
from corpus.document import Document


def counted(folder: Path, lines: Sequence[Document]) -> str:
    """Write the counts of the words of notes, and return their path."""
    path = folder / "words.parquet"
    count_words(lines).save(path)
    return str(path)
