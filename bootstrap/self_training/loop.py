"""The self-training loop (paper 003, section 3.2.1, algorithm 1), without files and console."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from bootstrap.self_training.candidates import Candidates
from bootstrap.self_training.state import RELABEL, UNCHANGED, Labelling, State, Trial
from bootstrap.self_training.stopping import Limits
from bootstrap.self_training.training import Trainer, best_of
from corpus.batch import Batch
from corpus.errors import InputError
from taggers.base import Tagger


class Pool(Protocol):
    """Unlabeled documents, in batches."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on, the same ones in every call."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A completed iteration.

    Parameters
    ----------
    before, state : State
        The states before it (None for iteration 0) and after it.
    models, labelling
        The models that were compared, and what was selected from the pool (None for iteration 0).
        The previous model is one of them if it stays.
    """

    before: State | None
    state: State
    models: tuple[Trial, ...]
    labelling: Labelling | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a loop, with the reason: a key of `STOPPED`."""

    reason: str


def self_train(
    gold: Callable[[State | None], Batch],
    pool: Pool,
    candidates: Candidates,
    trainer: Trainer,
    *,
    stop: Limits,
    state: State | None = None,
) -> Iterator[Step | Ended]:
    """Train a tagger on its own confident predictions, in iterations.

    Parameters
    ----------
    gold : callable
        Returns the annotated documents of the iteration after a state; of iteration 0 for None.
        They are part of every training set, and later iterations may have more.
    pool : Pool
        Unlabeled documents; iteration i is the first to tag batch i - 1.
    candidates : Candidates
        Selects pseudo-labels, and makes the training sets to compare.
    trainer : Trainer
        Trains a model on each of them, and scores it on the validation documents. The best one is
        the model of the iteration.
    stop : Limits
        Decides before each iteration whether the loop ends.
    state : State, optional
        The state after the completed iterations of a loop, which continues from there.

    Yields
    ------
    Step or Ended
        Each completed iteration, from iteration 0 on, and at last the reason for stopping.

    Raises
    ------
    InputError
        If a batch cannot be read; raised after the iteration that read ahead was yielded.
    """
    unread = pool.batches(state.iteration if state else 0)
    ahead = _read(unread) if state and stop.reads_after(state.iteration) else None
    while not (reason := state and stop.reason(state, batches_left=ahead is not None)):
        if isinstance(ahead, InputError):
            raise ahead
        iteration, batches = state.iteration + 1 if state else 0, iter([ahead] if ahead else [])
        ahead = _read(unread) if stop.reads_after(iteration) else None
        if candidates.loop.keep == RELABEL:
            batches = islice(pool.batches(), iteration)
        annotated, last = gold(state), ahead is None and not stop.asks()
        compared = candidates.compare(state, annotated, batches, last=last)
        models, second = trainer.train(compared, state)
        step = _step(state, models, second, starts=candidates.initial is not None)
        state = step.state
        yield step
        del compared, models, step  # what was not chosen takes no memory in the next iteration
    yield Ended(reason)


def _read(batches: Iterator[Batch]) -> Batch | InputError | None:
    """Return the next batch, or the error of reading it; None if there is none."""
    try:
        return next(batches, None)
    except InputError as error:
        return error


def _step(
    before: State | None, models: Sequence[Trial], second: Tagger | None, *, starts: bool
) -> Step:
    """Return the step to the best model, and to the training set that later ones build on."""
    # Selected documents stay even if the annotated ones alone were better: later models may need
    # them. `starts` is whether the model of iteration 0 is an initial one.
    best, selections = best_of(models), [model for model in models if model.candidate.labelling]
    kept = best_of(selections or models).candidate
    pseudo, is_unchanged = kept.labelling, models[0].candidate.name == UNCHANGED
    if is_unchanged:
        best, kept, selections = models[0], models[0].candidate, []
    f1, chosen, was_initial = (
        (before.f1, before.chosen, before.is_initial) if before else ((), (), starts)
    )
    goes_on = pseudo is None or (pseudo.finds_entities and not pseudo.selected)
    if pseudo:
        pseudo.release()
    state = State(
        (*f1, best.f1),
        best,
        kept.training,
        second,
        chosen=(*chosen, kept.name) if len(selections) > 1 else () if is_unchanged else chosen,
        is_initial=was_initial and (before is None or best.tagger is before.model.tagger),
        learns_nothing=was_initial and not (goes_on or kept.training.has_entities()),
    )
    return Step(before, state, tuple(models), pseudo)
