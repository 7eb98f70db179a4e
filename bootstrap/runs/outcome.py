"""The gain of a run, estimated on held-out documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bootstrap.runs.decisions import seed_alone
from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.gain import f1_gain_interval
from bootstrap.runs.metrics import IterationMetrics, f1_of
from bootstrap.self_training.stopping import best_iteration
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
    interval : tuple of (float, float), optional
        The 95 % confidence interval of the difference of the F1 of `best` and `first`; None if it
        cannot be estimated.
    counted : bool
        Whether the counts of each validation document are known, which the interval needs.
    """

    first: ConfusionCounts
    best: ConfusionCounts
    iteration: int
    stopped: str | None
    interval: tuple[float, float] | None = None
    counted: bool = False

    @property
    def gain(self) -> float:
        """The F1 of `best` less that of `first`."""
        return self.best.f1 - self.first.f1


def outcome_of(
    metrics: Sequence[IterationMetrics],
    counts_of: Callable[[int], DocumentCounts | None] | None = None,
    baseline: DocumentCounts | None = None,
    *,
    stopped: str | None = None,
) -> Outcome:
    """Compute the outcome of iterations.

    Parameters
    ----------
    metrics : sequence of IterationMetrics
        The iterations, at least one.
    counts_of : callable, optional
        Returns the counts of an iteration in each validation document, or None if they are
        missing. Without it, there is no interval.
    baseline : DocumentCounts, optional
        The counts of the seed alone, if iteration 0 is another model.
    stopped : str, optional
        The reason for stopping, if the run is finished.
    """
    left, right = zip(*(row.halves for row in metrics), strict=True)
    by_left, by_right = _selected_by_halves(metrics)
    counts = _counts(counts_of, baseline, by_left, by_right) if counts_of else None
    return Outcome(
        first=_sum(seed_alone(metrics).halves),
        best=_sum([right[by_left], left[by_right]]),
        iteration=best_iteration(f1_of(metrics)),
        stopped=stopped,
        interval=_interval(*counts) if counts else None,
        counted=counts is not None,
    )


def _counts(
    counts_of: Callable[[int], DocumentCounts | None],
    baseline: DocumentCounts | None,
    by_left: int,
    by_right: int,
) -> tuple[DocumentCounts, DocumentCounts, DocumentCounts] | None:
    """Return the counts of the first model and of two iterations; None if some are missing."""
    first, left, right = baseline or counts_of(0), counts_of(by_left), counts_of(by_right)
    if first is None or left is None or right is None:
        return None
    return first, left, right


def _interval(
    first: DocumentCounts, left: DocumentCounts, right: DocumentCounts
) -> tuple[float, float] | None:
    """Estimate the interval of the gain; each half is scored as the other half selected."""
    return f1_gain_interval(first.all_classes, _crossed(left, right), first.units)


def _crossed(left: DocumentCounts, right: DocumentCounts) -> npt.NDArray[np.int64]:
    """Return the counts in each document of the iteration that the other half selected.

    Parameters
    ----------
    left, right : DocumentCounts
        The counts of the iteration that the left half selected, and of that of the right half.
    """
    is_left = (left.units % 2 == 0)[:, None]
    return np.where(is_left, right.all_classes, left.all_classes)


def held_out_counts(
    metrics: Sequence[IterationMetrics], counts: Sequence[DocumentCounts]
) -> DocumentCounts:
    """Return the counts of a run in each validation document, selected by other documents.

    Each half of the documents is scored with the iteration that is the best on the other half. The
    sum over the documents is `Outcome.best`.

    Parameters
    ----------
    metrics : sequence of IterationMetrics
        The iterations of the run.
    counts : sequence of DocumentCounts
        Their counts in the documents.
    """
    left, right = (counts[iteration] for iteration in _selected_by_halves(metrics))
    none = np.zeros((len(left.ids), 3), np.int64)
    is_left = (left.units % 2 == 0)[:, None]
    classes = {
        name: np.where(is_left, right.classes.get(name, none), left.classes.get(name, none))
        for name in {**left.classes, **right.classes}
    }
    return replace(left, classes=classes, confidence=None)


def _selected_by_halves(metrics: Sequence[IterationMetrics]) -> tuple[int, int]:
    """Return the iterations that are the best on each half of the validation documents."""
    left, right = zip(*(row.halves for row in metrics), strict=True)
    by_left, by_right = (best_iteration([counts.f1 for counts in side]) for side in (left, right))
    return by_left, by_right


def _sum(counts: Iterable[ConfusionCounts]) -> ConfusionCounts:
    return ConfusionCounts(*(sum(column) for column in zip(*counts, strict=True)))


def gain_lines(outcome: Outcome, start: str) -> list[str]:
    """Describe whether a run gained anything, a line for each sentence.

    Parameters
    ----------
    outcome : Outcome
        The outcome of the run.
    start : str
        What the run is compared with, such as ``"the seed alone"``.
    """
    first, best = outcome.first, outcome.best
    gain = f"{_signed(outcome.gain)}{_interval_words(outcome)}"
    if best == first:
        sentence = (
            f"The run gained nothing: strict entity F1 is {first.f1:.3f} with {start}, and no "
            "later iteration was better where it was not selected."
        )
        return [sentence]
    scores = f"from {first.f1:.3f} with {start} to {best.f1:.3f} ({gain})"
    low, high = outcome.interval or (0.0, 0.0)
    if low > 0:
        sentence = f"The run raised strict entity F1 {scores}."
    elif high < 0:
        sentence = f"The run lowered strict entity F1 {scores}."
    elif outcome.interval:
        sentence = (
            f"No significant gain: strict entity F1 went {scores}, a difference within the noise."
        )
    else:
        sentence = f"Strict entity F1 went {scores}."
    return [
        sentence,
        f"Precision went from {first.precision:.3f} to {best.precision:.3f}, and recall from "
        f"{first.recall:.3f} to {best.recall:.3f}. Each half of the validation notes is scored "
        "with the iteration that the other half selected.",
    ]


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # no -0.000


def _interval_words(outcome: Outcome) -> str:
    """Return the interval in words, or why there is none; nothing for runs without the counts."""
    if outcome.interval is None:
        return "; the validation notes are too few for an interval" if outcome.counted else ""
    low, high = map(_signed, outcome.interval)
    return f"; 95 % interval {low} to {high}"
