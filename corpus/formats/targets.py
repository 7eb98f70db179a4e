"""Where documents go: beside the target first, and in its place when complete."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats.rows import checked
from corpus.formats.sources import EXPECTED, suffix_of
from corpus.formats.table import FORMATS

#: What a file system says to a name that is taken, and to one that it cannot hold.
TAKEN = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
IMPOSSIBLE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)

#: What a file system without hard links says when it is to make one.
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def format_for(target: Path) -> str:
    """Return the format to write by the suffix of the target; none means a brat folder.

    Raises
    ------
    InputError
        If the suffix is not that of a format that is written as one file.
    """
    if str(target) == "-":
        return "jsonl"
    suffix = suffix_of(target)
    for each in FORMATS.values():
        if suffix in each.suffixes and not each.is_folder:
            return each.name
    if not suffix:
        return "brat"
    raise InputError(
        f"{shown(target)}: the suffix {shown(suffix)} names no format to write ({EXPECTED}; "
        f"brat and text are written as a folder); name the format"
    )


def refuse_existing(target: Path) -> None:
    """Raise an `InputError` if something has the name of the target."""
    if os.path.lexists(target):
        raise InputError(f"{shown(target)} exists: nothing is overwritten; name another target")


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file that gets the name `target` when it is complete, readable by its owner only.

    Whatever goes wrong before that, nothing is left behind, and nothing that exists is replaced.

    Raises
    ------
    InputError
        If the target exists, before or after, or cannot be made.
    """
    partial = _prepared(target)
    try:
        with _created(partial, target) as file, _holding(partial):
            yield file
            file.flush()
            os.fsync(file.fileno())
            _publish_file(partial, target)
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Make a folder that gets the name `target` when it is complete, open to its owner only.

    Whatever goes wrong before that, nothing is left behind, and nothing that exists is replaced.

    Raises
    ------
    InputError
        If the target exists, before or after, or cannot be made, or nothing was put into it.
    """
    partial = _prepared(target)
    try:
        with _as_input_error(target):
            partial.mkdir(mode=0o700)
        with _holding(partial):
            yield partial
            _refuse_empty(partial, target)
            _publish_folder(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _refuse_empty(partial: Path, target: Path) -> None:
    """Raise an `InputError` rather than leave a folder that cannot be told from a wrong one."""
    if not any(partial.iterdir()):
        raise InputError(
            f"{shown(target)}: there is no document to write, and a folder without files cannot be "
            "read again; write JSONL or Parquet"
        )


def _prepared(target: Path) -> Path:
    """Make the folder that the target is to be in, and return the name to use until it is done."""
    refuse_existing(target)
    with _as_input_error(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
    return target.parent / f"{_partial_prefix(target)}{secrets.token_hex(8)}"


def _partial_prefix(target: Path) -> str:
    return f".{target.name}.partial-"


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that were killed left of this target: it may hold the text of notes."""
    leftover = re.compile(re.escape(_partial_prefix(target)) + "[0-9a-f]{16}")
    with os.scandir(target.parent) as entries:
        names = [entry.name for entry in entries if leftover.fullmatch(entry.name)]
    for path in (target.parent / name for name in names):
        with suppress(OSError), _holding(path) as held:
            if held and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif held:
                path.unlink()


@contextmanager
def _holding(partial: Path) -> Iterator[bool]:
    """Hold a file or folder that is being written; a process that ends lets go of it.

    Yields
    ------
    bool
        False where another process holds it, or the file system knows no locks.
    """
    descriptor = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except OSError:
            held = False
        yield held
    finally:
        os.close(descriptor)


@contextmanager
def _as_input_error(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{shown(target)} cannot be made: {error.strerror}") from error


def _created(partial: Path, target: Path) -> BinaryIO:
    with _as_input_error(target):
        return _open_new(partial)


def _open_new(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


def _publish_file(partial: Path, target: Path) -> None:
    """Give a file its name; unlike a rename, a link never replaces a file that has appeared."""
    try:
        os.link(partial, target)
        return
    except FileExistsError:
        refuse_existing(target)
        raise
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
    _rename(partial, target, claim=lambda: _open_new(target).close(), drop=target.unlink)


def _publish_folder(partial: Path, target: Path) -> None:
    _rename(partial, target, claim=lambda: target.mkdir(mode=0o700), drop=target.rmdir)


def _rename(
    partial: Path, target: Path, claim: Callable[[], None], drop: Callable[[], None]
) -> None:
    """Make the target, empty, before the partial takes its place: one that is there is refused."""
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


def new_file_for(document: Document, folder: Path, suffix: str) -> BinaryIO:
    """Open a new file in a folder, at the path that the id of a document names.

    Raises
    ------
    InputError
        If the id names no file inside the folder, or another document has the same file.
    """
    fault = _fault_of(checked(document).id)
    if fault:
        raise InputError(_unnamed(document, fault))
    path = folder / f"{document.id}{suffix}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _open_new(path)
    except OSError as error:
        if error.errno in TAKEN:
            fault = "names the same file as that of another document"
        elif error.errno in IMPOSSIBLE:
            fault = "is too long for a file name, or has a character that it cannot have"
        else:
            raise
        raise InputError(_unnamed(document, fault)) from error


def _fault_of(name: str) -> str | None:
    """Return why an id names no file inside a folder that would be read again as this id."""
    parts = name.split("/")
    if "\0" in name or "\\" in name:
        return "has a NUL character or a backslash"
    if not all(parts):
        return "is empty or has an empty part"
    if any(part.startswith(".") for part in parts):
        return "leads out of the folder or is hidden: a part of it begins with a dot"
    return None


def _unnamed(document: Document, fault: str) -> str:
    return f"document {shown(document.id)}: its id {fault}; write JSONL or Parquet instead"
