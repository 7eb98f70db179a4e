"""Gazetteers: terms of classes, and how many bear each. A Parquet file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.errors import InputError, shown
from corpus.formats.targets import new_file

_COLUMNS = pa.schema(
    [
        pa.field("term", pa.large_string()),
        pa.field("class", pa.large_string()),
        pa.field("count", pa.int64()),
    ]
)
#: Rows that are written at once.
_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """Terms of one class or several: names of people, of hospitals, of towns.

    Parameters
    ----------
    terms : pyarrow.LargeStringArray
        Folded, of one word or more with single spaces between them. A term is there once for each
        of its classes.
    classes : pyarrow.LargeStringArray
        The class of each term.
    counts : ndarray of int64
        How many people or places bear it; 1 where a source does not say.
    """

    terms: pa.LargeStringArray
    classes: pa.LargeStringArray
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Give the number of terms, those of several classes once for each."""
        return len(self.terms)

    @classmethod
    def of(cls, table: pa.Table) -> Gazetteer:
        """Add up the counts of each term and class.

        Parameters
        ----------
        table : pyarrow.Table
            With the columns ``term``, ``class`` and ``count``, of any rows.

        Returns
        -------
        Gazetteer
            The most frequent first, then in the order of classes and of terms.
        """
        summed = table.group_by(["term", "class"]).aggregate([("count", "sum")])
        keys = [("count_sum", "descending"), ("class", "ascending"), ("term", "ascending")]
        order = pc.sort_indices(summed, sort_keys=keys)
        columns = [
            summed[name].combine_chunks().take(order).cast(field.type)
            for name, field in zip(("term", "class", "count_sum"), _COLUMNS, strict=True)
        ]
        return cls(columns[0], columns[1], columns[2].to_numpy(zero_copy_only=False))

    def table(self) -> pa.Table:
        """Give the columns ``term``, ``class`` and ``count``."""
        return pa.table([self.terms, self.classes, self.counts], schema=_COLUMNS)

    def save(self, path: Path) -> None:
        """Write a new Parquet file.

        Raises
        ------
        InputError
            If there is something of this name, or it cannot be made.
        """
        with new_file(path) as file:
            pq.write_table(self.table(), file, compression="zstd", row_group_size=_ROWS)

    @classmethod
    def load(cls, path: Path) -> Gazetteer:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If it is not there, damaged or something else.
        """
        try:
            table = pq.read_table(path)
            columns = [table[field.name].combine_chunks() for field in _COLUMNS]
        except (OSError, ValueError, KeyError, pa.ArrowException):
            raise InputError(
                f"{shown(path)} is not a gazetteer; bootstrap gazetteer import makes one of a CSV "
                "or TSV file"
            ) from None
        if [column.type for column in columns] != _COLUMNS.types or any(
            column.null_count for column in columns
        ):
            raise InputError(
                f"{shown(path)} is not a gazetteer: its columns are not "
                f"{', '.join(_COLUMNS.names)} as bootstrap gazetteer import writes them"
            )
        return cls(columns[0], columns[1], columns[2].to_numpy())


def merged(gazetteers: Sequence[Gazetteer]) -> Gazetteer:
    """Put gazetteers together, and add up the counts of terms that several have of a class.

    Parameters
    ----------
    gazetteers : sequence of Gazetteer
        At least one.
    """
    return Gazetteer.of(pa.concat_tables([each.table() for each in gazetteers]))


def terms_by_class(gazetteers: Iterable[Gazetteer]) -> dict[str, list[str]]:
    """Give the terms of each class, the classes in the order in which they first appear."""
    found: dict[str, list[str]] = {}
    for each in gazetteers:
        for term, name in zip(each.terms.to_pylist(), each.classes.to_pylist(), strict=True):
            found.setdefault(name, []).append(term)
    return found
