"""Where documents come from: a file, a folder or a pattern, and the format of its files."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from corpus.errors import InputError, shown
from corpus.formats.records import NOT_READABLE, Unreadable, decoded, encodable

#: The formats, and the suffixes of their files.
SUFFIXES: dict[str, tuple[str, ...]] = {
    "brat": (".txt", ".ann"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "text": (".txt",),
}
KNOWN = frozenset(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
EXPECTED = "; ".join(f"{name}: {' '.join(suffixes)}" for name, suffixes in SUFFIXES.items())


@dataclass(frozen=True, slots=True)
class Source:
    """The files that a source consists of.

    Parameters
    ----------
    name : str
        The source as the user named it.
    root : Path
        The folder that ids are relative to.
    files : tuple of Path
        Its files, sorted. Not empty.
    is_folder : bool
        Whether the user named a folder, rather than files (by name or pattern).
    """

    name: str
    root: Path
    files: tuple[Path, ...]
    is_folder: bool


def locate(source: str | Path) -> Source:
    """Find the files of a source: a file, a folder or a pattern.

    Raises
    ------
    InputError
        If nothing is there.
    """
    path, name = Path(source), shown(source)
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        return Source(name, path, tuple(sorted(_readable(path))), is_folder=True)
    if mode is not None:
        return Source(name, path.parent, (path,), is_folder=False)
    files = sorted(set(_matching(str(source))))
    if not files:
        raise InputError(_nothing_at(str(source)))
    root = Path(os.path.commonpath([file.parent for file in files]))
    return Source(name, root, tuple(files), is_folder=False)


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # a pattern can be too long for a name
        return None


def _nothing_at(source: str) -> str:
    if has_magic(source):
        return f"{shown(source)}: no file matches this pattern"
    return f"{shown(source)}: there is no such file or folder"


def _matching(pattern: str) -> Iterator[Path]:
    for match in glob(pattern, recursive=True):  # noqa: PTH207 - Path.glob takes no absolute one
        path = Path(match)
        if path.is_dir():
            yield from (file for file in _below(path) if suffix_of(file) in KNOWN)
        else:
            yield path


def _readable(folder: Path) -> list[Path]:
    files = list(_below(folder))
    readable = [file for file in files if suffix_of(file) in KNOWN]
    if not readable:
        raise InputError(f"{shown(folder)} holds {_summary(files)}: expected {EXPECTED}")
    return readable


def _below(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the files in a folder and those in it; links are followed, hidden names left out."""
    real = os.path.realpath(folder)
    if real in above:  # a link to a folder that this one is in
        return
    for entry in _entries(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _below(folder / entry.name, (*above, real))
        elif entry.is_file() or entry.is_symlink():  # a link to nothing is reported when opened
            yield folder / entry.name


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise InputError(f"{shown(folder)} cannot be listed: {error.strerror}") from error


def suffix_of(path: Path) -> str:
    """Return the suffix of a file in lower case, as formats are told apart by."""
    return path.suffix.lower()


def _summary(files: Iterable[Path]) -> str:
    counts = Counter(suffix_of(file) or "without a suffix" for file in files)
    found = [f"{count} {shown(suffix)}" for suffix, count in counts.most_common(5)]
    if len(counts) > len(found):
        found.append("others")
    return ", ".join(found) or "no files"


def format_of(source: Source) -> str:
    """Tell the format of a source by the suffixes of its files.

    Raises
    ------
    InputError
        If they belong to several formats, or to none.
    """
    suffixes = {suffix_of(file) for file in source.files}
    for name in ("text", "brat", "jsonl", "parquet"):  # text before brat: .txt alone is text
        if suffixes.issubset(SUFFIXES[name]):
            return name
    raise InputError(
        f"{source.name} holds {_summary(source.files)}: expected files of one format "
        f"({EXPECTED}); name the format, or name the files by a pattern"
    )


def files_of(source: Source, format: str) -> list[Path]:
    """Return the files of a source that are of a format, sorted.

    A suffix that belongs to no format says nothing against a file that the user named.

    Raises
    ------
    InputError
        If a folder has no file of this format.
    """
    others = KNOWN.difference(SUFFIXES[format])
    files = [file for file in source.files if suffix_of(file) not in others]
    if source.is_folder and not files:
        expected = " or ".join(SUFFIXES[format])
        raise InputError(f"{source.name} holds {_summary(source.files)}: expected {expected}")
    return files or list(source.files)


def stem_of(file: Path) -> Path:
    """Return the path of a file without its suffix."""
    return file.with_suffix("")


def id_of(file: Path, root: Path) -> str:
    """Return the id of the document in a file: its path below `root`, without suffix.

    Raises
    ------
    Unreadable
        If the file name is not UTF-8.
    """
    name = stem_of(file).relative_to(root).as_posix()
    if not encodable(name):
        raise Unreadable("file names that are not UTF-8", "rename the file")
    return name


def text_of(file: Path) -> str:
    """Read a text file to the character.

    Raises
    ------
    Unreadable
        If it cannot be opened or is not UTF-8.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise Unreadable(NOT_READABLE, error.strerror or "unknown error") from error
    return decoded(data)
