"""Tables in the folder of an iteration: its documents, the counts in each of them, and its errors.

Counts and errors hold no text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.selection.proportional import ChosenDocuments
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError, unreadable
from corpus.evaluation.error_analysis import EntityError
from corpus.evaluation.measures import ConfusionCounts, Scores
from corpus.patients import number_patients
from corpus.storage import tables
from corpus.storage.fields import is_unchanged, parse_toml, read_content
from corpus.storage.tables import ChangedTableError
from corpus.tags import UNKNOWN

_COUNTS = ConfusionCounts._fields
_MENTION = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("label", pa.large_string())])
_PART = pa.struct([("start", pa.int64()), ("end", pa.int64())])
_DOCUMENTS = pa.schema(
    [
        ("id", pa.large_string()),
        ("text", pa.large_string()),
        ("label", pa.large_list(_MENTION)),
        ("group", pa.large_string()),
        ("iteration", pa.int32()),
        ("confidence", pa.float64()),
        ("open", pa.large_list(_PART)),  # parts of the text with unknown tags
    ]
)
_ERRORS = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.large_string()),
        ("kind", pa.large_string()),
        ("gold", _MENTION),
        ("predicted", _MENTION),
    ]
)


class RunError(InputError):
    """A run folder is missing, damaged or in use, or belongs to another run."""


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file of a run, which has a digest of its content.

    Raises
    ------
    RunError
        If it is missing, damaged or changed.
    """
    try:
        return tables.read_table(path)
    except ChangedTableError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    except (OSError, ValueError) as error:  # Arrow's errors are among them
        raise unreadable(path, error) or RunError(f"{path} is damaged or missing") from None


def read_settings(path: Path) -> dict[str, Any]:
    """Read a TOML file of a run or an experiment, which ends with a digest.

    Raises
    ------
    RunError
        If it is damaged or has changed.
    """
    try:
        content = read_content(path)
        settings = parse_toml(content, "it")
    except InputError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    if not is_unchanged(content):
        raise RunError(
            f"{path} has changed since it was written: restore it, or remove its last line if the "
            "change was meant"
        )
    return settings


def documents_table(chosen: ChosenDocuments | None, iteration: int) -> pa.Table:
    """Convert the documents selected or annotated in an iteration to a table."""
    if chosen is None:
        return _DOCUMENTS.empty_table()
    batch = chosen.batch
    spans = [
        [{"start": span.start, "end": span.end, "label": span.label} for span in document]
        for document in batch.spans()
    ]
    columns = [
        batch.ids,
        batch.texts,
        pa.array(spans, _DOCUMENTS.field("label").type),
        batch.groups,
        pa.array([iteration] * len(batch), pa.int32()),
        pa.array(chosen.confidence),
        pa.array(_unknown_parts(batch), _DOCUMENTS.field("open").type),
    ]
    return pa.table(columns, schema=_DOCUMENTS)


def load_documents(path: Path, classes: Sequence[str]) -> ChosenDocuments:
    """Read a table from `documents_table` as documents with these classes.

    Raises
    ------
    RunError
        If it is missing or damaged.
    """
    table = read_table(path)
    documents = [
        Document(row["id"], row["text"], tuple(Span(**span) for span in row["label"]), row["group"])
        for row in table.to_pylist()
    ]
    batch = make_batch(documents, labelled=True, classes=classes)
    batch = _with_unknown(batch, table["open"].to_pylist())
    return ChosenDocuments(batch, table["confidence"].to_numpy())


def _with_unknown(batch: Batch, parts: Sequence[Sequence[Mapping[str, int]]]) -> Batch:
    """Return the batch with unknown tags in some parts of each document."""
    tags = batch.tags.copy()
    for row, document in enumerate(parts):
        first, last = batch.document_offsets[row : row + 2]
        for part in document:
            inside = batch.starts[first:last] >= part["start"]
            tags[first:last][inside & (batch.ends[first:last] <= part["end"])] = UNKNOWN
    return batch.with_tags(tags, batch.labels)


def _unknown_parts(batch: Batch) -> list[list[dict[str, int]]]:
    """Return the parts of each document with unknown tags."""
    unknown = batch.with_tags((batch.tags == UNKNOWN).astype(np.int16), ("O", "I-unknown"))
    return [
        [{"start": part.start, "end": part.end} for part in document]
        for document in unknown.spans()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCounts:
    """Counts of strict entities in each of D annotated documents.

    With them, iterations can be compared on the same documents.

    Parameters
    ----------
    ids : tuple of str, length D
        The documents.
    groups : tuple of str or None, length D
        Their patients, where known.
    classes : mapping of str to ndarray of int64, shape (D, 3)
        True positives, false positives and false negatives by class.
    confidence : ndarray of float64, shape (D,), optional
        The confidence of the tagger in the tags of each document, where known.
    """

    ids: tuple[str, ...]
    groups: tuple[str | None, ...]
    classes: Mapping[str, npt.NDArray[np.int64]]
    confidence: npt.NDArray[np.float64] | None = None

    @classmethod
    def from_scores(
        cls, batch: Batch, scores: Scores, confidence: npt.NDArray[np.float64] | None = None
    ) -> Self:
        """Return the counts of the scores of the documents of a batch."""
        return cls(scores.ids, tuple(batch.groups.to_pylist()), scores.classes, confidence)

    @property
    def all_classes(self) -> npt.NDArray[np.int64]:
        """The counts of all classes together, shape (D, 3)."""
        return sum(self.classes.values(), np.zeros((len(self.ids), len(_COUNTS)), np.int64))

    @property
    def total(self) -> ConfusionCounts:
        """The counts of all classes in all documents."""
        return ConfusionCounts(*self.all_classes.sum(axis=0).tolist())

    @property
    def units(self) -> npt.NDArray[np.int64]:
        """The number of each document's patient, or of the document where none is known."""
        groups, ids = (pa.array(names, pa.large_string()) for names in (self.groups, self.ids))
        return number_patients(groups, ids)

    def class_counts(self) -> dict[str, ConfusionCounts]:
        """Sum the counts of each class over the documents."""
        return {
            name: ConfusionCounts(*counts.sum(axis=0).tolist())
            for name, counts in self.classes.items()
        }

    def to_table(self) -> pa.Table:
        """Return a table with a row for each document; ``classes`` has a field for each class.

        It has a column ``confidence`` if the confidence is known.
        """
        fields = [
            pa.StructArray.from_arrays(
                [pa.array(column, pa.int32()) for column in counts.T], names=_COUNTS
            )
            for counts in self.classes.values()
        ]
        columns = {
            "id": pa.array(self.ids, pa.large_string()),
            "group": pa.array(self.groups, pa.large_string()),
            "classes": pa.StructArray.from_arrays(fields, names=list(self.classes)),
        }
        if self.confidence is not None:
            columns["confidence"] = pa.array(self.confidence, pa.float64())
        return pa.table(columns)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the counts of an iteration.

        Raises
        ------
        InputError
            If the file is missing or damaged.
        """
        table = read_table(path)
        try:
            classes = table["classes"].combine_chunks()
            counts = {
                field.name: np.stack(
                    [classes.field(field.name).field(name).to_numpy() for name in _COUNTS], axis=1
                ).astype(np.int64)
                for field in classes.type
            }
            ids, groups = (tuple(table[name].to_pylist()) for name in ("id", "group"))
            known = "confidence" in table.column_names
            return cls(ids, groups, counts, table["confidence"].to_numpy() if known else None)
        except (KeyError, AttributeError, TypeError, ValueError, pa.ArrowException):
            raise InputError(f"{path} is damaged: it is not a table of counts") from None


def errors_table(errors: Sequence[EntityError], ids: Sequence[str]) -> pa.Table:
    """Return a table with a row for each error; the absent entity of an error is null."""
    return pa.Table.from_pylist(
        [
            {
                "row": error.row,
                "id": ids[error.row],
                "kind": error.kind,
                "gold": asdict(error.gold) if error.gold else None,
                "predicted": asdict(error.predicted) if error.predicted else None,
            }
            for error in errors
        ],
        schema=_ERRORS,
    )


def load_errors(path: Path) -> list[EntityError]:
    """Read the errors of an iteration.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    try:
        return [_error_from(row) for row in read_table(path).to_pylist()]
    except (KeyError, ValueError, TypeError):
        raise InputError(f"{path} is damaged: it is not a table of errors") from None


def _error_from(row: Mapping[str, Any]) -> EntityError:
    gold, predicted = (Span(**row[side]) if row[side] else None for side in ("gold", "predicted"))
    if gold is None and predicted is None:
        raise ValueError("neither a gold nor a predicted entity")
    return EntityError(row["row"], gold, predicted)
