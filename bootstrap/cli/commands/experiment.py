"""``bootstrap experiment`` and ``crossvalidate``: runs, and a table that compares them."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bootstrap.cli.arguments import (
    CommandParser,
    Commands,
    add_command,
    add_configuration,
    add_jobs,
    add_list,
    natural,
)
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from bootstrap.cli.display import ExperimentProgress
    from bootstrap.experiments.folder import ExperimentFolder
    from bootstrap.experiments.plan import Plan
    from bootstrap.experiments.runner import Event
    from bootstrap.runs.folder import Run

_log = logging.getLogger(__name__)

#: More runs are carried out only after a confirmation.
_MANY_RUNS = 100
#: Seconds between two pages of an experiment that is being carried out.
_PAGE_SECONDS = 30

#: The folds of the paper (003, table 4.2).
_FOLDS = 7
_AFTER_FULL_DISK = "finished runs are kept; make space, and continue with the same command"


def register(commands: Commands) -> None:
    """Add the commands."""
    summary = "carry out a grid of runs and compare them"
    parser = add_command(commands, "experiment", main, summary)
    parser.add_argument("file", type=Path, metavar="FILE", help="an experiment file, in TOML")
    _add_arguments(parser, "runs/NAME, named after FILE")

    summary = "cross-validate a configuration on its annotated notes, by patient"
    parser = add_command(commands, "crossvalidate", crossvalidate, summary)
    add_configuration(parser)
    parser.add_argument(
        "--folds",
        type=natural,
        default=_FOLDS,
        metavar="K",
        help=f"number of folds of [data] seed (default: {_FOLDS})",
    )
    add_list(
        parser,
        "--methods",
        "NAME",
        "what is compared: supervised, self-training, active (default: supervised, and "
        "self-training if [data] names unlabeled notes)",
    )
    add_list(
        parser,
        "--random-states",
        "N",
        "seeds of the random number generator (default: 0)",
        convert=natural,
    )
    _add_arguments(parser, "runs/NAME-folds, named after CONFIG or its folder")


def _add_arguments(parser: CommandParser, default: str) -> None:
    """Add the arguments of both commands; `default` describes the default folder."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"the folder of the experiment, which is continued if it exists (default: {default})",
    )
    parser.add_argument(
        "--yes", action="store_true", help=f"do not ask before more than {_MANY_RUNS} runs"
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="carry out nothing: list the runs, and compare those that are finished",
    )
    add_jobs(parser)


def main(options: argparse.Namespace) -> None:
    """Carry out the runs of an experiment that are not finished, and compare all of them."""
    from bootstrap.experiments.plan import load_plan

    plan = load_plan(options.file)
    _run_or_list(plan, options.out or Path("runs") / options.file.stem, options)


def crossvalidate(options: argparse.Namespace) -> None:
    """Train on all folds but one, score on it, and print the mean of all folds."""
    from bootstrap.cli.commands.run import name_of
    from bootstrap.config.configuration import read_tables
    from bootstrap.config.overrides import Source, overridden
    from bootstrap.experiments.plan import parse_plan

    tables, origins = overridden(read_tables(options.config), options.overrides)
    states = options.random_states or [0]
    tables = _tables_of(tables, options.folds, options.methods or (), states)
    config = options.config
    plan = parse_plan(tables, Source(str(config), config.parent, origins))
    _run_or_list(plan, options.out or Path("runs") / f"{name_of(config)}-folds", options)


def _tables_of(
    tables: Mapping[str, Any], folds: int, methods: Sequence[str], random_states: list[int]
) -> dict[str, Any]:
    """Return the tables of an experiment that cross-validates a configuration.

    The folds are those of ``[data] seed``. Each is the test documents in turn. ``[data]
    validation``, or else the next fold, determines when to stop.
    """
    from bootstrap.config.overrides import ConfigurationError
    from bootstrap.experiments.plan import OWN_SECTIONS

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
    from bootstrap.cli.display import print_experiment
    from bootstrap.experiments.configurations import check_variants
    from bootstrap.experiments.folder import ExperimentFolder
    from bootstrap.experiments.results import experiment_report, read_results

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
    from bootstrap.cli.console import print_lines
    from bootstrap.cli.display import print_experiment
    from bootstrap.experiments.configurations import check_variants
    from bootstrap.experiments.folder import opened_experiment
    from bootstrap.experiments.results import write_results
    from corpus.storage.atomic import write_errors_of

    os.umask(0o077)  # the files of a run are as private as the notes
    _confirm(plan, confirmed=confirmed)
    check_variants(plan)  # before there is a folder
    with write_errors_of(folder, _AFTER_FULL_DISK), opened_experiment(folder, plan) as experiment:
        failed = _carry_out(plan, experiment, jobs)
        if report := write_results(experiment):
            print_experiment(report)
            print_lines([f"The runs are in {experiment.folder}, with a page in report.html."])
        if failed:
            raise InputError(
                f"{folder}: {failed:,} of {plan.number:,} runs failed, for the reasons above; the "
                "same command repeats them"
            )


def _confirm(plan: Plan, *, confirmed: bool) -> None:
    """Ask before many runs; refused ones raise an `InputError`."""
    states, splits = len(plan.options.random_states), len(plan.splits)
    line = (
        f"{len(plan.variants):,} variants with {states:,} random states on {splits:,} splits are "
        f"{plan.number:,} runs"
    )
    _log.info("%s", line)
    if confirmed or plan.number <= _MANY_RUNS:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{shown(plan.source.file)}: {line}; confirm them with --yes")
    sys.stderr.write("carry them out? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError(f"{shown(plan.source.file)}: {line}, which were not confirmed")


def _carry_out(plan: Plan, experiment: ExperimentFolder, jobs: int | None) -> int:
    """Carry out the runs that are not finished, and return how many failed."""
    from bootstrap.cli.console import report_compiling, report_problems
    from bootstrap.cli.display import ExperimentProgress
    from bootstrap.execution.processes import KilledError, default_jobs
    from bootstrap.experiments.results import write_results
    from bootstrap.experiments.runner import carry_out_all, prepare_runs
    from bootstrap.runs.runner import warm_up_taggers

    schedule = prepare_runs(plan, experiment)
    report_problems(schedule.problems)
    left = schedule.left
    finished = len(schedule.runs) - len(left)
    if finished:
        _log.info("%s of %s runs are finished", f"{finished:,}", f"{plan.number:,}")
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
    from bootstrap.experiments.runner import PlannedRun

    name, message = event.name, event.message
    is_run = isinstance(event.what, PlannedRun)
    if message.kind == "stage":
        progress.report(name, message.text, message.done, message.total)
    elif message.kind == "warning":
        _log.warning("%s: %s", shown(name), message.text)
    elif message.kind == "failed":
        progress.end(name, is_run=is_run)
        _log.error("%s failed: %s", shown(name), message.text)
    elif message.kind == "finished":
        amount = progress.end(name, is_run=is_run)
        _log.info("%s is finished%s", shown(name), f" ({amount})" if is_run else "")
    return message.kind == "failed" and is_run


def _print_list(plan: Plan, experiment: ExperimentFolder) -> None:
    """Print the state of each run of a plan."""
    from bootstrap.cli.console import figures_table, output

    table = figures_table("run", "state")
    for variant in plan.variants:
        for state in plan.options.random_states:
            for split in plan.splits:
                run = experiment.run(variant.name, split, state)
                name = f"{run.folder.parent.name}/{run.folder.name}"
                table.add_row(shown(name), _state_of(run))
    output.print(table)


def _state_of(run: Run) -> str:
    if not run.has_begun():
        return "not begun"
    if run.is_finished():
        return "finished"
    return f"{len(run.metrics()):,} iterations"
