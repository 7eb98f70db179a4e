"""The risk that records are told apart by what is left in them: k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus.errors import InputError
from corpus.ragged import Indices, offsets_of

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
        The columns that somebody may know of a person. A missing value is a value of its own. Lists
        are equal if they have the same values in any order.

    Returns
    -------
    Risk
        Numbers alone, and the names of the columns.

    Raises
    ------
    InputError
        If the table has not a column, or it cannot be compared.
    """
    numbers = {name: _numbers(table, name) for name in columns}
    sizes = _class_sizes(table.num_rows, numbers)
    unique = {
        name: _share_below(2, _class_sizes(table.num_rows, _without(numbers, name)))
        for name in numbers
    }
    return Risk(
        records=table.num_rows,
        classes=len(sizes),
        smallest=int(sizes.min(initial=table.num_rows)),
        below={k: _share_below(k, sizes) for k in SIZES},
        unique_without=dict(sorted(unique.items(), key=lambda item: item[1])),
    )


def _without(numbers: Mapping[str, pa.Array], left_out: str) -> Mapping[str, pa.Array]:
    return {name: column for name, column in numbers.items() if name != left_out}


def _share_below(k: int, sizes: Indices) -> float:
    """Return the share of records in classes smaller than k."""
    return float(sizes[sizes < k].sum() / max(sizes.sum(), 1))


def _class_sizes(records: int, numbers: Mapping[str, pa.Array]) -> Indices:
    """Return the number of records of each class."""
    if not numbers:
        return np.array([records] if records else [], np.int64)
    groups = pa.table(dict(numbers)).group_by(list(numbers)).aggregate([([], "count_all")])
    sizes: Indices = groups["count_all"].to_numpy()
    return sizes


def _numbers(table: pa.Table, name: str) -> pa.Array:
    """Return a number for each value of a column, the same for equal and for missing values."""
    if table.schema.names.count(name) != 1:
        raise InputError(f"the records have no column {name!r}, or several")
    column = table[name].combine_chunks()
    try:
        return _encoded(_in_order(column) if _is_list(column.type) else column)
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"the values of the column {name!r} cannot be compared: they are {column.type}"
        ) from None


def _encoded(values: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.dictionary_encode(null_encoding="encode").indices


def _is_list(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    )


def _in_order(lists: pa.Array) -> pa.Array:
    """Return the sorted numbers of the values of each list, as bytes."""
    lists = lists.cast(pa.large_list(lists.type.value_type))
    numbers = _encoded(lists.flatten()).to_numpy()
    data = numbers[np.lexsort((numbers, pc.list_parent_indices(lists).to_numpy()))]
    offsets = offsets_of(pc.list_value_length(lists).fill_null(0)) * data.itemsize
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    ordered = pa.Array.from_buffers(pa.large_binary(), len(lists), buffers)
    return pc.if_else(lists.is_null(), pa.scalar(None, ordered.type), ordered)
