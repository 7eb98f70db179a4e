"""Digests of all files that a run reads, to detect changes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from bootstrap.config.options import DataOptions
from bootstrap.data.splits import splits_of
from corpus.corpora import is_synthetic
from corpus.errors import InputError
from corpus.formats import find_files


def fingerprint(
    data: DataOptions,
    others: Mapping[str, Sequence[Path]] | None = None,
    *,
    splits: Collection[str] | None = None,
) -> pa.Table:
    """Compute the digest of every file that a run reads.

    Parameters
    ----------
    data : DataOptions
        The documents of the run.
    others : mapping of str to sequence of Path, optional
        Files that taggers read, by the option that names them (see `Configuration.files`).
    splits : collection of str, optional
        The splits whose files are read; by default, all.

    Returns
    -------
    pyarrow.Table
        Columns ``split`` (or option), ``file``, ``bytes`` and ``blake2b``. Synthetic documents have
        their name, no bytes and no digest.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    rows: list[dict[str, Any]] = []
    for split in splits_of(data):
        source = getattr(data, split)
        if splits is not None and split not in splits:
            continue
        if is_synthetic(source):
            rows.append({"split": split, "file": source, "bytes": 0, "blake2b": ""})
        else:
            rows += _digests(split, [*find_files(source)])
    for option, paths in (others or {}).items():
        rows += _digests(option, paths)
    return pa.Table.from_pylist(rows)


def _digests(name: str, paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
            size = path.stat().st_size
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        yield {"split": name, "file": str(path), "bytes": size, "blake2b": digest.hexdigest()}
