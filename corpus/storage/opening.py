"""The budget of opening a folder that others may have made, checked before anything in it is read.

A folder of a few kilobytes can name a file of a terabyte, lead to the files of a system through a
link, or lead to itself.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import InputError
from corpus.storage.atomic import is_partial
from corpus.storage.fields import check_size


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a folder: the bytes of all files, and the number of files and folders."""

    size: int
    entries: int


#: The limits of a model or an embedding, all of which is read when it is opened.
MODEL = Budget(size=1 << 34, entries=10_000)
#: The limits of a run, which has a model for each of hundreds of iterations.
RUN = Budget(size=1 << 40, entries=300_000)

#: The bytes of a single file.
_LARGEST = MODEL.size
#: Folders within folders. The members of an ensemble in a run have five above them.
_DEEPEST = 8

#: The only link that the program writes into a folder, and what it leads to; see `write_link`.
_BEST, _ITERATION = "best", re.compile(r"iterations[/\\][0-9]+")


def check_folder(folder: Path, budget: Budget) -> int:
    """Check a folder and everything below it, and return the bytes of its files.

    The folder itself may be reached through a link, since the user named it. What another process
    has not completed is left out.

    Raises
    ------
    InputError
        If there is a link below the folder (other than ``best`` in a run), or anything but regular
        files and folders, or if the folder exceeds the budget.
    OSError
        If a folder cannot be read.
    """
    size = 0
    for number, (entry, status) in enumerate(_entries(folder, 0), 1):
        kind = status.st_mode
        if stat.S_ISLNK(kind) and not _is_best(entry, folder):
            raise InputError(f"{entry.path} is a link; expected a copy of what it leads to")
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
            raise InputError(f"{entry.path} is not a regular file")
        if stat.S_ISREG(kind):
            size += status.st_size
            check_size(status.st_size, _LARGEST, entry.path)
        check_size(size, budget.size, str(folder))
        if number > budget.entries:
            raise InputError(
                f"{folder} has more than {budget.entries:,} files and folders, the limit"
            )
    return size


def _entries(folder: Path | str, depth: int) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Yield what is in a folder and below it, without following links."""
    if depth > _DEEPEST:
        raise InputError(f"{folder} is more than {_DEEPEST} folders deep, the limit")
    with suppress(FileNotFoundError), os.scandir(folder) as entries:  # removed in the meantime
        for entry in entries:
            if is_partial(Path(entry.name)):
                continue
            with suppress(FileNotFoundError):
                yield entry, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path, depth + 1)


def _is_best(entry: os.DirEntry[str], folder: Path) -> bool:
    return (
        entry.name == _BEST
        and Path(entry.path).parent == folder
        and _ITERATION.fullmatch(str(Path(entry.path).readlink())) is not None
    )


def refuse_links(path: Path, folder: Path) -> None:
    """Raise an `InputError` if a path below a folder leads out of it, by a link or by its parts."""
    inside = path.relative_to(folder)
    if ".." in inside.parts:
        raise InputError(f"{path} leads out of {folder}")
    for part in [path, *path.parents][: len(inside.parts)]:
        if part.is_symlink():
            raise InputError(f"{part} is a link; expected a copy of what it leads to")


def folders_with(folder: Path, name: str) -> list[Path]:
    """Return the folders in a folder that have a file of a name, sorted, without hidden ones.

    Raises
    ------
    InputError
        If one of them is a link.
    """
    files = [path for path in sorted(folder.glob(f"*/{name}")) if path.parent.name[0] != "."]
    for path in files:
        refuse_links(path, folder)
    return [path.parent for path in files]
