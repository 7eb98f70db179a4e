"""What a run records of an iteration: figures that the loop itself does not need."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from bootstrap.runs.metrics import EntityScores, IterationMetrics, TrialMetrics
from bootstrap.selection.proportional import ChosenDocuments
from bootstrap.selection.proportions import Proportions, content_of, proportions_of
from bootstrap.selection.strategies import Strategy
from bootstrap.self_training.candidates import Candidates
from bootstrap.self_training.loop import Pool, Step
from bootstrap.self_training.state import Candidate, Labelling, State, Trial
from bootstrap.self_training.training import Trainer
from corpus.batch import Batch, concatenate
from corpus.evaluation.measures import ConfusionCounts, Scores
from corpus.evaluation.scoring import GoldBatch, score_batches
from corpus.patients import number_patients
from corpus.tags import UNKNOWN, classes_of, find_entities
from taggers.base import Tagger, Tagging

#: The number of intervals of a histogram of confidence.
CONFIDENCE_BINS = 20

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

# Part of the random generator's seed; selection and training have different parts.
_STAGE = 2

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: The words of an entity and its class.
Entity = tuple[tuple[str, ...], str]


class Stopwatch:
    """A stopwatch that adds up the seconds of each stage of an iteration.

    Time in a nested stage counts for the inner stage only.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._inner = 0.0

    def lap(self) -> dict[str, float]:
        """Return the seconds of each stage since the last lap."""
        seconds, self._seconds = self._seconds, {}
        return seconds

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent in the context to a stage."""
        begin, outer, self._inner = time.perf_counter(), self._inner, 0.0
        try:
            yield
        finally:
            elapsed = time.perf_counter() - begin
            self._seconds[name] = self._seconds.get(name, 0.0) + elapsed - self._inner
            self._inner = outer + elapsed

    def timed_strategy(self, strategy: Strategy) -> Strategy:
        """Return the strategy, which adds its time to the stage of selection."""
        variants = tuple(map(self.timed_strategy, strategy.variants))
        return replace(strategy, select=self.timed("select", strategy.select), variants=variants)

    def timed(self, name: str, function: Callable[_P, _T]) -> Callable[_P, _T]:
        """Return the function, which adds its time to a stage."""

        def run(*arguments: _P.args, **options: _P.kwargs) -> _T:
            with self.stage(name):
                return function(*arguments, **options)

        return run


@dataclass(frozen=True)
class TimedPool:
    """A pool that measures the time spent waiting for its batches."""

    pool: Pool
    watch: Stopwatch

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of the pool."""
        read = self.watch.timed("read", partial(next, self.pool.batches(start), None))
        return iter(read, None)


@dataclass(frozen=True)
class TimedCandidates(Candidates):
    """Candidates that measure the time of tagging and of selection."""

    watch: Stopwatch = field(kw_only=True)

    def compare(
        self, before: State | None, gold: Batch, batches: Iterable[Batch], *, last: bool
    ) -> list[Candidate]:
        with self.watch.stage("tag" if before else "train"):
            return super().compare(before, gold, batches, last=last)


@dataclass(frozen=True)
class TimedTrainer(Trainer):
    """A trainer that measures the time of training and of validation."""

    watch: Stopwatch = field(kw_only=True)

    def scored(self, candidate: Candidate, tagger: Tagger) -> Trial:
        with self.watch.stage("validate"):
            return super().scored(candidate, tagger)


def metrics_of(
    step: Step, validation: GoldBatch, reference: Proportions, random_state: int = 0
) -> IterationMetrics:
    """Compute the metrics of an iteration from its step.

    They lack the seconds, the documents that were annotated, and the documents left out.

    Parameters
    ----------
    step : Step
        The iteration.
    validation, reference
        The validation documents, and the reference proportions.
    random_state : int
        The seed of the random number generators of the run.
    """
    state, before, labelling = step.state, step.before, step.labelling
    model, batch = state.model, validation.batch
    several = len(step.models) > 1
    training = model.candidate.training if several else state.training
    selected = concatenated(labelling.selected) if labelling else None
    selections = labelling.selections if labelling else []
    tagged = labelling.confidence if labelling else []
    confidence = np.concatenate([np.zeros(0), *tagged])
    worst = max(selections, key=lambda selection: selection.deviation, default=None)
    return IterationMetrics(
        iteration=state.iteration,
        selected=len(selected) if selected else 0,
        **asdict(EntityScores.from_counts(model.scores.counts("ner"))),
        classes={
            name: EntityScores.from_counts(model.scores.class_counts(name))
            for name in classes_of(batch.labels)
        },
        tagged=len(confidence),
        blank=labelling.blank if labelling else 0,
        confident=sum(selection.confident for selection in selections),
        bound=sum(selection.bound for selection in selections),
        deviation=worst.deviation if worst else None,
        worst=worst.worst if worst else "",
        proportions=_known(worst.proportions) if worst and worst.proportions else {},
        confidence=_quantiles(confidence),
        agreement=agreement(before.model.tagging, model.tagging) if before else None,
        kappa=kappa_of(before.model, model) if before else None,
        human_documents=len(state.training.gold),
        human_tokens=state.training.gold.n_tokens,
        training_documents=len(training),
        tagger=model.tagger.kind,
        min_probability=model.min_probability,
        propagate=model.propagate,
        training=model.tagger.training,
        halves=halves(batch, model.scores),
        strategy=labelling.strategy.name if labelling else "",
        augmented=state.training.copies is not None,
        with_blanks=state.training.learns_blanks,
        trials=[_trial(trial, batch, trial.tagger is model.tagger) for trial in step.models]
        if several
        else [],
        quality=_quality(labelling, validation, [random_state, state.iteration, _STAGE]),
        new_entities=_new_entities(step, selected),
        unknown=float((selected.batch.tags == UNKNOWN).mean()) if selected else 0.0,
        finds_entities=labelling is not None and labelling.finds_entities,
        reference=_known(reference),
        selected_proportions=_selected_proportions(selected, reference.classes),
        histogram=_histogram(confidence),
    )


def concatenated(parts: Sequence[ChosenDocuments]) -> ChosenDocuments | None:
    """Return all documents in one batch; None if there are no parts."""
    if not parts:
        return None
    confidence = np.concatenate([part.confidence for part in parts])
    return ChosenDocuments(concatenate([part.batch for part in parts]), confidence)


def _quantiles(confidence: npt.NDArray[np.float64]) -> dict[str, float]:
    if not len(confidence):
        return {}
    values = np.quantile(confidence, _QUANTILES).tolist()
    return {f"q{100 * share:02.0f}": value for share, value in zip(_QUANTILES, values, strict=True)}


def _histogram(confidence: npt.NDArray[np.float64]) -> dict[str, int]:
    """Count documents by the lower bound of an interval of confidence."""
    if not len(confidence):
        return {}
    counts, bounds = np.histogram(confidence, CONFIDENCE_BINS, range=(0.0, 1.0))
    return {f"{bound:.2f}": count for bound, count in zip(bounds, counts.tolist(), strict=False)}


def _quality(
    labelling: Labelling | None, validation: GoldBatch, seed: Sequence[int]
) -> EntityScores | None:
    """Score what a strategy selects from the validation documents, tagged as the pool."""
    if labelling is None or not labelling.confidence:
        return None
    batch, tagging = validation.batch, labelling.views.tag(validation.batch)
    selection = labelling.strategy.select(tagging, batch, np.random.default_rng(seed))
    kept = selection.tagging or tagging
    selected = np.zeros(len(batch), bool)
    selected[selection.indices] = True
    tags = np.where(np.repeat(selected, batch.lengths), kept.tags, UNKNOWN).astype(np.int16)
    return EntityScores.from_counts(
        score_batches(validation, batch.with_tags(tags, kept.labels)).counts("ner")
    )


def _new_entities(step: Step, selected: ChosenDocuments | None) -> int:
    """Count the distinct entities selected that the training set did not have before."""
    if selected is None or step.before is None:
        return 0
    training = step.before.training
    batches = [training.gold, *(part.batch for part in training.pseudo_labelled)]
    return len(entities_of([selected.batch]) - entities_of(batches))


def entities_of(batches: Iterable[Batch]) -> set[Entity]:
    """Return the distinct entities of tagged batches."""
    distinct: set[Entity] = set()
    for batch in batches:
        if batch.labels:
            entities = find_entities(batch.tags, batch.document_offsets, batch.labels)
            columns = (entities.first, entities.last, entities.classes)
            names, words = classes_of(batch.labels), batch.word_ids.tolist()
            numbers = {
                (tuple(words[first : last + 1]), kind)
                for first, last, kind in zip(*(c.tolist() for c in columns), strict=True)
            }
            distinct |= {
                (tuple(batch.vocabulary[word] for word in ids), names[kind])
                for ids, kind in numbers
            }
    return distinct


def agreement(previous: Tagging, tagging: Tagging) -> float:
    """Compute the share of tokens with the same label in two taggings of the same batch."""
    if not len(tagging.tags):
        return 1.0
    return float((_renumbered(tagging, previous.labels) == previous.tags).mean())


def kappa_of(previous: Trial, model: Trial) -> float | None:
    """Compute Cohen's kappa of the validation tags of two models.

    None if they are the same model, or if one of them finds no entity: that says nothing about the
    stability of predictions.
    """
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415 - takes a second

    before, now = previous.tagging, model.tagging
    if model.tagger is previous.tagger or not ((before.tags > 0).any() and (now.tags > 0).any()):
        return None
    return float(cohen_kappa_score(before.tags, _renumbered(now, before.labels)))


def _renumbered(tagging: Tagging, labels: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return tags as indices into other labels; -1 for a label that is not among them."""
    number = {label: index for index, label in enumerate(labels)}
    same = np.array([number.get(label, -1) for label in tagging.labels], np.int64)
    return same[tagging.tags]


def _selected_proportions(
    selected: ChosenDocuments | None, classes: Sequence[str]
) -> dict[str, float]:
    if selected is None:
        return {}
    batch = selected.batch
    content = content_of(batch, batch.tags, batch.labels, classes)
    return _known(proportions_of(content, classes))


def _known(proportions: Proportions) -> dict[str, float]:
    """Return proportions by name, without the mean length of absent entities."""
    return {name: value for name, value in proportions.as_dict().items() if not math.isnan(value)}


def _trial(model: Trial, validation: Batch, chosen: bool) -> TrialMetrics:
    labelling = model.candidate.labelling
    return TrialMetrics(
        name=model.candidate.name,
        selected=sum(map(len, labelling.selected)) if labelling else 0,
        **asdict(EntityScores.from_counts(model.scores.counts("ner"))),
        halves=halves(validation, model.scores),
        chosen=chosen,
    )


def halves(validation: Batch, scores: Scores) -> tuple[ConfusionCounts, ConfusionCounts]:
    """Count strict entities in two halves of scored documents, with no group in both."""
    sides = number_patients(validation.groups, validation.ids) % 2
    left, right = (scores.take(np.flatnonzero(sides == side)).counts("ner") for side in (0, 1))
    return left, right
