"""Proportional selection of documents (paper 003, 3.2.1, "Selection of new examples")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.selection.proportions import Proportions, Reference, content_of, proportions_of
from corpus.batch import Batch
from taggers.base import Tagging

#: The share of the confident documents that is selected if no selection is within tolerance.
FLOOR = 0.10

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The documents selected from a tagged batch, and their deviation from the proportions.

    Parameters
    ----------
    indices : ndarray of int64, shape (K,)
        The documents selected, in the order of the batch.
    confident : int
        Number of documents that reach the threshold.
    bound : int
        An upper bound on the number of documents of any selection within tolerance. A bound below
        the floor need not be the tightest.
    proportions : Proportions or None
        The proportions of the documents selected; None if proportions are not kept.
    deviation : float
        The largest deviation from the reference in units of its tolerance; at most 1 is within.
    worst : str
        The statistic with that deviation; empty if proportions are not kept.
    tagging : Tagging or None
        Tags and confidence of the whole batch that replace the tagger's; None keeps the tagger's.
    """

    indices: Indices
    confident: int = 0
    bound: int = 0
    proportions: Proportions | None = None
    deviation: float = 0.0
    worst: str = ""
    tagging: Tagging | None = None

    def chosen(self, tagging: Tagging, batch: Batch) -> ChosenDocuments:
        """Return the documents selected from a batch with this tagging."""
        kept = self.tagging or tagging
        tagged = batch.with_tags(kept.tags, kept.labels)
        return ChosenDocuments(tagged, kept.confidence, self.indices)


@dataclass(slots=True, eq=False)
class ChosenDocuments:
    """Tagged documents, and the confidence of a model in its own tags when they were chosen.

    What strategies choose from the same batch shares the columns of the batch other than the tags.

    Parameters
    ----------
    tagged : Batch
        Documents with tags of the model or of an annotator.
    confidences : ndarray of float64, shape (D,)
        The confidence in each of them.
    indices : ndarray of int64, shape (K,), or None
        The documents chosen from them; None for all.
    """

    tagged: Batch
    confidences: npt.NDArray[np.float64]
    indices: Indices | None = None

    def __len__(self) -> int:
        """Return the number of documents chosen, K."""
        return len(self.tagged if self.indices is None else self.indices)

    @property
    def batch(self) -> Batch:
        """The documents chosen, which are copied."""
        return self.tagged if self.indices is None else self.tagged.take(self.indices)

    @property
    def ids(self) -> pa.LargeStringArray:
        """The ids of the documents chosen."""
        return self.tagged.ids if self.indices is None else self.tagged.ids.take(self.indices)

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The confidence in each document chosen, shape (K,)."""
        return self.confidences if self.indices is None else self.confidences[self.indices]

    def take(self, indices: Indices) -> Self:
        """Return the chosen documents at `indices`."""
        chosen = indices if self.indices is None else self.indices[indices]
        return replace(self, indices=chosen)

    def release(self) -> None:
        """Let go of the documents that were not chosen."""
        self.tagged, self.confidences, self.indices = self.batch, self.confidence, None


def select_examples(
    tagging: Tagging,
    batch: Batch,
    *,
    reference: Reference | None,
    confidence: float,
    most: int,
    selectable: npt.NDArray[np.bool_] | None = None,
) -> Selection:
    """Select documents with a high confidence, in the proportions of a reference.

    Among all selections of at most `most` documents that reach the threshold and keep every
    statistic within its tolerance, the one with the most documents is returned; ties are broken by
    the highest confidence. If all of them are smaller than the share `FLOOR` of the confident
    documents, the selection of that size with the smallest maximal deviation is returned. Both
    problems are solved by linear and integer programming. `Selection.bound` bounds the distance
    from the optimum.

    Parameters
    ----------
    tagging : Tagging
        The tags and the confidence of the batch.
    batch : Batch
        The documents; those without tokens are never selected.
    reference : Reference or None
        The proportions to keep. Without one, the most confident documents are selected; ties are
        broken in favour of the earliest.
    confidence : float
        The threshold: documents below it are never selected.
    most : int
        The largest number of documents to select.
    selectable : ndarray of bool, shape (D,), optional
        Documents that may be selected; all of them by default.

    Returns
    -------
    Selection
        A deterministic function of the arguments.
    """
    eligible = (tagging.confidence >= confidence) & (batch.lengths > 0)
    if selectable is not None:
        eligible &= selectable
    confident = np.flatnonzero(eligible)
    number = min(most, len(confident))
    if number == 0 or reference is None:
        order = np.argsort(-tagging.confidence[confident], kind="stable")
        return Selection(np.sort(confident[order[:number]]), len(confident), number)
    from bootstrap.selection.linear_program import Selector  # noqa: PLC0415 - scipy is slow to import

    classes = reference.proportions.classes
    content = content_of(batch, tagging.tags, tagging.labels, classes).take(confident)
    selector = Selector(content, tagging.confidence[confident], reference)
    floor = min(number, int(np.ceil(FLOOR * len(confident))))
    chosen, bound = selector.largest(number, floor)
    if len(chosen) < floor:
        chosen = selector.nearest(floor)
    measured = proportions_of(content.take(chosen), classes)
    deviations = reference.deviations(measured, len(chosen))
    return Selection(
        indices=confident[chosen],
        confident=len(confident),
        bound=bound,
        proportions=measured,
        deviation=float(deviations.max()),
        worst=measured.names[int(deviations.argmax())],
    )
