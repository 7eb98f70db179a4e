"""Which tagged documents join the training set (paper 003, 3.2.1, "Selection of new examples")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootstrap.selection.optimizer import Candidates, largest_choice, nearest_choice
from bootstrap.selection.proportions import Proportions, Reference, content_of, proportions_of
from corpus.batch import Batch
from taggers.base import Tagging

#: Where no choice is within tolerance, this share of the confident documents is selected anyway.
FLOOR = 0.10

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Some documents of a batch, and how well they keep the proportions.

    Parameters
    ----------
    indices : ndarray of int64
        The documents selected, in the order of the batch.
    confident : int
        Documents that reach the threshold.
    bound : int
        No choice within tolerance has more documents than this. Where that is less than the
        floor, it need not be the smallest such number.
    proportions : Proportions or None
        Of the documents selected; None where proportions were not asked for.
    deviation : float
        The worst deviation from the reference in units of its tolerance; at most 1 is within.
    worst : str
        The statistic that deviates so; empty where proportions were not asked for.
    """

    indices: Indices
    confident: int
    bound: int
    proportions: Proportions | None = None
    deviation: float = 0.0
    worst: str = ""


def select_examples(
    tagging: Tagging,
    batch: Batch,
    *,
    reference: Reference | None,
    confidence: float,
    most: int,
    proportions: bool,
    selectable: npt.NDArray[np.bool_] | None = None,
) -> Selection:
    """Select documents that the tagger is confident of.

    Among all choices of at most `most` documents that reach the threshold and keep every
    statistic within its tolerance, the one with the most documents, then with the highest
    confidence. If none of them has `FLOOR` of the confident documents, then that many, with the
    smallest worst deviation. Both are found by linear and integer programming: nearly exactly,
    and `Selection.bound` says how nearly.

    Parameters
    ----------
    tagging : Tagging
        What a tagger says of the batch.
    batch : Batch
        The documents; those without tokens are never selected.
    reference : Reference or None
        The proportions to keep; needed with `proportions`, and not looked at without.
    confidence : float
        The threshold: documents below it are never selected.
    most : int
        The largest number of documents to select.
    proportions : bool
        Whether to keep the proportions. Without, the most confident documents are selected, ties
        to the earliest.
    selectable : ndarray of bool, shape (D,), optional
        Documents that may be selected; all of them by default.

    Returns
    -------
    Selection
        The same for the same arguments.

    Raises
    ------
    ValueError
        If proportions are to be kept and there is no reference for them.
    """
    if proportions and reference is None:
        raise ValueError("proportions are to be kept: that needs a reference")
    able = (tagging.confidence >= confidence) & (batch.lengths > 0)
    if selectable is not None:
        able &= selectable
    confident = np.flatnonzero(able)
    number = min(most, len(confident))
    if number == 0 or not proportions or reference is None:
        order = np.argsort(-tagging.confidence[confident], kind="stable")
        return Selection(np.sort(confident[order[:number]]), len(confident), number)
    classes = reference.proportions.classes
    content = content_of(batch, tagging.tags, tagging.labels, classes).take(confident)
    candidates = Candidates.of(content, tagging.confidence[confident], reference)
    floor = min(number, int(np.ceil(FLOOR * len(confident))))
    chosen, bound = largest_choice(candidates, number, floor)
    if len(chosen) < floor:
        chosen = nearest_choice(candidates, floor)
    found = proportions_of(content.take(chosen), classes)
    deviations = reference.deviations(found, len(chosen))
    return Selection(
        indices=confident[chosen],
        confident=len(confident),
        bound=bound,
        proportions=found,
        deviation=float(deviations.max()),
        worst=found.names[int(deviations.argmax())],
    )
