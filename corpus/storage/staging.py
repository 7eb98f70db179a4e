"""Staging folders: where files and folders are written before they get their final names.

What is written for a target ``NAME`` is in a folder ``.NAME.partial-`` and 16 hexadecimal digits
beside it, which only its owner can access. The process that writes holds a lock in it. A process
that is killed leaves a staging folder without a lock, which is removed by the next process that
writes anything into the same folder.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import shown

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PARTIAL = re.compile(r"\.(?P<name>.+)\.partial-[0-9a-f]{16}", re.DOTALL)
_LOCK = ".lock"
_CONTENT = "content"  # of a staging folder: what gets the final name
_REPLACED = "replaced"  # and what had that name until then

#: Errors of locking that mean that the file system cannot lock; filelock raises the second.
_CANNOT_LOCK = (OSError, NotImplementedError)

#: Errors of writing that the user can correct, and after which the same command works.
_FULL = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS")
    if hasattr(errno, name)  # Windows has no quotas
}


class WriteError(OSError):
    """A file or folder could not be completed, since there is no space or writing is not allowed.

    Nothing incomplete is left, and what existed before is unchanged.

    Attributes
    ----------
    advice : str
        What is kept, and how to continue.
    """

    advice = (
        "nothing incomplete is kept, and what existed before is unchanged; make space, or name "
        "another place, and run the command again"
    )

    def __str__(self) -> str:
        return f"{shown(self.filename)} cannot be written: {self.strerror}; {self.advice}"


@contextmanager
def write_errors_of(target: Path, advice: str = "") -> Iterator[None]:
    """Raise a full or read-only file system as a `WriteError`.

    Parameters
    ----------
    target : Path
        What is being written, for an error that names no file with a final name.
    advice : str
        What is kept, and how to continue, if that is not what the error says.

    Raises
    ------
    WriteError
        If writing fails for such a reason.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or error.errno not in _FULL:
            raise
        is_named = isinstance(error, WriteError) and not in_staging(Path(error.filename))
        name = error.filename if is_named else str(target)
        raised = WriteError(error.errno, os.strerror(error.errno), name)
        raised.advice = advice or getattr(error, "advice", raised.advice)
        raise raised from error


@contextmanager
def staging_for(target: Path) -> Iterator[Path]:
    """Create a private, locked folder beside a target, and remove it in the end.

    Whatever killed processes left in the folder of the target is removed first.

    Yields
    ------
    Path
        The name in that folder of what becomes the target. It does not exist yet.

    Raises
    ------
    WriteError
        If the file system is full or read-only.
    """
    with write_errors_of(target):
        remove_leftovers(target.parent)
        staging, lock = _new_staging(target)
        try:
            yield staging / _CONTENT
        finally:
            _remove_staging(staging, lock)


def set_aside(target: Path, partial: Path) -> None:
    """Move what has the name of a target into a staging folder, until the target is complete."""
    with suppress(FileNotFoundError):
        target.rename(partial.with_name(_REPLACED))


def is_partial(path: Path) -> bool:
    """Check whether a name is that of a file or folder that was not completed."""
    return _PARTIAL.fullmatch(path.name) is not None


def in_staging(path: Path) -> bool:
    """Check whether a path leads into a staging folder."""
    return any(_PARTIAL.fullmatch(part) for part in path.parts)


def remove_leftovers(folder: Path) -> None:
    """Remove the staging folders of killed processes of this user; they may contain notes."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _PARTIAL.fullmatch(entry.name)]
    for name in names:
        _remove_leftover(folder / name)


def remove_partial(folder: Path) -> None:
    """Remove what killed processes left in a folder that this process has locked, at any depth."""
    for parent, folders, _ in os.walk(folder):
        for name in filter(_PARTIAL.fullmatch, folders):
            _remove_leftover(Path(parent, name))
        folders[:] = [name for name in folders if not _PARTIAL.fullmatch(name)]


def lock_of(folder: Path) -> BaseFileLock:
    """Lock a folder without waiting, by a file in it that is created if necessary.

    Raises
    ------
    filelock.Timeout
        If another process has locked it.
    """
    from filelock import FileLock  # noqa: PLC0415 - slow to import

    lock = FileLock(folder / _LOCK, timeout=0, mode=0o600, thread_local=False)
    lock.acquire()
    return lock


def _new_staging(target: Path) -> tuple[Path, BaseFileLock | None]:
    """Create a staging folder and lock it, where the file system can lock."""
    from filelock import Timeout  # noqa: PLC0415 - slow to import

    while True:
        staging = target.with_name(f".{target.name}.partial-{secrets.token_hex(8)}")
        staging.mkdir(mode=0o700)
        try:
            lock = lock_of(staging)
        except (Timeout, FileNotFoundError, FileExistsError):
            # Another process took it for a leftover before it was locked. filelock finds a folder
            # that is removed at the same time to "exist".
            continue
        except _CANNOT_LOCK as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                _remove_staging(staging, None)
                raise
            return staging, None
        except BaseException:  # such as Ctrl-C
            _remove_staging(staging, None)
            raise
        with suppress(OSError):  # filelock makes it anew, open to others, if it was removed
            staging.chmod(0o700)
        if (staging / _LOCK).exists():
            return staging, lock
        lock.release()  # of a file that was removed in the meantime


def _remove_leftover(staging: Path) -> None:
    if not _is_staging(staging):
        return
    # Otherwise another process is still writing, or nobody can tell.
    with suppress(*_CANNOT_LOCK):
        _remove_staging(staging, lock_of(staging))


def _is_staging(path: Path) -> bool:
    """Check whether this user's `_new_staging` created a folder: others can create any."""
    try:
        status = path.lstat()
        is_folder = stat.S_ISDIR(status.st_mode)
        names = {each.name for each in path.iterdir()} if is_folder else {path.name}
    except OSError:  # it was removed in the meantime, or it cannot be read
        return False
    is_own = not hasattr(os, "geteuid") or (
        status.st_uid == os.geteuid() and not status.st_mode & 0o022
    )
    return is_own and names <= {_LOCK, _CONTENT, _REPLACED} and not (path / _LOCK).is_symlink()


def _remove_staging(staging: Path, lock: BaseFileLock | None) -> None:
    """Remove a staging folder; what was to be replaced by what was never completed is put back."""
    parts = _PARTIAL.fullmatch(staging.name)
    assert parts is not None
    target, replaced = staging.with_name(parts["name"]), staging / _REPLACED
    if os.path.lexists(replaced) and not os.path.lexists(target):
        replaced.rename(target)
    if lock is not None and os.name == "nt":
        lock.release()  # a file that is open cannot be removed there
    for path in (staging / _CONTENT, replaced, staging / _LOCK):
        with suppress(OSError):
            path.unlink()
        shutil.rmtree(path, ignore_errors=True)  # which does nothing to a file or a link
    with suppress(OSError):
        staging.rmdir()
    if lock is not None:
        lock.release()  # only now, so that no process takes a lock that is about to disappear
