"""Training sets, the models trained on them, and what they tag."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from bootstrap.config.options import LoopOptions
from bootstrap.self_training.state import CONTINUED, UNCHANGED, Candidate, State, Trial, Views
from bootstrap.self_training.stopping import best_iteration
from bootstrap.self_training.thresholds import chosen_min_probability, chosen_propagation
from corpus.batch import Batch
from corpus.evaluation.scoring import GoldBatch, score_batches
from taggers.base import Detail, Tagger
from taggers.options import Reach

#: Strategies are compared on about so many pseudo-labelled documents, if there are more than twice
#: as many.
COMPARED = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A training to carry out, with its name; the others are as in `taggers.base.Tagger.fit`.

    `train` returns the documents: trainings that wait for their turn hold none.
    """

    name: str
    tagger: Tagger
    train: Callable[[], Batch]
    validation: Batch | None
    warm_start: Tagger | None
    rng: np.random.Generator


def fit_in_turn(fits: Sequence[Fit]) -> list[Tagger]:
    """Train taggers one after the other."""
    return [f.tagger.fit(f.train(), f.validation, warm_start=f.warm_start, rng=f.rng) for f in fits]


def best_of(models: Sequence[Trial]) -> Trial:
    """Return the model with the highest validation F1, ties to the first, but none of a sample."""
    models = [model for model in models if not model.of_sample]
    return models[best_iteration([model.f1 for model in models])]


@dataclass(frozen=True, slots=True)
class Trainer:
    """Trains a tagger on each candidate, and scores it.

    Parameters
    ----------
    tagger_for : callable
        Creates a new untrained tagger for an iteration; iterations may have different kinds.
    validation : GoldBatch
        Documents that determine which candidate is used, and when to stop.
    loop : LoopOptions
        Options of the loop.
    measure : str
        The measure of confidence in the validation documents.
    second_tagger_for : callable, optional
        Creates the untrained tagger of the second view; required by strategies with further views.
    min_probability : mapping of str to float, or "auto"
        The smallest probabilities of entities by class; "auto" chooses them for each model on the
        validation documents.
    propagate : mapping of str to {"text", "words"}, or "auto"
        What is propagated of the entities of each class; "auto" chooses classes whose texts are.
    fit_all : callable
        Carries out several independent trainings, and returns the taggers in their order.
    continued : callable, optional
        Returns a trained tagger that is compared with those of iteration 0, which start from it.
    """

    tagger_for: Callable[[int], Tagger]
    validation: GoldBatch
    loop: LoopOptions
    measure: str = "probability"
    second_tagger_for: Callable[[int], Tagger] | None = None
    min_probability: Mapping[str, float] | Literal["auto"] = field(default_factory=dict)
    propagate: Mapping[str, Reach] | Literal["auto"] = field(default_factory=dict)
    fit_all: Callable[[Sequence[Fit]], list[Tagger]] = fit_in_turn
    continued: Callable[[], Tagger] | None = None

    def train(
        self, compared: Sequence[Candidate], before: State | None
    ) -> tuple[list[Trial], Tagger | None]:
        """Train a model on each candidate, and the second view if the next iteration needs it.

        Several strategies are compared on a sample of what they selected, and the best one is then
        trained on all of it. The weights of the state before the iteration initialise training. The
        second view learns from the candidate that is kept, at the same time as the others if that
        is known. If nothing can be learned, or no model is better on the same gold documents, the
        model and the second view stay; the previous model is then the first one returned.
        """
        iteration = before.iteration + 1 if before else 0
        if before and self._learns_nothing(compared[0], before):
            return [replace(before.model, candidate=compared[0])], before.second
        warm = before if before and self.loop.warm_start and not before.is_initial else None
        start, tried = warm.model.tagger if warm else None, list[Trial]()
        continued = self.continued() if self.continued and before is None else None
        if self.loop.warm_start and continued:
            start = continued
        if samples := _samples(compared):
            fits = [self._fit(candidate, iteration, start) for candidate in samples]
            tried = list(map(self.scored, samples, self.fit_all(fits)))
            best = best_of(tried)
            others = [candidate for candidate in compared if not candidate.labelling]
            compared = [compared[tried.index(best)], *others]
            start = best.tagger if self.loop.warm_start else None
            tried = [replace(trial, of_sample=True) for trial in tried if trial is not best]
        fits = [self._fit(candidate, iteration, start) for candidate in compared]
        kept = [candidate for candidate in compared if candidate.labelling] or compared[-1:]
        second = self._second_fit(iteration, kept[0], warm) if len(kept) == 1 else []
        taggers = self.fit_all([*fits, *second])
        models = list(map(self.scored, compared, taggers))
        if continued:
            training = best_of(models).candidate.training
            tried.append(self.scored(Candidate(CONTINUED, training), continued))
        if before and self._may_stay(models, before):
            stays = replace(before.model, candidate=Candidate(UNCHANGED, before.training))
            return [stays, *models, *tried], before.second
        if len(kept) > 1:
            best = best_of([model for model in models if model.candidate in kept])
            if second := self._second_fit(iteration, best.candidate, warm):
                taggers += self.fit_all(second)
        return [*models, *tried], taggers[len(models)] if second else None

    def scored(self, candidate: Candidate, tagger: Tagger) -> Trial:
        """Score a tagger on the validation documents."""
        batch, least, reaches = self.validation.batch, self.min_probability, self.propagate
        detail: Detail = "entity" if least or reaches else "document"
        tagging = tagger.tag(batch, measure=self.measure, detail=detail)
        if not isinstance(least, Mapping):
            least = chosen_min_probability(self.validation, tagging)
        tagging = Views(tagger, min_probability=least).revised(tagging, batch)
        if not isinstance(reaches, Mapping):
            reaches = chosen_propagation(self.validation, tagging)
        tagging = Views(tagger, propagate=reaches).revised(tagging, batch)
        predicted = batch.with_tags(tagging.tags, tagging.labels)
        scores = score_batches(self.validation, predicted)
        return Trial(candidate, tagger, tagging, scores, least, reaches)

    def _may_stay(self, models: Sequence[Trial], before: State) -> bool:
        """Return whether all models, of the same kind and gold documents, are worse than before."""
        candidate, tagger = models[0].candidate, models[0].tagger
        comparable = candidate.training.gold is before.training.gold and not before.is_initial
        same = comparable and tagger.kind == before.model.tagger.kind
        return same and best_of(models).f1 < before.model.f1

    def _learns_nothing(self, candidate: Candidate, before: State) -> bool:
        """Return whether training would result in the same model again, or in none."""
        then, now = before.training, candidate.training
        if not now.has_entities():
            return True
        if now.gold is not then.gold or now.pseudo_labelled != then.pseudo_labelled:
            return False
        return self.tagger_for(before.iteration + 1).kind == before.model.tagger.kind

    def _second_fit(self, iteration: int, kept: Candidate, warm: State | None) -> list[Fit]:
        if self.second_tagger_for is None or not kept.needs_second:
            return []
        tagger, start = self.second_tagger_for(iteration), warm.second if warm else None
        documents = partial(kept.training.documents, second=True)
        fit = self._fit(kept, iteration, start, tagger)
        return [replace(fit, name="second view", train=documents)]

    def _fit(
        self,
        candidate: Candidate,
        iteration: int,
        start: Tagger | None,
        other: Tagger | None = None,
    ) -> Fit:
        """Return the training of the tagger of an iteration, or of another one."""
        tagger, documents = other or self.tagger_for(iteration), candidate.training.documents
        start = start if start and start.kind == tagger.kind else None
        rng = np.random.default_rng([self.loop.random_state, iteration])
        return Fit(candidate.name, tagger, documents, self.validation.batch, start, rng)


def _samples(compared: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates of strategies with a sample of their documents, if that is much less."""
    selections = [candidate for candidate in compared if candidate.labelling]
    most = max((candidate.training.n_pseudo_labelled for candidate in selections), default=0)
    if len(selections) < 2 or most <= 2 * COMPARED:
        return []
    return [replace(c, training=c.training.sampled(COMPARED / most)) for c in selections]
