"""The risk that records are told apart by what is left in them: k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from corpus.ragged import Indices

#: The k for which the share of records in smaller classes is computed.
SIZES = (2, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Risk:
    """How well the values of some columns tell records apart.

    Parameters
    ----------
    records : int
        The number of records.
    classes : int
        The number of classes of records with the same values.
    smallest : int
        The size of the smallest class: the records are k-anonymous for this k; 0 of no records.
    below : mapping of int to float
        The share of records in classes smaller than each k of `SIZES`.
    unique_without : mapping of str to float
        The share of records that are alone in their class if one column is left out. The first
        column contributes most to the risk.
    """

    records: int
    classes: int
    smallest: int
    below: Mapping[int, float]
    unique_without: Mapping[str, float]


def k_anonymity(table: pa.Table, columns: Sequence[str]) -> Risk:
    """Count the records that share their values, as k-anonymity does.

    Paper 003, section 2.2.1; L. Sweeney, "k-anonymity: a model for protecting privacy" (2002).

    Parameters
    ----------
    table : Table
        A row for each record.
    columns : sequence of str
        The columns that somebody may know of a person. A missing value is a value of its own.

    Returns
    -------
    Risk
        Numbers alone, and the names of the columns.
    """
    sizes = _class_sizes(table, columns)
    unique = {
        name: _share_below(2, _class_sizes(table, [other for other in columns if other != name]))
        for name in columns
    }
    return Risk(
        records=table.num_rows,
        classes=len(sizes),
        smallest=int(sizes.min(initial=table.num_rows)),
        below={k: _share_below(k, sizes) for k in SIZES},
        unique_without=dict(sorted(unique.items(), key=lambda item: item[1])),
    )


def _share_below(k: int, sizes: Indices) -> float:
    """Return the share of records in classes smaller than k."""
    return float(sizes[sizes < k].sum() / max(sizes.sum(), 1))


def _class_sizes(table: pa.Table, columns: Sequence[str]) -> Indices:
    """Return the number of records of each class."""
    if not columns:
        return np.array([table.num_rows] if table.num_rows else [], np.int64)
    groups = table.select(columns).group_by(columns).aggregate([([], "count_all")])
    sizes: Indices = groups["count_all"].to_numpy()
    return sizes
