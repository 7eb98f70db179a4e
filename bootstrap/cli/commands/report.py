"""``bootstrap report``: one page of one or several runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import CommandParser, Commands, add_command

if TYPE_CHECKING:
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
        "and range",
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
    groups = load_groups(parse_groups(options.runs), test=options.test)
    report = report_of(groups, show_text=options.show_text)
    write_file(options.output, page_of(report).encode())
    lines = [*report.outcome, "", f"{options.output} shows {', '.join(g.name for g in groups)}"]
    if options.csv:
        _write_tables(options.csv, report.tables.values())
        lines.append(f"{options.csv} has {len(report.tables)} tables")
    lines += _exported(options, [record for group in groups for record in group.records])
    print_lines(lines)


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
