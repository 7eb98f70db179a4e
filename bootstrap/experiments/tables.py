"""The tables of an experiment as CSV files: a row for each run, and one for each variant."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from bootstrap.experiments.comparison import Row, compare
from bootstrap.experiments.folder import ExperimentFolder
from bootstrap.experiments.results import RunResult
from corpus.storage import write_atomically

#: The files in the folder of an experiment.
RESULTS_FILE, SUMMARY_FILE = "results.csv", "summary.csv"


def write_tables(experiment: ExperimentFolder, results: Sequence[RunResult]) -> None:
    """Write ``results.csv`` and ``summary.csv`` into the folder of an experiment.

    Parameters
    ----------
    experiment : ExperimentFolder
        The experiment.
    results : sequence of RunResult
        The finished runs, at least one.
    """
    for name, rows in (
        (RESULTS_FILE, result_rows(results)),
        (SUMMARY_FILE, summary_rows(compare(results))),
    ):
        write_atomically(experiment.folder / name, _csv(rows))


def _csv(rows: Sequence[dict[str, Any]]) -> bytes:
    names = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode("utf-8", "surrogatepass")


def result_rows(results: Sequence[RunResult]) -> list[dict[str, Any]]:
    """Return a row of figures for each run, as for a CSV file."""
    return [
        {
            "variant": result.variant,
            "split": result.split,
            "random_state": result.random_state,
            "precision": result.counts.precision,
            "recall": result.counts.recall,
            "f1": result.f1,
            "iteration": result.best,
            "iterations": result.points[-1].iteration,
            "documents": result.points[-1].documents,
            "tokens": result.points[-1].tokens,
            "seconds": round(result.seconds, 1),
            **{f"f1_{name}": counts.f1 for name, counts in sorted(result.classes().items())},
        }
        for result in results
    ]


def summary_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the figures of each variant, as for a CSV file."""
    return [_summary_row(row) for row in rows]


def _summary_row(row: Row) -> dict[str, Any]:
    difference = row.difference
    low, high = (difference.interval if difference else None) or (None, None)
    return {
        "variant": row.variant,
        "runs": row.f1.number,
        "f1_mean": row.f1.mean,
        "f1_deviation": row.f1.deviation,
        "f1_lowest": row.f1.lowest,
        "f1_highest": row.f1.highest,
        "precision": row.counts.precision,
        "recall": row.counts.recall,
        "documents": row.documents,
        "tokens": row.tokens,
        "difference_mean": difference.spread.mean if difference else None,
        "difference_deviation": difference.spread.deviation if difference else None,
        "difference_lowest": difference.spread.lowest if difference else None,
        "difference_highest": difference.spread.highest if difference else None,
        "interval_low": low,
        "interval_high": high,
        **{f"f1_{name}": f1 for name, f1 in row.classes.items()},
    }
