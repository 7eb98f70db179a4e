"""What a run decided and gained, estimated on documents that did not choose the iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bootstrap.runs.metrics import IterationMetrics, f1_of
from bootstrap.runs.records import DocumentCounts
from bootstrap.self_training.candidates import (
    ANNOTATED_ALONE,
    AUGMENTED,
    SEED_ALONE,
    WITH_BLANKS,
)
from bootstrap.self_training.state import CONTINUED, UNCHANGED
from bootstrap.self_training.stopping import best_iteration
from corpus.errors import number_of
from corpus.evaluation.measures import ConfusionCounts

Counts = npt.NDArray[np.int64]

#: The number of frequencies that are drawn at a time, to bound the memory.
_MOST_DRAWS = 10**7

#: The level of confidence intervals.
LEVEL = 0.95

#: With fewer patients, or documents without one, no interval is estimated.
LEAST_UNITS = 10

#: What may contribute to the gain of a run.
ACTIVE_LEARNING, SELF_TRAINING = "active learning", "self-training"
BOTH, VALIDATION_NOTES = "active learning and self-training", "training on validation as well"

#: The alternatives that are not strategies, in words.
_WORDS = {
    SEED_ALONE: "the seed alone",
    AUGMENTED: "the seed with replaced mentions",
    WITH_BLANKS: "the seed with replaced mentions and blank documents",
    ANNOTATED_ALONE: "the annotated documents alone",
    UNCHANGED: "the previous model",
    CONTINUED: "the model of the run that it continues",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The gain of a run, and the best iteration.

    Parameters
    ----------
    first : ConfusionCounts
        Strict entities of the model of the seed alone, without augmentation, or of the initial
        model.
    best : ConfusionCounts
        The same of the best iteration, by two-fold cross-validation: the iteration is selected on
        one half of the validation documents and scored on the other, and vice versa. On test
        documents, of the model that tags.
    iteration : int
        The best iteration on all validation documents.
    stopped : str or None
        The reason for stopping; None while the run is not finished.
    interval : tuple of (float, float), optional
        The 95 % confidence interval of the difference of the F1 of `best` and `first`; None if the
        documents are too few to estimate it.
    steps : tuple of (str, ConfusionCounts)
        What leads from `first` to `best`, in order: its name, and strict entities with it.
    on_test : bool
        Whether the counts are those of the test documents.
    """

    first: ConfusionCounts
    best: ConfusionCounts
    iteration: int
    stopped: str | None
    interval: tuple[float, float] | None = None
    steps: tuple[tuple[str, ConfusionCounts], ...] = ()
    on_test: bool = False

    @property
    def gain(self) -> float:
        """The F1 of `best` minus the F1 of `first`."""
        return self.best.f1 - self.first.f1


def outcome_of(
    metrics: Sequence[IterationMetrics],
    counts_of: Callable[[int], DocumentCounts],
    baseline: DocumentCounts | None = None,
    *,
    stopped: str | None = None,
) -> Outcome:
    """Compute the outcome of iterations.

    Parameters
    ----------
    metrics : sequence of IterationMetrics
        The iterations, at least one.
    counts_of : callable
        Returns the counts of an iteration in each validation document.
    baseline : DocumentCounts, optional
        The counts of the seed alone, if iteration 0 is another model.
    stopped : str, optional
        The reason for stopping, if the run is finished.
    """
    start = counts_of(0)
    first, best = baseline or start, held_out_counts(metrics, counts_of)
    steps = [(_start_of(metrics[0]), start.total)] if baseline else []
    if any(row.queried for row in metrics):
        steps.append((ACTIVE_LEARNING, _annotated_alone(metrics)))
    return Outcome(
        first=first.total,
        best=best.total,
        iteration=best_iteration(f1_of(metrics)),
        stopped=stopped,
        interval=f1_gain_interval([first.all_classes], [best.all_classes], first.units),
        steps=(*steps, (SELF_TRAINING, best.total)),
    )


def outcome_on_test(
    metrics: Sequence[IterationMetrics],
    counts_of: Callable[[int], DocumentCounts | None],
    baseline: DocumentCounts | None = None,
    final: DocumentCounts | None = None,
    *,
    stopped: str | None = None,
) -> Outcome | None:
    """Compute the outcome on test documents; None if they have not been scored.

    Parameters
    ----------
    metrics, counts_of, baseline, stopped
        As for `outcome_of`, with the counts in test documents.
    final : DocumentCounts, optional
        The counts of the final model, if there is one.
    """
    iteration = best_iteration(f1_of(metrics))
    start, best = counts_of(0), counts_of(iteration)
    if start is None or best is None:
        return None
    first, last = baseline or start, final or best
    is_active = any(row.queried for row in metrics)
    steps = [(_start_of(metrics[0]), start)] if baseline else []
    steps.append((BOTH if is_active else SELF_TRAINING, best))
    return Outcome(
        first=first.total,
        best=last.total,
        iteration=iteration,
        stopped=stopped,
        interval=f1_gain_interval([first.all_classes], [last.all_classes], first.units),
        steps=tuple(
            (name, counts.total)
            for name, counts in [*steps, *([(VALIDATION_NOTES, final)] if final else [])]
        ),
        on_test=True,
    )


def _start_of(row: IterationMetrics) -> str:
    """Return what iteration 0 has besides the seed alone."""
    return "replaced mentions and blank documents" if row.with_blanks else "replaced mentions"


def _annotated_alone(metrics: Sequence[IterationMetrics]) -> ConfusionCounts:
    """Return the counts of the selected iterations without the pseudo-labels of their round."""
    counts = []
    for half, number in enumerate(_selected(metrics)):
        other = metrics[number].halves[1 - half]
        for trial in metrics[number].trials:
            if trial.name == ANNOTATED_ALONE:
                other = trial.halves[1 - half]
        counts.append(other)
    return ConfusionCounts(*np.sum(counts, axis=0).tolist())


def _selected(metrics: Sequence[IterationMetrics]) -> list[int]:
    """Return the iteration that each half of the validation documents selects."""
    halves = zip(*(row.halves for row in metrics), strict=True)
    return [best_iteration([counts.f1 for counts in half]) for half in halves]


def held_out_counts(
    metrics: Sequence[IterationMetrics], counts_of: Callable[[int], DocumentCounts]
) -> DocumentCounts:
    """Return the counts of a run in each validation document, selected by other documents.

    Each half of the documents is scored with the iteration that is the best on the other half. The
    sum over the documents is `Outcome.best`. See `outcome_of` for the parameters.
    """
    left, right = map(counts_of, _selected(metrics))
    none = np.zeros((len(left.ids), 3), np.int64)
    is_left = (left.units % 2 == 0)[:, None]
    classes = {
        name: np.where(is_left, right.classes.get(name, none), left.classes.get(name, none))
        for name in {**left.classes, **right.classes}
    }
    return replace(left, classes=classes, confidence=None)


def f1_gain_interval(
    before: Sequence[Counts],
    after: Sequence[Counts],
    units: Counts,
    *,
    resamples: int = 2000,
) -> tuple[float, float] | None:
    """Estimate a 95 % confidence interval of the difference of the mean F1 of two groups of models.

    All models are scored on the same resampled documents, so that documents that are difficult for
    all do not widen the interval. Documents of a patient are drawn together, because their errors
    are alike. The models are taken as they are.

    Parameters
    ----------
    before, after : sequence of ndarray of int64, shape (D, 3)
        True positives, false positives and false negatives of each model of a group in the same D
        documents.
    units : ndarray of int64, shape (D,)
        The number of the patient of each document.
    resamples : int
        The number of samples of all units, drawn with replacement.

    Returns
    -------
    (float, float) or None
        The percentile interval of the mean F1 of `after` minus the one of `before` (Efron and
        Tibshirani, An Introduction to the Bootstrap, chapter 13; Koehn, "Statistical Significance
        Tests for Machine Translation Evaluation", 2004, section 4). None if there are fewer than
        `LEAST_UNITS` units.
    """
    totals = resampled_totals(np.hstack([*before, *after]), units, resamples)
    if totals is None:
        return None
    true, false, missed = totals.reshape(resamples, -1, 3).transpose(2, 0, 1)
    entities = 2 * true + false + missed
    scores = np.divide(2 * true, entities, out=np.zeros(true.shape), where=entities > 0)
    gains = scores[:, len(before) :].mean(axis=1) - scores[:, : len(before)].mean(axis=1)
    low, high = np.quantile(gains, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def resampled_totals(counts: Counts, units: Counts, resamples: int) -> Counts | None:
    """Sum counts over samples of patients, drawn with replacement.

    The seed is fixed: the same counts have the same sums.

    Parameters
    ----------
    counts : ndarray of int64, shape (D, K)
        Counts in each document.
    units : ndarray of int64, shape (D,)
        The number of the patient of each document.
    resamples : int
        The number of samples R of all units.

    Returns
    -------
    ndarray of int64, shape (R, K), or None
        None if there are fewer than `LEAST_UNITS` units.
    """
    number = int(units.max(initial=-1)) + 1
    if number < LEAST_UNITS:
        return None
    totals = np.zeros((number, counts.shape[1]), np.int64)
    np.add.at(totals, units, counts)
    # Units with equal counts are drawn together: short notes have few distinct counts.
    distinct, frequencies = np.unique(totals, axis=0, return_counts=True)
    rng = np.random.default_rng(0)
    at_once = max(1, _MOST_DRAWS // len(distinct))
    sizes = [min(at_once, resamples - first) for first in range(0, resamples, at_once)]
    shares = frequencies / number
    return np.concatenate([rng.multinomial(number, shares, size) @ distinct for size in sizes])


def decision_lines(rows: Sequence[IterationMetrics]) -> list[str]:
    """Describe what was chosen on validation: models, smallest probabilities, propagation."""
    lines = [_decision(row) for row in rows if row.trials]
    best = rows[best_iteration(f1_of(rows))] if rows else None
    chosen = {
        "Smallest probabilities of entities": best.min_probability if best else {},
        "Tagged wherever it stands again in a note": best.propagate if best else {},
    }
    for what, by_class in chosen.items():
        if best and by_class:
            values = ", ".join(f"{name} {value}" for name, value in by_class.items())
            lines.append(f"{what} (iteration {best.iteration}): {values}.")
    return lines


def _decision(row: IterationMetrics) -> str:
    what = "Training" if row.iteration == 0 else "Selection"
    names = [_WORDS.get(trial.name, trial.name) for trial in row.trials]
    trials = list(zip(names, row.trials, strict=True))
    scores = ", ".join(f"{name} {trial.f1:.3f}" for name, trial in trials)
    chosen = next(name for name, trial in trials if trial.chosen)
    return f"{what} (iteration {row.iteration}): validation F1 of {scores}; chosen: {chosen}."


def gain_lines(outcome: Outcome, start: str) -> list[str]:
    """Describe whether a run gained anything, compared with a start such as "the seed alone".

    The first line is the result; the others say what contributed to it, and how it was measured.
    """
    first, best = outcome.first, outcome.best
    where = " on the test documents" if outcome.on_test else ""
    if best == first:
        return [
            f"The run gained nothing: strict entity F1 is {first.f1:.3f} with {start}{where}, and "
            "no later iteration was better where it was not selected."
        ]
    scores = (
        f"from {first.f1:.3f} with {start} to {best.f1:.3f}{where} "
        f"({_signed(outcome.gain)}; {_interval_words(outcome)})"
    )
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
    if not outcome.iteration:
        sentence += " Self-training gained nothing: iteration 0 has the best model."
    several = len(outcome.steps) > 1
    halves = (
        " Each half of the validation notes is scored with the iteration that the other half "
        "selected."
    )
    return [
        sentence,
        *([f"What contributed: {_contributions(outcome)}."] if several else []),
        f"Precision went from {first.precision:.3f} to {best.precision:.3f}, and recall from "
        f"{first.recall:.3f} to {best.recall:.3f}.{'' if outcome.on_test else halves}",
    ]


def _contributions(outcome: Outcome) -> str:
    """Return the difference in F1 that each step brought; they add up to the gain."""
    before, parts = outcome.first, []
    for name, counts in outcome.steps:
        parts.append(f"{name} {_signed(counts.f1 - before.f1)}")
        before = counts
    return ", ".join(parts)


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # no -0.000


def _interval_words(outcome: Outcome) -> str:
    if outcome.interval is None:
        notes = "test documents" if outcome.on_test else "validation notes"
        return f"the {notes} are too few for an interval"
    low, high = map(_signed, outcome.interval)
    return f"95 % interval {low} to {high}"


def final_lines(iteration: int, documents: int, pseudo_labelled: int) -> list[str]:
    """Describe the final model by the iteration that it repeats and its training documents."""
    number = number_of(documents, "document")
    if pseudo_labelled:
        of_them = f"{pseudo_labelled:,} of them pseudo-labeled"
        training = f"trained once more on the validation documents as well ({number}, {of_them})"
    else:
        training = f"trained on all annotated documents ({number}), also those of validation"
    return [
        f"The final model, which tags, is the model of iteration {iteration} {training}, which "
        "therefore cannot score it."
    ]
