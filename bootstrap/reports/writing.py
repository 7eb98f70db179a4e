"""Reports of runs, as pages and figures."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bootstrap.reports.content import Report
from bootstrap.reports.figures import Figure, Matrix
from bootstrap.reports.group_report import group_report, scores_of_groups
from bootstrap.reports.groups import GroupRecord, RunRecord
from bootstrap.reports.page import page_of
from bootstrap.reports.parts.excerpts import excerpt_blocks
from bootstrap.reports.parts.scores import scores_figure
from bootstrap.reports.run_report import run_report
from bootstrap.runs.folder import Run
from corpus.errors import InputError, shown
from corpus.storage.atomic import write_atomically

#: The page in a run folder, and the seconds between two pages of a run that goes on.
PAGE, PAGE_SECONDS = "report.html", 20


def report_of(groups: Sequence[GroupRecord], *, show_text: bool = False) -> Report:
    """Build the report of one run, or that of several on one axis.

    Parameters
    ----------
    groups : sequence of GroupRecord
        The groups, of which there is at least one.
    show_text : bool
        Whether errors are shown in the text of notes; of one run only.

    Raises
    ------
    InputError
        If the text of several runs is requested, or if it cannot be read.
    """
    if record := _only_record(groups):
        return run_report(record, excerpt_blocks(record) if show_text else ())
    if show_text:
        raise InputError("--show-text shows the errors of one run; name one run")
    return group_report(groups)


def _only_record(groups: Sequence[GroupRecord]) -> RunRecord | None:
    return groups[0].records[0] if len(groups) == len(groups[0].records) == 1 else None


def figure_of(groups: Sequence[GroupRecord], name: str, axis: str = "iteration") -> Figure | Matrix:
    """Return a figure of the report of groups of runs.

    Parameters
    ----------
    groups : sequence of GroupRecord
        The groups.
    name : str
        The name of a figure.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis, if the figure is ``"scores"``.

    Raises
    ------
    InputError
        If the report has no such figure.
    """
    record = _only_record(groups)
    if name == "scores":  # the page has other axes only where they differ
        return scores_figure(record, axis) if record else scores_of_groups(groups, axis)
    what = f"{shown(record.run.folder)} has" if record else "several runs have"
    return named_figure(report_of(groups), name, axis, what)


def named_figure(report: Report, name: str, axis: str, what: str) -> Figure | Matrix:
    """Return a figure of a report; see `figure_of`. `what` begins the line of an error."""
    if axis != "iteration" and name != "scores":
        raise InputError(f"--axis {axis} is for --what scores only; the axis of {name} is fixed")
    wanted = name if axis == "iteration" else f"{name}-{axis}"
    if wanted not in report.figures:
        raise InputError(f"{what} no figure {shown(wanted)}; there are {', '.join(report.figures)}")
    return report.figures[wanted]


def write_run_page(run: Run) -> None:
    """Write ``report.html`` in the folder of a run that has a closed iteration.

    That of a run that goes on stays as it is for `PAGE_SECONDS`: iterations may be shorter.
    """
    record, page = RunRecord.load(run, run.folder.resolve().name), run.folder / PAGE
    if record.is_finished or not page.exists() or time.time() - page.stat().st_mtime > PAGE_SECONDS:
        write_atomically(page, page_of(run_report(record)).encode())
