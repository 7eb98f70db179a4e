"""``bootstrap run`` and ``bootstrap active``: runs of self-training and of active learning."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bootstrap.cli.console import (
    StageProgress,
    output,
    print_lines,
    report_compiling,
    report_problems,
)
from bootstrap.cli.display import RunDisplay, outcome_lines, print_classes
from bootstrap.cli.logs import log_event, log_lines, progress_enabled
from bootstrap.config.configuration import LACKS_ACTIVE, Configuration, load_configuration
from bootstrap.config.options import LoopOptions, listed, named
from bootstrap.config.presets import language_lines
from bootstrap.data.preparation import prepare
from bootstrap.data.splits import Notes, source_lines
from bootstrap.execution.cluster import connected
from bootstrap.execution.processes import KilledError, default_jobs
from bootstrap.runs.continued import check_continued
from bootstrap.runs.folder import Run
from bootstrap.runs.lists import with_classes_of_lists
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.resume import opened_run
from bootstrap.runs.runner import complete_run, run_iterations, warm_up_taggers
from corpus.errors import InputError, number_of, quoted
from corpus.storage.atomic import write_errors_of
from corpus.tags import classes_of
from taggers import TrainingError

_log = logging.getLogger(__name__)

#: The metrics of an iteration that are logged.
_LOGGED = ("iteration", "selected", "tagged", "precision", "recall", "f1", "seconds")
_AFTER_FULL_DISK = "finished iterations are kept; make space, and continue with --resume"


def main(options: argparse.Namespace) -> None:
    """Train a tagger, and print the gain, the run folder and the next commands."""
    configuration = _configuration_of(options)
    if configuration.active:
        _log.info("[active] is not used; `bootstrap active` uses it")
    _run_and_report(replace(configuration, active=None), options)


def active(options: argparse.Namespace) -> None:
    """Run active learning, and print the gain, the run folder and the next commands."""
    configuration = _configuration_of(options)
    if configuration.active is None:
        raise InputError(LACKS_ACTIVE.format(options.config))
    _run_and_report(configuration, options)


def _configuration_of(options: argparse.Namespace) -> Configuration:
    """Read the configuration, which is that of the run that is continued if no other is named."""
    overrides = list(options.overrides)
    if before := options.continued:
        overrides.append(f"loop.continues={json.dumps(str(before), ensure_ascii=False)}")
        if options.config is None:
            Run(before).best_iteration()  # refuses other folders
            options.config = Run(before).config_file
            options.suffix += "-continued"
    if options.config is None:
        raise InputError("name a CONFIG, or a run with --continue")
    return load_configuration(options.config, overrides, trust=options.trust)


def _run_and_report(configuration: Configuration, options: argparse.Namespace) -> None:
    folder = options.out or Path("runs") / f"{name_of(options.config)}{options.suffix}"
    run = run_and_show(configuration, folder, resume=options.resume, jobs=options.jobs)
    print_classes(run)
    trust = "".join(f" --trust {kind}" for kind in configuration.kinds if ":" in kind)
    print_lines(
        *outcome_lines(run),
        "",
        f"The run is in {folder}, with a report in report.html. It contains text of the notes "
        "and is as private as they are. Inspect it, or tag the remaining notes:",
        f"  bootstrap show {folder}",
        f"  bootstrap plot {folder} -o f1.png",
        f"  bootstrap tag {folder} NOTES TAGGED.jsonl{trust}",
    )


def name_of(config: Path) -> str:
    """Return the name of a configuration, or its folder's name if it is a ``config.toml``."""
    return config.absolute().parent.name if config.stem == "config" else config.stem


def run_and_show(
    configuration: Configuration, folder: Path, *, resume: bool, jobs: int | None
) -> Run:
    """Run self-training and show its iterations; a finished run is only reported as such."""
    configuration = with_classes_of_lists(configuration)
    notes, coverage_lines = prepare(configuration)  # before there is a folder
    check_continued(configuration, notes)
    with (
        write_errors_of(folder, _AFTER_FULL_DISK),
        connected(configuration.execution.cluster),
        opened_run(folder, configuration, resume=resume) as run,
    ):
        if run.is_finished():  # but the process may have been killed before it completed the run
            _complete(run, configuration, notes, jobs)
            print_lines(f"{folder} is finished.")
            return run
        log_lines(_log, logging.INFO, source_lines(configuration.data))
        log_lines(_log, logging.WARNING, language_lines(listed(configuration.data.language)))
        if configuration.active:
            log_lines(_log, logging.INFO, [f"gold        {named(configuration.active.gold)}"])
        _warn_of_notes(notes)
        log_lines(_log, logging.INFO, coverage_lines)
        try:
            warm_up_taggers(configuration, report_compiling)
            _show(run, configuration, notes, jobs or default_jobs())
        except KeyboardInterrupt:
            _log.warning(
                "interrupted; finished: %s. Continue with --resume",
                number_of(len(run.metrics()), "iteration"),
            )
            raise
        except TrainingError as error:
            raise InputError(f"{folder}: {error}") from None
        except KilledError as error:
            raise KilledError(f"{folder}: {error}; continue with --resume") from None
        if configuration.self_trains:
            report_problems(notes.unlabeled.problems)
        if not configuration.active:
            log_lines(_log, logging.WARNING, _pool_lines(run.metrics(), configuration.loop))
        _complete(run, configuration, notes, jobs)
        return run


def _complete(run: Run, configuration: Configuration, notes: Notes, jobs: int | None) -> None:
    """Complete a run, and show the training of its final model."""
    with StageProgress("steps") as bar:
        complete_run(run, configuration, notes, jobs=jobs or default_jobs(), report=bar.report)


def _warn_of_notes(notes: Notes) -> None:
    for annotated in (notes.seed, notes.validation, notes.test, notes.gold):
        if annotated:
            report_problems(annotated.problems)
    log_lines(_log, logging.WARNING, _class_lines(notes))


def _class_lines(notes: Notes) -> list[str]:
    """Name the classes of the validation notes that no tagger can learn from the seed."""
    known, wanted = (
        set(classes_of(labelled.batch.labels)) for labelled in (notes.seed, notes.validation)
    )
    known |= set(classes_of(notes.gold.batch.labels)) if notes.gold else set()
    if not wanted - known:
        return []
    names = ", ".join(map(quoted, sorted(wanted - known)))
    lacking = (
        "which the seed lacks" if notes.seed.documents else "which [initial_model] does not tag"
    )
    return [f"validation has {names}, {lacking}: all entities of such classes are missed"]


def _pool_lines(rows: Sequence[IterationMetrics], loop: LoopOptions) -> list[str]:
    """Return warnings about too few or blank unlabeled notes."""
    tagged = rows[1].tagged if len(rows) > 1 else 0
    blank = all(row.blank == row.tagged for row in rows)
    if loop.iterations and not tagged:
        return ["unlabeled: there are no notes, so iteration 0 is the only one"]
    lines = [f"unlabeled: all documents are blank ({tagged:,})"] if tagged and blank else []
    if 0 < tagged < loop.batch:
        lines.append(
            f"unlabeled: {number_of(tagged, 'document')}, fewer than one batch of {loop.batch:,}; "
            "there was only one iteration; set [loop] batch lower"
        )
    return lines


def _show(run: Run, configuration: Configuration, notes: Notes, jobs: int) -> None:
    """Run the iterations of a run and show them."""
    failures = []
    most = configuration.most_iterations(len(notes.seed.batch))
    with RunDisplay(output, most, enabled=progress_enabled()) as display:
        for metrics in run.metrics():
            display.add(metrics)
        steps = run_iterations(run, configuration, notes, jobs=jobs, report=display.report)
        for metrics in steps:
            display.add(metrics)
            log_event("iteration finished", **{name: getattr(metrics, name) for name in _LOGGED})
            if (training := metrics.training) and training.failed:
                iteration = metrics.iteration
                failures.append(f"iteration {iteration}: {training.outcome}; its model may be poor")
    log_lines(_log, logging.WARNING, failures)
