"""The training set of an iteration: gold, augmented and pseudo-labelled documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootstrap.config.options import LoopOptions
from bootstrap.self_training.iteration import RELABEL, PseudoLabelled
from bootstrap.self_training.novelty import Entity, entities_of
from corpus.batch import Batch, concatenate


@dataclass(frozen=True, slots=True, eq=False)
class Augmentation:
    """Documents that are derived from gold documents.

    Parameters
    ----------
    copies : Batch or None
        Weighted copies with other mentions.
    mentions : Batch or None
        Mentions without their context, for the tagger of the second view.
    """

    copies: Batch | None
    mentions: Batch | None


#: Derives documents from gold documents; a deterministic function.
Augment = Callable[[Batch], Augmentation]

_NONE = Augmentation(None, None)


class TrainingSet:
    """The gold documents of an iteration, those derived from them, and the pseudo-labelled ones.

    Parameters
    ----------
    gold_for : callable
        Returns the gold documents of an iteration.
    options : LoopOptions
        Options of the loop.
    augment : callable or None
        Derives documents from the gold ones.
    iteration : int
        The iteration whose gold documents are the first ones.
    pseudo_labelled : sequence of PseudoLabelled
        The pseudo-labelled documents so far.
    annotated : callable, optional
        Returns which documents of a batch have been annotated since they were pseudo-labelled;
        their pseudo-labels are dropped.

    Attributes
    ----------
    gold : Batch
        The gold documents.
    augmented : bool
        Whether copies of gold documents are part of the training set.
    annotated : callable or None
        The parameter of that name.
    """

    def __init__(
        self,
        gold_for: Callable[[int], Batch],
        options: LoopOptions,
        augment: Augment | None,
        *,
        iteration: int = 0,
        pseudo_labelled: Sequence[PseudoLabelled] = (),
        annotated: Callable[[Batch], npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        self.annotated = annotated
        self.pseudo_labelled = self._not_annotated(pseudo_labelled)
        self.augmented = augment is not None
        self._gold_for = gold_for
        self._options = options
        self._augment = augment
        self.gold = gold_for(iteration)
        self._derived = self._derive()

    def _derive(self) -> Augmentation:
        if self._augment is None or not len(self.gold):
            return _NONE
        return self._augment(self.gold)

    def update_gold(self, iteration: int) -> bool:
        """Use the gold documents of an iteration, and return whether there are others."""
        known, self.gold = len(self.gold), self._gold_for(iteration)
        if len(self.gold) == known:
            return False
        self._derived = self._derive()
        self.pseudo_labelled = self._not_annotated(self.pseudo_labelled)
        return True

    def _not_annotated(self, parts: Sequence[PseudoLabelled]) -> list[PseudoLabelled]:
        """Return pseudo-labelled documents without those that have been annotated since."""
        if self.annotated is None:
            return list(parts)
        return [part.take(np.flatnonzero(~self.annotated(part.batch))) for part in parts]

    def is_changed_by(self, selected: Sequence[PseudoLabelled]) -> bool:
        """Return whether the documents selected in an iteration change the training set."""
        if self._options.keep == RELABEL and self.pseudo_labelled:
            return bool(selected) or len(self.gold) > 0
        return bool(selected)

    def add(self, selected: Sequence[PseudoLabelled]) -> None:
        """Add the documents selected in an iteration; when relabelling, they replace others."""
        self.pseudo_labelled = self._with(selected)

    def _with(self, selected: Sequence[PseudoLabelled]) -> list[PseudoLabelled]:
        return [*([] if self._options.keep == RELABEL else self.pseudo_labelled), *selected]

    def has_pseudo_labels(self, selected: Sequence[PseudoLabelled]) -> bool:
        """Return whether any document is pseudo-labelled, with documents added as by `add`."""
        return any(len(part.batch) for part in self._with(selected))

    def entities(self) -> set[Entity]:
        """Return the distinct entities of the gold and the pseudo-labelled documents."""
        return entities_of([self.gold, *(part.batch for part in self.pseudo_labelled)])

    def has_entities(self, selected: Sequence[PseudoLabelled] | None = None) -> bool:
        """Return whether any document has an entity, also with documents added as by `add`."""
        parts = self.pseudo_labelled if selected is None else self._with(selected)
        batches = [self.gold, *(part.batch for part in parts)]
        return any(bool((batch.tags > 0).any()) for batch in batches)

    def __len__(self) -> int:
        """Return the number of gold and pseudo-labelled documents, without augmented ones."""
        return len(self.gold) + sum(len(part.batch) for part in self.pseudo_labelled)

    def documents(
        self,
        selected: Sequence[PseudoLabelled] | None = None,
        *,
        augmented: bool | None = None,
        mentions: bool = False,
    ) -> Batch:
        """Return all documents for training, with their weights.

        Parameters
        ----------
        selected : sequence of PseudoLabelled, optional
            Documents to be added to the training set as by `add`, without changing it.
        augmented : bool, optional
            Whether to include copies of gold documents; by default, the attribute of that name.
        mentions : bool
            Whether to include mentions without their context.
        """
        parts = self.pseudo_labelled if selected is None else self._with(selected)
        batches = [part.batch for part in parts]
        if (weight := self._options.pseudo_weight) != 1:
            batches = [
                batch.with_weights(np.full(len(batch), weight, np.float32)) for batch in batches
            ]
        augmented = self.augmented if augmented is None else augmented
        derived = [
            self._derived.copies if augmented else None,
            self._derived.mentions if mentions else None,
        ]
        return concatenate([self.gold, *(each for each in derived if each is not None), *batches])

    def annotated_documents(self) -> Batch:
        """Return the gold documents and their copies, without pseudo-labelled ones."""
        copies = self._derived.copies if self.augmented else None
        return self.gold if copies is None else concatenate([self.gold, copies])
