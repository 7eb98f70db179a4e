"""Running the iterations of a run folder."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bootstrap.active_learning.oracle import GoldOracle
from bootstrap.active_learning.rounds import Queried, Rounds
from bootstrap.advice.advice import advise
from bootstrap.config.configuration import Configuration
from bootstrap.config.options import AUTO
from bootstrap.config.tagger_sections import TaggerSection
from bootstrap.data.splits import LabelledNotes, Notes, UnlabeledNotes
from bootstrap.execution.parallel_tagger import ParallelTagger, Report
from bootstrap.reports.writing import write_run_page
from bootstrap.runs.advice_files import read_advice, save_advice
from bootstrap.runs.augmentation import augmentation_of
from bootstrap.runs.cached_pool import CachedPool
from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.embeddings import embedding_trainer
from bootstrap.runs.folder import Run
from bootstrap.runs.lists import list_options_for, uses_lists
from bootstrap.runs.metrics import IterationMetrics, metrics_of
from bootstrap.runs.scoring import score_on_test
from bootstrap.runs.tagging_errors import tagging_errors
from bootstrap.runs.training import free_model_folder, keep_model, train_in_folders
from bootstrap.selection import initial_strategy_for, portfolio
from bootstrap.selection.proportions import (
    Reference,
    configured_reference,
    content_of,
    measured_reference,
)
from bootstrap.self_training.iteration import RELABEL, SEED_ALONE, History, Iteration
from bootstrap.self_training.loop import self_train
from corpus.counts import count_words
from corpus.errors import InputError
from corpus.evaluation import GoldBatch
from corpus.kernels.registry import warm_up
from corpus.tags import UNKNOWN, classes_of
from taggers import make_tagger
from taggers.base import TrainingError, kernels_of
from taggers.dictionaries.list_tagger import ListTagger
from taggers.options import TaggerOptions

_log = logging.getLogger(__name__)

#: A file next to a model: the unit of its training documents and the classes for propagation.
UNIT_FILE = "unit.json"


def warm_up_taggers(
    configuration: Configuration, announce: Callable[[], None] | None = None
) -> None:
    """Compile the kernels of the taggers of a run, before several processes would each do so.

    Parameters
    ----------
    configuration : Configuration
        The configuration of the run.
    announce : callable, optional
        Called once if code has to be compiled, which takes about ten seconds.
    """
    kernels: tuple[str, ...] = ()
    for section in configuration.taggers().values():
        kernels += kernels_of(make_tagger(section.kind, section.options))
    if configuration.self_trains and uses_lists(configuration.select.strategy):
        kernels += ListTagger.kernels
    warm_up(*kernels, announce=announce)


def run_iterations(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, report: Report
) -> Iterator[IterationMetrics]:
    """Run the iterations of a run that are not closed yet.

    Parameters
    ----------
    run : Run
        From `bootstrap.runs.resume.opened_run`.
    configuration : Configuration
        The configuration of the run.
    notes : Notes
        From `bootstrap.data.splits.read_notes`.
    jobs : int
        Number of processes that tag.
    report : callable
        Called with the progress within an iteration.

    Yields
    ------
    IterationMetrics
        The metrics of each iteration when it is closed.
    """
    options, validation = configuration, notes.validation
    closed = run.metrics()
    notes.unlabeled.clean_batches = _batches_without_problems(closed)
    rounds = _rounds(run, options, notes)
    # Before embeddings are trained, since it may raise an error.
    list_tagger = _list_tagger(run, options, notes, jobs=jobs, report=report)
    embeddings = embedding_trainer(run, notes, options.loop.random_state, jobs=jobs, report=report)

    unit = {"unit": options.data.unit, "propagate": options.loop.propagate}
    files = {UNIT_FILE: json.dumps(unit).encode()}

    def in_folder(section: TaggerSection, folder: Path) -> ParallelTagger:
        tagger = _with_counts(section.options, run, notes.unlabeled, report)
        tagger = tagger.with_embeddings(embeddings)
        return ParallelTagger(folder, section.kind, tagger, jobs=jobs, report=report, files=files)

    def tagger_for(iteration: int) -> ParallelTagger:
        return in_folder(options.tagger_of(iteration), free_model_folder(run, iteration))

    def second_tagger_for(iteration: int) -> ParallelTagger:
        return in_folder(options.second_tagger_of(iteration), run.second_folder(iteration))

    # A batch beyond those of the closed iterations is read again, and its problems are counted.
    relabel = options.loop.keep == RELABEL
    reused = max(len(closed) - 1, 0)
    cache = CachedPool(notes.unlabeled, run.batches_folder, reused) if relabel else None
    measured = _reference(options, notes.seed, validation)
    reference = measured if options.select.proportions else None
    gold = GoldBatch.from_documents(validation.documents, validation.batch)
    initial_selection = options.initial_model.selection if options.initial_model else None
    for step in self_train(
        notes.seed.batch,
        cache or notes.unlabeled,
        gold,
        tagger_for,
        strategy=portfolio(
            options.select,
            reference,
            options.capabilities,
            lists=list_tagger is not None,
        ),
        initial_strategy=initial_strategy_for(initial_selection, options.select, reference)
        if initial_selection
        else None,
        augment=augmentation_of(options.augment, options.loop.random_state),
        second_tagger_for=second_tagger_for,
        list_tagger=list_tagger,
        train=functools.partial(train_in_folders, jobs=jobs, report=report),
        not_before=options.later.start.iteration if options.later else 0,
        loop=options.loop,
        held_out=notes.held_out.groups,
        rounds=rounds,
        history=_history(run, options, jobs, report) if closed else None,
    ):
        metrics = metrics_of(
            step, validation.batch, notes.unlabeled.problems.counts, measured.proportions
        )
        keep_model(run, step)
        confidence = step.tagging.confidence if step.tagging else None
        counts = DocumentCounts.of(validation.batch, step.scores, confidence)
        run.close_iteration(
            step.iteration,
            step.selected,
            metrics,
            counts,
            baseline=_baseline(step, validation),
            queried=step.queried,
            errors=tagging_errors(gold, step.tagging) if step.tagging else None,
        )
        if not metrics.stopped:  # `complete_run` writes the last one
            _write_page(run)
        yield metrics
    if cache:
        cache.remove()


def _rounds(run: Run, options: Configuration, notes: Notes) -> Rounds | None:
    """Return the rounds of active learning, after those of the closed iterations."""
    if options.active is None or notes.gold is None:
        return None
    gold = notes.gold.batch
    return Rounds(
        notes.seed.batch,
        gold.with_tags(np.full(gold.n_tokens, UNKNOWN, np.int16), ()),
        GoldOracle(gold),
        options.active,
        random_state=options.loop.random_state,
        queried=_queried(run, notes),
    )


def _queried(run: Run, notes: Notes) -> list[Queried]:
    """Read the documents that were annotated in the rounds of a run; none without rounds."""
    return run.queried(classes_of(notes.gold.batch.labels)) if notes.gold else []


def _baseline(step: Iteration, validation: LabelledNotes) -> DocumentCounts | None:
    """Return the counts of the seed alone, if the model of an iteration was chosen instead."""
    for trial in step.trials:
        if trial.name == SEED_ALONE and not trial.chosen:
            return DocumentCounts.of(validation.batch, trial.scores)
    return None


def complete_run(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, with_advice: bool = True
) -> None:
    """Write the report and the advice of a finished run, and score its test documents.

    The report is written after the advice, which it contains. The scores of the last iteration on
    the test documents are written last.

    Parameters
    ----------
    run : Run
        The run.
    configuration : Configuration
        Its configuration.
    notes : Notes
        Its documents.
    jobs : int
        Number of processes that tag.
    with_advice : bool
        Whether to write advice, which takes longer than training on few documents.
    """
    if with_advice:
        _write_advice(run, configuration, notes, jobs=jobs)
    _write_page(run)
    if run.is_finished() and notes.test:
        score_on_test(run, notes.test, configuration, jobs=jobs)


def _write_page(run: Run) -> None:
    """Write the report of a run; an internal error is only logged, so that it goes on."""
    try:
        write_run_page(run)
    except (InputError, OSError):
        raise
    except Exception as error:  # its message may contain text of notes
        _log.warning("%s has no new report: %s", run.folder, type(error).__name__)


def _write_advice(run: Run, configuration: Configuration, notes: Notes, *, jobs: int) -> None:
    """Write the advice of a finished run, unless it has some.

    If that fails, a warning is logged, which contains no text of notes: the run itself is complete.
    """
    if not run.is_finished() or read_advice(run.folder):
        return
    try:
        tagger = ParallelTagger.load(run.best_model(), trusted=configuration.kinds, jobs=jobs)
        initial = configuration.initial_model
        # An initial model is not trained, so that it does not learn what an unused list is worth.
        trained = initial is None or tagger.kind != initial.kind
        section = configuration.tagger_of(run.best_iteration()) if trained else initial
        assert section is not None
        missed = [each.name for each in run.missed()] if trained else []
        advice = advise(
            tagger,
            section.options,
            notes,
            missed,
            batch_size=configuration.loop.batch,
            annotated=[each.batch for each in _queried(run, notes)],
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


def _history(run: Run, options: Configuration, jobs: int, report: Report) -> History:
    """Read the history of the closed iterations of a run, of which there is at least one."""
    last = run.model_folder(len(run.metrics()) - 1)
    tagger = ParallelTagger.load(last, trusted=options.kinds, jobs=jobs, report=report)
    second = run.second_folder(len(run.metrics()) - 1)
    history = run.history(
        options.loop.keep,
        tagger,
        classes_of(tagger.labels),
        ParallelTagger.load(second, trusted=options.kinds, jobs=jobs, report=report)
        if second.is_dir()
        else None,
    )
    initial = options.initial_model
    is_initial = initial is not None and tagger.kind == initial.kind
    return replace(history, is_initial=is_initial)


def _batches_without_problems(closed: Sequence[IterationMetrics]) -> int:
    """Count the first batches that closed iterations read without leaving anything out.

    Iteration i reads the first i + 1 batches and counts what it could not use. The last iteration
    is ignored: it may have stopped at a batch that cannot be read.
    """
    return sum(not metrics.left_out for metrics in closed[:-1])


def _list_tagger(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, report: Report
) -> Callable[[], ParallelTagger] | None:
    """Return a function that returns the tagger of lists, if there is one.

    If "auto" compares strategies, the tagger is built first, because a strategy is left out without
    it. A strategy that the user chose builds it when there are documents to tag.

    Raises
    ------
    InputError
        If the strategy needs this tagger, and the lists have names or places of no class.
    """
    strategy = configuration.select.strategy
    if not (configuration.self_trains and uses_lists(strategy)):
        return None
    lists = list_options_for(
        notes.seed.batch, configuration.augment, validation=notes.validation.batch
    )
    if lists is None and strategy != AUTO:
        raise InputError(
            f"[select] strategy = {strategy!r} needs lists, and no class of the seed consists of "
            "names or places of [augment] gazetteers, or several classes share them; name "
            "gazetteers of them, or choose another strategy"
        )
    if lists is None:
        return None

    @functools.cache
    def list_tagger() -> ParallelTagger:
        if run.lists_folder.is_dir():
            return ParallelTagger.load(run.lists_folder, jobs=jobs, report=report)
        options = _with_counts(lists, run, notes.unlabeled, report)
        tagger = ParallelTagger(run.lists_folder, "lists", options, jobs=jobs, report=report)
        return tagger.fit(notes.seed.batch, rng=np.random.default_rng(0))

    if strategy == AUTO and configuration.loop.iterations:
        try:
            list_tagger()
        except TrainingError as error:
            _log.warning("strategies with a view of lists are left out: %s", error)
            return None
    return list_tagger


def _with_counts(
    options: TaggerOptions, run: Run, pool: UnlabeledNotes, report: Report
) -> TaggerOptions:
    """Return the options of a tagger with the counts of the unlabeled documents."""

    def count() -> Path:
        if not run.counts_file.exists():  # they may have been counted before an interruption
            report("counting words", 0, 0)
            problems = pool.problems  # only the iterations report problems
            counts = count_words(
                pool.documents(), progress=lambda done: report("counting words", done, 0)
            )
            pool.problems = problems
            counts.save(run.counts_file)
        return run.counts_file

    return options.with_word_counts(count)


def _reference(options: Configuration, seed: LabelledNotes, validation: LabelledNotes) -> Reference:
    """Return the reference proportions of selections.

    They are restricted to the classes of the seed, because a tagger finds no others.
    """
    batch = validation.batch
    if options.reference:
        tokens = batch.n_tokens / max(len(batch), 1)
        configured = options.reference
        return configured_reference(
            configured.per_token, configured.length, configured.empty, tokens
        )
    classes = classes_of(seed.batch.labels)
    return measured_reference(content_of(batch, batch.tags, batch.labels, classes), classes)
