"""The display of a run: a table of its iterations and, on a terminal, its progress."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from bootstrap.cli.console import SafeTable, figures_table
from bootstrap.cli.progress import Stage, duration, stage_progress
from bootstrap.runs.metrics import EntityScores, IterationMetrics, f1_of
from bootstrap.self_training.iteration import best_iteration
from corpus.errors import shown

_REFRESH = 4  # times a second
_WIDTH, _CLASS_WIDTH = 75, 24  # width of the table without classes, and of each class


class RunDisplay:
    """A live table and progress bars on a terminal, and a line per iteration elsewhere.

    Parameters
    ----------
    console : rich.console.Console
        The console of the display.
    classes : sequence of str
        The classes with columns of their own.
    iterations : int
        Maximum number of iterations after iteration 0.
    enabled : bool
        Whether to show anything.
    active : bool
        Whether documents are annotated in iterations, whose number is shown.
    """

    def __init__(
        self,
        console: Console,
        classes: Sequence[str],
        iterations: int,
        *,
        enabled: bool = True,
        active: bool = False,
    ) -> None:
        self._active = active
        self._console = console
        self._enabled = enabled
        self._live_table = enabled and console.is_terminal
        self._classes = tuple(classes)
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
            transient=False,
        )

    def __enter__(self) -> Self:
        if self._live_table:
            self._live.start()
        else:
            self._print(_titles(self._classes, active=self._active))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        else:
            self._print(_cells(metrics, self._classes, active=self._active))

    def _print(self, cells: Sequence[str]) -> None:
        if self._enabled:
            line = "  ".join(cell.rjust(max(9, len(cell))) for cell in cells)
            self._console.print(Text(line))

    def _renderable(self) -> Group:
        brief = self._console.width < _WIDTH + _CLASS_WIDTH * len(self._classes)
        table = metrics_table(self._rows, self._classes, brief=brief)
        if self._ended:
            return Group(table)
        return Group(table, Text(""), self._stage.progress, self._run.updated())


class _RunProgress:
    """The progress of a whole run, with an upper bound on the time left.

    Parameters
    ----------
    console : rich.console.Console
        The console of the display.
    iterations : int
        Maximum number of iterations after iteration 0.
    """

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

    Parameters
    ----------
    seconds : sequence of float
        The durations of the finished iterations, from iteration 0.
    iterations : int
        Maximum number of iterations after iteration 0.
    elapsed : float
        The seconds since the last one ended.

    Returns
    -------
    float or None
        None before iteration 1 has ended: iteration 0 tags no batch and is shorter.
    """
    if len(seconds) < 2:
        return None
    mean = sum(seconds[1:]) / (len(seconds) - 1)
    following = iterations + 1 - len(seconds)
    return max(mean * following - min(elapsed, mean), 0.0)


def metrics_table(
    rows: Sequence[IterationMetrics], classes: Sequence[str], *, brief: bool = False
) -> Table:
    """Build a table of iterations.

    Parameters
    ----------
    rows : sequence of IterationMetrics
        The iterations.
    classes : sequence of str
        The classes with columns of their own.
    brief : bool
        Whether to show only F1 of each class, for narrow terminals.
    """
    table = SafeTable(box=None, header_style="bold", pad_edge=False)
    active = any(row.queried for row in rows)
    for title in _titles(classes, brief, active=active):
        table.add_column(title, justify="right", no_wrap=True)
    best = best_iteration(f1_of(rows)) if rows else 0
    for index, row in enumerate(rows):
        style = "bold green" if index == best else ""
        table.add_row(*_cells(row, classes, brief, active=active), style=style)
    return table


def class_table(rows: Sequence[IterationMetrics]) -> Table:
    """Build a table of the scores of each class in iteration 0 and in the best iteration.

    Parameters
    ----------
    rows : sequence of IterationMetrics
        The iterations, at least one.
    """
    first, best = rows[0], rows[best_iteration(f1_of(rows))]
    table = figures_table("validation", "first P", "R", "F1", "best P", "R", "F1")
    for name in first.classes:
        figures = [figure for row in (first, best) for figure in _figures(row.classes[name])]
        table.add_row(shown(name), *figures)
    table.add_row("all", *_figures(first), *_figures(best), style="bold")
    return table


def _titles(classes: Sequence[str], brief: bool = False, *, active: bool = False) -> list[str]:
    figures = [
        title
        for name in classes
        for title in ([f"{shown(name)} F1"] if brief else [f"{shown(name)} P", "R", "F1"])
    ]
    return [
        "it." if brief else "iteration",
        *(["annotated"] if active else []),
        "selected",
        "dev." if brief else "deviation",
        *figures,
        "all P",
        "R",
        "F1",
        "seconds",
        "stopped",
    ]


def _cells(
    row: IterationMetrics, classes: Sequence[str], brief: bool = False, *, active: bool = False
) -> list[str]:
    seconds = sum(row.seconds.values())
    return [
        str(row.iteration),
        *([f"{row.human_documents:,}"] if active else []),
        f"{row.selected:,}",
        deviation_cell(row),
        *(cell for name in classes for cell in _figures(row.classes[name])[-1 if brief else 0 :]),
        *_figures(row),
        f"{seconds:.1f}",
        row.stopped or "",
    ]


def deviation_cell(row: IterationMetrics) -> str:
    """Format the deviation of an iteration's selection, if there was one."""
    return "" if row.deviation is None else f"{row.deviation:.2f}"


def _figures(scores: EntityScores | IterationMetrics) -> list[str]:
    return [f"{value:.3f}" for value in (scores.precision, scores.recall, scores.f1)]
