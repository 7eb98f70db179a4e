"""Metrics of an iteration: the record behind ``metrics.json`` and ``metrics.parquet``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import msgspec

from bootstrap.self_training.state import UNCHANGED
from corpus.evaluation.measures import ConfusionCounts
from corpus.storage.fields import flattened
from taggers.base import Training
from taggers.options import Reach


@dataclass(frozen=True, slots=True)
class EntityScores:
    """Precision, recall and F1 of strict entities."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def from_counts(cls, counts: ConfusionCounts) -> Self:
        """Compute the scores from counts."""
        return cls(counts.precision, counts.recall, counts.f1)


@dataclass(frozen=True, kw_only=True)
class TrialMetrics:
    """The figures of an alternative that was compared on the validation documents.

    Parameters
    ----------
    precision, recall, f1 : float
        Strict entities.
    halves : pair of ConfusionCounts
        Strict entities in each half of the documents.
    name : str
        The alternative; see `bootstrap.self_training.candidates.Candidate`.
    selected : int
        Number of documents selected.
    chosen : bool
        Whether it is the model of the iteration.
    """

    precision: float
    recall: float
    f1: float
    halves: tuple[ConfusionCounts, ConfusionCounts]
    name: str
    selected: int
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class IterationMetrics:
    """All figures of an iteration, without any text of notes.

    Parameters
    ----------
    iteration : int
        The number of the iteration.
    human_documents, human_tokens : int
        Number of gold documents, and of their tokens.
    queried : int
        Number of documents that were annotated in this iteration, in active learning.
    training_documents : int
        Number of documents of the training set.
    augmented : bool
        Whether the training set contains copies of gold documents with other mentions.
    with_blanks : bool
        Whether it contained unlabeled documents that are almost certainly blank in iteration 0.
    tagger : str
        The kind of the tagger.
    min_probability : mapping of str to float
        The smallest probabilities of entities of the model, by class.
    propagate : mapping of str to {"text", "words"}
        What is propagated of the entities of the model, by class.
    training : Training or None
        The outcome of training; None for a model that is not trained.
    trials : sequence of TrialMetrics
        The alternatives that were compared; empty if there was only one.
    precision, recall, f1 : float
        Strict entities of the validation documents.
    halves : pair of ConfusionCounts
        Strict entities in each half of the documents.
    selected : int
        Number of documents selected.
    strategy : str
        The strategy of selection; empty in iteration 0.
    quality : EntityScores or None
        Scores of what the strategy selects from the validation documents: the share of selected
        entities that are right, and the share of gold entities that are selected. None in
        iteration 0.
    new_entities : int
        Number of distinct entities selected that no earlier training document contains.
    unknown : float
        The share of selected tokens whose tag is unknown.
    bound : int
        An upper bound on the documents of any selection within tolerance.
    deviation : float or None
        The largest deviation of the selections from the reference proportions, in units of the
        tolerance; may be infinite. None if nothing was tagged.
    worst : str
        The statistic that deviates most.
    proportions : mapping of str to float
        The proportions of the selection that deviates most, without the mean length of absent
        entities.
    reference : mapping of str to float
        The proportions of the validation documents, or configured ones.
    selected_proportions : mapping of str to float
        The proportions of all documents selected; empty if nothing was selected.
    classes : mapping of str to EntityScores
        Strict entities of each class on the validation documents.
    agreement : float or None
        The share of validation tokens with the same tag as by the previous model.
    kappa : float or None
        Cohen's kappa of the tags of the validation tokens by this model and the previous one. None
        if they are the same model, or if one of them finds no entity.
    tagged, blank : int
        Number of documents tagged, and of those without tokens.
    confident : int
        Number of documents that reach the confidence threshold.
    confidence : mapping of str to float
        Quantiles of the confidence of the documents tagged.
    histogram : mapping of str to int
        Number of documents tagged by the lower bound of an interval of confidence, such as
        ``"0.95"``; empty if nothing was tagged.
    finds_entities : bool
        Whether any tagged document has an entity.
    left_out : mapping of str to int
        Number of unlabeled documents so far that could not be used, by problem.
    seconds : mapping of str to float
        Duration of each stage.
    """

    iteration: int
    human_documents: int = 0
    human_tokens: int = 0
    queried: int = 0
    training_documents: int = 0
    augmented: bool = False
    with_blanks: bool = False
    tagger: str = ""
    min_probability: Mapping[str, float] = field(default_factory=dict)
    propagate: Mapping[str, Reach] = field(default_factory=dict)
    training: Training | None = None
    trials: list[TrialMetrics] = field(default_factory=list)
    precision: float
    recall: float
    f1: float
    halves: tuple[ConfusionCounts, ConfusionCounts]
    selected: int = 0
    strategy: str = ""
    quality: EntityScores | None = None
    new_entities: int = 0
    unknown: float = 0.0
    bound: int = 0
    deviation: float | None = None
    worst: str = ""
    proportions: Mapping[str, float] = field(default_factory=dict)
    reference: Mapping[str, float] = field(default_factory=dict)
    selected_proportions: Mapping[str, float] = field(default_factory=dict)
    classes: Mapping[str, EntityScores] = field(default_factory=dict)
    agreement: float | None = None
    kappa: float | None = None
    tagged: int = 0
    blank: int = 0
    confident: int = 0
    confidence: Mapping[str, float] = field(default_factory=dict)
    histogram: Mapping[str, int] = field(default_factory=dict)
    finds_entities: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_unchanged(self) -> bool:
        """Whether no model was better than the previous one, which stays."""
        return any(trial.name == UNCHANGED and trial.chosen for trial in self.trials)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON values; NaN and infinity are null, as JSON has neither."""
        record: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Build the record from the values that `to_dict` returned.

        Raises
        ------
        ValueError
            If it has other keys or values of other types; the message names the key.
        """
        if record.keys() != {known.name for known in fields(cls)}:
            raise ValueError("some keys are missing or unknown")
        values = dict(record)
        if values["deviation"] is None and values["worst"]:
            values["deviation"] = math.inf
        training = values["training"]
        if isinstance(training, Mapping) and training.get("loss", 0) is None:
            values["training"] = {**training, "loss": math.nan}
        return msgspec.convert(values, cls)


def flat_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten metrics into one row: ``seconds.tag`` becomes ``seconds_tag``; lists are left out."""
    values = flattened(record, "_")
    return {name: value for name, value in values.items() if not isinstance(value, list)}


def f1_of(metrics: Iterable[IterationMetrics]) -> list[float]:
    """Return the validation F1 of iterations."""
    return [row.f1 for row in metrics]


def beyond_tolerance(metrics: Sequence[IterationMetrics]) -> list[IterationMetrics]:
    """Return the iterations whose selections do not keep the reference proportions."""
    return [row for row in metrics if row.deviation is not None and row.deviation > 1]
