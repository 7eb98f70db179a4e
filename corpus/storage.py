"""Files and folders on disk: written atomically, private to their owner, and locked.

What is written gets its final name only when it is complete. Until then it has a temporary name,
``.NAME.partial-`` and 16 hexadecimal digits, in the same folder. A process that is killed leaves
only such names behind; whoever writes the same name next removes them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PARTIAL = re.compile(r"\..+\.partial-[0-9a-f]{16}", re.DOTALL)
_LOCK = ".lock"
_CONTENT = "content"  # of a staging folder: what gets the final name
_ATTEMPTS = 100  # of writing a file that other processes write at the same time

#: What a file system without hard links answers when one is requested.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

#: Errors of locking that mean that the file system cannot lock; filelock raises the second.
_CANNOT_LOCK = (OSError, NotImplementedError)


def refuse_existing(target: Path) -> None:
    """Raise an `InputError` if a file, a folder or a link has the name of the target."""
    if os.path.lexists(target):
        raise InputError(f"{shown(target)} exists: nothing is overwritten; name another target")


def open_new(path: Path) -> BinaryIO:
    """Open a file for writing that does not exist yet, readable by its owner only.

    Raises
    ------
    FileExistsError
        If the name is taken.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file that gets the name `target` when it is complete, readable by its owner only.

    If anything fails before that, nothing is left behind. Nothing that exists is replaced.

    Parameters
    ----------
    target : Path
        The final name. Missing folders above it are created.

    Yields
    ------
    BinaryIO
        The file to write to.

    Raises
    ------
    InputError
        If the target exists, before or afterwards, or cannot be created.
    """
    with _staging_of_new(target) as partial:
        with open_new(partial) as file:
            yield file
            _flush(file)
        _publish_file(partial, target)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Create a folder that gets the name `target` when it is complete, open to its owner only.

    If anything fails before that, nothing is left behind. Nothing that exists is replaced.

    Parameters
    ----------
    target : Path
        The final name. Missing folders above it are created.

    Yields
    ------
    Path
        The folder to fill, under its temporary name.

    Raises
    ------
    InputError
        If the target exists, before or afterwards, or cannot be created.
    """
    with _staging_of_new(target) as partial:
        partial.mkdir(mode=0o700)
        yield partial
        publish_folder(partial, target)


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Create a folder that takes the place of `target`, if there is one, when it is complete.

    Yields
    ------
    Path
        The folder to fill, under its temporary name.
    """
    with _staging(target) as partial:
        partial.mkdir(mode=0o700)
        yield partial
        with suppress(FileNotFoundError):
            target.rename(partial.with_name("replaced"))
        partial.rename(target)


def publish_folder(partial: Path, target: Path) -> None:
    """Rename a complete folder to its final name.

    Raises
    ------
    InputError
        If the target exists.
    """
    if os.name == "nt":  # where a rename never replaces what exists
        _rename_on_windows(partial, target)
    else:
        _claim_and_rename(
            partial, target, claim=lambda: target.mkdir(mode=0o700), drop=target.rmdir
        )


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file, replacing one that exists; it is complete at every moment.

    Parameters
    ----------
    path : Path
        The file. Only its owner can read it.
    data : bytes
        Its content.

    Raises
    ------
    OSError
        If it cannot be written; a file that exists is then as it was.
    """
    for leftover in _leftovers(path):
        with suppress(OSError):  # such as a staging folder of the same name
            leftover.unlink()
    for attempt in range(_ATTEMPTS):
        partial = _partial_name(path)
        try:
            with open_new(partial) as file:
                file.write(data)
                _flush(file)
            partial.replace(path)
            return
        except FileNotFoundError:
            # Another process that wrote the same file took this one for a leftover.
            if attempt == _ATTEMPTS - 1 or not path.parent.is_dir():
                raise
        finally:
            partial.unlink(missing_ok=True)


def write_link(path: Path, target: Path) -> None:
    """Create a symbolic link to a folder, replacing a link that exists at once.

    Where links are not allowed, as for most users of Windows, a text file with the path of the
    target is written instead.

    Parameters
    ----------
    path : Path
        The link.
    target : Path
        Where it leads, relative to the folder of the link.
    """
    partial = _partial_name(path)
    try:
        partial.symlink_to(target, target_is_directory=True)
        partial.replace(path)
    except (OSError, NotImplementedError):
        write_atomically(path, f"{target.as_posix()}\n".encode())
    finally:
        partial.unlink(missing_ok=True)


def is_partial(path: Path) -> bool:
    """Check whether a name is that of a file or folder that was not completed."""
    return _PARTIAL.fullmatch(path.name) is not None


def remove_partial(folder: Path) -> None:
    """Remove files and folders that killed processes did not complete.

    Only for a folder that this process has locked: what another one is writing is removed, too.
    """
    for path in folder.iterdir():
        if is_partial(path):
            _remove(path)


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
        lock = _locked(folder / _LOCK)
    except Timeout:
        raise BlockingIOError(
            errno.EWOULDBLOCK, "another process has locked it", str(folder)
        ) from None
    try:
        yield
    finally:
        lock.release()


def _locked(path: Path) -> BaseFileLock:
    """Lock a file without waiting, creating it if necessary.

    Raises
    ------
    filelock.Timeout
        If another process has locked it.
    """
    from filelock import FileLock  # noqa: PLC0415 - slow to import

    lock = FileLock(path, timeout=0, mode=0o600, thread_local=False)
    lock.acquire()
    return lock


@contextmanager
def _staging_of_new(target: Path) -> Iterator[Path]:
    """Create a staging folder for a target that must not exist; see `_staging`."""
    refuse_existing(target)
    with contextlib.ExitStack() as stack:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = stack.enter_context(_staging(target))
        except OSError as error:
            raise InputError(f"{shown(target)} cannot be made: {error.strerror}") from error
        yield partial


@contextmanager
def _staging(target: Path) -> Iterator[Path]:
    """Create a private, locked folder beside a target, and remove it in the end.

    Yields
    ------
    Path
        The name in that folder of what becomes the target. It does not exist yet.
    """
    _remove_leftovers(target)
    staging, lock = _new_staging(target)
    try:
        yield staging / _CONTENT
    finally:
        _remove_staging(staging, lock)


def _new_staging(target: Path) -> tuple[Path, BaseFileLock | None]:
    """Create a staging folder and lock it, where the file system can lock."""
    from filelock import Timeout  # noqa: PLC0415 - slow to import

    while True:
        staging = _partial_name(target)
        staging.mkdir(mode=0o700)
        try:
            return staging, _locked(staging / _LOCK)
        except (Timeout, FileNotFoundError):
            continue  # another process took it for a leftover before it was locked
        except _CANNOT_LOCK:
            return staging, None


def _remove_staging(staging: Path, lock: BaseFileLock | None) -> None:
    for path in (staging / _CONTENT, staging / "replaced"):
        _remove(path)
    if lock is not None:
        lock.release()  # Windows does not remove a file that is open
    _remove(staging)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes left of this target: it may contain the text of notes."""
    for path in _leftovers(target):
        if path.is_dir():
            with suppress(*_CANNOT_LOCK):  # another process is still writing, or nobody can tell
                _remove_staging(path, _locked(path / _LOCK))


def _leftovers(target: Path) -> list[Path]:
    prefix = _partial_prefix(target)
    with os.scandir(target.parent) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(prefix)]
    return [target.with_name(name) for name in names if _PARTIAL.fullmatch(name)]


def _partial_name(target: Path) -> Path:
    return target.with_name(f"{_partial_prefix(target)}{secrets.token_hex(8)}")


def _partial_prefix(target: Path) -> str:
    return f".{target.name}.partial-"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _publish_file(partial: Path, target: Path) -> None:
    """Rename a complete file to its final name, which must not exist."""
    if os.name == "nt":
        _rename_on_windows(partial, target)
        return
    try:
        os.link(partial, target)  # which, unlike a rename, never replaces a file
    except FileExistsError:
        refuse_existing(target)
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _claim_and_rename(
            partial, target, claim=lambda: open_new(target).close(), drop=target.unlink
        )


def _rename_on_windows(partial: Path, target: Path) -> None:
    try:
        partial.rename(target)
    except FileExistsError:
        refuse_existing(target)
        raise


def _claim_and_rename(
    partial: Path, target: Path, claim: Callable[[], None], drop: Callable[[], None]
) -> None:
    """Create the target, empty, before replacing it: one that exists already is refused."""
    try:
        claim()
    except FileExistsError:
        refuse_existing(target)
        raise
    try:
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            drop()
        raise
