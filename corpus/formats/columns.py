"""The names under which tables keep the parts of a document, and what else a reader is asked."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Literal, TypeAlias

from corpus.errors import InputError

#: What a format may keep of a document beside its id and text.
Kept: TypeAlias = Literal["spans", "groups", "confidences", "span confidences", "other columns"]

#: The column or key that holds how sure a tagger was of a document.
CONFIDENCE = "confidence"

#: The column or key that holds how sure it was of each span, in the order of the annotations.
SPAN_CONFIDENCES = "span_confidences"


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns (Parquet, CSV) or keys (JSONL) that hold the parts of a document.

    Parameters
    ----------
    id : str
        The column of ids. Where a source has none, and no other name than this was asked for, the
        file and the line or row become the id.
    text : str
        The column of the text, which must be there. In CoNLL files, the column of the tokens, as
        a number from 0 (or from -1, the last) or a name that the file declares; the first by
        default.
    label : str
        The column of the annotations, where there are any. In CoNLL files, the column of the
        tags; the last by default.
    group : str
        The column of the patient, where it is known.

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
        """Return whether the column of a part has the name that it has by default."""
        defaults = {each.name: each.default for each in fields(self)}
        return bool(getattr(self, part) == defaults[part])


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a reader is asked for.

    Parameters
    ----------
    columns : Columns
        Names of columns or keys.
    start : int
        How many records are skipped.
    carry : bool
        Whether the other columns of the source are read as well.
    encoding : str
        Of text files.
    """

    columns: Columns
    start: int = 0
    carry: bool = False
    encoding: str = "utf-8"
