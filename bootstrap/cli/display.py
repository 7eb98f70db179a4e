"""The display of runs and experiments: their tables and, on a terminal, their progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table as RichTable
from rich.text import Text

from bootstrap.cli.console import SafeConsole, figures_table, output, print_lines
from bootstrap.cli.logs import progress_enabled
from bootstrap.cli.progress import Stage, duration, stage_progress
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import classes_table, iterations_table
from bootstrap.reports.tables import Cell, Kind, Table, shown_cell, shown_range
from bootstrap.runs.metrics import IterationMetrics, f1_of
from bootstrap.self_training.stopping import best_iteration
from corpus.errors import escaped, shown

if TYPE_CHECKING:
    from bootstrap.reports.content import Report
    from bootstrap.runs.folder import Run

_REFRESH = 4  # times a second
#: The tables of the page of an experiment that are printed.
_PRINTED = ("variants", "classes", "scores-documents")


# Tables


def short_table(rows: Sequence[IterationMetrics]) -> Table:
    """Build the table of iterations with the columns that a terminal has room for."""
    table = iterations_table(rows, best_iteration(f1_of(rows)) if rows else None)
    scores = [column.title for column in table.columns if column.title.endswith("F1")]
    titles = ("iteration", "annotated", "selected", "deviation", "precision", "recall", *scores)
    return table.only(*titles, "seconds").without_empty()


def print_table(table: Table) -> None:
    """Print a table of a report."""
    output.print(rich_table(table))


def rich_table(table: Table) -> RichTable:
    """Return a table of a report for a terminal; rows that are marked stand out."""
    shown = figures_table(*(column.title for column in table.columns))
    for number, row in enumerate(table.rows):
        cells = [_shown(cell, column.kind) for cell, column in zip(row, table.columns, strict=True)]
        style = "bold green" if (number, 0) in table.marked else ""
        shown.add_row(*cells, style=style or ("bold" if row[0] == "all" else ""))
    return shown


def _shown(cell: Cell, kind: Kind) -> str:
    ends = shown_range(cell)
    return f"{shown_cell(cell, kind)} ({ends})" if ends else shown_cell(cell, kind)


def print_classes(run: Run) -> None:
    """Print the scores of each class in the best iteration of a run."""
    print_table(classes_table(RunRecord.load(run, "")))


def print_experiment(report: Report) -> None:
    """Print the tables of an experiment, and what they say."""
    for name in _PRINTED:
        if name in report.tables:
            print_lines(["", f"{report.tables[name].title}:"])
            print_table(report.tables[name])
    print_lines(["", *report.outcome])


# Progress


class RunDisplay:
    """A live table and progress bars on a terminal, and a line per iteration elsewhere."""

    def __init__(self, console: Console, iterations: int, *, enabled: bool = True) -> None:
        self._console = console
        self._enabled = enabled
        self._live_table = enabled and console.is_terminal
        self._rows: list[IterationMetrics] = []
        self._ended = False
        self._shown = ""  # the stage that was last drawn
        self._stage = Stage(stage_progress(console, enabled=self._live_table))
        self._run = _RunProgress(console, iterations)
        self._live = Live(
            console=console,
            get_renderable=self._renderable,
            refresh_per_second=_REFRESH,
            auto_refresh=self._live_table,
        )

    def __enter__(self) -> Self:
        if self._live_table:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True  # the table remains
        if self._live_table:
            self._live.stop()

    def report(self, stage: str, done: int, total: int) -> None:
        """Show progress within an iteration."""
        name = f"iteration {len(self._rows)}: {stage}"
        self._stage.report(name, done, total)
        if self._live_table and name != self._shown:
            self._shown = name  # a short stage may end before the next regular refresh
            self._live.refresh()

    def add(self, metrics: IterationMetrics) -> None:
        """Show a finished iteration."""
        self._rows.append(metrics)
        self._stage.clear()
        self._run.add(metrics)
        if self._live_table:
            self._live.refresh()
        elif self._enabled:
            table = short_table([metrics])
            cells = zip(table.columns, table.rows[0], strict=True)
            line = "  ".join(
                f"{column.title} {_shown(cell, column.kind)}" for column, cell in cells
            )
            self._console.print(Text(escaped(line)))

    def _renderable(self) -> Group:
        table = rich_table(short_table(self._rows))
        if self._ended:
            return Group(table)
        return Group(table, Text(""), self._stage.progress, self._run.updated())


class _RunProgress:
    """The progress of a whole run, with an upper bound on the time left."""

    def __init__(self, console: Console, iterations: int) -> None:
        self._iterations = iterations
        self._seconds: list[float] = []
        self._begin = time.monotonic()
        self._progress = Progress(
            TextColumn("whole run"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[left]}", style="dim"),
            console=console,
        )
        self._task = self._progress.add_task("run", total=iterations + 1, left="")

    def add(self, metrics: IterationMetrics) -> None:
        """Count a finished iteration."""
        self._seconds.append(sum(metrics.seconds.values()))
        self._begin = time.monotonic()

    def updated(self) -> Progress:
        """Return the updated progress bar."""
        number, elapsed = len(self._seconds), time.monotonic() - self._begin
        left = f"iteration {number} of at most {self._iterations}"
        if (seconds := time_left(self._seconds, self._iterations, elapsed)) is not None:
            left += f", at most about {duration(seconds)} left"
        self._progress.update(self._task, completed=number, left=left)
        return self._progress


def time_left(seconds: Sequence[float], iterations: int, elapsed: float = 0) -> float | None:
    """Estimate the seconds until a run ends, if it does not stop early.

    `seconds` are the durations of the finished iterations, and `elapsed` the time since the last.
    """
    if len(seconds) < 2:  # iteration 0 tags no batch and is shorter
        return None
    mean = sum(seconds[1:]) / (len(seconds) - 1)
    following = iterations + 1 - len(seconds)
    return max(mean * following - min(elapsed, mean), 0.0)


class ExperimentProgress:
    """Progress bars of all runs together and of each current run, on a terminal only."""

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

    def __exit__(self, *_: object) -> None:
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
