"""``bootstrap report``: one page of one or several runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import CommandParser, Commands, add_command
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from bootstrap.experiments.folder import ExperimentFolder
    from bootstrap.reports.content import Report
    from bootstrap.reports.groups import RunRecord
    from bootstrap.reports.tables import Table

_OUTPUT = Path("report.html")


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "report", main, "show one or several runs on one page")
    add_runs(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=_OUTPUT,
        metavar="FILE",
        help=f"the page; an existing one is replaced (default: {_OUTPUT})",
    )
    add_test(parser)
    parser.add_argument(
        "--show-text",
        action="store_true",
        help="also show errors in the text of the validation notes, with the ids of documents: the "
        "page is then as private as the notes (one run only)",
    )
    parser.add_argument(
        "--csv", type=Path, metavar="DIR", help="also write every table as NAME.csv to this folder"
    )
    parser.add_argument(
        "--tensorboard",
        type=Path,
        metavar="DIR",
        help="also write the figures of iterations as events of TensorBoard to this folder",
    )
    parser.add_argument(
        "--mlflow",
        type=Path,
        metavar="DIR",
        help="also add the runs to mlflow.db, a store of MLflow, in this folder; MLflow must be "
        "installed",
    )


def add_runs(parser: CommandParser) -> None:
    """Add the runs of a report."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folders; NAME=FOLDER names a run, and runs of one name are shown as their mean "
        "and range. Or the folder of an experiment",
    )


def add_test(parser: CommandParser) -> None:
    """Add the option that shows scores on test documents."""
    parser.add_argument(
        "--test",
        action="store_true",
        help="also show the scores on test documents, which the runs must have",
    )


def main(options: argparse.Namespace) -> None:
    """Write the page, and the tables and events if requested."""
    from bootstrap.cli.console import print_lines, write_file
    from bootstrap.reports.formats.mlflow_store import require_mlflow
    from bootstrap.reports.formats.page import page_of
    from bootstrap.reports.groups import load_groups, parse_groups
    from bootstrap.reports.writing import report_of

    if options.mlflow:
        require_mlflow()  # before anything is written
    experiment = experiment_of(options.runs)
    if experiment:
        report, names, records = _of_experiment(experiment, options)
    else:
        groups = load_groups(parse_groups(options.runs), test=options.test)
        report = report_of(groups, show_text=options.show_text)
        names = [group.name for group in groups]
        records = [record for group in groups for record in group.records]
    write_file(options.output, page_of(report).encode())
    lines = [*report.outcome, "", f"{options.output} shows {', '.join(names)}"]
    if options.csv:
        _write_tables(options.csv, report.tables.values())
        lines.append(f"{options.csv} has {len(report.tables)} tables")
    lines += _exported(options, records)
    print_lines(lines)


def experiment_of(arguments: Sequence[str]) -> ExperimentFolder | None:
    """Return the experiment that a command line names, if it names one instead of runs.

    Raises
    ------
    InputError
        If it names an experiment and others.
    """
    from bootstrap.experiments.folder import ExperimentFolder

    found = [each for name in arguments if (each := ExperimentFolder(Path(name))).has_begun()]
    if found and len(arguments) > 1:
        raise InputError(
            f"{shown(found[0].folder)} is an experiment, which has a page of its own; name it "
            "alone, or name its runs"
        )
    return found[0] if found else None


def refuse_for_experiments(options: argparse.Namespace) -> None:
    """Raise an `InputError` if options that are for runs are set for an experiment."""
    for option in ("test", "show_text"):
        if getattr(options, option, False):
            raise InputError(
                f"--{option.replace('_', '-')} is for runs; an experiment is shown on its test "
                "documents, without any text"
            )


def _of_experiment(
    experiment: ExperimentFolder, options: argparse.Namespace
) -> tuple[Report, list[str], list[RunRecord]]:
    """Return the report of an experiment, its name, and its runs if they are exported."""
    from bootstrap.experiments.results.report import experiment_report
    from bootstrap.reports.groups import RunRecord

    refuse_for_experiments(options)
    report = experiment_report(experiment)
    exported = options.tensorboard or options.mlflow
    records = [
        RunRecord.load(run, f"{variant} {state}-{split}")
        for variant, split, state, run in experiment.runs()
        if exported and run.has_begun() and run.is_finished()
    ]
    return report, [experiment.folder.resolve().name], records


def _exported(options: argparse.Namespace, records: Sequence[RunRecord]) -> list[str]:
    """Write runs for other programs if requested, and describe what was written."""
    from bootstrap.cli.console import write_file
    from bootstrap.reports.formats.event_files import event_files
    from bootstrap.reports.formats.mlflow_store import EXPERIMENT, STORE, save_runs

    lines = []
    if options.tensorboard:
        for name, data in event_files(records).items():
            write_file(options.tensorboard / name, data)
        lines.append(f"{options.tensorboard} has events of TensorBoard")
    if options.mlflow:
        save_runs(records, options.mlflow)
        lines.append(f"{options.mlflow / STORE} has the runs in the experiment {EXPERIMENT}")
    return lines


def _write_tables(folder: Path, tables: Iterable[Table]) -> None:
    """Write tables as CSV files, which replace existing ones."""
    from bootstrap.cli.console import write_file
    from bootstrap.reports.tables import table_csv

    for table in tables:
        write_file(folder / f"{table.name}.csv", table_csv(table).encode())
