"""Files and folders on disk: written atomically, private to their owner, and locked.

What is written gets its final name only when it is complete and on the disk. Until then it is in
a staging folder beside it, see `corpus.storage.staging`. A process that is killed leaves only such
folders behind; whoever writes into the same folder next removes them.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from corpus.errors import InputError, shown
from corpus.storage.staging import (
    WriteError,
    in_staging,
    is_partial,
    lock_of,
    remove_leftovers,
    remove_partial,
    set_aside,
    staging_for,
    write_errors_of,
)

__all__ = [
    "WriteError",
    "create_folder",
    "folder_lock",
    "is_partial",
    "new_file",
    "new_folder",
    "open_anew",
    "open_new",
    "publish_folder",
    "refuse_existing",
    "remove_partial",
    "replaced_folder",
    "write_atomically",
    "write_errors_of",
    "write_link",
]

#: What a file system without hard links answers when one is requested.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

#: The most files of a folder that are flushed one by one; of more, all of the system is flushed.
_FLUSHED_SINGLY = 200


def refuse_existing(target: Path) -> None:
    """Raise an `InputError` if a file, a folder or a link has the name of the target.

    What killed processes left beside the target is removed.
    """
    with suppress(OSError):  # such as a folder that does not exist yet
        remove_leftovers(target.parent)
    if os.path.lexists(target):
        raise InputError(f"{shown(target)} exists: nothing is overwritten; name another target")


def create_folder(folder: Path) -> None:
    """Create a folder that only its owner can access; one that exists keeps its mode.

    Missing folders above it are created, too.

    Raises
    ------
    InputError
        If it cannot be created.
    WriteError
        If the file system is full or read-only.
    """
    try:
        with write_errors_of(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except WriteError:
        raise
    except OSError as error:
        raise InputError(f"{shown(folder)} cannot be created: {error.strerror}") from None


def open_new(path: Path) -> BinaryIO:
    """Open a file for writing that does not exist yet, readable by its owner only.

    Links are not followed.

    Raises
    ------
    FileExistsError
        If the name is taken.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def open_anew(path: Path) -> BinaryIO:
    """Open a file like `open_new` in a folder in which nobody else writes, replacing one there."""
    path.unlink(missing_ok=True)
    return open_new(path)


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file that gets the name `target` when it is complete, readable by its owner only.

    Nothing that exists is replaced, and missing folders above it are created. If anything fails,
    nothing is left behind.

    Raises
    ------
    InputError
        If the target exists, before or afterwards, or cannot be created.
    WriteError
        If the file system is full or read-only.
    """
    with _staging_of_new(target) as partial:
        with open_new(partial) as file:
            yield file
            _flush(file)
        _publish_file(partial, target)
        _flush_path(target.parent)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Create a folder that gets the name `target` when it is complete; see `new_file`.

    Yields
    ------
    Path
        The folder to fill, under its temporary name.
    """
    with _staging_of_new(target) as partial:
        partial.mkdir(mode=0o700)
        yield partial
        publish_folder(partial, target)


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Create a folder that takes the place of `target`, if there is one, when it is complete.

    A process that is killed between the two renames leaves the former folder in its staging folder,
    from which the next process that writes into the same folder puts it back.

    Yields
    ------
    Path
        The folder to fill, under its temporary name.
    """
    with staging_for(target) as partial:
        partial.mkdir(mode=0o700)
        yield partial
        _flush_tree(partial)
        set_aside(target, partial)
        partial.rename(target)
        _flush_path(target.parent)


def publish_folder(partial: Path, target: Path) -> None:
    """Rename a complete folder to its final name, when its files are on the disk.

    Raises
    ------
    InputError
        If the target exists.
    """
    _flush_tree(partial)
    refuse_existing(target)
    try:
        # Which fails if another process has created the target since, unless as an empty folder.
        partial.rename(target)
    except OSError:
        refuse_existing(target)
        raise
    _flush_path(target.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, replacing one that exists.

    It is complete at every moment.

    Raises
    ------
    OSError
        If it cannot be written; a file that exists is then as it was.
    """
    with staging_for(path) as partial:
        with open_new(partial) as file:
            file.write(data)
            if not in_staging(path):  # otherwise it is flushed before it gets its final name
                _flush(file)
        partial.replace(path)
        if not in_staging(path):
            _flush_path(path.parent)


def write_link(path: Path, target: Path) -> None:
    """Create a symbolic link to a folder, replacing a link that exists at once.

    Where links are not allowed, as for most users of Windows, a text file with the path of the
    target (relative to the folder of the link) is written instead.
    """
    with staging_for(path) as partial:
        try:
            partial.symlink_to(target, target_is_directory=True)
            partial.replace(path)
            return
        except (OSError, NotImplementedError):
            pass
    write_atomically(path, f"{target.as_posix()}\n".encode())


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from working in a folder; the lock ends with its process.

    Raises
    ------
    BlockingIOError
        If another process has locked it.
    """
    from filelock import Timeout  # noqa: PLC0415 - slow to import

    try:
        lock = lock_of(folder)
    except Timeout:
        raise BlockingIOError(
            errno.EWOULDBLOCK, "another process has locked it", str(folder)
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _staging_of_new(target: Path) -> Iterator[Path]:
    """Create a staging folder for a target that must not exist; see `staging_for`."""
    refuse_existing(target)
    with contextlib.ExitStack() as stack:
        try:
            with write_errors_of(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                partial = stack.enter_context(staging_for(target))
        except WriteError:
            raise
        except OSError as error:
            raise InputError(f"{shown(target)} cannot be made: {error.strerror}") from error
        yield partial


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _flush_path(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk, where the system can do so."""
    if os.name == "nt":  # where only a file that is open for writing can be flushed
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF):  # as of file systems that cannot do it
            raise
    finally:
        os.close(descriptor)


def _flush_tree(folder: Path) -> None:
    """Write the files of a folder, and of those in it, to the disk."""
    paths = [folder, *folder.rglob("*")]
    if len(paths) > _FLUSHED_SINGLY and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        if not path.is_symlink():
            _flush_path(path)


def _publish_file(partial: Path, target: Path) -> None:
    """Give a complete file its final name, which must not exist."""
    try:
        os.link(partial, target)  # which, unlike a rename, never replaces a file
        return
    except FileExistsError:
        refuse_existing(target)
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    try:
        open_new(target).close()  # an empty file, which only this process replaces
    except FileExistsError:
        refuse_existing(target)
        raise
    try:
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise
