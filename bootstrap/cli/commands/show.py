"""``bootstrap show``: the iterations of a run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bootstrap.cli.arguments import Commands, add_command


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "show", main, "show the iterations of a run")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run folder")
    parser.add_argument(
        "--json", action="store_true", help="print a JSON list with an object per iteration"
    )


def main(options: argparse.Namespace) -> None:
    """Print a run as a table, or as JSON."""
    from bootstrap.cli.commands.run import outcome_lines
    from bootstrap.cli.console import output, print_lines
    from bootstrap.cli.display import class_table, metrics_table
    from bootstrap.runs.folder import Run
    from bootstrap.runs.metrics import flat_row

    run = Run(options.run)
    rows = run.metrics()
    if options.json:
        flat = [flat_row(row.to_dict()) for row in rows]
        sys.stdout.write(json.dumps(flat, indent=1) + "\n")
        return
    if not rows:
        print_lines([f"{options.run} has no finished iteration yet"])
        return
    output.print(metrics_table(rows, ()))
    output.print(class_table(rows))
    print_lines(outcome_lines(run))
