"""``bootstrap plot``: precision, recall and F1 of iterations."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from bootstrap.cli.arguments import Commands, add_command, add_output


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "plot", main, "plot precision, recall and F1 of iterations")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run folders")
    parser.add_argument(
        "--axis",
        choices=("iteration", "documents", "tokens"),
        default="iteration",
        help="the horizontal axis: iterations, or the documents or tokens that people annotated "
        "(default: iteration)",
    )
    add_output(parser, "a PNG or SVG file; an existing one is replaced")


def main(options: argparse.Namespace) -> None:
    """Plot runs on one axis and write the figure."""
    from bootstrap.cli.console import print_lines, write_file
    from bootstrap.runs.folder import Run, RunError
    from bootstrap.runs.plotting import plot_format, plot_runs

    format = plot_format(options.output)
    names = [folder.resolve().name for folder in options.runs]
    runs = {}
    for folder, name in zip(options.runs, names, strict=True):
        rows = Run(folder).metrics()
        if not rows:
            raise RunError(f"{folder} has no finished iteration yet")
        runs[name if names.count(name) == 1 else str(folder)] = rows
    figure = io.BytesIO()
    plot_runs(runs, figure, format, options.axis)
    write_file(options.output, figure.getvalue())
    print_lines([f"{options.output} shows {', '.join(runs)}"])
