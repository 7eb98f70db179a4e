"""Frequency dictionaries that are merged from several gazetteers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import pyarrow as pa

from gazetteers.builtin import read_gazetteer
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import merge

#: Gazetteers and classes that were used last, with their frequencies: the models of a run have the
#: same names.
_RECENT: deque[tuple[pa.Table, tuple[str, ...], Frequencies]] = deque(maxlen=2)


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
    gazetteer, wanted = merge([read_gazetteer(path) for path in paths]), tuple(classes)
    table = gazetteer.table()
    for other, of_classes, names in _RECENT:
        if of_classes == wanted and table.equals(other):
            return names
    names = Frequencies.from_gazetteer(gazetteer, wanted)
    _RECENT.append((table, wanted, names))
    return names
