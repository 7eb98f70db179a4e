"""The models of an iteration: alternatives are trained, scored and compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bootstrap.config.options import LoopOptions
from bootstrap.selection import Strategy
from bootstrap.self_training.iteration import (
    ANNOTATED_ALONE,
    AUGMENTED,
    SEED_ALONE,
    History,
    Trial,
    best_iteration,
)
from bootstrap.self_training.pseudo_labelling import Labelling
from bootstrap.self_training.stopwatch import Stopwatch
from bootstrap.self_training.training import Fit, Train
from bootstrap.self_training.training_set import TrainingSet
from bootstrap.self_training.views import tag
from corpus.batch import Batch
from corpus.errors import InputError
from corpus.evaluation import GoldBatch, Scores, score_batches
from taggers.base import Tagger, Tagging


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A trained tagger, scored on the validation documents.

    Parameters
    ----------
    tagger : Tagger
        The tagger.
    tagging : Tagging
        Its tagging of the validation documents.
    scores : Scores
        Its scores.
    second : Tagger or None
        The tagger of the second view.
    labelling : Labelling or None
        The pseudo-labels of the iteration; None in iteration 0.
    trials : tuple of Trial
        The alternatives that it was compared with, and itself.
    """

    tagger: Tagger
    tagging: Tagging
    scores: Scores
    second: Tagger | None = None
    labelling: Labelling | None = None
    trials: tuple[Trial, ...] = ()

    @property
    def f1(self) -> float:
        """Strict entity F1 on the validation documents."""
        return self.scores.counts("ner").f1


class Models:
    """Trains the models of iterations and compares alternatives by validation F1.

    Parameters
    ----------
    training_set : TrainingSet
        The training set of the loop.
    validation : GoldBatch
        The validation documents.
    loop : LoopOptions
        Options of the loop.
    measure : str
        The measure of confidence.
    tagger_for, second_tagger_for : callable
        Create untrained taggers of an iteration; the second one may be None.
    train : callable
        Does independent trainings.
    second_needed : callable
        Returns whether the next iteration needs the second view without a strategy that does.
    tries_annotated : bool
        Whether an iteration with new gold documents also tries them without pseudo-labels.
    """

    def __init__(
        self,
        *,
        training_set: TrainingSet,
        validation: GoldBatch,
        loop: LoopOptions,
        measure: str,
        tagger_for: Callable[[int], Tagger],
        second_tagger_for: Callable[[int], Tagger] | None,
        train: Train,
        second_needed: Callable[[], bool] = lambda: False,
        tries_annotated: bool = False,
    ) -> None:
        self._tries_annotated = tries_annotated
        self._second_needed = second_needed
        self._training_set = training_set
        self._validation = validation
        self._loop = loop
        self._measure = measure
        self._tagger_for = tagger_for
        self._second_tagger_for = second_tagger_for
        self._train = train

    def first(self, strategies: Sequence[Strategy], watch: Stopwatch) -> Model:
        """Train the models of iteration 0, with and without augmentation, and return the best.

        Parameters
        ----------
        strategies : sequence of Strategy
            The strategies to follow; a second view is trained if one of them needs it.
        watch : Stopwatch
            Measures the stages.
        """
        documents = self._training_set
        names = [SEED_ALONE, AUGMENTED] if documents.augmented else [SEED_ALONE]
        fits = [
            self._fit(self._tagger_for, 0, documents.documents(augmented=name == AUGMENTED))
            for name in names
        ]
        second = self._second_fit(0, strategies)
        taggers = self._trained([*fits, *second], watch)
        models = [self._scored(tagger, watch) for tagger in taggers[: len(fits)]]
        best = _best(models)
        documents.augmented = names[best] == AUGMENTED
        trials = _trials(models, names, best)
        return replace(models[best], trials=trials, second=taggers[-1] if second else None)

    def next(
        self,
        iteration: int,
        labellings: Sequence[Labelling],
        previous: Model,
        watch: Stopwatch,
        *,
        warm: bool,
        strategies: Sequence[Strategy],
    ) -> Model:
        """Train a model on the pseudo-labels of each strategy, and return the best.

        If `tries_annotated` holds and there are new gold documents, a model without pseudo-labels
        is one more alternative. The selected documents remain in the training set if it is the
        best: later models may need them.

        Parameters
        ----------
        iteration : int
            The number of the iteration, at least 1.
        labellings : sequence of Labelling
            The pseudo-labels of each alternative.
        previous : Model
            The models that tagged the documents.
        watch : Stopwatch
            Measures the stages.
        warm : bool
            Whether the weights of `previous` initialise training.
        strategies : sequence of Strategy
            The strategies of the next iteration, unless a comparison chooses one now; none after
            the last iteration.
        """
        documents = self._training_set
        new_gold = documents.update_gold(iteration)
        before = previous if warm else None
        # An unchanged training set would result in the same model of the same kind, and one without
        # entities in none.
        changed = [each for each in labellings if documents.is_changed_by(each.selected)]
        if not changed and (new_gold or self._tagger_for(iteration).kind != previous.tagger.kind):
            changed = list(labellings[:1])  # nothing is compared
        changed = [each for each in changed if documents.has_entities(each.selected)]
        if not changed:
            documents.add(labellings[0].selected)
            return replace(previous, labelling=labellings[0], trials=())
        alternatives = [documents.documents(each.selected) for each in changed]
        names = [each.strategy.name for each in changed]
        if self._tries_annotated and new_gold and documents.has_pseudo_labels(changed[0].selected):
            alternatives.append(documents.annotated_documents())
            names.append(ANNOTATED_ALONE)
        warm_start = before.tagger if before else None
        fits = [self._fit(self._tagger_for, iteration, each, warm_start) for each in alternatives]
        second: list[Fit] = []
        if len(labellings) == 1:  # its documents are known before it is trained
            documents.add(labellings[0].selected)
            second = self._second_fit(iteration, strategies, before)
        taggers = self._trained([*fits, *second], watch)
        models = [self._scored(tagger, watch) for tagger in taggers[: len(fits)]]
        selections = models[: len(changed)]
        chosen = changed[_best(selections)]
        best = _best(models)
        views = taggers[len(fits) :]
        if len(labellings) > 1:
            documents.add(chosen.selected)
            following = [chosen.strategy] if len(selections) > 1 and strategies else strategies
            views = self._trained(self._second_fit(iteration, following, before), watch)
        return replace(
            models[best],
            labelling=chosen,
            trials=_trials(models, names, best, [_count(each) for each in changed]),
            second=views[0] if views else None,
        )

    def resumed(self, history: History, strategies: Sequence[Strategy]) -> Model:
        """Return the model of the last iteration of a history.

        Parameters
        ----------
        history : History
            The history.
        strategies : sequence of Strategy
            The strategies of the next iteration.

        Raises
        ------
        InputError
            If it has no tagger of the second view, which the next iteration needs.
        """
        if history.second is None and self._needs_second(strategies):
            raise InputError(
                f"iteration {len(history.f1) - 1} has no model of the second view, with which the "
                "next one selects; start another run"
            )
        model = self._scored(history.tagger, Stopwatch())
        return replace(model, second=history.second)

    def _fit(
        self,
        tagger_for: Callable[[int], Tagger],
        iteration: int,
        documents: Batch,
        warm_start: Tagger | None = None,
    ) -> Fit:
        rng = np.random.default_rng([self._loop.random_state, iteration])
        tagger = tagger_for(iteration)
        if warm_start is not None and warm_start.kind != tagger.kind:
            warm_start = None
        return Fit(tagger, documents, self._validation.batch, warm_start, rng)

    def _second_fit(
        self, iteration: int, strategies: Sequence[Strategy], before: Model | None = None
    ) -> list[Fit]:
        """Return the training of the second view on the training set, if a strategy needs it."""
        if self._second_tagger_for is None or not self._needs_second(strategies):
            return []
        documents = self._training_set.documents(mentions=True)
        warm_start = before.second if before else None
        return [self._fit(self._second_tagger_for, iteration, documents, warm_start)]

    def _needs_second(self, strategies: Sequence[Strategy]) -> bool:
        """Return whether the next iteration, if there is one, needs the second view."""
        return any(each.views for each in strategies) or (
            bool(strategies) and self._second_needed()
        )

    def _trained(self, fits: Sequence[Fit], watch: Stopwatch) -> list[Tagger]:
        if not fits:
            return []
        with watch.stage("train"):
            return self._train(fits)

    def _scored(self, tagger: Tagger, watch: Stopwatch) -> Model:
        batch = self._validation.batch
        with watch.stage("validate"):
            tagging = tag(tagger, batch, self._measure, "document", self._loop)
            predicted = batch.with_tags(tagging.tags, tagging.labels)
            return Model(tagger, tagging, score_batches(self._validation, predicted))


def _best(models: Sequence[Model]) -> int:
    """Return the index of the model with the highest F1; ties to the earliest."""
    return best_iteration([model.f1 for model in models])


def _trials(
    models: Sequence[Model], names: Sequence[str], best: int, selected: Sequence[int] = ()
) -> tuple[Trial, ...]:
    """Return the records of alternatives; none if there is only one.

    `selected` counts the documents selected by the first ones; the others have none.
    """
    if len(models) == 1:
        return ()
    counts = [*selected, *[0] * (len(models) - len(selected))]
    return tuple(
        Trial(name, model.scores, count, chosen=index == best)
        for index, (name, model, count) in enumerate(zip(names, models, counts, strict=True))
    )


def _count(labelling: Labelling) -> int:
    return sum(len(part.batch) for part in labelling.selected)
