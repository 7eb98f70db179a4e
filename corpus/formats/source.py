"""The files of a corpus, as readers of formats receive them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
