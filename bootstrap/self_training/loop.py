"""The self-training loop (paper 003, 3.2.1, algorithm 1).

The loop is pure: it neither reads files nor prints. It yields a record of every iteration for
the caller to save and display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Protocol

import numpy as np

from bootstrap.config.options import LoopOptions
from bootstrap.selection import SelectionFunction, Strategy
from bootstrap.self_training.iteration import (
    RELABEL,
    STOPPED,
    History,
    Iteration,
    PseudoLabelled,
    best_iteration,
    stagnates,
)
from bootstrap.self_training.pseudo_labelling import Labelling, tag
from bootstrap.self_training.stopwatch import Stopwatch
from corpus.batch import Batch, concatenate
from corpus.errors import InputError
from corpus.evaluation import GoldBatch, score_batches
from taggers.base import Tagger, Tagging

__all__ = [
    "RELABEL",
    "STOPPED",
    "History",
    "Iteration",
    "Pool",
    "PseudoLabelled",
    "best_iteration",
    "self_train",
    "stagnates",
]


class Pool(Protocol):
    """Unlabeled documents, in batches."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on, the same ones in every call."""
        ...


def self_train(
    gold: Batch | Callable[[int], Batch],
    pool: Pool,
    validation: GoldBatch | Batch,
    tagger_for: Callable[[int], Tagger],
    *,
    strategy: Strategy | SelectionFunction,
    loop: LoopOptions,
    initial_strategy: Strategy | SelectionFunction | None = None,
    held_out: frozenset[str] = frozenset(),
    history: History | None = None,
) -> Iterator[Iteration]:
    """Train a tagger on its own confident predictions, in iterations.

    Parameters
    ----------
    gold : Batch or callable
        Annotated documents, which are always part of the training set. A callable returns those of
        an iteration, the same ones in every call; it may add documents to those of the previous
        iteration. With an `initial_strategy`, there may be none.
    pool : Pool
        Unlabeled documents; iteration i is the first to tag batch i - 1.
    validation : GoldBatch or Batch
        Gold documents that determine when to stop and which iteration is the best.
    tagger_for : callable
        Creates the untrained tagger of an iteration; the kinds of iterations may differ.
    strategy : Strategy or callable
        Selects from every tagged batch; see `bootstrap.selection.strategies`.
    loop : LoopOptions
        Options of the loop.
    initial_strategy : Strategy or callable, optional
        If given, the tagger of iteration 0 is an initial model that needs no gold documents, and
        this strategy selects from the documents that it tags.
    held_out : frozenset of str
        Groups (patients) of the validation documents, which are never selected.
    history : History, optional
        The history of completed iterations to continue.

    Yields
    ------
    Iteration
        The record of each completed iteration, from iteration 0 on. The last one has the reason
        for stopping.
    """
    validation = GoldBatch.from_tags(validation) if isinstance(validation, Batch) else validation
    training_set = _TrainingSet(gold, loop, history)
    strategy = Strategy.of(strategy)
    initial = Strategy.of(initial_strategy) if initial_strategy else None
    f1: list[float] = []
    previous = None
    if history:
        f1, tagger = [*history.f1], history.tagger
        initial = initial if history.is_initial else None
        previous = tag(tagger, validation.batch, strategy.measure, "document", loop)
    unread = pool.batches(start=max(len(f1) - 1, 0))
    batch = next(unread, None) if f1 else None
    while True:
        iteration, watch = len(f1), Stopwatch()
        # The previous model labels the next batch, or all batches so far.
        labelling = Labelling(initial or strategy, held_out, loop, iteration)
        for unlabeled in watch.each("read", _batches_to_label(pool, batch, iteration, loop)):
            labelling.add(tagger, unlabeled, watch)
        # An unchanged training set would result in the same model. The initial model has no
        # weights to start from.
        if training_set.update(iteration, labelling.selected):
            warm_start = loop.warm_start and iteration > 0 and initial is None
            rng = np.random.default_rng([loop.random_state, iteration])
            with watch.stage("train"):
                tagger = tagger_for(iteration).fit(
                    training_set.documents(),
                    validation.batch,
                    warm_start=tagger if warm_start else None,
                    rng=rng,
                )
            initial = initial if iteration == 0 else None
        with watch.stage("validate"):
            tagging = tag(tagger, validation.batch, strategy.measure, "document", loop)
            predicted = validation.batch.with_tags(tagging.tags, tagging.labels)
            scores = score_batches(validation, predicted)
        f1.append(scores.counts("ner").f1)
        with watch.stage("read"):
            batch, failure = _next(unread) if iteration < loop.iterations else (None, None)
        stopped = _stop_reason(f1, loop, exhausted=batch is None and failure is None)
        yield Iteration(
            iteration=iteration,
            tagger=tagger,
            selected=PseudoLabelled.concatenated(labelling.selected),
            selections=tuple(labelling.selections),
            tagged=labelling.tagged,
            blank=labelling.blank,
            confidence_quantiles=labelling.quantiles(),
            agreement=None if previous is None else _agreement(previous, tagging),
            scores=scores,
            seconds=watch.seconds,
            human_tokens=training_set.gold.n_tokens,
            training_documents=len(training_set),
            stopped=stopped,
        )
        if stopped:
            return
        if failure:  # raised after the completed iteration was yielded
            raise failure
        previous = tagging


def _batches_to_label(
    pool: Pool, batch: Batch | None, iteration: int, loop: LoopOptions
) -> Iterator[Batch]:
    """Yield the next batch, or all batches so far when relabelling; none in iteration 0."""
    if batch is None:
        return
    yield from islice(pool.batches(), iteration) if loop.keep == RELABEL else [batch]


def _next(batches: Iterator[Batch]) -> tuple[Batch | None, InputError | None]:
    """Read the next batch, if there is one, or return the error of reading it."""
    try:
        return next(batches, None), None
    except InputError as error:
        return None, error


def _stop_reason(f1: Sequence[float], options: LoopOptions, *, exhausted: bool) -> str | None:
    """Return the reason for stopping after the last iteration, if there is one."""
    if len(f1) - 1 >= options.iterations:
        return "maximum"
    if stagnates(f1, options):
        return "stagnation"
    return "exhausted" if exhausted else None


class _TrainingSet:
    """The gold documents of an iteration and the pseudo-labelled ones."""

    def __init__(
        self,
        gold: Batch | Callable[[int], Batch],
        options: LoopOptions,
        history: History | None,
    ) -> None:
        self.pseudo_labelled = list(history.selected) if history else []
        self._gold_for = gold if callable(gold) else lambda _: gold
        self._options = options
        self.gold = self._gold_for(len(history.f1) - 1 if history else 0)

    def update(self, iteration: int, selected: list[PseudoLabelled]) -> bool:
        """Add or replace documents, and return whether the training set has changed."""
        known, self.gold = len(self.gold), self._gold_for(iteration)
        changed = iteration == 0 or bool(selected) or len(self.gold) != known
        if self._options.keep == RELABEL:
            self.pseudo_labelled = selected
            return changed or len(self) > 0
        self.pseudo_labelled += selected
        return changed

    def __len__(self) -> int:
        return len(self.gold) + sum(len(part.batch) for part in self.pseudo_labelled)

    def documents(self) -> Batch:
        """Return all documents, with the weight of pseudo-labelled ones."""
        batches = [part.batch for part in self.pseudo_labelled]
        if (weight := self._options.pseudo_weight) != 1:
            batches = [
                batch.with_weights(np.full(len(batch), weight, np.float32)) for batch in batches
            ]
        return concatenate([self.gold, *batches])


def _agreement(previous: Tagging, tagging: Tagging) -> float:
    """Compute the share of tokens with the same label; taggers may number labels differently."""
    if not len(tagging.tags):
        return 1.0
    number = {label: index for index, label in enumerate(previous.labels)}
    same = np.array([number.get(label, -1) for label in tagging.labels])
    return float((same[tagging.tags] == previous.tags).mean())
