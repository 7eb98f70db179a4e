"""Gazetteers by their paths, or by the names of those that come with the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer, merge
from taggers.dictionaries.dictionary_options import BLOCKING, STARTER


def read_gazetteer(path: str) -> Gazetteer:
    """Read a gazetteer.

    Parameters
    ----------
    path : str
        A file that ``bootstrap gazetteer import`` made, or the name of a list that comes with the
        program (`taggers.dictionaries.dictionary_options`).

    Raises
    ------
    InputError
        If it is not there, or something else.
    """
    if path == STARTER:
        from gazetteers.builtin import starter_names  # noqa: PLC0415 - not always used

        return starter_names()
    if path == BLOCKING:
        from gazetteers.builtin import builtin_blocking  # noqa: PLC0415 - not always used

        return builtin_blocking()
    return Gazetteer.load(Path(path))


def read_names(paths: Sequence[str], classes: Sequence[str] = ()) -> Frequencies:
    """Read gazetteers and share their terms out to words.

    Raises
    ------
    InputError
        If one is not there, or a class is in none of them.
    """
    return Frequencies.of(merge([read_gazetteer(path) for path in paths]), classes)
