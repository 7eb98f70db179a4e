"""Reports of runs in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bootstrap.reports.comparison import comparison_report
from bootstrap.reports.content import Report
from bootstrap.reports.excerpts import excerpt_blocks
from bootstrap.reports.figures import Figure, Matrix
from bootstrap.reports.formats.page import page_of
from bootstrap.reports.groups import GroupRecord, RunGroup, RunRecord, load_groups
from bootstrap.reports.parts import group_scores
from bootstrap.reports.parts.scores import scores_figure
from bootstrap.reports.run_report import run_report
from bootstrap.runs.folder import Run
from corpus.errors import InputError, shown
from corpus.storage.atomic import WriteError, write_atomically, write_errors_of

#: The page in a run folder.
PAGE = "report.html"


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
    first, *others = groups
    if not others and len(first.records) == 1:
        (record,) = first.records
        return run_report(record, excerpt_blocks(record) if show_text else ())
    if show_text:
        raise InputError("--show-text shows the errors of one run; name one run")
    return comparison_report(groups)


def figure_of(groups: Sequence[GroupRecord], name: str, axis: str = "iteration") -> Figure | Matrix:
    """Return a figure of the report of groups of runs.

    Parameters
    ----------
    groups : sequence of GroupRecord
        The groups.
    name : str
        A name of `bootstrap.reports.figure_names.FIGURES`.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis, if the figure is ``"scores"``.

    Raises
    ------
    InputError
        If the report has no such figure.
    """
    first = groups[0].records[0]
    is_one = len(groups) == len(groups[0].records) == 1
    if name == "scores":  # the page has other axes only where they differ
        return scores_figure(first, axis) if is_one else group_scores.scores_figure(groups, axis)
    if axis != "iteration":
        raise InputError(f"--axis {axis} is for --what scores only; the axis of {name} is fixed")
    figures = report_of(groups).figures
    if name not in figures:
        what = f"{shown(first.run.folder)} has" if is_one else "several runs have"
        raise InputError(f"{what} no figure {name}; there are {', '.join(figures)}")
    return figures[name]


def write_report(groups: Sequence[RunGroup], target: Path, *, test: bool = False) -> Report:
    """Write the page of groups of runs.

    Parameters
    ----------
    groups : sequence of RunGroup
        The groups, of which there is at least one.
    target : Path
        The file; an existing one is replaced. Missing folders above it are created.
    test : bool
        Whether scores on test documents are shown.

    Returns
    -------
    Report
        What the page shows.

    Raises
    ------
    RunError
        If a run cannot be read; see `bootstrap.reports.groups.load_groups`.
    InputError
        If the file cannot be written.
    WriteError
        If the file system is full.
    """
    report = report_of(load_groups(groups, test=test))
    page = page_of(report)
    try:
        with write_errors_of(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, page.encode())
    except WriteError:
        raise
    except OSError as error:
        raise InputError(f"{shown(target)} cannot be written: {error.strerror}") from None
    return report


def write_run_page(run: Run) -> None:
    """Write ``report.html`` in the folder of a run that has a closed iteration."""
    record = RunRecord.load(run, run.folder.resolve().name)
    write_atomically(run.folder / PAGE, page_of(run_report(record)).encode())
