"""``bootstrap show``: the iterations of a run."""

from __future__ import annotations

import argparse
import json
import sys

from bootstrap.cli.commands.run import outcome_lines
from bootstrap.cli.console import output, say
from bootstrap.cli.display import class_table, metrics_table
from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import flat_row


def main(options: argparse.Namespace) -> None:
    """Show a run as a table, or as JSON."""
    run = Run(options.run)
    rows = run.metrics()
    if options.json:
        flat = [flat_row(row.to_dict()) for row in rows]
        sys.stdout.write(json.dumps(flat, indent=1) + "\n")
        return
    if not rows:
        say([f"{options.run} has no closed iteration yet"])
        return
    output.print(metrics_table(rows, ()))
    output.print(class_table(rows))
    say(outcome_lines(run))
