"""Rows of a Parquet file, read in parts that are not large in memory.

A dictionary, or the difference to the row before, can stand for a long string in millions of rows.
Where the dictionary of a column has long strings, its rows are therefore read as numbers of them,
and decoded in parts of bounded size. Reading all strings so would take twice the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.errors import InputError, shown
from corpus.formats import batches
from corpus.storage.parquet_footer import DELTA_BYTE_ARRAY, ColumnChunk, column_chunks
from corpus.storage.unpacking import MOST_RATIO

#: Bytes of a column that are read from the file at once.
BUFFER = 1 << 20

#: Bytes that the strings of a column may have in the rows that are read at once.
MOST_AT_ONCE = 1 << 30
#: Bytes of a group of rows that are allowed however small it is on disk.
MOST_OF_GROUP = 1 << 30
#: Bytes of the strings of a row, which has a document, and of an id, a group or a label.
MOST_OF_ROW, MOST_OF_NAME = 1 << 28, 1 << 16

#: The columns of groups of rows, by the number of the group.
Chunks = dict[int, list[ColumnChunk]]


def opened(path: Path, **options: Any) -> pq.ParquetFile:
    """Open a file.

    Parameters
    ----------
    path : Path
        The file.
    **options
        More options of `pyarrow.parquet.ParquetFile`.

    Raises
    ------
    InputError
        If it is not a Parquet file, or is not complete.
    """
    try:  # without pre_buffer, a column is read in pieces and not a whole row group at once
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER, **options)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(
            f"{shown(path)} is not a complete Parquet file: was it cut off while it was written?"
        ) from error
    rows = _rows_of_groups(file.metadata)
    if min(rows, default=0) < 0 or sum(rows) != file.metadata.num_rows:
        file.close()
        raise InputError(
            f"{shown(path)} is damaged: its groups have other numbers of rows than the file"
        )
    return file


def _rows_of_groups(metadata: pq.FileMetaData) -> list[int]:
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def groups_from(metadata: pq.FileMetaData, start: int) -> tuple[int, list[int]]:
    """Return how many rows the groups that end before row `start` hold, and the other groups."""
    sizes = _rows_of_groups(metadata)
    ends = list(accumulate(sizes))
    groups = [group for group, end in enumerate(ends) if end > start]
    return ends[groups[0]] - sizes[groups[0]], groups


def rows_of(
    path: Path, file: pq.ParquetFile, groups: list[int], columns: list[str], names: Collection[str]
) -> Iterator[pa.RecordBatch]:
    """Yield record batches of the rows of some groups, none of which is large when decoded.

    Parameters
    ----------
    path : Path
        The file.
    file : pyarrow.parquet.ParquetFile
        The same file, open.
    groups : list of int
        The groups of rows.
    columns : list of str
        The columns to read. Their strings become dictionaries where those are long.
    names : collection of str
        Those of them that have ids, groups or labels.

    Raises
    ------
    InputError
        If the file is damaged, or unpacks to more than it may.
    """
    chunks = _chunks_of(path, file, groups)
    _check_groups(chunks, shown(path))
    try:
        rows, strings = _rows_and_dictionaries(path, file, chunks, columns)
        with opened(path, metadata=file.metadata, read_dictionary=strings) as coded:
            for batch in coded.iter_batches(batch_size=rows, row_groups=groups, columns=columns):
                _check_names(batch, shown(path), names)
                yield from _parts(batch, shown(path))
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{shown(path)} is damaged: its rows cannot be read") from error


def decoded(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return a column without dictionary."""
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _chunks_of(path: Path, file: pq.ParquetFile, groups: list[int]) -> Chunks:
    """Read what the footer says of the columns of some groups."""
    try:
        found = column_chunks(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(path)} is damaged: {error}") from error
    if {len(columns) for columns in found} != {len(file.schema)}:
        raise InputError(f"{shown(path)} is damaged: it has groups of rows that lack columns")
    return {group: found[group] for group in groups}


def _check_groups(chunks: Chunks, name: str) -> None:
    """Raise an `InputError` if a group of rows unpacks to more than it may."""
    for group, columns in chunks.items():
        packed = sum(column.packed for column in columns)
        most = max(MOST_OF_GROUP, MOST_RATIO * packed)
        if sum(column.unpacked for column in columns) > most:
            raise InputError(
                f"{name}: row group {group} has {packed:,} bytes and unpacks to more than "
                f"{most:,}, the limit ({MOST_RATIO} times as many, and at least "
                f"{MOST_OF_GROUP:,})"
            )


def _rows_and_dictionaries(
    path: Path, file: pq.ParquetFile, chunks: Chunks, columns: list[str]
) -> tuple[int, list[str]]:
    """Return how many rows to read at once, and the paths of strings to read as dictionaries.

    These are strings in lists, such as labels, which are few, and those that can be large.
    """
    rows, paths = _rows_at_once(file.metadata), []
    for number in range(len(file.schema)):
        leaf = file.schema.column(number)
        name, _, rest = (leaf.path, "", "") if leaf.path in columns else leaf.path.partition(".")
        if leaf.physical_type != "BYTE_ARRAY" or name not in columns:
            continue
        claims = [
            group[number].unpacked
            for group in chunks.values()
            if DELTA_BYTE_ARRAY in group[number].encodings
        ]
        if claims:  # cannot be read as a dictionary; no string is longer than this
            rows = max(1, min(rows, MOST_AT_ONCE // max(1, *claims)))
        elif rest or rows * _longest_of(path, file, list(chunks), name) > MOST_AT_ONCE:
            paths.append(leaf.path)
    return rows, paths


def _longest_of(path: Path, file: pq.ParquetFile, groups: list[int], name: str) -> int:
    """Return the number of bytes of the longest string in the dictionaries of a column."""
    longest = 0
    with opened(path, metadata=file.metadata, read_dictionary=[name]) as coded:
        for group in groups:
            batches_of_group = coded.iter_batches(batch_size=1, row_groups=[group], columns=[name])
            for batch in islice(batches_of_group, 1):
                for strings in _dictionaries(batch.column(0)):
                    lengths = _numbers(pc.binary_length(strings))
                    longest = max(longest, int(lengths.max(initial=0)))
    return longest


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    groups = range(metadata.num_row_groups)
    size = sum(int(metadata.row_group(group).total_byte_size) for group in groups)
    bound = batches.MOST_BYTES * int(metadata.num_rows) // max(1, size)
    return max(1, min(batches.MOST_ROWS, bound))


def _check_names(batch: pa.RecordBatch, file: str, names: Collection[str]) -> None:
    """Raise an `InputError` if an id, a group or a label is as long as a text."""
    for name in names:
        if name in batch.schema.names:
            for strings in _dictionaries(batch.column(name)):
                longest = _numbers(pc.binary_length(strings)).max(initial=0)
                if longest > MOST_OF_NAME:
                    raise InputError(
                        f"{file}: column {name!r} has a string of {longest:,} bytes: expected "
                        f"{MOST_OF_NAME:,} or fewer"
                    )


def _dictionaries(column: pa.Array[Any]) -> Iterator[pa.Array[Any]]:
    """Yield the dictionaries of strings in a column."""
    if isinstance(column, pa.DictionaryArray) and _is_string(column.type.value_type):
        yield column.dictionary
    for child in _children(column):
        yield from _dictionaries(child)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _children(column: pa.Array[Any]) -> list[pa.Array[Any]]:
    """Return the fields of the structures in a column of lists."""
    if isinstance(column.type, pa.ListType | pa.LargeListType | pa.FixedSizeListType):
        items = column.flatten()
        return list(items.flatten()) if isinstance(items, pa.StructArray) else []
    return []


def _parts(batch: pa.RecordBatch, name: str) -> Iterator[pa.RecordBatch]:
    """Yield slices of a batch, whose strings have a bounded size or are those of one row."""
    sizes = sum((_sizes(column) for column in batch.columns), np.zeros(len(batch), np.int64))
    if len(sizes) and sizes.max() > MOST_OF_ROW:
        raise InputError(
            f"{name}: the strings of a row unpack to {sizes.max():,} bytes: expected "
            f"{MOST_OF_ROW:,} or fewer"
        )
    parts = np.cumsum(sizes) // batches.MOST_BYTES
    begins = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist()]
    for begin, end in zip(begins, [*begins[1:], len(batch)], strict=True):
        yield batch.slice(begin, end - begin)


def _sizes(column: pa.Array[Any]) -> npt.NDArray[np.int64]:
    """Compute how many bytes the strings in a column have when they are decoded, by row."""
    if _is_string(column.type):
        return _numbers(pc.binary_length(column))
    if isinstance(column, pa.DictionaryArray) and _is_string(column.type.value_type):
        return _numbers(pc.binary_length(column.dictionary).take(column.indices))
    children = _children(column)
    if not children:
        return np.zeros(len(column), np.int64)
    totals = np.concatenate([[0], np.cumsum(sum(map(_sizes, children)))])
    ends = np.cumsum(_numbers(pc.list_value_length(column)))
    return np.diff(totals[ends], prepend=0)


def _numbers(lengths: pa.Array[Any]) -> npt.NDArray[np.int64]:
    """Return lengths, with 0 in the place of null."""
    found: npt.NDArray[np.int64] = lengths.fill_null(0).to_numpy(zero_copy_only=False)
    return found.astype(np.int64, copy=False)
