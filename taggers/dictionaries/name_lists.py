"""Frequency dictionaries of several gazetteers."""

from __future__ import annotations

from collections.abc import Sequence

from gazetteers.builtin import read_gazetteer
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import merged


def read_names(paths: Sequence[str], classes: Sequence[str] = ()) -> Frequencies:
    """Read gazetteers and distribute their terms over words.

    Parameters
    ----------
    paths : sequence of str
        See `gazetteers.builtin.read_gazetteer`.
    classes : sequence of str
        Which of their classes; all by default.

    Raises
    ------
    InputError
        If one is missing or of another kind, or a class is in none of them.
    """
    return Frequencies.of(merged([read_gazetteer(path) for path in paths]), classes)
