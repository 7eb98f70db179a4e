"""Targets of documents: files and folders, and counts of what a format could not hold."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.document import Document
from corpus.errors import InputError, quoted
from corpus.formats.files import LONGEST_FILE
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.formats.table import EVERYTHING, FORMATS, Kept
from corpus.storage.atomic import new_folder, open_new

if TYPE_CHECKING:
    import pyarrow as pa

#: Errors of file systems for names that exist, and for names that are invalid.
_TAKEN = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
_IMPOSSIBLE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


@dataclass(slots=True)
class WriteReport:
    """Counts of what was written and of what the format could not represent.

    Parameters
    ----------
    documents, spans : int
        The numbers of documents and spans written.
    left_out : Counter of str
        The number of ``"spans"``, ``"groups"``, ``"confidences"`` or ``"span confidences"`` that
        the format could not represent, and of ``"span boundaries inside tokens"`` for formats that
        tag tokens. Counts of zero are omitted.
    other_columns : Counter of str
        The number of values of each other column that the format could not represent.
    """

    documents: int = 0
    spans: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    other_columns: Counter[str] = field(default_factory=Counter)

    def count(self, batch: pa.RecordBatch, keeps: frozenset[Kept] = EVERYTHING) -> None:
        """Count documents that were written in a format that keeps these parts of them."""
        from corpus.formats.batches import values_of_others  # noqa: PLC0415 - pyarrow is slow

        names = batch.schema.names
        spans = len(batch.column("starts").flatten())
        groups = len(batch) - batch.column("group").null_count
        losses: dict[Kept, int] = {"spans": spans, "groups": groups}
        if CONFIDENCE in names:
            losses["confidences"] = len(batch) - batch.column(CONFIDENCE).null_count
        if SPAN_CONFIDENCES in names:
            losses["span confidences"] = len(batch.column(SPAN_CONFIDENCES).flatten())
        self.documents += len(batch)
        self.spans += spans if "spans" in keeps else 0
        for part, number in losses.items():
            if part not in keeps:
                self.lose(part, number)
        if "other columns" not in keeps:
            self.other_columns += values_of_others(batch)

    def lose(self, what: str, number: int) -> None:
        """Count what was omitted from documents that are counted as written."""
        if number:
            self.left_out[what] += number


@dataclass(frozen=True, slots=True)
class Target:
    """A new file or folder, written completely or not at all.

    The output has a hidden name beside the target until it is complete, is private to its owner,
    and replaces no existing file. Missing parent folders are created.

    Parameters
    ----------
    path : Path
        A new file, or a new folder for brat and text, or ``-`` for standard output. A text file is
        compressed if its name ends in ``.gz`` or ``.zst``.
    format : str
        A key of `FORMATS`.
    columns : Columns
        Names of columns or keys, for CSV, JSONL and Parquet.
    """

    path: Path
    format: str
    columns: Columns

    def write(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> WriteReport:
        """Write record batches of a schema, in order."""
        from corpus.formats.batches import has_records  # noqa: PLC0415 - pyarrow is slow

        row, report = FORMATS[self.format], WriteReport()
        is_carried = row.carry == "records" or not has_records(schema)
        keeps = row.keeps if is_carried else row.keeps - {"other columns"}

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                report.count(batch, keeps)
                yield batch

        row.implementation.write(counted(), schema, self, report)
        return report


@contextmanager
def new_document_folder(target: Path) -> Iterator[Path]:
    """Create a folder for files of documents; see `corpus.storage.atomic.new_folder`.

    Raises
    ------
    InputError
        If the target exists or cannot be created, or no document was written.
    """
    with new_folder(target) as folder:
        yield folder
        if not any(folder.iterdir()):  # an empty folder cannot be read as a corpus
            raise InputError(
                f"{target}: there is no document to write, and a folder without files "
                "cannot be read again; write JSONL or Parquet"
            )


def write_file_for(document: Document, folder: Path, suffix: str, content: bytes) -> None:
    """Write a new file in a folder, at the path given by the id of a document.

    Raises
    ------
    InputError
        If the id is not a valid path inside the folder, another document has the same file, or it
        would be too large.
    """
    if len(content) > LONGEST_FILE:
        raise InputError(
            f"document {quoted(document.id)}: its file would have more than {LONGEST_FILE:,} "
            "bytes, the limit; write Parquet"
        )
    fault = _fault_of(document.id)
    if fault:
        raise InputError(_unnamed(document, fault))
    path = folder / f"{document.id}{suffix}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open_new(path) as file:
            file.write(content)
    except OSError as error:
        if error.errno in _TAKEN:
            fault = "names the file of another document"
        elif error.errno in _IMPOSSIBLE:
            fault = "is too long for a file name, or has a character that file names cannot have"
        else:
            raise
        raise InputError(_unnamed(document, fault)) from error


def _fault_of(name: str) -> str | None:
    """Return why an id cannot be a path inside a folder; None if it can."""
    parts = name.split("/")
    if "\0" in name or "\\" in name:
        return "has a NUL character or a backslash"
    if not all(parts):
        return "is empty or has an empty part"
    if any(part.startswith(".") for part in parts):
        return "leads out of the folder or is hidden: a part of it begins with a dot"
    return None


def _unnamed(document: Document, fault: str) -> str:
    return f"document {quoted(document.id)}: its id {fault}; write JSONL or Parquet instead"
