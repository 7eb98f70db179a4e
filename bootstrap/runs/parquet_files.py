"""Parquet files of run folders."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from bootstrap.runs.errors import RunError
from corpus.storage import tables
from corpus.storage.tables import ChangedTableError


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file of a run, which has a digest of its content.

    Raises
    ------
    RunError
        If it is missing, damaged or changed.
    """
    try:
        table = tables.read_table(path)
        if not tables.has_digest(path):
            raise RunError(
                f"{path} has no digest of its content: an earlier version or another program wrote "
                "it; name another folder"
            )
        return table
    except ChangedTableError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    except (OSError, ValueError):  # Arrow's errors are among them
        raise RunError(f"{path} is damaged or missing") from None
