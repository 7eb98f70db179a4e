"""``bootstrap show``: the iterations of a run, or the tables of an experiment."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bootstrap.cli.console import print_lines
from bootstrap.cli.display import (
    outcome_lines,
    print_classes,
    print_experiment,
    print_table,
    short_table,
)
from bootstrap.experiments.folder import ExperimentFolder
from bootstrap.experiments.results import experiment_report, read_results
from bootstrap.reports.comparison import compare
from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import flat_row
from bootstrap.verification import verify


def main(options: argparse.Namespace) -> None:
    """Print a run or an experiment as tables, or as JSON."""
    if options.verify:
        print_lines(f"{verify(options.run):,} files are as they were written")
        return
    experiment = ExperimentFolder(options.run)
    if experiment.has_begun():
        _show_experiment(experiment, as_json=options.json)
    else:
        _show_run(options.run, as_json=options.json)


def _show_experiment(experiment: ExperimentFolder, *, as_json: bool) -> None:
    if not as_json:
        print_experiment(experiment_report(experiment))
        return
    first = next(iter(experiment.plan()["variants"]))
    _print_json([row.to_dict() for row in compare(read_results(experiment), first)])


def _show_run(folder: Path, *, as_json: bool) -> None:
    run = Run(folder)
    rows = run.metrics()
    if as_json:
        _print_json([flat_row(row.to_dict()) for row in rows])
        return
    if not rows:
        print_lines(f"{folder} has no finished iteration yet")
        return
    print_table(short_table(rows))
    print_classes(run)
    print_lines(*outcome_lines(run))


def _print_json(rows: list[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps(rows, indent=1) + "\n")
