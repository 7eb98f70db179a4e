"""Folders of plain text: a note a file, no annotations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

from corpus.document import Document
from corpus.errors import shown
from corpus.formats.columns import Columns
from corpus.formats.records import documents_of
from corpus.formats.sources import Source, files_of, id_of, stem_of, text_of
from corpus.formats.targets import Rows, Tally, WriteReport, new_document_folder, new_file_for
from corpus.problems import Problems


def read(source: Source, columns: Columns, problems: Problems, start: int) -> Iterator[Document]:
    """Yield a document a file, from file number `start` on; the id is the path without suffix."""
    files = sorted(files_of(source, "text"), key=stem_of)[start:]
    records = ((shown(file), file) for file in files)
    return documents_of(records, partial(_document, source.root), problems)


def count(source: Source) -> int:
    """Count the files."""
    return len(files_of(source, "text"))


def _document(root: Path, where: str, file: Path) -> Document:
    return Document(id_of(file, root), text_of(file))


def write(rows: Rows, target: Path, columns: Columns, extra: Collection[str]) -> WriteReport:
    """Write a folder with a file for each document; spans, groups and confidences are left out."""
    tally = Tally()
    with new_document_folder(target) as folder:
        for row in rows:
            document = row.document
            with new_file_for(document, folder, ".txt") as file:
                file.write(document.text.encode("utf-8"))
            tally.count(row, holds=())
    return tally.report()
