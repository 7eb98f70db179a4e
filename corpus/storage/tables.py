"""Arrow tables in Parquet files, with a digest of their content.

A flipped bit in a Parquet file mostly goes unnoticed: it is another character or another number.
The digest of what was written is therefore among the metadata of the file, and what is read is
compared with it. It does not depend on how the table was compressed or divided. It shows that
nothing has changed since the file was written, not who wrote it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.errors import InputError, unreadable
from corpus.storage.unpacking import most_unpacked, unpacking_error

if TYPE_CHECKING:
    from hashlib import blake2b

#: The key of the digest in the metadata of a table.
DIGEST = b"blake2b"

#: Rows that are read at a time.
_ROWS = 1 << 16

_NONE = pa.schema([])

#: What Arrow raises for damaged files in addition to `OSError` and `ValueError`.
_DAMAGED = (MemoryError, RuntimeError, LookupError, TypeError)


class ChangedTableError(ValueError):
    """The content of a table is not what was written."""


def write_table(table: pa.Table, file: BinaryIO | pa.NativeFile, **options: Any) -> None:
    """Write a table as a Parquet file, compressed by Zstandard, with the digest of its content.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    file : file object
        A binary file to write to.
    **options
        Those of `pyarrow.parquet.write_table`.
    """
    metadata = {**(table.schema.metadata or {}), DIGEST: digest_of_table(table).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), file, compression="zstd", **options)


def table_bytes(table: pa.Table) -> bytes:
    """Return a table as the content of a Parquet file with a digest; see `write_table`."""
    sink = pa.BufferOutputStream()
    write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file within a budget, and compare its content with its digest, if it has one.

    Returns
    -------
    pyarrow.Table
        The table, without the digest among its metadata.

    Raises
    ------
    InputError
        If it contains more than a file of this size may; see `corpus.storage.unpacking`.
    ChangedTableError
        If the content has changed since it was written.
    OSError, ValueError
        If it is not a Parquet file, or is damaged.
    """
    try:
        return _read(path, pq.read_schema(path)).combine_chunks()
    except _DAMAGED as error:
        raise ValueError(str(error)) from error


def read_columns(path: Path, columns: pa.Schema, *, optional: pa.Schema = _NONE) -> pa.Table:
    """Read columns of a Parquet file within a budget, and compare them with their digest.

    Parameters
    ----------
    path : Path
        The file.
    columns : pyarrow.Schema
        The columns to read: strings, or values of a fixed size. If one has another type in the
        file, no row is read.
    optional : pyarrow.Schema
        Columns that the file may lack.

    Raises
    ------
    InputError
        If the columns contain more than a file of this size may; see `corpus.storage.unpacking`.
    ChangedTableError
        If the content has changed since it was written.
    KeyError
        If there is no such column, or several of the name.
    OSError, ValueError, pyarrow.ArrowException
        If the file cannot be read or is damaged, or a column has another type or missing values.
    """
    if path.exists() and not path.is_file():  # of devices and pipes, some have no end
        raise OSError("not a regular file")
    schema = pq.read_schema(path)
    columns = pa.schema([*columns, *(field for field in optional if field.name in schema.names)])
    schema = pa.schema([schema.field(name) for name in columns.names], schema.metadata)
    if schema.types != columns.types:
        raise ValueError("columns of other types")
    table = _read(path, schema)
    if any(column.null_count for column in table.columns):
        raise ValueError("missing values")
    return table.combine_chunks()


@contextmanager
def table_errors_of(path: Path, expected: str, repair: str) -> Iterator[None]:
    """Raise an `InputError` for a table that cannot be read.

    Parameters
    ----------
    path : Path
        The file.
    expected : str
        What it is not, and how to get one.
    repair : str
        What to do if it has changed since it was written.
    """
    try:
        yield
    except ChangedTableError as error:
        raise InputError(f"{path} is damaged: {error}; {repair}") from None
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise unreadable(path, error) or InputError(f"{path} is not {expected}") from None


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    """Read columns of a file."""
    # A dictionary can stand for a long string in millions of rows. Strings are therefore read as
    # dictionaries, and decoded only where there is room for them.
    try:
        return _within_budget(path, schema, as_dictionaries=True)
    except OSError:  # Arrow cannot read strings stored as differences (DELTA) as dictionaries
        return _within_budget(path, schema, as_dictionaries=False)


def _within_budget(path: Path, schema: pa.Schema, *, as_dictionaries: bool) -> pa.Table:
    """Read columns in pieces, until they are complete or exceed the budget."""
    size = path.stat().st_size
    budget, total, pieces = most_unpacked(size), 0, []
    strings = [field.name for field in schema if as_dictionaries and _is_string(field.type)]
    is_bounded = all(field.name in strings or pa.types.is_primitive(field.type) for field in schema)
    with pq.ParquetFile(
        path, pre_buffer=False, buffer_size=1 << 20, read_dictionary=strings
    ) as file:
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        stored = sum(group.total_byte_size for group in groups)
        if stored > budget:
            raise unpacking_error(str(path), size)
        # No string is longer than all that is stored, however much of it others share.
        rows = _ROWS if is_bounded else max(1, min(_ROWS, budget // max(stored, size, 1)))
        # Arrow hangs or crashes where its threads cannot start, and columns are not read faster.
        for batch in file.iter_batches(rows, columns=schema.names, use_threads=False):
            batch.validate(full=True)  # such as that strings are text
            total += sum(map(_decoded_size, batch.columns))
            if total > budget:
                raise unpacking_error(str(path), size)
            pieces.append(batch.cast(schema))
    return verified(pa.Table.from_batches(pieces, schema))


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _decoded_size(column: pa.Array[Any]) -> int:
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(lengths.nbytes + (pc.sum(lengths.cast(pa.int64())).as_py() or 0))


def verified(table: pa.Table) -> pa.Table:
    """Compare the content of a table with its digest, if it has one among its metadata.

    Returns
    -------
    pyarrow.Table
        The table, without the digest.

    Raises
    ------
    ChangedTableError
        If the content has changed since it was written.
    """
    metadata = dict(table.schema.metadata or {})
    digest = metadata.pop(DIGEST, None)
    table = table.replace_schema_metadata(metadata or None)
    if digest is not None and digest != digest_of_table(table).encode():
        raise ChangedTableError("its content is not what was written")
    return table


def has_digest(path: Path) -> bool:
    """Return whether a Parquet file has a digest of its content."""
    return DIGEST in (pq.read_schema(path).metadata or {})


def digest_of_table(table: pa.Table) -> str:
    """Compute the digest of the names, types and values of a table, and of its metadata."""
    digest = hashlib.blake2b()
    others = {key: value for key, value in (table.schema.metadata or {}).items() if key != DIGEST}
    described = [
        [[field.name, _described(field.type)] for field in table.schema],
        sorted([key.hex(), value.hex()] for key, value in others.items()),
        len(table),
    ]
    digest.update(json.dumps(described).encode())
    for column in table.columns:
        _update(digest, column.chunks, column.type)
    return digest.hexdigest()


def _described(kind: pa.DataType) -> Any:
    """Return the name of a type; Parquet does not keep the name of the items of a list."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [str(kind).partition("<")[0], _described(kind.value_type)]
    if pa.types.is_struct(kind):
        return [[field.name, _described(field.type)] for field in kind]
    return str(kind)


def _update(digest: blake2b, chunks: Sequence[pa.Array], kind: pa.DataType) -> None:
    """Add the values of a column to a digest, without what is stored beneath nulls."""
    array = chunks[0] if len(chunks) == 1 else pa.concat_arrays([pa.array([], kind), *chunks])
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    digest.update(array.null_count.to_bytes(8, "little"))
    if array.null_count:
        digest.update(array.is_null().to_numpy(zero_copy_only=False).tobytes())
    if pa.types.is_struct(kind):
        for field, values in zip(kind, array.flatten(), strict=True):
            _update(digest, [values], field.type)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        digest.update(_numbers(pc.list_value_length(array)))
        _update(digest, [array.flatten()], kind.value_type)
    elif pa.types.is_primitive(kind):
        digest.update(_numbers(array))
    elif pa.types.is_null(kind):
        digest.update(len(array).to_bytes(8, "little"))
    else:  # strings and bytes
        digest.update(_numbers(pc.binary_length(array)))
        digest.update(_characters(array.drop_null() if array.null_count else array))


def _numbers(array: pa.Array) -> memoryview:
    """Return the bytes of the values of numbers, with 0 in the place of null."""
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(numbers).view(np.uint8).data


def _characters(array: pa.Array) -> pa.Buffer | bytes:
    """Return the bytes of all strings one after another."""
    wide = array.cast(pa.large_binary())
    if not len(wide):
        return b""
    offsets = wide.buffers()[1]
    ends = memoryview(offsets).cast("q")[wide.offset : wide.offset + len(wide) + 1]
    return wide.buffers()[2].slice(ends[0], ends[-1] - ends[0])
