"""The training sets that an iteration compares, and the pseudo-labels in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bootstrap.config.options import LoopOptions
from bootstrap.selection.strategies import LIST_VIEW, Strategy
from bootstrap.self_training.state import (
    CONTINUED,
    UNCHANGED,
    Candidate,
    Labelling,
    State,
    TrainingSet,
    Views,
)
from corpus.batch import Batch
from taggers.base import Detail, Tagger

#: Candidates without a strategy: the gold documents of iteration 0 alone, with their copies, and
#: with copies and blank documents; and all annotated documents without any pseudo-label.
SEED_ALONE, AUGMENTED, WITH_BLANKS = "seed_alone", "augmented", "augmented_with_blanks"
ANNOTATED_ALONE = "annotated_alone"
NO_STRATEGIES = frozenset(
    {SEED_ALONE, AUGMENTED, WITH_BLANKS, ANNOTATED_ALONE, UNCHANGED, CONTINUED}
)

# Part of the seed of selection's random generator; training has no such part.
_STAGE = 1

# Details of taggings; each includes the output of the previous ones, except for the last two.
_DETAILS: tuple[Detail, ...] = ("document", "token", "entity", "labels")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Selects pseudo-labels, and makes the training sets to compare.

    Parameters
    ----------
    strategies : sequence of Strategy
        Several are compared in the first iteration that selects anything, and again after an
        iteration that changed nothing; the next one compares the best with its variants. All have
        the same measure.
    loop : LoopOptions
        Options of the loop.
    augment : callable, optional
        Derives copies, mentions and blanks from gold documents; see `TrainingSet`. Iteration 0
        compares training without them, with copies, and with copies and blanks; later training sets
        keep what was better.
    copy : callable, optional
        Returns copies of pseudo-labelled documents with other mentions; see `TrainingSet`.
    initial : Strategy, optional
        If given, the tagger of iteration 0 is an initial model that needs no gold documents, and
        this strategy selects from the documents that it tags.
    list_tagger : callable, optional
        Returns the tagger of lists, the same one in every call; required by strategies with three
        views.
    excludes : callable, optional
        Returns which documents of a batch are not pseudo-labelled, shape (D,).
    queries_second : callable
        Returns whether the next query of active learning compares the views.
    """

    strategies: Sequence[Strategy]
    loop: LoopOptions
    augment: Callable[[Batch], tuple[Batch | None, Batch | None, Batch | None]] | None = None
    copy: Callable[[Batch], Batch] | None = None
    initial: Strategy | None = None
    list_tagger: Callable[[], Tagger] | None = None
    excludes: Callable[[Batch], npt.NDArray[np.bool_]] | None = None
    queries_second: Callable[[], bool] = lambda: False

    def compare(
        self, before: State | None, gold: Batch, batches: Iterable[Batch], *, last: bool
    ) -> list[Candidate]:
        """Select pseudo-labels by each strategy, and return the training sets to compare.

        Parameters
        ----------
        before : State or None
            The state before the iteration, whose taggers tag the batches; None for iteration 0.
        gold, batches
            The annotated documents (the state's, and perhaps more), and unlabeled ones.
        last : bool
            Whether no iteration follows.
        """
        if before is None:
            second = not (last or self.initial) and self._needs_second()
            training = self.training_set(gold)
            starts = {SEED_ALONE: replace(training, copies=None)}
            if training.copies:
                starts[AUGMENTED] = training
            if training.blanks:
                starts[WITH_BLANKS] = replace(training, learns_blanks=True)
            return [Candidate(name, start, None, second) for name, start in starts.items()]
        training, has_new_gold = before.training, len(gold) > len(before.training.gold)
        if has_new_gold:
            training = self.training_set(gold, training)
        candidates, labellings = [], self._label(before, batches)
        for labelling in labellings:
            name, documents = labelling.strategy.name, training.with_selected(labelling.selected)
            second = not last and self._needs_second()
            candidates.append(Candidate(name, documents, labelling, second))
        before_selection = training.pseudo_labelled
        changed = [c for c in candidates if c.training.pseudo_labelled != before_selection]
        changed = [c for c in changed or candidates[:1] if c.training.has_entities()]
        compared = changed or candidates[:1]
        first = compared[0].training
        if changed and has_new_gold and len(first) > len(gold):
            compared.append(Candidate(ANNOTATED_ALONE, replace(first, pseudo_labelled=())))
        return compared

    def training_set(self, gold: Batch, before: TrainingSet | None = None) -> TrainingSet:
        """Return a training set with these gold documents and the pseudo-labels before.

        The pseudo-labels of documents that have been annotated since are dropped.
        """
        derived = self.augment(gold) if self.augment and len(gold) else (None,) * 3
        if before is None:
            return TrainingSet(gold, self.loop, *derived, copy=self.copy)
        pseudo = before.pseudo_labelled
        if self.excludes:
            pseudo = tuple(p.take(np.flatnonzero(~self.excludes(p.batch))) for p in pseudo)
        training = TrainingSet(gold, self.loop, *derived, pseudo, before.learns_blanks, self.copy)
        return training if before.copies is not None else replace(training, copies=None)

    def strategies_after(self, chosen: Sequence[str]) -> list[Strategy]:
        """Return the strategies to compare after the named ones were chosen, in order."""
        strategies = list(self.strategies)
        for name in chosen:
            if best := next((s for s in strategies if s.name == name), None):
                strategies = [replace(best, variants=()), *best.variants]
        return strategies

    def _label(self, before: State, batches: Iterable[Batch]) -> list[Labelling]:
        """Tag batches with the taggers of a state, and select from them by each strategy."""
        initial = self.initial if before.is_initial else None
        strategies = [initial] if initial else self.strategies_after(before.chosen)
        views = self._views(strategies, before)
        seed = (self.loop.random_state, before.iteration + 1, _STAGE)
        labellings = [
            Labelling(strategy, views, np.random.default_rng(seed)) for strategy in strategies
        ]
        for batch in filter(len, map(self._without_excluded, batches)):
            tagging = views.tag(batch)
            for labelling in labellings:
                labelling.add(tagging, batch)
            if len(labellings) == 1:
                labellings[0].release()
        return labellings

    def _views(self, strategies: Sequence[Strategy], before: State) -> Views:
        """Return the views that strategies compare; a missing one is a `ValueError`."""
        needed = max(strategy.views for strategy in strategies)
        lists = self.list_tagger() if self.list_tagger and needed >= LIST_VIEW else None
        others = [before.second, lists][:needed]
        views = [tagger for tagger in others if tagger is not None]
        if len(views) < needed:
            missing = "a second tagger" if before.second is None else "a tagger of lists"
            raise ValueError(f"a strategy compares {needed + 1} views: expected {missing}")
        detail = max((strategy.detail for strategy in strategies), key=_DETAILS.index)
        measure, model = strategies[0].measure, before.model
        given = self.loop.propagate if isinstance(self.loop.propagate, Mapping) else {}
        return Views(model.tagger, views, measure, (detail, "token"), given, model.min_probability)

    def _needs_second(self) -> bool:
        return any(strategy.views for strategy in self.strategies) or self.queries_second()

    def _without_excluded(self, batch: Batch) -> Batch:
        if self.excludes is None or not (excluded := self.excludes(batch)).any():
            return batch
        return batch.take(np.flatnonzero(~excluded))
