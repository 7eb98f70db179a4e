"""``bootstrap report`` and ``bootstrap plot``: a page, or a figure, of one or several runs."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bootstrap.cli.console import print_lines, write_file
from bootstrap.experiments.folder import ExperimentFolder
from bootstrap.experiments.results import experiment_report
from bootstrap.reports.drawing import FONT_SIZE, WIDTH, Layout, draw, drawing_format
from bootstrap.reports.exports import (
    EXPERIMENT,
    STORE,
    require_mlflow,
    require_tensorflow,
    save_runs,
    write_events,
)
from bootstrap.reports.figures import Figure, Matrix
from bootstrap.reports.group_report import figure_of, named_figure, report_of
from bootstrap.reports.groups import RunRecord, load_groups, parse_groups, require_comparable
from bootstrap.reports.page import page_of
from bootstrap.reports.tables import table_csv
from corpus.errors import InputError


def main(options: argparse.Namespace) -> None:
    """Write the page, and the tables and events if requested."""
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
    print_lines(*lines, *_exported(options, records))


def plot(options: argparse.Namespace) -> None:
    """Draw a figure of runs and write it."""
    format = drawing_format(options.output)
    if experiment := _experiment_of(options):
        report, what = experiment_report(experiment), f"{experiment.folder} has"
        figure = named_figure(report, options.what, options.axis, what)
        names = [experiment.folder.resolve().name]
    else:
        test = options.test or options.what == "test"
        groups = load_groups(parse_groups(options.runs), test=test)
        require_comparable(groups)
        figure = figure_of(groups, options.what, options.axis)
        names = [group.name for group in groups]
    if options.panel is not None:
        figure = _with_panel(figure, options.panel)
    file = io.BytesIO()
    width, height = options.size or (WIDTH, None)
    layout = Layout(width, height, options.font_size or FONT_SIZE)
    draw(figure, file, format, title=options.title, layout=layout)
    write_file(options.output, file.getvalue())
    print_lines(f"{options.output} shows {', '.join(names)}")


def _with_panel(figure: Figure | Matrix, name: str) -> Figure:
    """Return a figure with one of its plots, whose title it has in the place of a name."""
    panels = {} if isinstance(figure, Matrix) else {panel.title: panel for panel in figure.panels}
    if name not in panels or isinstance(figure, Matrix):
        known = ", ".join(filter(None, panels)) or "only one without a name"
        raise InputError(f"--what {figure.name} has no plot {name}; there are {known}")
    values, panel = replace(figure.values, title=name), replace(panels[name], title="")
    return replace(figure, panels=(panel,), values=values)


def _experiment_of(options: argparse.Namespace) -> ExperimentFolder | None:
    """Return the experiment that a command line names, if it names one instead of runs."""
    folders = [ExperimentFolder(Path(name)) for name in options.runs]
    experiment = next((folder for folder in folders if folder.has_begun()), None)
    if experiment and len(folders) > 1:
        raise InputError(
            f"{experiment.folder} is an experiment, which has a page of its own; name it "
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
    return [
        RunRecord.load(run, f"{variant} {state}-{split}")
        for variant, split, state, run in experiment.runs()
        if run.has_begun() and run.is_finished()
    ]


def _exported(options: argparse.Namespace, records: Sequence[RunRecord]) -> list[str]:
    """Write runs for other programs if requested, and describe what was written."""
    lines = []
    if options.tensorboard:
        write_events(records, options.tensorboard)
        lines.append(f"{options.tensorboard} has events of TensorBoard")
    if options.mlflow:
        save_runs(records, options.mlflow)
        lines.append(f"{options.mlflow / STORE} has the runs in the experiment {EXPERIMENT}")
    return lines
