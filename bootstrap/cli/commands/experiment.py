"""``bootstrap experiment`` and ``crossvalidate``: runs, and a table that compares them."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bootstrap.cli.commands.run import name_of
from bootstrap.cli.console import print_figures, print_lines, report_compiling, report_problems
from bootstrap.cli.display import ExperimentProgress, print_experiment
from bootstrap.cli.parser import MANY_RUNS
from bootstrap.config.configuration import read_tables
from bootstrap.config.overrides import ConfigurationError, Source, overridden
from bootstrap.execution.processes import KilledError, default_jobs
from bootstrap.experiments.configurations import check_variants
from bootstrap.experiments.folder import ExperimentFolder, opened_experiment
from bootstrap.experiments.plan import OWN_SECTIONS, Plan, load_plan, parse_plan
from bootstrap.experiments.results import experiment_report, read_results, write_results
from bootstrap.experiments.runner import Event, PlannedRun, carry_out_all, prepare_runs
from bootstrap.runs.folder import Run
from bootstrap.runs.runner import warm_up_taggers
from corpus.errors import InputError, number_of
from corpus.storage.atomic import write_errors_of

_log = logging.getLogger(__name__)

#: Seconds between two pages of an experiment that is being carried out.
_PAGE_SECONDS = 30

_AFTER_FULL_DISK = "finished runs are kept; make space, and continue with the same command"


def main(options: argparse.Namespace) -> None:
    """Carry out the runs of an experiment that are not finished, and compare all of them."""
    plan = load_plan(options.file, options.trust)
    _run_or_list(plan, options.out or Path("runs") / options.file.stem, options)


def crossvalidate(options: argparse.Namespace) -> None:
    """Train on all folds but one, score on it, and print the mean of all folds."""
    tables, origins = overridden(read_tables(options.config), options.overrides)
    states = options.random_states or [0]
    tables = _tables_of(tables, options.folds, options.methods or (), states)
    config = options.config
    plan = parse_plan(tables, Source(str(config), config.parent, origins, options.trust))
    _run_or_list(plan, options.out or Path("runs") / f"{name_of(config)}-folds", options)


def _tables_of(
    tables: Mapping[str, Any], folds: int, methods: Sequence[str], random_states: list[int]
) -> dict[str, Any]:
    """Return the tables of an experiment that cross-validates a configuration."""
    # `[data] seed` is divided into folds. Each fold is the test documents in turn. `[data]
    # validation`, or else the next fold, determines when to stop.
    if folds < 2:
        raise ConfigurationError(f"--folds {folds}: expected 2 or more")
    for section in OWN_SECTIONS:
        if section in tables:
            raise ConfigurationError(
                f"[{section}] belongs to an experiment: carry it out with `bootstrap experiment`, "
                "where [experiment] folds sets the number of folds"
            )
    data = tables.get("data")
    data = dict(data) if isinstance(data, Mapping) else {}
    if data.pop("test", None):
        _log.warning("[data] test is not used: each fold of [data] seed is test in turn")
    names = methods or ["supervised", *(["self-training"] if data.get("unlabeled") else [])]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"--methods {','.join(names)}: a method is named twice")
    return {
        **{key: value for key, value in tables.items() if key != "active" or key in names},
        "data": data,
        "experiment": {"folds": folds, "random_states": random_states},
        "variants": {name: {"method": name} for name in names},
    }


def _run_or_list(plan: Plan, folder: Path, options: argparse.Namespace) -> None:
    """Carry out a plan in a folder, or list its runs with ``--list``."""
    if not options.list:
        run_plan(plan, folder, jobs=options.jobs, confirmed=options.yes)
        return
    check_variants(plan)
    experiment = ExperimentFolder(folder)
    _print_list(plan, experiment)
    if experiment.has_begun() and read_results(experiment):
        print_experiment(experiment_report(experiment))


def run_plan(plan: Plan, folder: Path, *, jobs: int | None, confirmed: bool = False) -> None:
    """Carry out the runs of a plan that are not finished, and print and write the tables.

    Many runs need a confirmation, unless they are `confirmed`.
    """
    _confirm(plan, confirmed=confirmed)
    check_variants(plan)  # before there is a folder
    with write_errors_of(folder, _AFTER_FULL_DISK), opened_experiment(folder, plan) as experiment:
        failed = _carry_out(plan, experiment, jobs)
        if report := write_results(experiment):
            print_experiment(report)
            print_lines(f"The runs are in {experiment.folder}, with a page in report.html.")
        if failed:
            raise InputError(
                f"{folder}: {failed:,} of {len(plan.runs):,} runs failed, for the reasons above; "
                "the same command repeats them"
            )


def _confirm(plan: Plan, *, confirmed: bool) -> None:
    """Ask before many runs; refused ones raise an `InputError`."""
    states, splits = len(plan.options.random_states), len(plan.splits)
    line = (
        f"{number_of(len(plan.runs), 'run')}: {number_of(len(plan.variants), 'variant')} with "
        f"{number_of(states, 'random state')} on {number_of(splits, 'split')}"
    )
    _log.info("%s", line)
    if confirmed or len(plan.runs) <= MANY_RUNS:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{plan.source.file}: {line}; confirm them with --yes")
    sys.stderr.write("carry them out? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError(f"{plan.source.file}: {line}, which were not confirmed")


def _carry_out(plan: Plan, experiment: ExperimentFolder, jobs: int | None) -> int:
    """Carry out the runs that are not finished, and return how many failed."""
    schedule = prepare_runs(plan, experiment)
    report_problems(schedule.problems)
    left = schedule.left
    finished = len(schedule.runs) - len(left)
    if finished:
        _log.info("%s of %s runs are finished", f"{finished:,}", f"{len(plan.runs):,}")
    for run in {run.variant.name: run for run in left}.values():
        warm_up_taggers(run.configuration, report_compiling)
    failed, written = 0, time.monotonic()
    with ExperimentProgress(len(left)) as progress:
        try:
            for event in carry_out_all(schedule, jobs=jobs or default_jobs()):
                failed += _report(event, progress)
                if event.message.kind == "finished" and time.monotonic() - written > _PAGE_SECONDS:
                    write_results(experiment)
                    written = time.monotonic()
        except KeyboardInterrupt:
            _log.warning("interrupted; the same command continues the experiment")
            raise
        except KilledError as error:
            raise KilledError(
                f"{experiment.folder}: {error}; the same command continues the experiment"
            ) from None
    return failed


def _report(event: Event, progress: ExperimentProgress) -> bool:
    """Show what a run reports, and return whether it has failed."""
    name, message = event.what.name, event.message
    is_run = isinstance(event.what, PlannedRun)
    if message.kind == "stage":
        progress.report(name, message.text, message.done, message.total)
    elif message.kind == "warning":
        _log.warning("%s: %s", name, message.text)
    elif message.kind == "failed":
        progress.end(name, is_run=is_run)
        _log.error("%s failed: %s", name, message.text)
    elif message.kind == "finished":
        amount = progress.end(name, is_run=is_run)
        _log.info("%s is finished%s", name, f" ({amount})" if is_run else "")
    return message.kind == "failed" and is_run


def _print_list(plan: Plan, experiment: ExperimentFolder) -> None:
    """Print the state of each run of a plan."""
    runs = (experiment.run(variant.name, split, state) for variant, state, split in plan.runs)
    rows = ((f"{run.folder.parent.name}/{run.folder.name}", _state_of(run)) for run in runs)
    print_figures(("run", "state"), rows)


def _state_of(run: Run) -> str:
    if not run.has_begun():
        return "not begun"
    if run.is_finished():
        return "finished"
    return number_of(len(run.metrics()), "iteration")
