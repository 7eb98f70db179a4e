"""Digests of all files that a run reads, to detect changes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from bootstrap.config.options import DataOptions
from bootstrap.data.splits import splits_of
from corpus.corpora import is_synthetic
from corpus.errors import InputError
from corpus.formats import find_files


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file, which identifies an unchanged file without reading it.

    Parameters
    ----------
    file : str
        Its path, or the name of synthetic documents.
    bytes : int
        Its size.
    changed : int
        The time of the last change (ctime), in nanoseconds; unlike the time of modification, no
        program can set it.
    """

    file: str
    bytes: int = 0
    changed: int = 0


def fingerprint(
    data: DataOptions,
    others: Mapping[str, Sequence[Path]] | None = None,
    known: Mapping[FileState, str] | None = None,
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
    known : mapping of FileState to str, optional
        Digests of files, which are not read again if their state is the same.
    splits : collection of str, optional
        The splits whose files are read; by default, all.

    Returns
    -------
    pyarrow.Table
        Columns ``split`` (or option), ``file``, ``bytes``, ``changed`` and ``blake2b``.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    files: dict[str, Sequence[Path | str]] = {
        split: _files(getattr(data, split))
        for split in splits_of(data)
        if splits is None or split in splits
    }
    files |= others or {}
    rows = [
        {"split": name, **asdict(state), "blake2b": digest}
        for name, paths in files.items()
        for state, digest in _digests(paths, known or {})
    ]
    return pa.Table.from_pylist(rows)


def _files(source: str) -> Sequence[Path | str]:
    """Return the files of a source, or the name of synthetic documents."""
    return [source] if is_synthetic(source) else [*find_files(source)]


def _digests(
    paths: Iterable[Path | str], known: Mapping[FileState, str]
) -> Iterator[tuple[FileState, str]]:
    for path in paths:
        if isinstance(path, str):
            yield FileState(path), ""
            continue
        try:
            status = path.stat()  # before it is read, so that a change meanwhile is detected later
            state = FileState(str(path), status.st_size, status.st_ctime_ns)
            digest = known.get(state) or _digest(path)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        yield state, digest


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
