"""``bootstrap plot``: a figure of one or several runs."""

from __future__ import annotations

import argparse
import io

from bootstrap.cli.arguments import Commands, add_command, add_output
from bootstrap.cli.commands.report import (
    add_runs,
    add_test,
    experiment_of,
    refuse_for_experiments,
)
from bootstrap.reports.figure_names import AXES, FIGURES


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "plot", main, "draw a figure of one or several runs")
    add_runs(parser)
    figures = "; ".join(f"{name}: {meaning}" for name, meaning in FIGURES.items())
    parser.add_argument(
        "--what",
        choices=tuple(FIGURES),
        default="scores",
        metavar="NAME",
        help=f"the figure (default: scores). {figures}",
    )
    parser.add_argument(
        "--axis",
        choices=tuple(AXES),
        default="iteration",
        help="the horizontal axis of scores: iterations, or the documents or tokens that people "
        "annotated (default: iteration)",
    )
    add_test(parser)
    add_output(parser, "a PNG, SVG or PDF file; an existing one is replaced")


def main(options: argparse.Namespace) -> None:
    """Draw a figure of runs and write it."""
    from bootstrap.cli.console import print_lines, write_file
    from bootstrap.experiments.results.report import experiment_figure
    from bootstrap.reports.formats.drawing import draw, drawing_format
    from bootstrap.reports.groups import load_groups, parse_groups, require_comparable
    from bootstrap.reports.writing import figure_of

    format = drawing_format(options.output)
    experiment = experiment_of(options.runs)
    if experiment:
        refuse_for_experiments(options)
        figure = experiment_figure(experiment, options.what, options.axis)
        names = [experiment.folder.resolve().name]
    else:
        groups = parse_groups(options.runs)
        records = load_groups(groups, test=options.test or options.what == "test")
        require_comparable(records)
        figure = figure_of(records, options.what, options.axis)
        names = [group.name for group in groups]
    file = io.BytesIO()
    draw(figure, file, format)
    write_file(options.output, file.getvalue())
    print_lines([f"{options.output} shows {', '.join(names)}"])
