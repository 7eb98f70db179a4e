"""Files and folders on disk: written atomically, private to their owner, and locked.

The data of a target ``NAME`` are in a staging folder beside it (``.NAME.partial-`` and 16
hexadecimal digits), and get their final name when complete and on the disk. The process that
writes holds a lock in the staging folder. Killed processes leave staging folders without a lock,
which are removed by the next process that writes anything beside them.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from corpus.errors import InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PARTIAL = re.compile(r"\..+\.partial-[0-9a-f]{16}", re.DOTALL)
_LOCK = ".lock"
_CONTENT = "content"  # of a staging folder: what gets the final name

#: Errors of locking on file systems without locks; filelock raises the second.
_CANNOT_LOCK = (OSError, NotImplementedError)
#: Errors of hard links on file systems without them.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
#: Errors of writing that the user can correct. Windows has no quotas.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG, errno.EROFS)
#: Folders with more files are flushed with the whole system instead of file by file.
_FLUSHED_SINGLY = 200


class WriteError(OSError):
    """A file or folder could not be completed: there is no space, or writing is not allowed.

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
        return f"{self.filename} cannot be written: {self.strerror}; {self.advice}"


@contextmanager
def write_errors_of(target: Path, advice: str = "") -> Iterator[None]:
    """Raise a full or read-only file system as a `WriteError`.

    Parameters
    ----------
    target : Path
        What is being written, for an error that names no file with a final name.
    advice : str
        What is kept, and how to continue, if that differs from what the error says.

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
        is_named = isinstance(error, WriteError) and not _is_in_staging(Path(error.filename))
        raised = WriteError(
            error.errno, os.strerror(error.errno), error.filename if is_named else str(target)
        )
        raised.advice = advice or getattr(error, "advice", raised.advice)
        raise raised from error


def refuse_existing(target: Path) -> None:
    """Raise an `InputError` if a file, a folder or a link has the name of the target.

    What killed processes left beside the target is removed.
    """
    with suppress(OSError):  # such as a folder that does not exist yet
        _remove_leftovers(target.parent)
    if os.path.lexists(target):
        raise InputError(f"{target} exists: nothing is overwritten; name another target")


def create_folder(folder: Path) -> None:
    """Create a folder that only its owner can access, and missing folders above it.

    An existing folder keeps its mode.

    Raises
    ------
    InputError
        If it cannot be created.
    WriteError
        If the file system is full or read-only.
    """
    with creation_errors_of(folder, "created"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def creation_errors_of(target: Path, what: str) -> Iterator[None]:
    """Raise an `InputError`: the target cannot be `what`; a full file system is a `WriteError`."""
    try:
        with write_errors_of(target):
            yield
    except OSError as error:
        if isinstance(error, WriteError) and error.errno != errno.EROFS:
            raise
        raise InputError(f"{target} cannot be {what}: {error.strerror}") from error


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
    with _staged_new(target) as partial:
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
    with _staged_new(target) as partial:
        partial.mkdir(mode=0o700)
        yield partial
        publish_folder(partial, target)


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
        partial.rename(target)  # fails if another process has filled a folder of this name since
    except OSError:
        refuse_existing(target)
        raise
    _flush_path(target.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, replacing an existing one.

    The file is complete at every moment.

    Raises
    ------
    OSError
        If it cannot be written; an existing file is unchanged.
    """
    is_staged = _is_in_staging(path)  # and so is flushed with its folder
    with _staged(path) as partial:
        with open_new(partial) as file:
            file.write(data)
            if not is_staged:
                _flush(file)
        partial.replace(path)
        if not is_staged:
            _flush_path(path.parent)


def write_link(path: Path, target: Path) -> None:
    """Create a symbolic link to a folder, replacing an existing link at once.

    Where links are not allowed, as for most users of Windows, a text file with the path of the
    target (relative to the folder of the link) is written instead.
    """
    with _staged(path) as partial:
        try:
            partial.symlink_to(target, target_is_directory=True)
            partial.replace(path)
            return
        except (OSError, NotImplementedError):
            pass
    write_atomically(path, f"{target.as_posix()}\n".encode())


@contextmanager
def folder_lock(folder: Path, what: str = "folder") -> Iterator[None]:
    """Keep other processes from working in a folder; the lock ends with its process.

    `what` names what is in it, for errors.

    Raises
    ------
    InputError
        If another process has locked it, or if it cannot be locked.
    """
    from filelock import Timeout  # noqa: PLC0415 - slow to import

    try:
        with creation_errors_of(folder, "locked"):
            lock = _lock_of(folder)
    except InputError as error:
        if not isinstance(error.__cause__, Timeout):
            raise
        raise InputError(f"{folder}: another process works on this {what}") from None
    try:
        yield
    finally:
        lock.release()


def is_partial(path: Path) -> bool:
    """Check whether a path has the name of a file or folder that was not completed."""
    return _PARTIAL.fullmatch(path.name) is not None


def remove_partial(folder: Path) -> None:
    """Remove what killed processes left in a folder that this process has locked, at any depth."""
    for parent, folders, _ in os.walk(folder):
        for name in filter(_PARTIAL.fullmatch, folders):
            _remove_leftover(Path(parent, name))
        folders[:] = [name for name in folders if not _PARTIAL.fullmatch(name)]


@contextmanager
def _staged(target: Path) -> Iterator[Path]:
    """Yield a path that does not exist yet in a locked staging folder, which is removed later."""
    with write_errors_of(target):
        _remove_leftovers(target.parent)
        staging, lock = _new_staging(target)
        try:
            yield staging / _CONTENT
        finally:
            _remove_staging(staging, lock)


@contextmanager
def _staged_new(target: Path) -> Iterator[Path]:
    """Yield as `_staged` for a target that must not exist."""
    refuse_existing(target)
    with ExitStack() as stack:
        with creation_errors_of(target, "made"):
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = stack.enter_context(_staged(target))
        yield partial


def _is_in_staging(path: Path) -> bool:
    return any(map(_PARTIAL.fullmatch, path.parts))


def _remove_leftovers(folder: Path) -> None:
    """Remove the staging folders of killed processes of this user; they may contain notes."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _PARTIAL.fullmatch(entry.name)]
    for name in names:
        _remove_leftover(folder / name)


def _remove_leftover(staging: Path) -> None:
    if _is_own_staging(staging):
        with suppress(*_CANNOT_LOCK):  # another process is still writing, or nobody can tell
            _remove_staging(staging, _lock_of(staging))


def _lock_of(folder: Path) -> BaseFileLock:
    """Lock a folder by a file in it, or raise `filelock.Timeout` at once."""
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
            lock = _lock_of(staging)
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
        with suppress(OSError):  # filelock creates it again, open to others, if it was removed
            staging.chmod(0o700)
        if (staging / _LOCK).exists():
            return staging, lock
        lock.release()  # of a file that was removed in the meantime


def _is_own_staging(path: Path) -> bool:
    """Check whether this user's `_new_staging` created a folder: others can create any."""
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return False
        names = {entry.name for entry in path.iterdir()}
    except OSError:  # it was removed in the meantime, or it cannot be read
        return False
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    is_private = os.name == "nt" or not status.st_mode & 0o022
    is_staging = names <= {_LOCK, _CONTENT} and not (path / _LOCK).is_symlink()
    return is_own and is_private and is_staging


def _remove_staging(staging: Path, lock: BaseFileLock | None) -> None:
    if lock is not None and os.name == "nt":
        lock.release()  # a file that is open cannot be removed there
    for path in (staging / _CONTENT, staging / _LOCK):
        with suppress(OSError):
            path.unlink()
        shutil.rmtree(path, ignore_errors=True)  # which does nothing to a file or a link
    with suppress(OSError):
        staging.rmdir()
    if lock is not None:
        lock.release()  # only now, so that no process takes a lock that is about to disappear


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
        if error.errno not in (errno.EINVAL, errno.EBADF):  # of file systems that cannot do it
            raise
    finally:
        os.close(descriptor)


def _flush_tree(folder: Path) -> None:
    """Write a folder and everything below it to the disk."""
    paths = [folder, *folder.rglob("*")]
    if len(paths) > _FLUSHED_SINGLY and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        if not path.is_symlink():
            _flush_path(path)


def _publish_file(partial: Path, target: Path) -> None:
    """Rename a complete file to its final name, which must not exist."""
    try:
        try:
            os.link(partial, target)  # which, unlike a rename, never replaces a file
            return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        open_new(target).close()  # an empty file, which only this process replaces
    except FileExistsError:
        refuse_existing(target)
        raise
    partial.replace(target)
