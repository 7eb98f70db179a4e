"""Creation of run folders, and their lock against other processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from bootstrap.runs.errors import RunError
from bootstrap.runs.folder import Run
from corpus.errors import InputError
from corpus.storage.atomic import create_folder, folder_lock, is_partial


def new_folder(folder: Path) -> Run:
    """Create a run folder that only its owner can access, or reuse an empty one.

    Raises
    ------
    RunError
        If the folder contains a run or other files.
    """
    run = Run(folder)
    if folder.exists() and (not folder.is_dir() or run.has_begun() or _foreign_files(folder)):
        what = (
            "is a run already; continue with --resume, or"
            if folder.is_dir() and run.has_begun()
            else "exists already and is not a run;"
        )
        raise RunError(f"{folder} {what} name another folder with --out")
    try:
        create_folder(folder)
    except InputError as error:
        raise RunError(str(error)) from None
    return run


def _foreign_files(folder: Path) -> list[Path]:
    """Return the files of a folder that do not belong to a run interrupted at its start."""
    own = ("iterations", "environment.json", "data.parquet", ".lock")
    return [path for path in folder.iterdir() if path.name not in own and not is_partial(path)]


@contextlib.contextmanager
def locked(run: Run) -> Iterator[None]:
    """Lock a run against other processes; the lock ends with the process.

    Raises
    ------
    RunError
        If another process works on it.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folder_lock(run.folder))
        except BlockingIOError:
            raise RunError(f"{run.folder}: another process works on this run") from None
        yield
