"""Reports of runs in files."""

from __future__ import annotations

from bootstrap.reports.groups import RunRecord
from bootstrap.reports.page import page_of
from bootstrap.reports.run_report import run_report
from bootstrap.runs.folder import Run
from corpus.storage import write_atomically

#: The page in a run folder.
PAGE = "report.html"


def write_run_page(run: Run) -> None:
    """Write ``report.html`` in the folder of a run that has a closed iteration."""
    record = RunRecord.load(run, run.folder.resolve().name)
    write_atomically(run.folder / PAGE, page_of(run_report(record)).encode())
