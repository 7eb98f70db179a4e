"""The display of runs and experiments: their tables and, on a terminal, their progress."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import TaskID
from rich.table import Table as RichTable
from rich.text import Text

from bootstrap.advice.advice import ANNOTATE, read_advice
from bootstrap.advice.words import advice_lines, missed_lines
from bootstrap.cli.console import (
    SafeConsole,
    StageProgress,
    duration,
    figures_table,
    output,
    print_lines,
    progress_bars,
)
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import classes_table, iterations_table
from bootstrap.reports.tables import Cell, Kind, Table, shown_cell, shown_range
from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import IterationMetrics, beyond_tolerance, f1_of
from bootstrap.runs.outcome import decision_lines, gain_lines
from bootstrap.self_training.stopping import STOPPED, best_iteration
from corpus.errors import number_of, one_line

if TYPE_CHECKING:
    from bootstrap.reports.content import Report

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
    styles = [
        "bold green" if (number, 0) in table.marked else "bold" if row[0] == "all" else ""
        for number, row in enumerate(table.rows)
    ]
    rows = (_shown_row(table, row) for row in table.rows)
    return figures_table([column.title for column in table.columns], rows, styles)


def _shown_row(table: Table, row: Sequence[Cell]) -> list[str]:
    return [_shown(cell, column.kind) for cell, column in zip(row, table.columns, strict=True)]


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
            print_lines("", f"{report.tables[name].title}:")
            print_table(report.tables[name])
    print_lines("", *report.outcome)


# The outcome of a run


def outcome_lines(run: Run) -> list[str]:
    """Report why a run stopped, what it gained, where recall is low and what to do next."""
    rows, outcome = run.metrics(), run.headline()
    reason = STOPPED.get(outcome.stopped or "", "it is not finished")
    advice = advice_lines(read_advice(run.folder), run.folder / ANNOTATE)
    return [
        "",
        f"Stopped: {reason}. Iteration {outcome.iteration} has the best model.",
        *gain_lines(outcome, run.start),
        *run.final_lines(),
        *decision_lines(rows),
        *_listed("Where recall is lost:", missed_lines(run.missed())),
        *_listed("What to do next:", advice),
        *_proportion_lines(beyond_tolerance(rows)),
    ]


def _listed(title: str, lines: Iterable[str]) -> list[str]:
    """Return a title and indented lines, or nothing if there are no lines."""
    items = [f"- {line}" for line in lines]
    return ["", title, *items] if items else []


def _proportion_lines(beyond: Sequence[IterationMetrics]) -> list[str]:
    """Report iterations that did not keep the proportions, the deviation and possible remedies."""
    if not beyond:
        return []
    worst = max(beyond, key=lambda row: row.deviation or 0)
    return [
        "",
        f"! Proportions were not kept in {number_of(len(beyond), 'iteration')} "
        f"({', '.join(str(row.iteration) for row in beyond)}): no selection of a tenth of the "
        "confident documents was within tolerance, so the nearest one was used.",
        f"The worst was iteration {worst.iteration}: {worst.selected:,} of "
        f"{worst.confident:,} selected, {worst.deviation or 0:.1f} times the tolerance in "
        f'"{worst.worst}".',
        "With a lower select.confidence or a larger loop.batch, there are more documents to select "
        "from; select.proportions=false selects the most confident, whatever their proportions.",
    ]


# Progress


class RunDisplay:
    """A live table and progress bars on a terminal, and a line per iteration elsewhere."""

    def __init__(self, console: Console, iterations: int, *, enabled: bool = True) -> None:
        self._console, self._iterations = console, iterations
        self._enabled = enabled
        self._live_table = enabled and console.is_terminal
        self._rows: list[IterationMetrics] = []
        self._ended = False
        self._shown = ""  # the stage that was last drawn
        self._begin = time.monotonic()
        self._stage = StageProgress(console=console, enabled=self._live_table)
        self._whole = self._stage.bars.add_task("whole run", total=iterations + 1, amount="")
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
        self._begin = time.monotonic()
        self._stage.clear()
        if self._live_table:
            self._live.refresh()
        elif self._enabled:
            table = short_table([metrics])
            cells = zip(table.columns, _shown_row(table, table.rows[0]), strict=True)
            line = "  ".join(f"{column.title} {cell}" for column, cell in cells)
            self._console.print(Text(one_line(line)))

    def _renderable(self) -> Group:
        table = rich_table(short_table(self._rows))
        if self._ended:
            return Group(table)
        number, elapsed = len(self._rows), time.monotonic() - self._begin
        seconds = [sum(row.seconds.values()) for row in self._rows]
        amount = f"iteration {number} of at most {self._iterations}"
        if (own := time_left(seconds[:number], number, elapsed)) is not None:
            amount += f", about {duration(own)} left in it"
        if (left := time_left(seconds, self._iterations, elapsed)) is not None:
            amount += f", at most about {duration(left)} left"
        self._stage.bars.update(self._whole, completed=number, amount=amount)
        return Group(table, Text(""), self._stage.bars)


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
        self._bars = progress_bars(SafeConsole(stderr=True))
        self._total, self._done, self._begin = total, 0, time.monotonic()
        self._all = self._bars.add_task("experiment", total=total or 1, amount="")
        self._tasks: dict[str, TaskID] = {}
        self._count()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def report(self, name: str, stage: str, done: int, total: int) -> None:
        """Show the stage of a run."""
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(f"  {name}", amount="")
        amount = f"{stage}, {done:,} of {total:,}" if total else stage
        self._bars.update(self._tasks[name], completed=done, total=total or None, amount=amount)

    def end(self, name: str, *, is_run: bool = True) -> str:
        """Remove a run that has ended, and return how many have and how long the others take."""
        if name in self._tasks:
            self._bars.remove_task(self._tasks.pop(name))
        self._done += is_run
        return self._count()

    def _count(self) -> str:
        amount = f"{self._done:,} of {self._total:,} runs"
        if self._done:
            left = (time.monotonic() - self._begin) / self._done * (self._total - self._done)
            amount += f", about {duration(left)} left" if self._done < self._total else ""
        self._bars.update(self._all, completed=self._done, amount=amount)
        return amount
