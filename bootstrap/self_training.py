"""The self-training loop (paper 003, 3.2.1, algorithm 1).

It knows neither files nor the console: it yields a record of every iteration, and the caller
keeps, saves and shows them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.config.options import InitialModelSelection, LoopOptions, SelectOptions
from bootstrap.selection import Reference, Selection, confident_parts, select_examples
from corpus.batch import Batch, concatenate
from corpus.document import Document
from corpus.errors import InputError
from corpus.evaluation import Scores, score
from taggers.base import Detail, Tagger, Tagging
from taggers.name_propagation import note_numbers, propagate_names

#: Why a loop stopped.
STOPPED = {
    "maximum": "the number of iterations asked for is reached",
    "stagnation": "validation F1 has not risen for as many iterations as patience allows",
    "exhausted": "the unlabeled notes are used up",
}

# What tagging must say for a level of selection.
_DETAIL: dict[str, Detail] = {"document": "document", "span": "entity"}
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Pool(Protocol):
    """The unlabeled notes, in batches."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on, the same ones at every call."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """Documents with the tags that a model gave them, and how sure it was.

    Parameters
    ----------
    batch : Batch
        The documents, tagged.
    confidence : ndarray of float64, shape (D,)
        Of each document when it was selected.
    """

    batch: Batch
    confidence: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """Everything about a step of the loop.

    Parameters
    ----------
    iteration : int
        0 is the model of the seed alone, or the one that the loop starts from without a seed.
    tagger : Tagger
        The model trained in this iteration.
    selected : Selected or None
        What was selected before training it: new documents, or with ``keep = "relabel"`` all. None
        in iteration 0, and where nothing was selected.
    selections : tuple of Selection
        How the documents of each batch tagged in this iteration were selected.
    tagged, blank : int
        Documents tagged, and how many of them have no token.
    confidence_quantiles : dict of float to float
        Of the documents tagged.
    agreement : float or None
        Share of the validation tokens that the previous model tagged alike.
    scores : Scores
        On the validation documents.
    seconds : dict of str to float
        Of each stage.
    human_tokens : int
        Tokens that people have labelled so far.
    training_documents : int
        Documents the model was trained on.
    stopped : str or None
        On the last iteration, why it is the last: a key of `STOPPED`.
    """

    iteration: int
    tagger: Tagger
    selected: Selected | None
    selections: tuple[Selection, ...]
    tagged: int
    blank: int
    confidence_quantiles: dict[float, float]
    agreement: float | None
    scores: Scores
    seconds: dict[str, float]
    human_tokens: int
    training_documents: int
    stopped: str | None

    @property
    def f1(self) -> float:
        """Strict entity F1 on the validation documents."""
        return self.scores.counts("ner").f1


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """What the loop must know of the iterations that are done to go on after them.

    Parameters
    ----------
    f1 : tuple of float
        Validation F1 of each.
    tagger : Tagger
        The model of the last one.
    selected : tuple of Selected
        What is in the training set beside the seed, in order.
    starting : bool
        Whether the model is still the one that the loop started from, without a seed.
    """

    f1: tuple[float, ...]
    tagger: Tagger
    selected: tuple[Selected, ...]
    starting: bool = False


def best_iteration(f1: Sequence[float]) -> int:
    """Give the iteration with the best F1, ties to the earliest."""
    return int(np.argmax(f1))


def stagnates(f1: Sequence[float], options: LoopOptions) -> bool:
    """Say whether F1 has not risen by more than `min_delta` for `patience` iterations."""
    best, since = f1[0], 0
    for value in f1[1:]:
        if value > best + options.min_delta:
            best, since = value, 0
        else:
            since += 1
    return since >= options.patience


def self_train(
    seed: Batch,
    pool: Pool,
    validation: Sequence[Document],
    validation_batch: Batch,
    tagger_for: Callable[[int], Tagger],
    *,
    loop: LoopOptions,
    select: SelectOptions,
    start: InitialModelSelection | None = None,
    reference: Reference | None = None,
    held_out: frozenset[str] = frozenset(),
    history: History | None = None,
) -> Iterator[Iteration]:
    """Teach a tagger from its own confident predictions, one iteration after another.

    Parameters
    ----------
    seed : Batch
        Documents tagged by people; always part of the training set, never changed. There may be
        none where there is a `start`.
    pool : Pool
        Unlabeled documents; iteration i is the first to see batch i - 1.
    validation : sequence of Document
        Gold documents that decide when to stop and which iteration is the best.
    validation_batch : Batch
        The same documents, tokenized.
    tagger_for : callable
        Makes the untrained tagger of an iteration; it may be another one in every iteration.
    loop, select : LoopOptions, SelectOptions
        How long to go on and what to select.
    start : InitialModelSelection, optional
        The tagger of iteration 0 needs no seed, and its documents are selected by these.
    reference : Reference, optional
        The proportions to keep; needed if ``select.proportions``.
    held_out : frozenset of str
        Groups (patients) of the validation documents: what the pool has of them is not selected.
    history : History, optional
        Go on after these iterations.

    Yields
    ------
    Iteration
        The model of the seed first, then each iteration as it ends. The last one says why.
    """
    train = _TrainingSet(seed, loop)
    f1: list[float] = []
    previous: Tagging | None = None
    starting = start is not None
    if history is not None:
        f1, tagger, starting = list(history.f1), history.tagger, history.starting
        train.selected = list(history.selected)
        previous = _tagged(tagger, validation_batch, replace(select, level="document"), loop)
    batches = pool.batches(start=max(len(f1) - 1, 0))
    batch = next(batches, None) if f1 else None
    while True:
        iteration, watch = len(f1), _Stopwatch()
        trusted = _trusting(select, start) if start and starting else select
        step = _Step(held_out, reference, trusted)
        if batch is not None:
            again = islice(pool.batches(), iteration) if loop.keep == "relabel" else [batch]
            for unlabeled in watch.each("read", again):
                with watch("tag"):
                    tagging = _tagged(tagger, unlabeled, trusted, loop)
                with watch("select"):
                    step.select(tagging, unlabeled)
            train.add(step.selected)
        # The same training set would give the same tagger.
        if iteration == 0 or step.selected or (loop.keep == "relabel" and len(train)):
            rng = np.random.default_rng([loop.random_state, iteration])
            with watch("train"):
                # A model that is started from has no weights to begin with.
                before = tagger if iteration and loop.warm_start and not starting else None
                fresh = tagger_for(iteration)
                tagger = fresh.fit(train.documents(), validation_batch, warm_start=before, rng=rng)
            starting = starting and iteration == 0
        with watch("validate"):
            tagging = _tagged(tagger, validation_batch, replace(select, level="document"), loop)
            found = validation_batch.with_tags(tagging.tags, tagging.labels).to_documents()
            scores = score(validation, found)
        f1.append(scores.counts("ner").f1)
        with watch("read"):
            batch, failure = _following(batches) if iteration < loop.iterations else (None, None)
        stopped = _why_stopped(f1, loop, exhausted=batch is None and failure is None)
        yield Iteration(
            iteration=iteration,
            tagger=tagger,
            selected=_together(step.selected),
            selections=tuple(step.selections),
            tagged=sum(map(len, step.confidence)),
            blank=step.blank,
            confidence_quantiles=step.quantiles(),
            agreement=None if previous is None else _agreement(previous, tagging),
            scores=scores,
            seconds=watch.seconds,
            human_tokens=len(seed.words),
            training_documents=len(train),
            stopped=stopped,
        )
        if stopped:
            return
        if failure:  # only now, so that the iteration before it is not lost
            raise failure
        previous = tagging


def _tagged(tagger: Tagger, batch: Batch, select: SelectOptions, loop: LoopOptions) -> Tagging:
    """Tag a batch, names that come again too where that is asked for."""
    detail = "entity" if loop.propagate else _DETAIL[select.level]
    tagging = tagger.tag(batch, measure=select.measure, detail=detail)
    if not loop.propagate:
        return tagging
    return propagate_names(tagging, batch, note_numbers(batch), loop.propagate)


def _trusting(select: SelectOptions, start: InitialModelSelection) -> SelectOptions:
    """Give how documents are selected with the model that a loop starts from: each as a whole."""
    return replace(select, confidence=start.confidence, measure=start.measure, level="document")


def _following(batches: Iterator[Batch]) -> tuple[Batch | None, InputError | None]:
    """Read the next batch, if there is one, or say why it cannot be read."""
    try:
        return next(batches, None), None
    except InputError as error:
        return None, error


def _why_stopped(f1: Sequence[float], options: LoopOptions, *, exhausted: bool) -> str | None:
    if len(f1) - 1 >= options.iterations:
        return "maximum"
    if stagnates(f1, options):
        return "stagnation"
    return "exhausted" if exhausted else None


class _TrainingSet:
    """The seed, and what was selected."""

    def __init__(self, seed: Batch, options: LoopOptions) -> None:
        self.seed = seed
        self.selected: list[Selected] = []
        self._options = options

    def add(self, selected: list[Selected]) -> None:
        """Add what an iteration selected, or put it in the place of what was selected before."""
        relabel = self._options.keep == "relabel"
        self.selected = selected if relabel else [*self.selected, *selected]

    def __len__(self) -> int:
        return len(self.seed) + sum(len(selected.batch) for selected in self.selected)

    def documents(self) -> Batch:
        """Give all documents to train on."""
        batches = [selected.batch for selected in self.selected]
        if (weight := self._options.pseudo_weight) != 1:
            batches = [
                batch.with_weights(np.full(len(batch), weight, np.float32)) for batch in batches
            ]
        return concatenate([self.seed, *batches])


class _Step:
    """What one iteration selects, batch after batch."""

    def __init__(
        self, held_out: frozenset[str], reference: Reference | None, options: SelectOptions
    ) -> None:
        self.selected: list[Selected] = []
        self.selections: list[Selection] = []
        self.confidence: list[npt.NDArray[np.float64]] = []
        self.blank = 0
        self._held_out = pa.array(sorted(held_out), pa.large_string())
        self._reference = reference
        self._options = options

    def select(self, tagging: Tagging, batch: Batch) -> None:
        """Select from a batch."""
        self.confidence.append(tagging.confidence)
        selectable = ~pc.is_in(batch.groups, self._held_out).to_numpy(zero_copy_only=False)
        threshold = self._options.confidence
        if self._options.level == "span":
            tagging, useful = confident_parts(tagging, batch, threshold)
            selectable, threshold = selectable & useful, 0.0
        selection = select_examples(
            tagging,
            batch,
            reference=self._reference,
            confidence=threshold,
            most=self._options.max_selected,
            proportions=self._options.proportions,
            selectable=selectable,
        )
        self.blank += int((batch.lengths == 0).sum())
        self.selections.append(selection)
        if len(selection.indices):
            tagged = batch.with_tags(tagging.tags, tagging.labels).take(selection.indices)
            self.selected.append(Selected(tagged, tagging.confidence[selection.indices]))

    def quantiles(self) -> dict[float, float]:
        """Give quantiles of the confidence of all documents tagged."""
        if not any(map(len, self.confidence)):
            return {}
        values = np.quantile(np.concatenate(self.confidence), _QUANTILES)
        return dict(zip(_QUANTILES, values.tolist(), strict=True))


def _together(selected: Sequence[Selected]) -> Selected | None:
    if not selected:
        return None
    return Selected(
        concatenate([part.batch for part in selected]),
        np.concatenate([part.confidence for part in selected]),
    )


def _agreement(previous: Tagging, tagging: Tagging) -> float:
    """Give the share of tokens tagged alike; the labels may be numbered in another way."""
    if not len(tagging.tags):
        return 1.0
    number = {label: index for index, label in enumerate(previous.labels)}
    same = np.array([number.get(label, -1) for label in tagging.labels])
    return float((same[tagging.tags] == previous.tags).mean())


class _Stopwatch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            elapsed = time.perf_counter() - begin
            self.seconds[stage] = self.seconds.get(stage, 0.0) + elapsed

    def each(self, stage: str, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches and count the time that they take to come."""
        waiting = iter(batches)
        while True:
            with self(stage):
                batch = next(waiting, None)
            if batch is None:
                return
            yield batch
