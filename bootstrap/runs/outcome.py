"""The gain of a run, estimated on held-out documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bootstrap.runs.decisions import seed_alone
from bootstrap.runs.metrics import IterationMetrics, f1_of
from bootstrap.self_training.iteration import best_iteration
from corpus.evaluation import ConfusionCounts


@dataclass(frozen=True, slots=True)
class Outcome:
    """The gain of self-training, and the best iteration.

    Parameters
    ----------
    first : ConfusionCounts
        Strict entities of the model of the seed alone, without augmentation, or of the initial
        model.
    best : ConfusionCounts
        The same of the best iteration, by two-fold cross-validation: the iteration is selected on
        one half of the validation documents and scored on the other, and vice versa.
    iteration : int
        The best iteration on all validation documents.
    stopped : str or None
        The reason for stopping; None while the run is not finished.
    """

    first: ConfusionCounts
    best: ConfusionCounts
    iteration: int
    stopped: str | None


def outcome_of(metrics: Sequence[IterationMetrics]) -> Outcome:
    """Compute the outcome of iterations, of which there is at least one."""
    left, right = zip(*(each.halves for each in metrics), strict=True)
    by_left, by_right = (best_iteration([counts.f1 for counts in side]) for side in (left, right))
    return Outcome(
        first=_sum(seed_alone(metrics).halves),
        best=_sum([right[by_left], left[by_right]]),
        iteration=best_iteration(f1_of(metrics)),
        stopped=metrics[-1].stopped,
    )


def _sum(counts: Iterable[ConfusionCounts]) -> ConfusionCounts:
    return ConfusionCounts(*(sum(column) for column in zip(*counts, strict=True)))
