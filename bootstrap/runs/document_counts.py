"""Counts of strict entities in each document: ``validation.parquet`` and ``test.parquet``.

They hold no text. With them, iterations can be compared on the same documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.runs.parquet_files import read_table
from corpus.batch import Batch
from corpus.errors import InputError
from corpus.patients import number_patients
from corpus.scores import ConfusionCounts, Scores

_COUNTS = ConfusionCounts._fields


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCounts:
    """Counts of strict entities in each of D annotated documents.

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
    def of(
        cls, batch: Batch, scores: Scores, confidence: npt.NDArray[np.float64] | None = None
    ) -> Self:
        """Return the counts of the scores of documents.

        Parameters
        ----------
        batch : Batch
            The documents.
        scores : Scores
            Their scores.
        confidence : ndarray of float64, shape (D,), optional
            The confidence of the tagger in the tags of each document.
        """
        groups = tuple(batch.groups.to_pylist())
        return cls(scores.ids, groups, scores.classes, confidence)

    @property
    def all_classes(self) -> npt.NDArray[np.int64]:
        """The counts of all classes together, shape (D, 3)."""
        none = np.zeros((len(self.ids), len(_COUNTS)), np.int64)
        return sum(self.classes.values(), none)

    @property
    def units(self) -> npt.NDArray[np.int64]:
        """The number of each document's patient, or of the document where none is known."""
        return number_patients(self.groups, self.ids)

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
    def from_table(cls, table: pa.Table) -> Self:
        """Build the counts from the table that `to_table` returned.

        Raises
        ------
        ValueError
            If it has other columns.
        """
        try:
            classes = table["classes"].combine_chunks()
            columns = {
                field.name: [classes.field(field.name).field(name) for name in _COUNTS]
                for field in classes.type
            }
            return cls(
                tuple(table["id"].to_pylist()),
                tuple(table["group"].to_pylist()),
                {
                    name: np.stack([each.to_numpy() for each in counts], 1).astype(np.int64)
                    for name, counts in columns.items()
                },
                table["confidence"].to_numpy() if "confidence" in table.column_names else None,
            )
        except (KeyError, AttributeError, TypeError, pa.ArrowException):
            raise ValueError("not a table of counts of documents") from None

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
            return cls.from_table(table)
        except ValueError:
            raise InputError(f"{path} is damaged: it is not a table of counts") from None
