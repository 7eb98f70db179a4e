"""The page and the tables of an experiment in files."""

from __future__ import annotations

from pathlib import Path

from bootstrap.experiments.folder import ExperimentFolder
from bootstrap.experiments.results.report import report_of_results
from bootstrap.experiments.results.run_results import read_results
from bootstrap.reports.formats.page import page_of
from bootstrap.reports.tables import table_csv
from corpus.storage.atomic import write_atomically

#: The page in the folder of an experiment.
PAGE = "report.html"


def page_path(experiment: ExperimentFolder) -> Path:
    """Return the page of an experiment."""
    return experiment.folder / PAGE


def write_results(experiment: ExperimentFolder) -> bool:
    """Write the page of the finished runs of an experiment, and its tables.

    Returns
    -------
    bool
        Whether there is a finished run; without one, nothing is written.
    """
    results = read_results(experiment)
    if not results:
        return False
    report = report_of_results(experiment, results)
    write_atomically(page_path(experiment), page_of(report).encode())
    experiment.tables_folder.mkdir(mode=0o700, exist_ok=True)
    written = set()
    for table in report.tables.values():
        path = experiment.tables_folder / f"{table.name}.csv"
        write_atomically(path, table_csv(table).encode("utf-8", "surrogatepass"))
        written.add(path)
    for path in set(experiment.tables_folder.glob("*.csv")) - written:
        path.unlink()  # of variants or numbers that the experiment no longer has
    return True
