"""Folders that nobody but the user can write, and what makes others unfit to hold code."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private(folder: Path) -> str:
    """Create a folder, if it is missing, and check that nobody else can write in it.

    Where modes and owners of files mean nothing, as on Windows, the folder is only created.

    Parameters
    ----------
    folder : Path
        An absolute path. Missing folders above it are created, too, and open to their owner only.

    Returns
    -------
    str
        What is wrong with the folder, such as ``"is a link"``; empty if it can be used.
    """
    try:
        if folder.is_symlink():
            return "is a link"
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            return "is not a folder"
        return _fault_of(Path(os.path.realpath(folder)))
    except OSError as error:
        return f"cannot be used ({error.strerror})"


def is_own_file(status: os.stat_result) -> bool:
    """Return whether a file is a regular one that the user or root wrote, and no one else can."""
    return stat.S_ISREG(status.st_mode) and not (
        hasattr(os, "geteuid")
        and (status.st_uid not in _trusted_owners() or status.st_mode & _OTHERS_WRITE)
    )


def _fault_of(folder: Path) -> str:
    """Return why somebody else could write in a folder, or put another in its place, if so."""
    if not hasattr(os, "geteuid"):
        return ""
    trusted = _trusted_owners()
    for place in (folder, *folder.parents):
        status = place.stat()
        which = "" if place == folder else "is in a folder that "
        if status.st_uid not in trusted:
            return f"{which or 'is a folder that '}belongs to another user"
        # In a sticky folder, such as /tmp, nobody can rename the folder of somebody else.
        sticky = place != folder and status.st_mode & stat.S_ISVTX
        if status.st_mode & _OTHERS_WRITE and not sticky:
            return f"{which or 'is a folder that '}others can write"
    return ""


def _trusted_owners() -> set[int]:
    """Return the users who can change any file of this user: the user and those of the system.

    In a container, the owner of the root folder need not be root.
    """
    return {0, os.geteuid(), Path("/").stat().st_uid}
