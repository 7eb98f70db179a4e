"""Gazetteers by their paths, or by the names of builtin lists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer, merged
from taggers.dictionaries.dictionary_options import BLOCKING, STARTER


def read_gazetteer(path: str) -> Gazetteer:
    """Read a gazetteer.

    Parameters
    ----------
    path : str
        A file that ``bootstrap gazetteer import`` wrote, or the name of a builtin list
        (`taggers.dictionaries.dictionary_options.BUILTIN_LISTS`).

    Raises
    ------
    InputError
        If it is missing or of another kind.
    """
    if path == STARTER:
        from gazetteers.builtin import starter_names  # noqa: PLC0415 - not always used

        return starter_names()
    if path == BLOCKING:
        from gazetteers.builtin import builtin_blocking  # noqa: PLC0415 - not always used

        return builtin_blocking()
    return Gazetteer.load(Path(path))


def read_names(paths: Sequence[str], classes: Sequence[str] = ()) -> Frequencies:
    """Read gazetteers and compute the frequencies of the words of their terms.

    Raises
    ------
    InputError
        If one is missing or of another kind, or a class is in none of them.
    """
    return Frequencies.of(merged([read_gazetteer(path) for path in paths]), classes)
