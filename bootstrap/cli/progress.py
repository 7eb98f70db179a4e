"""Progress bars on a terminal."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from bootstrap.cli.console import SafeConsole
from bootstrap.cli.logs import progress_enabled

_INTERVAL = 0.05  # minimum number of seconds between updates


class Stage:
    """The one task of a display of `stage_progress`, replaced when another stage begins.

    `unit` names what is counted, in the plural; training counts steps.
    """

    def __init__(self, progress: Progress, unit: str = "documents") -> None:
        self.progress = progress
        self._unit = unit
        self._key: tuple[str, str] | None = None
        self._task: TaskID | None = None
        self._done, self._shown = 0, 0.0

    def report(self, name: str, done: int, total: int, unit: str = "") -> None:
        """Show the progress of a stage; a total of 0 is unknown, `unit` replaces the usual one."""
        if self.progress.disable:
            return
        key = (name, unit)
        now = time.monotonic()
        if self._task is None or key != self._key or done < self._done:
            self.clear()
            steps = not unit and self._unit == "documents" and "training" in name
            self._key = key
            self._task = self.progress.add_task(
                name, unit="steps" if steps else unit or self._unit, at_most=steps
            )
        elif now - self._shown < _INTERVAL and done != total:
            return
        self._done, self._shown = done, now
        self.progress.update(self._task, completed=done, total=total or None)

    def clear(self) -> None:
        """Remove the stage from the display."""
        if self._task is not None:
            self.progress.remove_task(self._task)
        self._task, self._done = None, 0


class StageProgress(Stage):
    """A progress display of the stages of a command, on standard error if it is a terminal."""

    def __init__(self, unit: str = "documents") -> None:
        console = SafeConsole(stderr=True)
        enabled = console.is_terminal and progress_enabled()
        super().__init__(stage_progress(console, enabled=enabled), unit)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()


def stage_progress(console: Console, *, enabled: bool) -> Progress:
    """Build a display of one stage: description, bar, amount, rate and time left."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        _Amount(),
        console=console,
        transient=True,
        disable=not enabled,
    )


class _Amount(ProgressColumn):
    """A column with the amount done, the rate, and the time left or elapsed."""

    def render(self, task: Task) -> Text:
        return Text(", ".join(_parts(task)), style="dim")


def _parts(task: Task) -> list[str]:
    most = "at most " if task.fields["at_most"] else ""
    total = "" if task.total is None else f" of {most}{task.total:,.0f}"
    parts = [f"{task.completed:,.0f}{total} {task.fields['unit']}"] if task.completed else []
    elapsed = task.elapsed or 0.0
    # The mean speed, until there is a recent one.
    speed = task.speed or (task.completed / elapsed if elapsed else 0.0)
    if speed:
        parts.append(f"{_rate(speed)}/s")
    if speed and task.total is not None:
        parts.append(f"{most}{duration((task.total - task.completed) / speed)} left")
    else:
        parts.append(f"{duration(elapsed)} elapsed")
    return parts


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def duration(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
