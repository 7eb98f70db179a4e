"""Frequency dictionaries that are merged from several gazetteers."""

from __future__ import annotations

from collections.abc import Sequence

from gazetteers.builtin import read_gazetteer
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import merge


def read_names(paths: Sequence[str], classes: Sequence[str] = ()) -> Frequencies:
    """Read gazetteers, and compute the frequencies of the words of their terms.

    Parameters
    ----------
    paths : sequence of str
        Paths or names of builtin lists; see `gazetteers.builtin.read_gazetteer`.
    classes : sequence of str
        The classes to use; all by default.

    Returns
    -------
    Frequencies

    Raises
    ------
    InputError
        If a gazetteer is missing or has another format, or a class is in none of them.
    """
    return Frequencies.of(merge([read_gazetteer(path) for path in paths]), classes)
