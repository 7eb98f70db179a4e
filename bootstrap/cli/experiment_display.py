"""The display of an experiment: its progress on a terminal, and the tables of its results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from bootstrap.cli.console import SafeConsole, figures_table, output, print_lines
from bootstrap.cli.logs import progress_enabled
from bootstrap.cli.progress import duration
from bootstrap.experiments.results.comparison import compare, compare_at
from bootstrap.experiments.results.run_results import read_results
from corpus.errors import shown

if TYPE_CHECKING:
    from rich.table import Table

    from bootstrap.experiments.folder import ExperimentFolder
    from bootstrap.experiments.results.comparison import AtDocuments, Difference, Row, Spread


class ExperimentProgress:
    """Progress bars of all runs together, and of each run that is being carried out.

    They are drawn on standard error, only on a terminal, and removed at the end.

    Parameters
    ----------
    total : int
        The number of runs that are not finished.
    """

    def __init__(self, total: int) -> None:
        console = SafeConsole(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[amount]}", style="dim", markup=False),
            console=console,
            transient=True,
            disable=not (console.is_terminal and progress_enabled()),
        )
        self._total, self._done, self._begin = total, 0, time.monotonic()
        self._all = self._progress.add_task("experiment", total=total or 1, amount="")
        self._tasks: dict[str, TaskID] = {}
        self._count()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def report(self, name: str, stage: str, done: int, total: int) -> None:
        """Show the stage of a run."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(f"  {shown(name)}", amount="")
        amount = f"{stage}, {done:,} of {total:,}" if total else stage
        self._progress.update(self._tasks[name], completed=done, total=total or None, amount=amount)

    def end(self, name: str, *, is_run: bool = True) -> str:
        """Remove a run that has ended, and return how many have and how long the others take."""
        if name in self._tasks:
            self._progress.remove_task(self._tasks.pop(name))
        self._done += is_run
        return self._count()

    def _count(self) -> str:
        amount = f"{self._done:,} of {self._total:,} runs"
        if self._done:
            left = (time.monotonic() - self._begin) / self._done * (self._total - self._done)
            amount += f", about {duration(left)} left" if self._done < self._total else ""
        self._progress.update(self._all, completed=self._done, amount=amount)
        return amount


def results_table(rows: Sequence[Row]) -> Table:
    """Build a table of variants: mean, spread, and paired differences to the first."""
    titles = ("runs", "mean F1", "sd", "lowest", "highest", "P", "R")
    several = len(rows) > 1
    table = figures_table(
        "on test documents",
        *titles,
        *(["difference", "sd", "lowest", "highest", "95 % interval"] if several else []),
    )
    best = max((row.f1.mean for row in rows), default=0)
    for row in rows:
        cells = [str(row.f1.number), *_spread(row.f1)]
        cells += [f"{row.counts.precision:.3f}", f"{row.counts.recall:.3f}"]
        cells += _difference(row.difference) if several else []
        table.add_row(shown(row.variant), *cells, style="bold" if row.f1.mean == best else "")
    return table


def _spread(spread: Spread, sign: str = "") -> list[str]:
    deviation = f"{spread.deviation:.3f}" if spread.number > 1 else ""
    values = (spread.mean, spread.lowest, spread.highest)
    mean, lowest, highest = (f"{round(value, 3) + 0.0:{sign}.3f}" for value in values)
    return [mean, deviation, lowest, highest]


def _difference(difference: Difference | None) -> list[str]:
    if difference is None:
        return [""] * 5
    interval = ""
    if difference.interval:
        interval = " to ".join(f"{round(end, 3) + 0.0:+.3f}" for end in difference.interval)
    return [*_spread(difference.spread, "+"), interval]


def class_results_table(rows: Sequence[Row]) -> Table:
    """Build a table of the mean F1 of each class, by variant."""
    table = figures_table("mean F1 of", *(shown(row.variant) for row in rows))
    for name in rows[0].classes if rows else ():
        table.add_row(shown(name), *(f"{row.classes[name]:.3f}" for row in rows))
    return table


def documents_table(rows: Sequence[AtDocuments]) -> Table:
    """Build a table of variants by the number of documents that people annotated."""
    table = figures_table(
        "annotated documents", "documents", "tokens", "mean F1", "sd", "lowest", "highest"
    )
    for row in rows:
        table.add_row(
            shown(row.variant), f"{row.documents:,.0f}", f"{row.tokens:,.0f}", *_spread(row.f1)
        )
    return table


def print_experiment(experiment: ExperimentFolder) -> None:
    """Print the tables of the finished runs of an experiment.

    Raises
    ------
    RunError
        If the folder is not an experiment, or if a file of it is damaged.
    """
    results = read_results(experiment)
    if not results:
        print_lines(["no run is finished"])
        return
    plan = experiment.plan()
    first = next(iter(plan["variants"]))
    rows = compare(results, first)
    tables = [results_table(rows)]
    if len(rows[0].classes) > 1:
        tables.append(class_results_table(rows))
    if at_documents := compare_at(results, plan["experiment"]["at_documents"]):
        tables.append(documents_table(at_documents))
    for table in tables:
        output.print(table)
        print_lines([""])
    planned = len(list(experiment.runs()))
    print_lines(_explanations(rows, first, len(results), planned))


def _explanations(rows: Sequence[Row], first: str, finished: int, planned: int) -> list[str]:
    """Return what a reader has to know about the tables."""
    lines = []
    if finished < planned:
        lines.append(
            f"{finished:,} of {planned:,} runs are finished. Compare only the means of variants "
            "with the same runs."
        )
    if any(row.difference for row in rows):
        lines.append(
            f"Differences are to {shown(first)}, in pairs of runs on the same documents. The "
            "interval is that of their mean, from resampled test documents."
        )
    elif len(rows) > 1:
        lines.append(f"There are no differences: no run of {shown(first)} is finished.")
    return lines
