"""``bootstrap plot``: a figure of one or several runs."""

from __future__ import annotations

import argparse
import io

from bootstrap.cli.arguments import Commands, add_command, add_output
from bootstrap.cli.commands.report import add_runs, experiment_of
from bootstrap.reports.figures import AXES
from corpus.errors import shown


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "plot", main, "draw a figure of one or several runs")
    add_runs(parser)
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


def main(options: argparse.Namespace) -> None:
    """Draw a figure of runs and write it."""
    from bootstrap.cli.console import print_lines, write_file
    from bootstrap.experiments.results import experiment_report
    from bootstrap.reports.drawing import draw, drawing_format
    from bootstrap.reports.groups import load_groups, parse_groups, require_comparable
    from bootstrap.reports.writing import figure_of, named_figure

    format = drawing_format(options.output)
    if experiment := experiment_of(options):
        report, what = experiment_report(experiment), f"{shown(experiment.folder)} has"
        figure = named_figure(report, options.what, options.axis, what)
        names = [experiment.folder.resolve().name]
    else:
        groups = load_groups(
            parse_groups(options.runs), test=options.test or options.what == "test"
        )
        require_comparable(groups)
        figure = figure_of(groups, options.what, options.axis)
        names = [group.name for group in groups]
    file = io.BytesIO()
    draw(figure, file, format)
    write_file(options.output, file.getvalue())
    print_lines([f"{options.output} shows {', '.join(names)}"])
