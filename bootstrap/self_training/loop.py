"""The self-training loop (paper 003, 3.2.1, algorithm 1).

The loop is pure: it neither reads files nor prints. It yields a record of every iteration for
the caller to save and display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

import numpy as np

from bootstrap.active_learning.rounds import Queried, Rounds
from bootstrap.config.options import LoopOptions
from bootstrap.selection import Selection, SelectionFunction, Strategy
from bootstrap.self_training.agreement import agreement, cohen_kappa
from bootstrap.self_training.ending import Ending
from bootstrap.self_training.iteration import (
    ANNOTATED_ALONE,
    RELABEL,
    STOPPED,
    History,
    Iteration,
    PseudoLabelled,
    best_iteration,
    compares_strategies,
    stagnates,
)
from bootstrap.self_training.models import Model, Models
from bootstrap.self_training.novelty import entities_of
from bootstrap.self_training.pseudo_labelling import Labelling, label_pool
from bootstrap.self_training.stopwatch import Stopwatch
from bootstrap.self_training.training import Train, train_in_turn
from bootstrap.self_training.training_set import Augment, TrainingSet
from bootstrap.self_training.views import Views
from corpus.batch import Batch
from corpus.errors import InputError
from corpus.evaluation import GoldBatch
from corpus.tags import UNKNOWN
from taggers.base import Tagger

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


class _NoDocuments:
    """A pool without documents."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield nothing."""
        return iter(())


_NO_SELECTION = Strategy(lambda tagging, batch, rng: Selection(np.zeros(0, np.int64)))


def self_train(
    gold: Batch | Callable[[int], Batch],
    pool: Pool,
    validation: GoldBatch | Batch,
    tagger_for: Callable[[int], Tagger],
    *,
    strategy: Strategy | SelectionFunction | Sequence[Strategy],
    loop: LoopOptions,
    initial_strategy: Strategy | SelectionFunction | None = None,
    augment: Augment | None = None,
    second_tagger_for: Callable[[int], Tagger] | None = None,
    list_tagger: Callable[[], Tagger] | None = None,
    train: Train = train_in_turn,
    not_before: int = 0,
    held_out: frozenset[str] = frozenset(),
    rounds: Rounds | None = None,
    history: History | None = None,
) -> Iterator[Iteration]:
    """Train a tagger on its own confident predictions, in iterations.

    Parameters
    ----------
    gold : Batch or callable
        Annotated documents, which are always part of the training set. A callable returns those of
        an iteration, the same ones in every call; it may add documents to those of the previous
        iteration. With an `initial_strategy`, there may be none. With `rounds`, it is their seed,
        and not used.
    pool : Pool
        Unlabeled documents; iteration i is the first to tag batch i - 1.
    validation : GoldBatch or Batch
        Gold documents that determine when to stop, which iteration is the best, and which of
        several alternatives is used.
    tagger_for : callable
        Creates an untrained tagger for an iteration, another one in each call; the kinds of
        iterations may differ. It is called once for each alternative.
    strategy : Strategy, callable or sequence of Strategy
        Selects from every tagged batch; see `bootstrap.selection.strategies`. Several strategies
        are compared in the first iteration that selects anything: a model is trained on the
        selection of each, and the strategy of the best one is kept. The next iteration compares it
        with its variants, if it has any.
    loop : LoopOptions
        Options of the loop.
    initial_strategy : Strategy or callable, optional
        If given, the tagger of iteration 0 is an initial model that needs no gold documents, and
        this strategy selects from the documents that it tags.
    augment : callable, optional
        Derives documents from the gold ones. Iteration 0 is trained with and without them, and they
        are part of all later training sets if validation F1 is higher with them.
    second_tagger_for : callable, optional
        Creates the untrained tagger of the second view; required by strategies with further views.
    list_tagger : callable, optional
        Returns the tagger of lists, the same one in every call, which is not trained on documents;
        required by strategies with three views.
    train : callable
        Does the trainings of an iteration, which are independent of each other.
    not_before : int
        The iteration from which stagnation is counted, such as the first one of another kind of
        tagger: the loop does not stop because of stagnation before.
    held_out : frozenset of str
        Groups (patients) of the validation documents, which are never selected.
    rounds : Rounds, optional
        Rounds of active learning: each iteration after iteration 0 annotates documents, until they
        end. If they are hybrid, the same iterations select from the pool and try the annotated
        documents alone, too, and the loop goes on as without rounds when they have ended.
        Otherwise the pool and the strategies are not used.
    history : History, optional
        The history of completed iterations to continue.

    Raises
    ------
    InputError
        If a history has no tagger of the second view, which a strategy needs.

    Yields
    ------
    Iteration
        The record of each completed iteration, from iteration 0 on. The last one has the reason
        for stopping.
    """
    validation = GoldBatch.from_tags(validation) if isinstance(validation, Batch) else validation
    self_trains = rounds is None or rounds.options.hybrid
    strategies = _strategies(strategy if self_trains else _NO_SELECTION, history)
    initial = Strategy.of(initial_strategy) if initial_strategy else None
    training_set = TrainingSet(
        rounds.gold if rounds else gold if callable(gold) else lambda _: gold,
        loop,
        augment,
        iteration=len(history.f1) - 1 if history else 0,
        pseudo_labelled=history.selected if history else (),
        annotated=rounds.annotated if rounds else None,
    )
    models = Models(
        training_set=training_set,
        validation=validation,
        loop=loop,
        measure=strategies[0].measure,
        tagger_for=tagger_for,
        second_tagger_for=second_tagger_for,
        train=train,
        second_needed=lambda: _compares_views(rounds),
        tries_annotated=rounds is not None and self_trains,
    )
    ending = Ending(loop, not_before, rounds, history.kappas if history else ())
    f1: list[float] = []
    model: Model | None = None
    if history:
        f1, training_set.augmented = [*history.f1], history.augmented
        initial = initial if history.is_initial else None
        model = models.resumed(history, [] if initial else strategies)
    pool = pool if self_trains else _NoDocuments()
    unread = pool.batches(start=max(len(f1) - 1, 0))
    batch = next(unread, None) if f1 else None
    while True:
        iteration, watch, previous = len(f1), Stopwatch(), model
        known = training_set.entities() if previous else set()
        labellings = [
            Labelling(each, held_out, loop, iteration, training_set.annotated)
            for each in ([initial] if initial else strategies)
        ]
        labelling, quality, queried, untaught = labellings[0], None, None, False
        with watch.stage("read"):
            following, failure = _next(unread) if ending.reads_after(iteration) else (None, None)
        batches_left = following is not None or failure is not None
        if previous is None:
            is_last = ending.is_last(batches_left=batches_left)
            model = models.first([] if initial or is_last else strategies, watch)
        else:
            queried = _ask(rounds, previous, loop, watch)  # they are not pseudo-labelled
            views = Views.for_strategies(
                [each.strategy for each in labellings], previous, list_tagger, loop
            )
            label_pool(_batches_to_label(pool, batch, iteration, loop), views, labellings, watch)
            model = models.next(
                iteration,
                labellings,
                previous,
                watch,
                warm=loop.warm_start and initial is None,
                strategies=[] if ending.is_last(batches_left=batches_left) else strategies,
            )
            labelling = model.labelling or labelling
            untaught = not (initial is None or rounds) and _is_untaught(training_set, labelling)
            if labelling.tagged:
                with watch.stage("validate"):
                    quality = labelling.quality(views.tag(validation.batch), validation)
            initial = initial if model.tagger is previous.tagger else None
            if compares_strategies(trial.name for trial in model.trials):
                strategies = _following(labelling.strategy)
            ending.kappas.append(_kappa(previous, model))
        f1.append(model.f1)
        stopped = "no_entities" if untaught else ending.reason(f1, batches_left=batches_left)
        selected = PseudoLabelled.concatenated(labelling.selected)
        yield Iteration(
            iteration=iteration,
            tagger=model.tagger,
            selected=selected,
            selections=tuple(labelling.selections),
            tagged=labelling.tagged,
            blank=labelling.blank,
            confidence_quantiles=labelling.quantiles(),
            agreement=agreement(previous.tagging, model.tagging) if previous else None,
            scores=model.scores,
            seconds=watch.seconds,
            human_documents=len(training_set.gold),
            human_tokens=training_set.gold.n_tokens,
            training_documents=_trained_on(model, training_set),
            stopped=stopped,
            strategy=labelling.strategy.name if previous else "",
            augmented=training_set.augmented,
            trials=model.trials,
            quality=quality,
            new_entities=len(entities_of([selected.batch]) - known) if selected else 0,
            unknown=_unknown_share(selected),
            second=model.second,
            queried=queried,
            kappa=ending.kappas[-1] if previous else None,
            confidence_histogram=labelling.histogram(),
            tagging=model.tagging,
        )
        if stopped:
            return
        if failure:  # raised after the completed iteration was yielded
            raise failure
        batch = following


def _kappa(previous: Model, model: Model) -> float | None:
    """Compute Cohen's kappa of two models; None if they are the same one or find nothing."""
    taggings = previous.tagging, model.tagging
    if model.tagger is previous.tagger or not all((each.tags > 0).any() for each in taggings):
        return None
    return cohen_kappa(*taggings)


def _trained_on(model: Model, training_set: TrainingSet) -> int:
    """Return the number of documents that a model was trained on, without augmented ones."""
    alone = any(trial.chosen and trial.name == ANNOTATED_ALONE for trial in model.trials)
    return len(training_set.gold) if alone else len(training_set)


def _ask(
    rounds: Rounds | None, model: Model, loop: LoopOptions, watch: Stopwatch
) -> Queried | None:
    """Return the documents of the next round, annotated; None if the rounds have ended."""
    if rounds is None or rounds.ended():
        return None
    with watch.stage("query"):
        return rounds.ask(Views.for_query(rounds.query, model, loop).tag)


def _compares_views(rounds: Rounds | None) -> bool:
    """Return whether the query of the next round compares the views."""
    return rounds is not None and rounds.query.views > 0 and not rounds.ended()


def _batches_to_label(
    pool: Pool, batch: Batch | None, iteration: int, loop: LoopOptions
) -> Iterator[Batch]:
    """Yield the next batch, if there is one, or all batches so far when relabelling."""
    if loop.keep == RELABEL:
        yield from islice(pool.batches(), iteration)
    elif batch is not None:
        yield batch


def _strategies(
    strategy: Strategy | SelectionFunction | Sequence[Strategy], history: History | None
) -> list[Strategy]:
    """Return the strategies to compare, after the comparisons of a history."""
    strategies = (
        [Strategy.of(strategy)]
        if isinstance(strategy, Strategy) or callable(strategy)
        else list(strategy)
    )
    for name in history.chosen if history else ():
        chosen = [each for each in strategies if each.name == name]
        strategies = _following(chosen[0]) if chosen else strategies
    return strategies


def _following(chosen: Strategy) -> list[Strategy]:
    """Return the strategies of the iteration after one was chosen: itself and its variants."""
    return [replace(chosen, variants=()), *chosen.variants]


def _next(batches: Iterator[Batch]) -> tuple[Batch | None, InputError | None]:
    """Read the next batch, if there is one, or return the error of reading it."""
    try:
        return next(batches, None), None
    except InputError as error:
        return None, error


def _is_untaught(training_set: TrainingSet, labelling: Labelling) -> bool:
    """Return whether an initial model leaves nothing to train on.

    It does if it found no entity, or if only documents without entities were selected. If it found
    entities and nothing was selected, the next batch may have documents that it is sure of.
    """
    if training_set.has_entities():
        return False
    return bool(labelling.selected) or not labelling.found_entities


def _unknown_share(selected: PseudoLabelled | None) -> float:
    """Return the share of the tokens of selected documents whose tag is unknown."""
    if selected is None or not selected.batch.n_tokens:
        return 0.0
    return float((selected.batch.tags == UNKNOWN).mean())
