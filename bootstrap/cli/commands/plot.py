"""``bootstrap plot``: precision, recall and F1 per iteration."""

from __future__ import annotations

import argparse
import io

from bootstrap.cli.console import say, write_file
from bootstrap.runs.folder import Run, RunError
from bootstrap.runs.plotting import picture_format, plot_runs


def main(options: argparse.Namespace) -> None:
    """Draw runs on one axis and write the picture."""
    format = picture_format(options.output)
    names = [folder.resolve().name for folder in options.runs]
    runs = {}
    for folder, name in zip(options.runs, names, strict=True):
        rows = Run(folder).metrics()
        if not rows:
            raise RunError(f"{folder} has no closed iteration yet")
        runs[name if names.count(name) == 1 else str(folder)] = rows
    picture = io.BytesIO()
    plot_runs(runs, picture, format)
    write_file(options.output, picture.getvalue())
    say([f"{options.output} shows {', '.join(runs)}"])
