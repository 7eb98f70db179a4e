"""What a run shows while it goes on: a table of its iterations and a line of what is being done."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from bootstrap.cli.progress import Stage
from bootstrap.iteration import best_iteration
from bootstrap.runs.metrics import EntityScores, IterationMetrics, f1_of
from corpus.errors import shown

_REFRESH = 4  # times a second
_WIDTH, _CLASS_WIDTH = 75, 24  # columns that the table needs, and with every class more


class RunDisplay:
    """A live table on a terminal, and lines where the output goes elsewhere.

    Parameters
    ----------
    console : rich.console.Console
        Where to show it.
    classes : sequence of str
        The classes with columns of their own.
    """

    def __init__(self, console: Console, classes: Sequence[str]) -> None:
        self._console = console
        self._classes = tuple(classes)
        self._rows: list[IterationMetrics] = []
        self._stage = Stage("starting", 0)
        self._live = Live(
            console=console,
            get_renderable=self._picture,
            refresh_per_second=_REFRESH,
            auto_refresh=console.is_terminal,
            transient=False,
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        else:
            self._console.print(_line(_titles(self._classes)), highlight=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stage = Stage("", 0)
        if self._console.is_terminal:
            self._live.stop()

    def report(self, stage: str, done: int, total: int) -> None:
        """Show progress within an iteration."""
        iteration = len(self._rows)
        name = f"iteration {iteration}: {stage}"
        if name != self._stage.name or done < self._stage.done:
            self._stage = Stage(name, total)
        self._stage.done, self._stage.total = done, total

    def add(self, metrics: IterationMetrics) -> None:
        """Show an iteration that is done."""
        self._rows.append(metrics)
        self._stage = Stage(f"iteration {len(self._rows)}: reading", 0)
        if self._console.is_terminal:
            self._live.refresh()
        else:
            self._console.print(_line(_cells(metrics, self._classes)), highlight=False)

    def _picture(self) -> Group:
        brief = self._console.width < _WIDTH + _CLASS_WIDTH * len(self._classes)
        table = metrics_table(self._rows, self._classes, brief=brief)
        return Group(table, self._stage.text())


def metrics_table(
    rows: Sequence[IterationMetrics], classes: Sequence[str], *, brief: bool = False
) -> Table:
    """Make a table of iterations.

    Parameters
    ----------
    rows : sequence of IterationMetrics
        The iterations.
    classes : sequence of str
        The classes with columns of their own.
    brief : bool
        Whether to show only F1 of those, for narrow terminals.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in _titles(classes, brief):
        table.add_column(title, justify="right", no_wrap=True)
    best = best_iteration(f1_of(rows)) if rows else 0
    for index, row in enumerate(rows):
        table.add_row(*_cells(row, classes, brief), style="bold green" if index == best else "")
    return table


def class_table(rows: Sequence[IterationMetrics]) -> Table:
    """Make a table of the classes: the model of iteration 0 beside the best iteration.

    Parameters
    ----------
    rows : sequence of IterationMetrics
        The iterations, at least one.
    """
    first, best = rows[0], rows[best_iteration(f1_of(rows))]
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("validation", overflow="fold")
    for title in ("first P", "R", "F1", "best P", "R", "F1"):
        table.add_column(title, justify="right", overflow="fold")
    for name in first.classes:
        figures = [figure for row in (first, best) for figure in _figures(row.classes[name])]
        table.add_row(shown(name), *figures)
    table.add_row("all", *_figures(first), *_figures(best), style="bold")
    return table


def _titles(classes: Sequence[str], brief: bool = False) -> list[str]:
    figures = [
        title
        for name in classes
        for title in ([f"{shown(name)} F1"] if brief else [f"{shown(name)} P", "R", "F1"])
    ]
    return [
        "it." if brief else "iteration",
        "selected",
        "dev." if brief else "deviation",
        *figures,
        "all P",
        "R",
        "F1",
        "seconds",
        "stopped",
    ]


def _cells(row: IterationMetrics, classes: Sequence[str], brief: bool = False) -> list[str]:
    seconds = sum(row.seconds.values())
    return [
        str(row.iteration),
        f"{row.selected:,}",
        deviation_cell(row),
        *(cell for name in classes for cell in _figures(row.classes[name])[-1 if brief else 0 :]),
        *_figures(row),
        f"{seconds:.1f}",
        row.stopped or "",
    ]


def deviation_cell(row: IterationMetrics) -> str:
    """Write the deviation of an iteration's selection, where there was one."""
    return "" if row.deviation is None else f"{row.deviation:.2f}"


def _figures(scores: EntityScores | IterationMetrics) -> list[str]:
    return [f"{value:.3f}" for value in (scores.precision, scores.recall, scores.f1)]


def _line(cells: Sequence[str]) -> str:
    return "  ".join(cell.rjust(max(9, len(cell))) for cell in cells)
