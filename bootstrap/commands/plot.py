"""``bootstrap plot``: precision, recall and F1 per iteration."""

from __future__ import annotations

import argparse
import io

from bootstrap.commands.console import say
from bootstrap.plotting import picture_format, plot_runs
from bootstrap.runs import Run, RunError, write_atomically


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
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(options.output, picture.getvalue())
    say([f"{options.output} shows {', '.join(runs)}"])
