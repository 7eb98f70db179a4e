"""The console: the requested output, progress bars, and files named by the user."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import Self

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bootstrap.cli.logs import log_lines, progress_enabled
from corpus.errors import LONGEST_MESSAGE, Problems, escaped, one_line
from corpus.storage.atomic import creation_errors_of, write_atomically
from corpus.tokens.normalisation import UnusualCharacters

# Names may contain markup, which is printed literally.
_INTERVAL = 0.05  # minimum number of seconds between updates of a progress bar
_log = logging.getLogger(__name__)


class SafeConsole(Console):
    """A console that escapes non-printable characters, which could change what is displayed."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escaped(segment.text, kept="\n"), segment.style)


#: Standard output, for the requested output; messages are logged.
output = SafeConsole(
    highlight=False,
    soft_wrap=True,
    markup=False,
    emoji=False,
    width=None if sys.stdout.isatty() else LONGEST_MESSAGE,
)


def print_lines(*lines: str) -> None:
    """Write lines of text to standard output, each in one line."""
    for line in lines:
        output.print(Text(one_line(line)))


def print_report(lines: Iterable[str], target: Path | str) -> None:
    """Write a report on written documents, to standard error if standard output has the texts."""
    if str(target) == "-":
        log_lines(_log, logging.INFO, lines)
    else:
        print_lines(*lines)


def print_figures(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table with a column of names and right-aligned columns of figures."""
    output.print(figures_table(titles, rows))


def figures_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], styles: Iterable[str] = repeat("")
) -> Table:
    """Build a table of names and figures; without any title, it has no header and is indented."""
    headed = any(titles)
    table = Table(box=None, header_style="bold", pad_edge=not headed, show_header=headed)
    for number, title in enumerate(titles):
        table.add_column(one_line(title), justify="right" if number else "left", overflow="fold")
    for row, style in zip(rows, styles, strict=False):
        table.add_row(*map(one_line, row), style=style)
    return table


def write_file(path: Path, data: bytes) -> None:
    """Write a file named by the user, and create its parent folders.

    An existing file is replaced atomically, and is unchanged after a failure. A path that is not a
    regular file, such as a pipe, is written to directly.
    """
    with creation_errors_of(path, "written"):
        # Such as /dev/stdout or /dev/null, which would be replaced if root runs the command.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))  # a link stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, data)


def report_compiling() -> None:
    """Log why the first use on a machine takes longer."""
    _log.info("compiling code for this machine, once: about ten seconds")


def report_problems(problems: Problems | UnusualCharacters) -> None:
    """Log what could not be used as it is in notes, or is read as something else."""
    log_lines(_log, logging.WARNING, problems.lines())


# Progress


class StageProgress:
    """A progress bar of the current stage of a command, on standard error if it is a terminal.

    Parameters
    ----------
    unit : str
        What is counted, in the plural; training counts steps.
    console, enabled : Console and bool, optional
        Another console, and whether to show anything.
    """

    def __init__(
        self,
        unit: str = "documents",
        console: Console | None = None,
        enabled: bool | None = None,
    ) -> None:
        self.bars = progress_bars(console or SafeConsole(stderr=True), enabled)
        self._unit = unit
        self._key: tuple[str, str] | None = None
        self._task: TaskID | None = None
        self._done, self._shown = 0, 0.0

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def report(self, name: str, done: int, total: int, unit: str = "", note: str = "") -> None:
        """Show the progress of a stage.

        A total of 0 is unknown, `unit` replaces the usual one, and `note` follows the amount.
        """
        if self.bars.disable:
            return
        now = time.monotonic()
        if self._task is None or (name, unit) != self._key or done < self._done:
            self.clear()
            steps = not unit and self._unit == "documents" and "training" in name
            self._key = (name, unit)
            self._task = self.bars.add_task(
                name, unit="steps" if steps else unit or self._unit, most="at most " * steps
            )
        elif now - self._shown < _INTERVAL and done != total:
            return
        self._done, self._shown = done, now
        self.bars.update(self._task, completed=done, total=total or None, note=note)

    def clear(self) -> None:
        """Remove the stage from the display."""
        if self._task is not None:
            self.bars.remove_task(self._task)
        self._task, self._done = None, 0


def progress_bars(console: Console, enabled: bool | None = None) -> Progress:
    """Build progress bars with a description and an amount, by default only for a terminal."""
    if enabled is None:
        enabled = console.is_terminal and progress_enabled()
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        _Amount(),
        console=console,
        transient=True,
        disable=not enabled,
    )


class _Amount(ProgressColumn):
    """A column with the field `amount`, or else the amount done, the rate and the time left."""

    def render(self, task: Task) -> Text:
        amount = task.fields.get("amount")
        return Text(", ".join(_parts(task)) if amount is None else amount, style="dim")


def _parts(task: Task) -> Iterable[str]:
    most, elapsed = task.fields["most"], task.elapsed or 0.0
    if task.completed:
        total = "" if task.total is None else f" of {most}{task.total:,.0f}"
        yield f"{task.completed:,.0f}{total} {task.fields['unit']}"
    if task.fields.get("note"):
        yield task.fields["note"]
    # The mean speed, until there is a recent one.
    speed = task.speed or (task.completed / elapsed if elapsed else 0.0)
    if speed:
        yield f"{speed:,.{0 if speed >= 10 else 1}f}/s"
    if speed and task.total is not None:
        yield f"{most}{duration((task.total - task.completed) / speed)} left"
    else:
        yield f"{duration(elapsed)} elapsed"


def duration(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
