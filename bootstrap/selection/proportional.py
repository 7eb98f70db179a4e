"""Proportional selection of documents (paper 003, 3.2.1, "Selection of new examples")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootstrap.selection.optimizer import Candidates, largest_choice, nearest_choice
from bootstrap.selection.proportions import Proportions, Reference, content_of, proportions_of
from corpus.batch import Batch
from taggers.base import Tagging

#: Where no selection is within tolerance, this share of the confident documents is selected.
FLOOR = 0.10

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What is kept of a tagged batch, and how well it keeps the proportions.

    Parameters
    ----------
    indices : ndarray of int64, shape (K,)
        The documents selected, in the order of the batch.
    confident : int
        Documents that reach the threshold.
    bound : int
        An upper bound on the number of documents of any selection within tolerance. Where it is
        below the floor, it need not be the tightest bound.
    proportions : Proportions or None
        Of the documents selected; None where proportions were not asked for.
    deviation : float
        The largest deviation from the reference in units of its tolerance; at most 1 is within.
    worst : str
        The statistic with that deviation; empty where proportions were not asked for.
    tagging : Tagging or None
        The tags and the confidence to keep, of the whole batch; None keeps those of the tagger.
    """

    indices: Indices
    confident: int = 0
    bound: int = 0
    proportions: Proportions | None = None
    deviation: float = 0.0
    worst: str = ""
    tagging: Tagging | None = None


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
    """Select documents with a high confidence, in the proportions of a reference.

    Among all selections of at most `most` documents that reach the threshold and keep every
    statistic within its tolerance, the one with the most documents is returned, ties by the
    highest confidence. If none of them has `FLOOR` of the confident documents, then that many
    with the smallest maximal deviation are. Both are found by linear and integer programming, and
    `Selection.bound` bounds the distance from the optimum.

    Parameters
    ----------
    tagging : Tagging
        The tags and the confidence of the batch.
    batch : Batch
        The documents; those without tokens are never selected.
    reference : Reference or None
        The proportions to keep; needed with `proportions`, and ignored without.
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
        A deterministic function of the arguments.

    Raises
    ------
    ValueError
        If proportions are to be kept without a reference.
    """
    if proportions and reference is None:
        raise ValueError("proportions can only be kept with a reference")
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
