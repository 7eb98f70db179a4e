"""The census of Spain and word counts, as the files of dictionary models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.counts import count_words
from corpus.document import Document
from gazetteers.gazetteer import merge
from gazetteers.importing.importer import ImportOptions, import_table

SPAIN = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "spain"

FILES = {
    "given_names_men.csv": "given_name",
    "given_names_women.csv": "given_name",
    "surnames.csv": "surname",
}


def census(folder: Path) -> str:
    """Write the names of the census to a gazetteer, and return its path."""
    path = folder / "names.parquet"
    found = [
        import_table(SPAIN / name, ImportOptions(class_name=kind)) for name, kind in FILES.items()
    ]
    merge([each.gazetteer for each in found]).save(path)
    return str(path)


def counted(folder: Path, lines: Sequence[Document]) -> str:
    """Write the counts of the words of notes, and return their path."""
    path = folder / "words.parquet"
    count_words(lines).save(path)
    return str(path)
