"""Running the iterations of a run folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

from bootstrap.advice.advice import advise, read_advice, save_advice
from bootstrap.config.configuration import Configuration
from bootstrap.data.splits import LabelledNotes, Notes
from bootstrap.deidentification.deidentify import deidentify_options
from bootstrap.deidentification.leaks import assess
from bootstrap.execution.parallel_tagger import ParallelTagger, ReportStage
from bootstrap.inference import UnitFile, read_unit_file
from bootstrap.reports.page import write_run_page
from bootstrap.runs.assessment import read_assessment, save_assessment
from bootstrap.runs.final_model import train_final
from bootstrap.runs.folder import Run
from bootstrap.runs.iteration_folder import BASELINE, BASELINE_TEST
from bootstrap.runs.loop_parts import LoopParts, RoundLimits, keep_models
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.observer import Stopwatch, concatenated, metrics_of
from bootstrap.runs.records import DocumentCounts
from bootstrap.selection.strategies import uses_lists
from bootstrap.self_training.candidates import SEED_ALONE
from bootstrap.self_training.loop import Ended, Step, self_train
from bootstrap.self_training.state import Trial, Views
from corpus.errors import InputError
from corpus.evaluation.error_analysis import entity_errors
from corpus.evaluation.scoring import GoldBatch, score_batches
from corpus.kernels.compiled import warm_up
from corpus.tags import classes_of
from taggers import make_tagger
from taggers.base import Tagger, kernels_of
from taggers.dictionaries.list_tagger import ListTagger
from taggers.patterns import KERNELS as PATTERN_KERNELS

_log = logging.getLogger(__name__)


def warm_up_taggers(
    configuration: Configuration, announce: Callable[[], None] | None = None
) -> None:
    """Compile the kernels of the taggers of a run once, before several processes each do so.

    `announce` is called once if code has to be compiled, which takes about ten seconds.
    """
    kernels: tuple[str, ...] = ()
    for section in configuration.taggers().values():
        kernels += kernels_of(make_tagger(section.kind, section.options))
    if configuration.self_trains and uses_lists(configuration.select.strategy):
        kernels += ListTagger.kernels
    if configuration.patterns.files:
        kernels += PATTERN_KERNELS
    warm_up(*kernels, announce=announce)


def run_iterations(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, report: ReportStage
) -> Iterator[IterationMetrics]:
    """Run the iterations of a run that are not closed yet, and yield the metrics of each.

    The run is from `bootstrap.runs.resume.opened_run`; the other parameters are as for `LoopParts`.
    """
    parts = LoopParts(run, configuration, notes, jobs, report, Stopwatch())
    candidates, pool, limits = parts.candidates, parts.pool, parts.limits
    steps = self_train(
        parts.gold, pool, candidates, parts.trainer, stop=limits, state=parts.state()
    )
    for step in steps:
        if isinstance(step, Ended):
            run.end(step.reason)
        else:
            metrics = _close(step, parts)
            del step  # the next iteration needs its state alone
            yield metrics


def _close(step: Step, parts: LoopParts) -> IterationMetrics:
    """Write the files of an iteration, and return its metrics."""
    run, notes, model = parts.run, parts.notes, step.state.model
    iteration, limits = step.state.iteration, parts.limits
    queried = None
    if isinstance(limits, RoundLimits) and 0 < iteration <= limits.rounds.number:
        queried = limits.rounds.queried[iteration - 1]
    random_state = parts.configuration.loop.random_state
    with parts.watch.stage("validate"):
        metrics = metrics_of(step, parts.validation, parts.reference.proportions, random_state)
    metrics = replace(
        metrics,
        left_out=notes.unlabeled.problems.counts,
        queried=len(queried) if queried is not None else 0,
        seconds={"read": 0.0, **parts.watch.lap()},  # a resumed run may read in another iteration
    )
    if isinstance(limits, RoundLimits) and iteration:
        limits.kappas.append(metrics.kappa)
    baseline = _baseline(step, parts)
    keep_models(run.iteration(iteration), step.state)
    batch = notes.validation.batch
    predicted = batch.with_tags(model.tagging.tags, model.tagging.labels)
    run.close_iteration(
        iteration,
        concatenated(step.labelling.selected) if step.labelling else None,
        metrics,
        DocumentCounts.from_scores(batch, model.scores, model.tagging.confidence),
        entity_errors(parts.validation, predicted),
        baseline=baseline,
        queried=queried,
    )
    _write_page(run)
    return metrics


def _baseline(step: Step, parts: LoopParts) -> dict[str, DocumentCounts]:
    """Return the counts of the seed alone, if the model of an iteration was chosen instead.

    Its model is not kept, so it is scored on the test documents at once. That determines nothing.
    """
    notes = parts.notes
    for model in step.models:
        if model.candidate.name == SEED_ALONE and model.tagger is not step.state.model.tagger:
            counts = {BASELINE: DocumentCounts.from_scores(notes.validation.batch, model.scores)}
            if notes.test:
                counts[BASELINE_TEST] = _counts(model.tagger, model, notes.test)
            return counts
    return {}


def complete_run(
    run: Run,
    configuration: Configuration,
    notes: Notes,
    *,
    jobs: int,
    with_advice: bool = True,
    report: ReportStage = lambda *_: None,
) -> None:
    """Train the final model of a finished run, write report and advice, and score test documents.

    The report is written before the advice, which takes longer and may fail, and once more after
    it, and with the scores on the test documents and the assessment, which are written last.
    Training on few documents is faster than advice and assessment, which `with_advice` leaves out.
    """
    train_final(run, configuration, notes, jobs=jobs, report=report)
    _write_page(run)
    if with_advice:
        _write_advice(run, configuration, notes, jobs=jobs)
        _write_page(run)
    if run.is_finished() and notes.test:
        _score_on_test(run, notes.test, configuration, jobs=jobs)
    if with_advice:
        _write_assessment(run, configuration, jobs=jobs)
    _write_page(run)


def _write_page(run: Run) -> None:
    """Write the report of a run; an internal error is only logged, so the run goes on."""
    try:
        write_run_page(run)
    except (InputError, OSError):
        raise
    except Exception as error:  # its message may contain text of notes
        _log.warning("%s has no new report: %s", run.folder, type(error).__name__)


def _write_advice(run: Run, configuration: Configuration, notes: Notes, *, jobs: int) -> None:
    """Write the advice of a finished run, unless it has some; a failure is only logged."""
    if not run.is_finished() or read_advice(run.folder):
        return
    try:
        tagger = ParallelTagger.load(run.best_model(), trust=configuration.kinds, jobs=jobs)
        initial = configuration.initial_model
        # An initial model is not trained, so it cannot learn what an unused list is worth.
        trained = initial is None or tagger.kind != initial.kind
        section = configuration.tagger_of(run.best_iteration()) if trained else initial
        assert section is not None
        missed = [row.name for row in run.missed()] if trained else []
        classes = classes_of(notes.gold.batch.labels) if notes.gold else ()
        queried = run.queried(classes)
        advice = advise(
            tagger,
            section.options,
            notes,
            missed,
            batch_size=configuration.loop.batch,
            annotated=[documents.batch for documents in queried],
        )
        save_advice(run.folder, advice)
    except InputError as error:
        _log.warning("%s has no advice: %s", run.folder, error)
    except Exception as error:  # its message may contain text of notes
        _log.warning(
            "%s is finished, but has no advice: %s; resume the run to try again",
            run.folder,
            type(error).__name__,
        )


def _write_assessment(run: Run, configuration: Configuration, *, jobs: int) -> None:
    """Write the assessment of a finished run, unless it has one; a failure is only logged."""
    if not run.is_finished() or read_assessment(run):
        return
    try:
        warm_up(*deidentify_options("placeholders", None, configuration.data.unit).kernels)
        save_assessment(run, assess(run, trust=configuration.kinds, jobs=jobs))
    except InputError as error:
        _log.warning("%s is not assessed: %s", run.folder, error)
    except Exception as error:  # its message may contain text of notes
        _log.warning("%s is not assessed: %s", run.folder, type(error).__name__)


def _score_on_test(
    run: Run, test: LabelledNotes, configuration: Configuration, *, jobs: int
) -> None:
    """Score the models on the test documents, which determine nothing, unless they are scored."""
    folders = [run.final] if run.final_model() else []
    for folder in (*folders, *map(run.iteration, range(len(run.metrics())))):
        if folder.test_counts() is None:
            model = folder.model_folder
            tagger = ParallelTagger.load(model, trust=configuration.kinds, jobs=jobs)
            folder.save_test_counts(_counts(tagger, read_unit_file(model), test))


def _counts(tagger: Tagger, chosen: Trial | UnitFile, notes: LabelledNotes) -> DocumentCounts:
    """Return the counts of what a model tags in annotated documents, as was chosen for it."""
    views = Views(tagger, propagate=chosen.propagate, min_probability=chosen.min_probability)
    tagging = views.tag(notes.batch)
    gold = GoldBatch.from_documents(notes.documents, notes.batch)
    predicted = notes.batch.with_tags(tagging.tags, tagging.labels)
    return DocumentCounts.from_scores(notes.batch, score_batches(gold, predicted))
