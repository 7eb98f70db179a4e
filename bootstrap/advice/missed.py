"""The classes whose entities a model misses most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corpus.scores import ConfusionCounts

_LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Missed:
    """The missed entities of a class.

    Parameters
    ----------
    name : str
        The class.
    counts : ConfusionCounts
        Its strict entities.
    share : float
        Its share of the missed entities of all classes.
    """

    name: str
    counts: ConfusionCounts
    share: float


def most_missed(classes: Mapping[str, ConfusionCounts], most: int = 4) -> list[Missed]:
    """Return the classes with the most missed entities.

    Parameters
    ----------
    classes : mapping of str to ConfusionCounts
        The strict entities of each class.
    most : int
        The maximum number of classes.

    Returns
    -------
    list of Missed
        Those with a tenth of all missed entities or more, the most missed first.
    """
    total = sum(counts.false_negatives for counts in classes.values())
    if not total:
        return []
    rows = [
        Missed(name, counts, counts.false_negatives / total) for name, counts in classes.items()
    ]
    rows.sort(key=lambda row: (-row.share, row.name))
    return [row for row in rows[:most] if row.share >= _LEAST_SHARE]
