"""Arrow tables in Parquet files, with checksums of their content.

A flipped bit in a Parquet file mostly goes unnoticed: it is another character or another number.
Each page of values therefore has a checksum, and a digest of everything else (the names and types
of the columns, the number of rows and the metadata) is among the metadata of the file. They show
that the file is not damaged, not who wrote it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.errors import InputError, unreadable
from corpus.storage.unpacking import most_unpacked, unpacking_error

#: The key of the digest in the metadata of a table.
DIGEST = b"digest"

#: Rows that are read at a time.
_ROWS = 1 << 16

_NONE = pa.schema([])

#: What Arrow raises for damaged files in addition to `OSError` and `ValueError`.
_DAMAGED = (MemoryError, RuntimeError, LookupError, TypeError)

_CHANGED = "its content is not what was written"


class ChangedTableError(ValueError):
    """The content of a table is not what was written, or has no digest."""


def write_table(table: pa.Table, file: BinaryIO | pa.NativeFile, **options: Any) -> None:
    """Write a table as a Parquet file, compressed by Zstandard, with checksums and a digest.

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
    table = table.replace_schema_metadata(metadata)
    pq.write_table(table, file, compression="zstd", write_page_checksum=True, **options)


def table_bytes(table: pa.Table) -> bytes:
    """Return a table as the content of a Parquet file with a digest; see `write_table`."""
    sink = pa.BufferOutputStream()
    write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file within a budget, and verify its checksums and its digest.

    Returns
    -------
    pyarrow.Table
        The table, without the digest among its metadata.

    Raises
    ------
    InputError
        If it contains more than a file of this size may; see `corpus.storage.unpacking`.
    ChangedTableError
        If the content has changed since it was written, or another program wrote it.
    OSError, ValueError
        If it is not a Parquet file, or is damaged.
    """
    try:
        return _read(path, pq.read_schema(path)).combine_chunks()
    except _DAMAGED as error:
        raise ValueError(str(error)) from error


def read_columns(path: Path, columns: pa.Schema, *, optional: pa.Schema = _NONE) -> pa.Table:
    """Read a Parquet file of known columns like `read_table`.

    Parameters
    ----------
    path : Path
        The file.
    columns : pyarrow.Schema
        Its columns: strings, or values of a fixed size. If the file has others, no row is read.
    optional : pyarrow.Schema
        Columns that the file may lack.

    Raises
    ------
    InputError
        If it contains more than a file of this size may; see `corpus.storage.unpacking`.
    ChangedTableError
        If the content has changed since it was written, or another program wrote it.
    OSError, ValueError
        If the file cannot be read or is damaged, or has other columns or missing values.
    """
    if path.exists() and not path.is_file():  # of devices and pipes, some have no end
        raise OSError("not a regular file")
    schema = pq.read_schema(path)
    columns = pa.schema([*columns, *(field for field in optional if field.name in schema.names)])
    if schema != columns:
        raise ValueError("other columns")
    table = read_table(path)
    if any(column.null_count for column in table.columns):
        raise ValueError("missing values")
    return table


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
    except OSError as error:
        if "CRC" in str(error):
            raise ChangedTableError(_CHANGED) from None
        # Arrow cannot read strings stored as differences (DELTA) as dictionaries.
        return _within_budget(path, schema, as_dictionaries=False)


def _within_budget(path: Path, schema: pa.Schema, *, as_dictionaries: bool) -> pa.Table:
    """Read columns in pieces, until they are complete or exceed the budget."""
    size = path.stat().st_size
    budget, total, pieces = most_unpacked(size), 0, []
    strings = [field.name for field in schema if as_dictionaries and _is_string(field.type)]
    is_bounded = all(field.name in strings or pa.types.is_primitive(field.type) for field in schema)
    with pq.ParquetFile(
        path,
        pre_buffer=False,
        buffer_size=1 << 20,
        read_dictionary=strings,
        page_checksum_verification=True,
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
    return _verified(pa.Table.from_batches(pieces, schema))


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _decoded_size(column: pa.Array[Any]) -> int:
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(lengths.nbytes + (pc.sum(lengths.cast(pa.int64())).as_py() or 0))


def _verified(table: pa.Table) -> pa.Table:
    """Return a table without its digest, or raise a `ChangedTableError` if that is not its own."""
    metadata = dict(table.schema.metadata or {})
    digest = metadata.pop(DIGEST, None)
    table = table.replace_schema_metadata(metadata or None)
    if digest is None:
        raise ChangedTableError("it has no digest of its content: another program wrote it")
    if digest != digest_of_table(table).encode():
        raise ChangedTableError(_CHANGED)
    return table


def digest_of_table(table: pa.Table) -> str:
    """Compute the digest of the names and types of columns, the number of rows and the metadata."""
    others = {key: value for key, value in (table.schema.metadata or {}).items() if key != DIGEST}
    described = [
        [[field.name, _described(field.type)] for field in table.schema],
        sorted([key.hex(), value.hex()] for key, value in others.items()),
        len(table),
    ]
    return hashlib.blake2b(json.dumps(described).encode()).hexdigest()


def _described(kind: pa.DataType) -> Any:
    """Return the name of a type; Parquet does not keep the name of the items of a list."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [str(kind).partition("<")[0], _described(kind.value_type)]
    if pa.types.is_struct(kind):
        return [[field.name, _described(field.type)] for field in kind]
    return str(kind)
