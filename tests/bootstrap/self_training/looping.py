"""The loop as tests run it, and its iterations with the figures that a run records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bootstrap.config.options import LoopOptions
from bootstrap.config.presets import PAPER, PRESETS
from bootstrap.runs.loop_parts import NoDocuments, RoundLimits
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.observer import concatenated, metrics_of
from bootstrap.selection.proportional import ChosenDocuments
from bootstrap.selection.proportions import content_of, measured_reference
from bootstrap.selection.strategies import SelectOptions, Strategy
from bootstrap.self_training.candidates import Candidates
from bootstrap.self_training.loop import Ended, Pool, Step, self_train
from bootstrap.self_training.state import Candidate, State
from bootstrap.self_training.stopping import Limits
from bootstrap.self_training.training import Trainer
from corpus.batch import Batch
from corpus.evaluation.scoring import GoldBatch
from corpus.tags import classes_of
from taggers.base import Tagger


def loop_options(**values: Any) -> LoopOptions:
    """Return the options of the loop of the paper, but for some."""
    return LoopOptions(**PRESETS[PAPER]["loop"] | values)


def select_options(**values: Any) -> SelectOptions:
    """Return the options of selection of the paper, but for some."""
    return SelectOptions(**PRESETS[PAPER]["select"] | values)


@dataclass
class Iteration:
    """A completed iteration; attributes that it lacks are those of its metrics."""

    step: Step
    metrics: IterationMetrics
    stopped: str | None = None
    queried: ChosenDocuments | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.metrics, name)

    @property
    def tagger(self) -> Any:
        return self.step.state.model.tagger

    @property
    def second(self) -> Tagger | None:
        return self.step.state.second

    @property
    def counts(self) -> tuple[int, int, int]:
        return tuple(self.step.state.model.scores.counts("ner"))

    @property
    def chosen(self) -> ChosenDocuments | None:
        """The documents selected, which the metrics only count."""
        return concatenated(self.step.labelling.selected) if self.step.labelling else None


def run_loop(
    gold: Batch | Callable[[State | None], Batch],
    pool: Pool,
    validation: Batch | GoldBatch,
    tagger_for: Callable[[int], Tagger],
    strategy: Any,
    loop: LoopOptions | None = None,
    *,
    after: State | None = None,
    tagger: Tagger | None = None,
    limits: Limits | None = None,
    fresh_second: Callable[[int], Tagger] | None = None,
    held_out: frozenset[str] = frozenset(),
    **others: Any,
) -> Iterator[Iteration]:
    """Run the loop, from the state `after` with the model `tagger` if they are given.

    The last iteration has the reason for stopping once the loop has ended.
    """
    loop = loop or loop_options()
    validation = GoldBatch.from_tags(validation) if isinstance(validation, Batch) else validation
    limits = limits or Limits(loop)
    several = isinstance(strategy, Sequence)
    functions = strategy if several else [strategy]
    strategies = [each if isinstance(each, Strategy) else Strategy(each) for each in functions]
    rounds = limits.rounds if isinstance(limits, RoundLimits) else None

    def excludes(batch: Batch) -> Any:
        excluded = np.array([group in held_out for group in batch.groups.to_pylist()], bool)
        return excluded | rounds.annotated(batch) if rounds else excluded

    candidates = Candidates(
        strategies,
        loop,
        excludes=excludes,
        queries_second=lambda: bool(rounds and rounds.query.views and not rounds.ended()),
        **others,
    )
    trainer = Trainer(tagger_for, validation, loop, strategies[0].measure, fresh_second)
    if after and tagger:
        after = replace(after, model=trainer.scored(Candidate("", after.training), tagger))
    source = gold if callable(gold) else lambda state: gold
    if isinstance(limits, RoundLimits):
        source = limits.gold
        pool = pool if limits.rounds.options.hybrid else NoDocuments()
    batch = validation.batch
    classes = classes_of(batch.labels)
    reference = measured_reference(content_of(batch, batch.tags, batch.labels, classes), classes)
    done: Any = None
    for step in self_train(source, pool, candidates, trainer, stop=limits, state=after):
        if isinstance(step, Ended):
            done.stopped = step.reason
            return
        metrics = metrics_of(step, validation, reference.proportions, loop.random_state)
        done = Iteration(step, metrics)
        if rounds and step.state.iteration:
            limits.kappas.append(done.kappa)
            if rounds.number == step.state.iteration:
                done.queried = rounds.queried[-1]
        yield done
