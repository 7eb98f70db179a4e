"""What the loop passes on: training sets, candidates, models, and the state after an iteration."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

import numpy as np
import numpy.typing as npt

from bootstrap.config.options import LoopOptions
from bootstrap.selection.proportional import ChosenDocuments, Selection
from bootstrap.selection.strategies import Strategy
from corpus.batch import Batch, concatenate
from corpus.evaluation.measures import Scores
from corpus.patients import number_patients
from taggers.base import Detail, Tagger, Tagging
from taggers.min_probability import without_improbable
from taggers.options import Reach
from taggers.propagation import propagate

#: The value of ``[loop] keep`` that tags all earlier batches again in every iteration.
RELABEL = "relabel"

#: The candidate of an iteration that changes nothing: its model is the previous one.
UNCHANGED = "unchanged"
#: The candidate of iteration 0 that is not trained: the model of the run that this one continues.
CONTINUED = "continued"


@dataclass(frozen=True, slots=True)
class Views:
    """The taggers of documents: the tagger of the loop, and further views of it.

    Parameters
    ----------
    tagger : Tagger
        The tagger of the loop.
    others : sequence of Tagger
        The taggers of further views, in the order of ``Tagging.views``.
    measure, details
        The measure of confidence, and the details of the taggings by `tagger` and by `others`.
    propagate : mapping of str to {"text", "words"}
        What is propagated of the entities of each class; see `taggers.propagation`.
    min_probability : mapping of str to float
        The smallest probability of entities that `tagger` tags, by class.
    """

    tagger: Tagger
    others: Sequence[Tagger] = ()
    measure: str = "probability"
    details: tuple[Detail, Detail] = ("document", "token")
    propagate: Mapping[str, Reach] = field(default_factory=dict)
    min_probability: Mapping[str, float] = field(default_factory=dict)

    def tag(self, batch: Batch) -> Tagging:
        """Tag a batch with every view."""
        revises = self.min_probability or self.propagate
        detail: Detail = "entity" if revises else self.details[0]
        tagging = self.revised(self.tagger.tag(batch, measure=self.measure, detail=detail), batch)
        detail = "entity" if self.propagate else self.details[1]
        views = [tagger.tag(batch, measure=self.measure, detail=detail) for tagger in self.others]
        return replace(tagging, views=tuple(self._propagated(view, batch) for view in views))

    def revised(self, tagging: Tagging, batch: Batch) -> Tagging:
        """Leave out what is improbable in a tagging by `tagger`, and propagate the rest."""
        if self.min_probability:
            tagging = without_improbable(tagging, batch, self.min_probability)
        return self._propagated(tagging, batch)

    def _propagated(self, tagging: Tagging, batch: Batch) -> Tagging:
        if not self.propagate:
            return tagging
        return propagate(tagging, batch, number_patients(batch.groups, batch.ids), self.propagate)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Gold documents, documents derived from them, and pseudo-labelled ones.

    Parameters
    ----------
    gold : Batch
        The gold documents.
    loop : LoopOptions
        Its `keep` and `pseudo_weight` are used.
    copies, mentions, blanks : Batch or None
        Weighted copies of gold documents with other mentions; and, for the tagger of the second
        view, mentions without their context, and unlabeled documents that are almost certainly
        blank, which count while there are no pseudo-labelled ones.
    pseudo_labelled : tuple of ChosenDocuments
        The pseudo-labelled documents, in the order of their selection.
    learns_blanks : bool
        Whether the tagger, too, learns from `blanks`.
    copy : callable, optional
        Returns copies of pseudo-labelled documents with other mentions. The tagger learns from them
        if it learns from `copies`.
    """

    gold: Batch
    loop: LoopOptions
    copies: Batch | None = None
    mentions: Batch | None = None
    blanks: Batch | None = None
    pseudo_labelled: tuple[ChosenDocuments, ...] = ()
    learns_blanks: bool = False
    copy: Callable[[Batch], Batch] | None = None

    def __len__(self) -> int:
        """Return the number of gold and pseudo-labelled documents."""
        return len(self.gold) + self.n_pseudo_labelled

    @property
    def n_pseudo_labelled(self) -> int:
        """The number of pseudo-labelled documents."""
        return sum(map(len, self.pseudo_labelled))

    def sampled(self, share: float) -> Self:
        """Keep a share of the pseudo-labelled documents, the same ones whoever selected them."""
        parts = []
        for part in self.pseudo_labelled:
            hashes = [zlib.crc32(name.encode()) for name in part.ids.to_pylist()]
            parts.append(part.take(np.flatnonzero(np.array(hashes) < share * 2**32)))
        return replace(self, pseudo_labelled=tuple(parts))

    def with_selected(self, selected: Sequence[ChosenDocuments]) -> Self:
        """Add the documents selected in an iteration; when relabelling, they replace others."""
        kept = () if self.loop.keep == RELABEL else self.pseudo_labelled
        return replace(self, pseudo_labelled=(*kept, *selected))

    def has_entities(self) -> bool:
        """Return whether any document has an entity."""
        batches = chain([self.gold], (part.batch for part in self.pseudo_labelled))
        return any(bool((batch.tags > 0).any()) for batch in batches)

    def documents(self, *, second: bool = False) -> Batch:
        """Return all documents with their weights, for the tagger or for the second view."""
        derived = [self.copies]
        if second:
            derived.append(self.mentions)
        if (second or self.learns_blanks) and not self.pseudo_labelled:
            derived.append(self.blanks)
        pseudo = [part.batch for part in self.pseudo_labelled]
        if (weight := self.loop.pseudo_weight) != 1:
            pseudo = [part.with_weights(np.full(len(part), weight, np.float32)) for part in pseudo]
        if pseudo and self.copy and self.copies and not second:
            derived.append(self.copy(concatenate(pseudo)))
        return concatenate([self.gold, *(batch for batch in derived if batch is not None), *pseudo])


@dataclass(slots=True, eq=False)
class Labelling:
    """What a strategy selects in an iteration, batch after batch.

    Parameters
    ----------
    strategy, views, rng
        The strategy, the taggers of the documents, and the source of random numbers.
    selected : list of ChosenDocuments
        The documents selected from each batch that has any.
    selections, confidence
        The selection from each batch, and the confidence in all of its documents, shape (D,).
    blank, finds_entities
        Number of documents without tokens, and whether any document has an entity.
    """

    strategy: Strategy
    views: Views
    rng: np.random.Generator
    selected: list[ChosenDocuments] = field(default_factory=list)
    selections: list[Selection] = field(default_factory=list)
    confidence: list[npt.NDArray[np.float64]] = field(default_factory=list)
    blank: int = 0
    finds_entities: bool = False

    def add(self, tagging: Tagging, batch: Batch) -> None:
        """Select from a tagged batch."""
        self.confidence.append(tagging.confidence)
        self.blank += int((batch.lengths == 0).sum())
        self.finds_entities |= bool((tagging.tags > 0).any())
        selection = self.strategy.select(tagging, batch, self.rng)
        self.selections.append(replace(selection, tagging=None))
        if len(selection.indices):
            self.selected.append(selection.chosen(tagging, batch))

    def release(self) -> None:
        """Let go of the documents that were not selected."""
        for part in self.selected:
            part.release()


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A training set with a name.

    Parameters
    ----------
    name : str
        The strategy of selection, or one of `bootstrap.self_training.candidates.NO_STRATEGIES`.
    training : TrainingSet
        The training set.
    labelling : Labelling or None
        What the strategy selected. Later iterations build on the best candidate that has one.
    needs_second : bool
        Whether the next iteration needs a second view if it builds on this candidate.
    """

    name: str
    training: TrainingSet
    labelling: Labelling | None = None
    needs_second: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A tagger trained on a candidate, its tagging of the validation documents, and its scores.

    `min_probability` has the smallest probabilities of entities by class that were chosen for it,
    and `propagate` what is propagated of them.
    The tagger of a candidate that lost on a sample of its documents is `of_sample`.
    """

    candidate: Candidate
    tagger: Tagger
    tagging: Tagging
    scores: Scores
    min_probability: Mapping[str, float] = field(default_factory=dict)
    propagate: Mapping[str, Reach] = field(default_factory=dict)
    of_sample: bool = False

    @property
    def f1(self) -> float:
        """Strict entity F1 on the validation documents."""
        return self.scores.counts("ner").f1


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What an iteration leaves to the next one: all that a resumed loop needs.

    Parameters
    ----------
    f1 : tuple of float
        Validation F1 of each iteration.
    model : Trial
        The model of the last iteration.
    training : TrainingSet
        The gold and the pseudo-labelled documents so far.
    second : Tagger or None
        The tagger of the second view.
    chosen : tuple of str
        The strategy that each comparison of strategies has chosen, in order, since the last
        iteration that changed nothing.
    is_initial : bool
        Whether the model is still the initial one, which was not trained on documents.
    learns_nothing : bool
        Whether the initial model found no entity, or only documents without entities were selected.
    """

    f1: tuple[float, ...]
    model: Trial
    training: TrainingSet
    second: Tagger | None = None
    chosen: tuple[str, ...] = ()
    is_initial: bool = False
    learns_nothing: bool = False

    @property
    def iteration(self) -> int:
        """The number of the last iteration."""
        return len(self.f1) - 1
