"""Metrics of an iteration: the record behind ``metrics.json`` and ``metrics.parquet``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

import numpy as np

from bootstrap.selection.proportions import Proportions, content_of, proportions_of
from bootstrap.self_training.iteration import CONFIDENCE_BINS, Iteration, PseudoLabelled, Trial
from corpus.batch import Batch
from corpus.evaluation import ConfusionCounts, Scores
from corpus.patients import number_patients
from corpus.tags import classes_of
from taggers.base import Training


@dataclass(frozen=True, slots=True)
class EntityScores:
    """Precision, recall and F1 of strict entities."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, counts: ConfusionCounts) -> Self:
        """Compute the scores from counts."""
        return cls(counts.precision, counts.recall, counts.f1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialMetrics:
    """The figures of an alternative that was compared on the validation documents.

    Parameters
    ----------
    name : str
        The alternative; see `bootstrap.self_training.iteration.Trial`.
    selected : int
        Number of documents selected.
    precision, recall, f1 : float
        Strict entities on the validation documents.
    halves : pair of ConfusionCounts
        Strict entities in each half of the validation documents.
    chosen : bool
        Whether it is the model of the iteration.
    """

    name: str
    selected: int
    precision: float
    recall: float
    f1: float
    halves: tuple[ConfusionCounts, ConfusionCounts]
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationMetrics:
    """All figures of an iteration, without any text of notes.

    Parameters
    ----------
    iteration : int
        The number of the iteration.
    selected : int
        Number of documents selected.
    precision, recall, f1 : float
        Strict entities on the validation documents.
    classes : mapping of str to EntityScores
        The same for each class.
    tagged, blank : int
        Number of documents tagged, and of those without tokens.
    confident : int
        Number of documents that reach the confidence threshold.
    bound : int
        An upper bound on the documents of any selection within tolerance.
    deviation : float or None
        The largest deviation of the selections from the reference proportions, in units of the
        tolerance; may be infinite. None if nothing was tagged.
    worst : str
        The statistic that deviates most.
    proportions : mapping of str to float
        The proportions of the selection that deviates most; NaN for the mean length of absent
        entities.
    reference : mapping of str to float
        The reference proportions: those of the validation documents, or configured ones.
    selected_proportions : mapping of str to float
        The proportions of all documents selected; empty if nothing was selected.
    confidence : mapping of str to float
        Quantiles of the confidence of the documents tagged.
    histogram : mapping of str to int
        Number of documents tagged by the lower bound of an interval of confidence, such as
        ``"0.95"``; empty if nothing was tagged.
    agreement : float or None
        The share of validation tokens with the same tag as by the previous model.
    kappa : float or None
        Cohen's kappa of the tags of the validation tokens by this model and the previous one. None
        if they are the same model, or if one of them finds no entity.
    human_documents, human_tokens : int
        Number of gold documents, and of their tokens.
    queried : int
        Number of documents that were annotated in this iteration, in active learning.
    training_documents : int
        Number of documents of the training set.
    tagger : str
        The kind of the tagger.
    training : Training or None
        The outcome of training; None for a model that is not trained.
    left_out : mapping of str to int
        Number of unlabeled documents so far that could not be used, by problem.
    halves : pair of ConfusionCounts
        Strict entities in each half of the validation documents.
    seconds : mapping of str to float
        Duration of each stage.
    stopped : str or None
        On the last iteration, a key of `bootstrap.self_training.iteration.STOPPED`.
    strategy : str
        The strategy of selection; empty in iteration 0.
    augmented : bool
        Whether the training set contains copies of gold documents with other mentions.
    trials : sequence of TrialMetrics
        The alternatives that were compared; empty if there was only one.
    quality : EntityScores or None
        Scores of what the strategy selects from the validation documents: the share of selected
        entities that are right, and the share of gold entities that are selected. None in
        iteration 0.
    new_entities : int
        Number of distinct entities selected that no earlier training document contains.
    unknown : float
        The share of selected tokens whose tag is unknown.
    """

    iteration: int
    selected: int
    precision: float
    recall: float
    f1: float
    classes: Mapping[str, EntityScores]
    tagged: int
    blank: int
    confident: int
    bound: int
    deviation: float | None
    worst: str
    proportions: Mapping[str, float]
    confidence: Mapping[str, float]
    agreement: float | None
    kappa: float | None
    human_documents: int
    human_tokens: int
    queried: int
    training_documents: int
    tagger: str
    training: Training | None
    left_out: Mapping[str, int]
    halves: tuple[ConfusionCounts, ConfusionCounts]
    seconds: Mapping[str, float]
    stopped: str | None
    strategy: str
    augmented: bool
    trials: Sequence[TrialMetrics]
    quality: EntityScores | None
    new_entities: int
    unknown: float
    reference: Mapping[str, float] = field(default_factory=dict)
    selected_proportions: Mapping[str, float] = field(default_factory=dict)
    histogram: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_within_tolerance(self) -> bool:
        """Whether the selections keep the reference proportions."""
        return self.deviation is None or self.deviation <= 1

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON values; NaN and infinity are null, as JSON has neither."""
        record = asdict(self)
        for each in (record, *record["trials"]):
            each["halves"] = [list(counts) for counts in each["halves"]]
        finite: dict[str, Any] = _finite(record)
        return finite

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """Build the record from the values that `to_dict` returned.

        Raises
        ------
        ValueError
            If it has other keys or values of other types; the message names the key.
        """
        expected = [field.name for field in fields(cls)]
        if not isinstance(record, dict):
            raise ValueError("not an object")
        if missing := [name for name in expected if name not in record]:
            raise ValueError(f"{missing[0]} is missing")
        if unknown := [name for name in record if name not in expected]:
            raise ValueError(f"{unknown[0]!r} is unknown")
        values: dict[str, Any] = {}
        for name in expected:
            try:
                values[name] = _READERS[name](record[name])
            except (TypeError, ValueError):
                raise ValueError(f"{name} is not as expected") from None
        if values["deviation"] is None and values["worst"]:
            values["deviation"] = math.inf
        return cls(**values)


def _finite(value: Any) -> Any:
    """Replace NaN and infinity by None."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


_Reader = Callable[[Any], Any]


def _instance_of(*kinds: type) -> _Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise TypeError
        return value

    return read


def _optional(read: _Reader) -> _Reader:
    return lambda value: None if value is None else read(value)


def _mapping_of(read: _Reader) -> _Reader:
    def read_mapping(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise TypeError
        return {name: read(item) for name, item in value.items()}

    return read_mapping


def _record_of(kind: type, readers: Mapping[str, _Reader]) -> _Reader:
    def read_record(value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() != readers.keys():
            raise TypeError
        return kind(**{name: read(value[name]) for name, read in readers.items()})

    return read_record


def _list_of(read: _Reader) -> _Reader:
    return lambda value: [read(item) for item in _instance_of(list)(value)]


def _halves(value: Any) -> tuple[ConfusionCounts, ...]:
    left, right = value
    return tuple(ConfusionCounts(*map(_integer, counts)) for counts in (left, right))


_integer, _text = _instance_of(int), _instance_of(str)
_number = _instance_of(int, float)


def _number_or_nan(value: Any) -> Any:
    return math.nan if value is None else _number(value)


_SCORES = dict.fromkeys(("precision", "recall", "f1"), _number)
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(("iteration", "selected", "tagged", "blank", "confident", "bound"), _integer),
    **dict.fromkeys(("human_documents", "human_tokens", "queried"), _integer),
    "training_documents": _integer,
    **_SCORES,
    "classes": _mapping_of(_record_of(EntityScores, _SCORES)),
    **dict.fromkeys(("deviation", "agreement", "kappa"), _optional(_number)),
    "worst": _text,
    **dict.fromkeys(
        ("proportions", "reference", "selected_proportions"), _mapping_of(_number_or_nan)
    ),
    "histogram": _mapping_of(_integer),
    **dict.fromkeys(("confidence", "seconds"), _mapping_of(_number)),
    "tagger": _text,
    "training": _optional(
        _record_of(
            Training,
            {
                "converged": _instance_of(bool),
                "outcome": _text,
                "iterations": _integer,
                "loss": _number_or_nan,
                "failed": _instance_of(bool),
                "clustering": _text,
            },
        )
    ),
    "left_out": _mapping_of(_integer),
    "halves": _halves,
    "stopped": _optional(_text),
    "strategy": _text,
    "augmented": _instance_of(bool),
    "trials": _list_of(
        _record_of(
            TrialMetrics,
            {
                "name": _text,
                "selected": _integer,
                **_SCORES,
                "halves": _halves,
                "chosen": _instance_of(bool),
            },
        )
    ),
    "quality": _optional(_record_of(EntityScores, _SCORES)),
    "new_entities": _integer,
    "unknown": _number,
}


def metrics_of(
    step: Iteration, validation: Batch, left_out: Mapping[str, int], reference: Proportions
) -> IterationMetrics:
    """Compute the metrics of an iteration.

    Parameters
    ----------
    step : Iteration
        The iteration.
    validation : Batch
        The validation documents, tagged.
    left_out : mapping of str to int
        Number of unlabeled documents so far that could not be used, by problem.
    reference : Proportions
        The reference proportions.

    Returns
    -------
    IterationMetrics
    """
    worst = max(step.selections, key=lambda selection: selection.deviation, default=None)
    counts = step.scores.counts("ner")
    return IterationMetrics(
        iteration=step.iteration,
        selected=0 if step.selected is None else len(step.selected.batch),
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        classes={
            name: EntityScores.of(step.scores.class_counts(name))
            for name in classes_of(validation.labels)
        },
        tagged=step.tagged,
        blank=step.blank,
        confident=sum(selection.confident for selection in step.selections),
        bound=sum(selection.bound for selection in step.selections),
        deviation=worst.deviation if worst else None,
        worst=worst.worst if worst else "",
        proportions=worst.proportions.as_dict() if worst and worst.proportions else {},
        confidence={f"q{100 * q:02.0f}": value for q, value in step.confidence_quantiles.items()},
        agreement=step.agreement,
        kappa=step.kappa,
        human_documents=step.human_documents,
        human_tokens=step.human_tokens,
        queried=len(step.queried.batch) if step.queried else 0,
        training_documents=step.training_documents,
        tagger=step.tagger.kind,
        training=step.tagger.training,
        left_out=dict(left_out),
        halves=halves(validation, step.scores),
        seconds=dict(step.seconds),
        stopped=step.stopped,
        strategy=step.strategy,
        augmented=step.augmented,
        trials=[_trial_metrics(trial, validation) for trial in step.trials],
        quality=None if step.quality is None else EntityScores.of(step.quality),
        new_entities=step.new_entities,
        unknown=step.unknown,
        reference=reference.as_dict(),
        selected_proportions=_selected_proportions(step.selected, reference.classes),
        histogram={
            f"{number / CONFIDENCE_BINS:.2f}": count
            for number, count in enumerate(step.confidence_histogram)
        },
    )


def _selected_proportions(
    selected: PseudoLabelled | None, classes: Sequence[str]
) -> dict[str, float]:
    """Compute the proportions of selected documents; nothing if there are none."""
    if selected is None:
        return {}
    batch = selected.batch
    content = content_of(batch, batch.tags, batch.labels, classes)
    return proportions_of(content, classes).as_dict()


def _trial_metrics(trial: Trial, validation: Batch) -> TrialMetrics:
    counts = trial.scores.counts("ner")
    return TrialMetrics(
        name=trial.name,
        selected=trial.selected,
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        halves=halves(validation, trial.scores),
        chosen=trial.chosen,
    )


def halves(validation: Batch, scores: Scores) -> tuple[ConfusionCounts, ConfusionCounts]:
    """Count strict entities in two halves of the documents, with no group in both.

    Parameters
    ----------
    validation : Batch
        The documents.
    scores : Scores
        The scores of the same documents.

    Returns
    -------
    pair of ConfusionCounts
    """
    sides = number_patients(validation.groups.to_pylist(), validation.ids.to_pylist()) % 2
    left, right = (scores.take(np.flatnonzero(sides == side)).counts("ner") for side in (0, 1))
    return left, right


def flat_row(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested metrics into one row: ``seconds.tag`` becomes ``seconds_tag``."""
    row: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            row |= flat_row(value, f"{prefix}{name}_")
        elif not isinstance(value, list):
            row[f"{prefix}{name}"] = value
    return row


def f1_of(metrics: Iterable[IterationMetrics]) -> list[float]:
    """Return the validation F1 of iterations."""
    return [each.f1 for each in metrics]


def beyond_tolerance(metrics: Sequence[IterationMetrics]) -> list[IterationMetrics]:
    """Return the iterations whose selections do not keep the reference proportions."""
    return [each for each in metrics if not each.is_within_tolerance]
