"""The final model: the best one, trained once more on the validation documents as well.

Validation chooses the iteration, its strategy and its thresholds. Then its annotations can teach.
The more annotations there are, the less pseudo-labels add, and the more their errors cost. Models
that learn from half of the validation notes are scored on the other half, which shows whether to
keep them; where validation has twice the annotations of the other notes, they are not kept. The
scores of a run stay those of the best iteration: only test documents can score the final model.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from bootstrap.config.configuration import Configuration
from bootstrap.data.splits import Notes
from bootstrap.execution.parallel_tagger import ReportStage, in_folder
from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import LoopParts, add_choices
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.observer import Stopwatch
from bootstrap.self_training.candidates import ANNOTATED_ALONE
from bootstrap.self_training.state import CONTINUED, Candidate, TrainingSet
from bootstrap.self_training.training import best_of
from corpus.batch import Batch, concatenate
from corpus.evaluation.scoring import GoldBatch
from corpus.patients import number_patients
from corpus.tags import classes_of, find_entities
from taggers.base import TrainingError

_log = logging.getLogger(__name__)

# Part of the seed of the random generator; every stage has a different one.
_STAGE = 4

#: Validation with so many times the entities of the notes that taught pseudo-labels replaces them.
#: A comparison with half of validation favours pseudo-labels: all of it leaves them less to add.
_REPLACES = 2

#: The candidate that learns what the best model has learned; see `ANNOTATED_ALONE` for the other.
_AS_BEST = "as_best_model"


def train_final(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, report: ReportStage
) -> None:
    """Train the final model of a finished run, unless it has one.

    It has the kind, the smallest probabilities and the propagation of the model of the best
    iteration, and its pseudo-labels and copies or copies alone. There is none if that is an initial
    model, or that of the run which this one continues: neither was trained here.
    """
    if not configuration.loop.refit or not run.is_finished() or run.final_model():
        return
    parts = LoopParts(run, configuration, notes, jobs, report, Stopwatch())
    best = parts.closed[run.best_iteration()]
    initial = configuration.initial_model
    is_continued = any(trial.chosen and trial.name == CONTINUED for trial in best.trials)
    if is_continued or (initial is not None and best.tagger == initial.kind):
        return
    annotated = parts.rounds.gold(parts.rounds.number) if parts.rounds else notes.seed.batch
    tagger = in_folder(parts.trainer.tagger_for(best.iteration))
    rng = np.random.default_rng([configuration.loop.random_state, best.iteration, _STAGE])
    chosen = _chosen(parts, best, annotated)
    candidates = _candidates(parts, best, concatenate([annotated, notes.validation.batch]))
    candidate = next((c for c in candidates if c.name == chosen), candidates[-1])
    training = candidate.training
    # Training ends sooner, near the same optimum.
    start = parts.load(run.best_model()) if configuration.loop.warm_start else None
    try:
        tagger.fit(training.documents(), warm_start=start, rng=rng)
    except TrainingError as error:
        _log.warning("%s has no final model: %s", run.folder, error)
    else:
        add_choices(tagger, best)
        run.save_final_model(tagger, best.iteration, len(training), training.n_pseudo_labelled)
    run.iteration(best.iteration).remove_alternatives()
    run.remove_unneeded()  # the notes that blank documents were drawn from


def _candidates(parts: LoopParts, best: IterationMetrics, gold: Batch) -> list[Candidate]:
    """Return training sets of gold documents: that of the best model, and one of copies alone."""
    list_tagger = parts.list_tagger() if best.with_blanks else None
    augment = parts.augmentation(list_tagger, second=False)
    copies, _, blanks = augment(gold) if augment else (None, None, None)
    own = copies if best.augmented or best.with_blanks else None
    blanks = blanks if best.with_blanks else None
    is_alone = any(trial.chosen and trial.name == ANNOTATED_ALONE for trial in best.trials)
    selected = [] if is_alone else parts.selected(best.iteration, classes_of(gold.labels))
    pseudo = tuple(p.take(np.flatnonzero(~parts.excludes(p.batch))) for p in selected)
    loop, learns_blanks, copy = parts.configuration.loop, best.with_blanks, parts.copy_once
    training = TrainingSet(gold, loop, own, None, blanks, pseudo, learns_blanks, copy)
    candidates = [Candidate(_AS_BEST, training)]
    if pseudo or blanks or own is not copies:
        candidates.insert(0, Candidate(ANNOTATED_ALONE, TrainingSet(gold, loop, copies)))
    return candidates


def _chosen(parts: LoopParts, best: IterationMetrics, annotated: Batch) -> str:
    """Return the candidate that is better on half of the validation notes, taught by the others.

    Without entities in both halves, nothing tells that pseudo-labels do not help. With
    `_REPLACES` times the entities of the annotated documents, they do not.
    """
    validation, trainer = parts.notes.validation, parts.trainer
    batch, documents = validation.batch, validation.documents
    patients = number_patients(batch.groups, batch.ids)
    rng = np.random.default_rng([trainer.loop.random_state, _STAGE])
    order = rng.permutation(patients.max(initial=-1) + 1)
    is_held_out = (order >= len(order) // 2)[patients]
    held_out, taught = np.flatnonzero(is_held_out), batch.take(np.flatnonzero(~is_held_out))
    scored = GoldBatch.from_documents([documents[row] for row in held_out], batch.take(held_out))
    if not (scored.batch.tags > 0).any() or not (taught.tags > 0).any():
        return _AS_BEST
    if _entities(batch) >= _REPLACES * _entities(annotated):
        return ANNOTATED_ALONE
    candidates = _candidates(parts, best, concatenate([annotated, taught]))
    if len(candidates) == 1:
        return _AS_BEST
    trainer = replace(
        trainer,
        tagger_for=lambda _: parts.trainer.tagger_for(best.iteration),
        validation=scored,
        loop=replace(trainer.loop, warm_start=False),
        min_probability=best.min_probability,
        propagate=best.propagate,
        continued=None,
    )
    try:
        models, _ = trainer.train(candidates, None)
    except TrainingError:
        return _AS_BEST
    _log.info(
        "F1 on half of the validation notes, for the final model: %s",
        ", ".join(f"{model.candidate.name} {model.f1:.3f}" for model in models),
    )
    return best_of(models).candidate.name


def _entities(batch: Batch) -> int:
    return len(find_entities(batch.tags, batch.document_offsets, batch.labels).first)
