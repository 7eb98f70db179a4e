"""When a loop ends, and which of its iterations is the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bootstrap.config.options import LoopOptions
from bootstrap.self_training.state import State

#: Reasons why a loop stopped.
STOPPED = {
    "maximum": "the maximum number of iterations is reached",
    "stagnation": "validation F1 has not risen for as many iterations as patience allows",
    "exhausted": "the unlabeled notes are used up",
    "no_entities": "the initial model found no entities to learn from in the unlabeled notes",
    "budget": "the budget of annotation is used up",
    "candidates": "all documents that could be annotated are annotated",
    "target": "validation F1 has reached the target",
    "stable": "the predictions on validation hardly change any more",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a loop: its options, and the pool.

    `not_before` is the iteration from which stagnation is counted, such as the first one of another
    kind of tagger.
    """

    loop: LoopOptions
    not_before: int = 0

    def asks(self) -> bool:
        """Return whether more documents will be annotated, so that the loop needs no pool."""
        return False

    def reads_after(self, iteration: int) -> bool:
        """Return whether the iteration after this one tags another batch, if there is one."""
        return iteration < self.loop.iterations

    def reason(self, state: State, *, batches_left: bool) -> str | None:
        """Return why the loop ends after a state: a key of `STOPPED`, or None.

        `batches_left` is whether the pool has batches that no iteration has tagged.
        """
        if state.learns_nothing:
            return "no_entities"
        if state.iteration >= self.loop.iterations:
            return "maximum"
        f1 = state.f1[self.not_before :]
        if f1 and stagnates(f1, self.loop):
            return "stagnation"
        return None if batches_left else "exhausted"


def best_iteration(f1: Sequence[float]) -> int:
    """Return the iteration with the highest F1, ties to the earliest."""
    return int(np.argmax(f1))


def stagnates(f1: Sequence[float], options: LoopOptions) -> bool:
    """Return whether F1 has not risen by more than `min_delta` for `patience` iterations."""
    best, since = f1[0], 0
    for value in f1[1:]:
        best, since = (value, 0) if value > best + options.min_delta else (best, since + 1)
    return since >= options.patience
