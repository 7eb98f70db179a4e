"""Records of self-training: the result of an iteration, and the history that later ones need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from bootstrap.active_learning.rounds import Queried
from bootstrap.config.options import LoopOptions
from bootstrap.selection import Selection
from corpus.batch import Batch, concatenate
from corpus.evaluation import ConfusionCounts, Scores
from taggers.base import Tagger, Tagging

#: The value of ``[loop] keep`` that tags all earlier batches again in every iteration.
RELABEL = "relabel"

#: The alternatives of iteration 0: training on the gold documents alone, and with their copies.
SEED_ALONE, AUGMENTED = "seed_alone", "augmented"

#: Alternative of a hybrid round: the annotated documents without any pseudo-label.
ANNOTATED_ALONE = "annotated_alone"

#: The number of intervals of a histogram of confidence.
CONFIDENCE_BINS = 20

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


@dataclass(frozen=True, slots=True, eq=False)
class PseudoLabelled:
    """Documents with the tags of a model, and its confidence.

    Parameters
    ----------
    batch : Batch
        The documents, tagged.
    confidence : ndarray of float64, shape (D,)
        The confidence of each document when it was selected.
    """

    batch: Batch
    confidence: npt.NDArray[np.float64]

    def take(self, indices: npt.NDArray[np.int64]) -> Self:
        """Select the documents at `indices`."""
        if len(indices) == len(self.batch):
            return self
        return replace(self, batch=self.batch.take(indices), confidence=self.confidence[indices])

    @classmethod
    def concatenated(cls, parts: Sequence[Self]) -> Self | None:
        """Return all documents in one batch; None if there are no parts."""
        if not parts:
            return None
        confidence = np.concatenate([part.confidence for part in parts])
        return cls(concatenate([part.batch for part in parts]), confidence)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A model that was trained to compare alternatives on the validation documents.

    Parameters
    ----------
    name : str
        The alternative: a strategy of selection, or one of `SEED_ALONE`, `AUGMENTED` and
        `ANNOTATED_ALONE`.
    scores : Scores
        Scores on the validation documents.
    selected : int
        Number of documents selected.
    chosen : bool
        Whether it is the model of the iteration.
    """

    name: str
    scores: Scores
    selected: int
    chosen: bool

    @property
    def f1(self) -> float:
        """Strict entity F1 on the validation documents."""
        return self.scores.counts("ner").f1


def compares_strategies(names: Iterable[str]) -> bool:
    """Return whether two or more of the alternatives of an iteration, by name, are strategies."""
    return len(set(names) - {SEED_ALONE, AUGMENTED, ANNOTATED_ALONE}) > 1


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """A completed iteration.

    Parameters
    ----------
    iteration : int
        0 is the model trained on the gold documents alone, or the initial model.
    tagger : Tagger
        The model trained in this iteration, or the previous one if the training set is unchanged.
    selected : PseudoLabelled or None
        The documents selected for its training; when relabelling, those of all batches so far.
        None in iteration 0, and if nothing was selected.
    selections : tuple of Selection
        The selection from each batch tagged in this iteration.
    tagged, blank : int
        Documents tagged, and how many of them have no token.
    confidence_quantiles : dict of float to float
        Quantiles of the confidence of the documents tagged.
    agreement : float or None
        The share of validation tokens with the same tag as by the previous model.
    scores : Scores
        Scores on the validation documents.
    seconds : dict of str to float
        Duration of each stage.
    human_documents, human_tokens : int
        Number of gold documents, and of their tokens.
    training_documents : int
        Number of documents of the training set.
    stopped : str or None
        On the last iteration, the reason for stopping: a key of `STOPPED`.
    strategy : str
        The name of the strategy that selected; empty in iteration 0.
    augmented : bool
        Whether the training set contains copies of gold documents with other mentions.
    trials : tuple of Trial
        The alternatives that were compared; empty if there was only one.
    quality : ConfusionCounts or None
        Scores of what the strategy selects from the validation documents, as tagged by the models
        that tagged the unlabeled ones. None in iteration 0.
    new_entities : int
        Number of distinct entities of the selected documents (words and class) that neither the
        gold documents nor those selected before contain.
    unknown : float
        The share of the tokens of the selected documents whose tag is unknown.
    second : Tagger or None
        The tagger of the second view, if the strategy needs one.
    queried : Queried or None
        The documents that were annotated in this iteration, in active learning.
    kappa : float or None
        Cohen's kappa of the tags of the validation tokens by this model and the previous one. None
        if they are the same model, or if one of them finds no entity.
    confidence_histogram : tuple of int
        Number of documents tagged by their confidence, in `CONFIDENCE_BINS` intervals of equal
        width from 0 to 1; empty if none was tagged.
    tagging : Tagging or None
        The tags of the validation documents, and the confidence in them.
    """

    iteration: int
    tagger: Tagger
    selected: PseudoLabelled | None
    selections: tuple[Selection, ...]
    tagged: int
    blank: int
    confidence_quantiles: dict[float, float]
    agreement: float | None
    scores: Scores
    seconds: dict[str, float]
    human_documents: int
    human_tokens: int
    training_documents: int
    stopped: str | None
    strategy: str = ""
    augmented: bool = False
    trials: tuple[Trial, ...] = ()
    quality: ConfusionCounts | None = None
    new_entities: int = 0
    unknown: float = 0.0
    second: Tagger | None = None
    queried: Queried | None = None
    kappa: float | None = None
    confidence_histogram: tuple[int, ...] = ()
    tagging: Tagging | None = None

    @property
    def f1(self) -> float:
        """Strict entity F1 on the validation documents."""
        return self.scores.counts("ner").f1


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The results of completed iterations that later ones depend on.

    Parameters
    ----------
    f1 : tuple of float
        Validation F1 of each iteration.
    tagger : Tagger
        The model of the last iteration.
    selected : tuple of PseudoLabelled
        The pseudo-labelled documents of the training set, in order.
    is_initial : bool
        Whether the model is still the initial one, which was not trained on documents.
    chosen : tuple of str
        The strategy that each comparison of strategies has chosen, in order.
    augmented : bool
        Whether the training set contains copies of gold documents.
    second : Tagger or None
        The tagger of the second view of the last iteration.
    kappas : tuple of float or None
        `Iteration.kappa` of each iteration after iteration 0.
    """

    f1: tuple[float, ...]
    tagger: Tagger
    selected: tuple[PseudoLabelled, ...]
    is_initial: bool = False
    chosen: tuple[str, ...] = ()
    augmented: bool = False
    second: Tagger | None = None
    kappas: tuple[float | None, ...] = ()


def best_iteration(f1: Sequence[float]) -> int:
    """Return the iteration with the highest F1, ties to the earliest."""
    return int(np.argmax(f1))


def stagnates(f1: Sequence[float], options: LoopOptions) -> bool:
    """Return whether F1 has not risen by more than `min_delta` for `patience` iterations."""
    best, since = f1[0], 0
    for value in f1[1:]:
        if value > best + options.min_delta:
            best, since = value, 0
        else:
            since += 1
    return since >= options.patience
