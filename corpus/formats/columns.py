"""The names under which tables keep the parts of a document."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from corpus.errors import InputError

#: The column or key that holds how sure a tagger was of a document.
CONFIDENCE = "confidence"

#: The column or key that holds how sure it was of each span, in the order of the annotations.
SPAN_CONFIDENCES = "span_confidences"


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns (Parquet) or keys (JSONL) that hold the parts of a document.

    Parameters
    ----------
    id, text : str
        Columns that must be there.
    label : str
        The column of the annotations, where there are any.
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
