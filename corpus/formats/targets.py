"""Targets of documents: the format of a target, and the files of a folder."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats.rows import checked
from corpus.formats.sources import EXPECTED, suffix_of
from corpus.formats.table import FORMATS
from corpus.storage.atomic import new_folder, open_new

#: Errors of file systems for names that exist, and for names that are invalid.
TAKEN = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
IMPOSSIBLE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


def format_for(target: Path) -> str:
    """Return the format of a target by its suffix; a target without suffix is a brat folder.

    Raises
    ------
    InputError
        If no format that is written as one file has this suffix.
    """
    if str(target) == "-":
        return "jsonl"
    suffix = suffix_of(target)
    for each in FORMATS.values():
        if suffix in each.suffixes and not each.is_folder:
            return each.name
    if not suffix:
        return "brat"
    raise InputError(
        f"{shown(target)}: the suffix {shown(suffix)} names no format to write ({EXPECTED}; "
        f"brat and text are written as a folder); name the format"
    )


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
                f"{shown(target)}: there is no document to write, and a folder without files "
                "cannot be read again; write JSONL or Parquet"
            )


def new_file_for(document: Document, folder: Path, suffix: str) -> BinaryIO:
    """Open a new file in a folder, at the path given by the id of a document.

    Raises
    ------
    InputError
        If the id is not a valid path inside the folder, or another document has the same file.
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
    return f"document {shown(document.id)}: its id {fault}; write JSONL or Parquet instead"
