"""What is read: the files of a source, the names of columns, and other options."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from corpus.errors import InputError

#: The parts of a document that a format may keep in addition to its id and text.
Kept: TypeAlias = Literal["spans", "groups", "confidences", "span confidences", "other columns"]

#: The column or key of the confidence of a tagger in each document.
CONFIDENCE = "confidence"

#: The column or key of its confidence in each span, in the order of the annotations.
SPAN_CONFIDENCES = "span_confidences"


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns (Parquet, CSV) or keys (JSONL) that hold the parts of a document.

    Parameters
    ----------
    id : str
        The column of ids. If a source has no such column, and the name is the default, ids are the
        file and the line or row.
    text : str
        The column of the text, which is required. In CoNLL files, the column of the tokens, as
        a number from 0 (or from -1, the last) or a name that the file declares; the first by
        default.
    label : str
        The column of the annotations, if any. In CoNLL files, the column of the
        tags; the last by default.
    group : str
        The column of the patient, if known.

    Raises
    ------
    InputError
        If two of them have the same name.
    """

    id: str = "id"
    text: str = "text"
    label: str = "label"
    group: str = "group"

    def __post_init__(self) -> None:
        if len(set(astuple(self))) < 4:
            raise InputError(
                f"columns id = {self.id!r}, text = {self.text!r}, label = {self.label!r}, "
                f"group = {self.group!r}: each needs a name of its own"
            )

    def is_default(self, part: str) -> bool:
        """Return whether the column of a part has its default name."""
        return bool(getattr(self, part) == part)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of a reader.

    Parameters
    ----------
    columns : Columns
        Names of columns or keys.
    start : int
        The number of records to skip.
    carry : bool
        Whether to read the other columns of the source as well.
    encoding : str
        The encoding of text files.
    """

    columns: Columns
    start: int = 0
    carry: bool = False
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Source:
    """The files that a source consists of.

    Parameters
    ----------
    name : str
        The source as the user named it.
    root : Path
        The folder that ids are relative to.
    files : tuple of Path
        Its files, sorted. Not empty.
    is_folder : bool
        Whether the user named a folder, rather than files (by name or pattern).
    """

    name: str
    root: Path
    files: tuple[Path, ...]
    is_folder: bool
