"""The final model: the best one, trained once more on the validation documents as well.

Validation chooses the iteration, its strategy and its thresholds. Then its annotations can teach.
The scores of a run stay those of the best iteration: only test documents can score the final model.
"""

from __future__ import annotations

import logging

import numpy as np

from bootstrap.config.configuration import Configuration
from bootstrap.data.splits import Notes
from bootstrap.execution.parallel_tagger import ReportStage, in_folder
from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import LoopParts, add_choices
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.observer import Stopwatch
from bootstrap.self_training.candidates import ANNOTATED_ALONE
from bootstrap.self_training.state import CONTINUED, TrainingSet
from corpus.batch import Batch, concatenate
from corpus.tags import classes_of
from taggers.base import TrainingError

_log = logging.getLogger(__name__)

# Part of the seed of the random generator; every stage has a different one.
_STAGE = 4


def train_final(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, report: ReportStage
) -> None:
    """Train the final model of a finished run, unless it has one.

    It has the kind, the smallest probabilities, the propagation, the copies and the pseudo-labels
    of the model of the best iteration. There is none if that is an initial model, or that of the
    run which this one continues: neither was trained here.
    """
    if not configuration.loop.refit or not run.is_finished() or run.final_model():
        return
    parts = LoopParts(run, configuration, notes, jobs, report, Stopwatch())
    best = parts.closed[run.best_iteration()]
    initial = configuration.initial_model
    is_continued = any(trial.chosen and trial.name == CONTINUED for trial in best.trials)
    if is_continued or (initial is not None and best.tagger == initial.kind):
        return
    documents = _documents(parts, best)
    tagger = in_folder(parts.trainer.tagger_for(best.iteration))
    start = parts.load(run.best_model()) if configuration.loop.warm_start else None
    rng = np.random.default_rng([configuration.loop.random_state, best.iteration, _STAGE])
    try:
        tagger.fit(documents, warm_start=start, rng=rng)
    except TrainingError as error:
        _log.warning("%s has no final model: %s", run.folder, error)
    else:
        add_choices(tagger, best)
        run.save_final_model(tagger, best.iteration, len(documents))
    run.iteration(best.iteration).remove_alternatives()


def _documents(parts: LoopParts, best: IterationMetrics) -> Batch:
    """Return the training documents of an iteration, with all annotated ones."""
    notes = parts.notes
    annotated = parts.rounds.gold(parts.rounds.number) if parts.rounds else notes.seed.batch
    gold = concatenate([annotated, notes.validation.batch])
    copies = blanks = None
    augment = parts.augmentation(parts.list_tagger() if best.with_blanks else None)
    if augment and (best.augmented or best.with_blanks):
        copies, _, blanks = augment(gold)
    chosen = {trial.name for trial in best.trials if trial.chosen}
    classes = classes_of(gold.labels)
    pseudo = [] if ANNOTATED_ALONE in chosen else parts.selected(best.iteration, classes)
    loop, learns_blanks, copy = parts.configuration.loop, best.with_blanks, parts.copy_once
    training = TrainingSet(gold, loop, copies, None, blanks, tuple(pseudo), learns_blanks, copy)
    return training.documents()
