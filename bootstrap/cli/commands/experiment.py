"""``bootstrap experiment``: a grid of runs, and a table that compares them."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import CommandParser, Commands, add_command, add_jobs
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

_AFTER_FULL_DISK = "finished runs are kept; make space, and continue with the same command"


def register(commands: Commands) -> None:
    """Add the command."""
    summary = "carry out a grid of runs and compare them"
    parser = add_command(commands, "experiment", main, summary)
    parser.add_argument("file", type=Path, metavar="FILE", help="an experiment file, in TOML")
    add_experiment_arguments(parser, "runs/NAME, named after FILE")


def add_experiment_arguments(parser: CommandParser, default: str) -> None:
    """Add the arguments of a command that makes the folder of an experiment.

    Parameters
    ----------
    parser : CommandParser
        The parser of the command.
    default : str
        The folder by default, in words.
    """
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
    run_or_list(plan, options.out or Path("runs") / options.file.stem, options)


def run_or_list(plan: Plan, folder: Path, options: argparse.Namespace) -> None:
    """Carry out a plan in a folder, or list its runs, as the arguments of the command name."""
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

    Parameters
    ----------
    plan : Plan
        The plan.
    folder : Path
        The folder of the experiment.
    jobs : int or None
        Number of processes.
    confirmed : bool
        Whether many runs need no confirmation.

    Raises
    ------
    InputError
        If the plan or a document is invalid, if many runs are not confirmed, or if a run fails.
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
    """Ask before many runs.

    Raises
    ------
    InputError
        If the user declines, or cannot be asked.
    """
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
