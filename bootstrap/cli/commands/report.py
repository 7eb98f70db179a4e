"""``bootstrap report`` and ``bootstrap plot``: a page, or a figure, of one or several runs."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import CommandParser, Commands, add_command, add_output
from bootstrap.reports.figures import AXES
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from bootstrap.experiments.folder import ExperimentFolder
    from bootstrap.reports.groups import RunRecord

_OUTPUT = Path("report.html")


def register(commands: Commands) -> None:
    """Add the commands."""
    _register_report(add_command(commands, "report", main, "show one or several runs on one page"))
    _register_plot(add_command(commands, "plot", plot, "draw a figure of one or several runs"))


def _register_report(parser: CommandParser) -> None:
    _add_runs(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=_OUTPUT,
        metavar="FILE",
        help=f"the page; an existing one is replaced (default: {_OUTPUT})",
    )
    parser.add_argument(
        "--show-text",
        action="store_true",
        help="also show errors in the text of the validation notes, with the ids of documents: the "
        "page is then as private as the notes (one run only)",
    )
    for name, what in {
        "csv": "write every table as NAME.csv to this folder",
        "tensorboard": "write the figures of iterations as events of TensorBoard to this folder; "
        "TensorFlow must be installed",
        "mlflow": "add the runs to mlflow.db, a store of MLflow, in this folder; MLflow must be "
        "installed",
    }.items():
        parser.add_argument(f"--{name}", type=Path, metavar="DIR", help=f"also {what}")


def _register_plot(parser: CommandParser) -> None:
    _add_runs(parser)
    parser.add_argument(
        "--what",
        default="scores",
        metavar="NAME",
        help="a figure of the page, such as errors (default: scores); for an unknown name, the "
        "names of all figures are listed",
    )
    parser.add_argument(
        "--axis",
        choices=tuple(AXES),
        default="iteration",
        help="the horizontal axis of scores: iterations, or the documents or tokens that people "
        "annotated (default: iteration)",
    )
    add_output(parser, "a PNG, SVG or PDF file; an existing one is replaced")


def _add_runs(parser: CommandParser) -> None:
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folders; NAME=FOLDER names a run, and runs of one name are shown as their mean "
        "and range. Or the folder of an experiment",
    )
    parser.add_argument(
        "--test",
        action="store_true",
        help="also show the scores on test documents, which the runs must have",
    )


def main(options: argparse.Namespace) -> None:
    """Write the page, and the tables and events if requested."""
    from bootstrap.cli.console import print_lines, write_file
    from bootstrap.experiments.results import experiment_report
    from bootstrap.reports.exports import require_mlflow, require_tensorflow
    from bootstrap.reports.groups import load_groups, parse_groups
    from bootstrap.reports.page import page_of
    from bootstrap.reports.tables import table_csv
    from bootstrap.reports.writing import report_of

    if options.mlflow:
        require_mlflow()  # before anything is written
    if options.tensorboard:
        require_tensorflow()
    if experiment := _experiment_of(options):
        report, names = experiment_report(experiment), [experiment.folder.resolve().name]
        records = _finished_runs(experiment) if options.tensorboard or options.mlflow else []
    else:
        groups = load_groups(parse_groups(options.runs), test=options.test)
        report = report_of(groups, show_text=options.show_text)
        names = [group.name for group in groups]
        records = [record for group in groups for record in group.records]
    write_file(options.output, page_of(report).encode())
    lines = [*report.outcome, "", f"{options.output} shows {', '.join(names)}"]
    if options.csv:
        for name, table in report.tables.items():
            write_file(options.csv / f"{name}.csv", table_csv(table).encode())
        lines.append(f"{options.csv} has {len(report.tables)} tables")
    print_lines([*lines, *_exported(options, records)])


def plot(options: argparse.Namespace) -> None:
    """Draw a figure of runs and write it."""
    from bootstrap.cli.console import print_lines, write_file
    from bootstrap.experiments.results import experiment_report
    from bootstrap.reports.drawing import draw, drawing_format
    from bootstrap.reports.groups import load_groups, parse_groups, require_comparable
    from bootstrap.reports.writing import figure_of, named_figure

    format = drawing_format(options.output)
    if experiment := _experiment_of(options):
        report, what = experiment_report(experiment), f"{shown(experiment.folder)} has"
        figure = named_figure(report, options.what, options.axis, what)
        names = [experiment.folder.resolve().name]
    else:
        test = options.test or options.what == "test"
        groups = load_groups(parse_groups(options.runs), test=test)
        require_comparable(groups)
        figure = figure_of(groups, options.what, options.axis)
        names = [group.name for group in groups]
    file = io.BytesIO()
    draw(figure, file, format)
    write_file(options.output, file.getvalue())
    print_lines([f"{options.output} shows {', '.join(names)}"])


def _experiment_of(options: argparse.Namespace) -> ExperimentFolder | None:
    """Return the experiment that a command line names, if it names one instead of runs."""
    from bootstrap.experiments.folder import ExperimentFolder

    folders = [ExperimentFolder(Path(name)) for name in options.runs]
    experiment = next((folder for folder in folders if folder.has_begun()), None)
    if experiment and len(folders) > 1:
        raise InputError(
            f"{shown(experiment.folder)} is an experiment, which has a page of its own; name it "
            "alone, or name its runs"
        )
    for option in ("test", "show_text"):
        if experiment and getattr(options, option, False):
            raise InputError(
                f"--{option.replace('_', '-')} is for runs; an experiment is shown on its test "
                "documents, without any text"
            )
    return experiment


def _finished_runs(experiment: ExperimentFolder) -> list[RunRecord]:
    from bootstrap.reports.groups import RunRecord

    return [
        RunRecord.load(run, f"{variant} {state}-{split}")
        for variant, split, state, run in experiment.runs()
        if run.has_begun() and run.is_finished()
    ]


def _exported(options: argparse.Namespace, records: Sequence[RunRecord]) -> list[str]:
    """Write runs for other programs if requested, and describe what was written."""
    from bootstrap.reports.exports import EXPERIMENT, STORE, save_runs, write_events

    lines = []
    if options.tensorboard:
        write_events(records, options.tensorboard)
        lines.append(f"{options.tensorboard} has events of TensorBoard")
    if options.mlflow:
        save_runs(records, options.mlflow)
        lines.append(f"{options.mlflow / STORE} has the runs in the experiment {EXPERIMENT}")
    return lines
