"""Parquet files of known columns, read with a limit on what they contain.

A dictionary or the difference to the row before can stand for a long string in millions of rows. A
column is therefore read in pieces, none of which can be large, until the limit is reached.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from corpus.errors import shown
from corpus.storage.parquet_footer import column_chunks
from corpus.storage.tables import verified
from corpus.storage.unpacking import most_unpacked, unpacking_error

#: Bytes that the strings of a piece can have at most, and rows of a piece.
_PIECE, _ROWS = 1 << 23, 1 << 16

_NONE = pa.schema([])


def read_columns(path: Path, columns: pa.Schema, *, optional: pa.Schema = _NONE) -> pa.Table:
    """Read columns of a Parquet file, and compare them with their digest, if the file has one.

    Parameters
    ----------
    path : Path
        The file.
    columns : pyarrow.Schema
        The columns to read. If one has another type in the file, no row is read.
    optional : pyarrow.Schema
        More columns, of which the file may have some.

    Raises
    ------
    InputError
        If the columns contain more than a file of this size may; see `corpus.storage.unpacking`.
    ChangedTableError
        If the content has changed since it was written.
    KeyError
        If there is no such column, or several of the name.
    OSError, ValueError, pyarrow.ArrowException
        If the file cannot be read, or is damaged.
    """
    if path.exists() and not path.is_file():  # of devices and pipes, some have no end
        raise OSError("not a regular file")
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        known = set(file.schema_arrow.names)
        columns = pa.schema([*columns, *(each for each in optional if each.name in known)])
        found = [file.schema_arrow.field(name) for name in columns.names]
        schema = pa.schema(found, file.schema_arrow.metadata)
        if [field.type for field in found] != columns.types:
            return schema.remove_metadata().empty_table()
        size = path.stat().st_size
        # No string of a column is longer than the column is in its group of rows.
        claims = {name: [0] for name in columns.names}
        for chunk in chain.from_iterable(column_chunks(path)):
            if chunk.path in claims:
                claims[chunk.path].append(chunk.unpacked)
        if sum(sum(sizes) for sizes in claims.values()) > most_unpacked(size):
            raise unpacking_error(shown(path), size)
        arrays, total = [], 0
        for field in found:
            rows = max(1, min(_ROWS, _PIECE // max(1, *claims[field.name])))
            pieces = []
            for batch in file.iter_batches(batch_size=rows, columns=[field.name]):
                total += batch.nbytes
                if total > most_unpacked(size):
                    raise unpacking_error(shown(path), size)
                batch.validate(full=True)  # such as that strings are text
                pieces.append(batch.column(0))
            arrays.append(pa.chunked_array(pieces, field.type))
    return verified(pa.table(arrays, schema))
