"""Parquet files of run folders."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bootstrap.runs.errors import RunError


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as the content of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file of a run.

    Raises
    ------
    RunError
        If it is damaged or missing.
    """
    try:
        return pq.read_table(path)
    except (OSError, ValueError):  # Arrow's errors are among them
        raise RunError(f"{path} is damaged or missing") from None
