"""Targets of documents: what is written, what is left out, and the files of a folder."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats.records import encodable
from corpus.formats.sources import EXPECTED, SUFFIXES
from corpus.storage import new_folder, open_new

#: What a file system says to a name that is taken, and to one that it cannot hold.
TAKEN = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
IMPOSSIBLE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


@dataclass(frozen=True, slots=True)
class Row:
    """A document to write, and how sure a tagger was of it where that is written.

    It stands beside the document: a span is what was found, whoever found it.

    Parameters
    ----------
    document : Document
        The document.
    confidence : float, optional
        Of the document.
    span_confidences : sequence of float, optional
        Of each of its spans.

    Raises
    ------
    ValueError
        If there is not one for each span.
    """

    document: Document
    confidence: float | None = None
    span_confidences: Sequence[float] | None = None

    def __post_init__(self) -> None:
        given = self.span_confidences
        if given is not None and len(given) != len(self.document.spans):
            raise ValueError("expected one confidence for each span of a document")


#: What is written.
Rows = Iterable[Row]


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What was written, and what the format could not hold.

    Parameters
    ----------
    documents, spans : int
        How many were written.
    left_out : dict
        How many ``"spans"``, ``"groups"`` or ``"confidences"`` the format could not hold; what
        was not lost is not named.
    """

    documents: int
    spans: int
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """Counts what is written and what is left out."""

    documents: int = 0
    spans: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def count(self, row: Row, holds: Collection[str]) -> None:
        """Count a document that was written in a format that holds what `holds` names."""
        parts = {
            "spans": len(row.document.spans),
            "groups": int(row.document.group is not None),
            "confidences": int(row.confidence is not None),
        }
        self.documents += 1
        self.spans += parts["spans"] if "spans" in holds else 0
        self.left_out.update({part: n for part, n in parts.items() if n and part not in holds})

    def report(self) -> WriteReport:
        """Return the counts."""
        return WriteReport(self.documents, self.spans, dict(self.left_out))


def format_for(target: Path) -> str:
    """Tell the format to write by the suffix of the target; none means a brat folder.

    Raises
    ------
    InputError
        If the suffix is not that of a format that is written as one file.
    """
    suffix = target.suffix.lower()
    for name in ("jsonl", "parquet"):
        if suffix in SUFFIXES[name]:
            return name
    if not suffix:
        return "brat"
    raise InputError(
        f"{shown(target)}: the suffix {shown(suffix)} names no format to write ({EXPECTED}; "
        f"brat and text are written as a folder); name the format"
    )


def checked(document: Document) -> Document:
    """Return a document that can be written as UTF-8.

    Raises
    ------
    InputError
        If its id, text, group or a label has half a surrogate pair.
    """
    labels = (span.label for span in document.spans)
    if not encodable(document.id, document.text, document.group, *labels):
        raise InputError(
            f"document {shown(document.id)}: half a surrogate pair cannot be written as UTF-8"
        )
    return document


@contextmanager
def new_document_folder(target: Path) -> Iterator[Path]:
    """Create a folder for files of documents; see `corpus.storage.new_folder`.

    Raises
    ------
    InputError
        If the target exists or cannot be created, or no document was written.
    """
    with new_folder(target) as folder:
        yield folder
        if not any(folder.iterdir()):  # which could not be told from a wrong folder
            raise InputError(
                f"{shown(target)}: there is no document to write, and a folder without files "
                "cannot be read again; write JSONL or Parquet"
            )


def new_file_for(document: Document, folder: Path, suffix: str) -> BinaryIO:
    """Open a new file in a folder, at the path that the id of a document names.

    Raises
    ------
    InputError
        If the id names no file inside the folder, or another document has the same file.
    """
    fault = _fault_of(checked(document).id)
    if fault:
        raise InputError(_unnamed(document, fault))
    path = folder / f"{document.id}{suffix}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open_new(path)
    except OSError as error:
        if error.errno in TAKEN:
            fault = "names the same file as that of another document"
        elif error.errno in IMPOSSIBLE:
            fault = "is too long for a file name, or has a character that it cannot have"
        else:
            raise
        raise InputError(_unnamed(document, fault)) from error


def _fault_of(name: str) -> str | None:
    """Tell why an id names no file inside a folder that would be read again as this id."""
    parts = name.split("/")
    if "\0" in name or "\\" in name:
        return "has a NUL character or a backslash"
    if not all(parts):
        return "is empty or has an empty part"
    if any(part.startswith(".") for part in parts):
        return "leads out of the folder or is hidden: a part of it begins with a dot"
    return None


def _unnamed(document: Document, fault: str) -> str:
    return f"document {shown(document.id)}: its id {fault}; write JSONL or Parquet instead"
