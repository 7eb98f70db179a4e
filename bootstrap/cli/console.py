"""What commands share of the console."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from bootstrap.cli.progress import Stage
from corpus.errors import InputError, shown
from corpus.problems import Problems
from corpus.storage import write_atomically

#: What was asked for goes to standard output, all else to standard error.
# Names of classes and folders are no markup, and files and pipes have no edge to cut them at.
_WIDE = 10_000
output = Console(
    highlight=False,
    soft_wrap=True,
    markup=False,
    emoji=False,
    width=None if sys.stdout.isatty() else _WIDE,
)
messages = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def say(lines: Iterable[str]) -> None:
    """Write lines of text as they are."""
    for line in lines:
        output.print(Text(line))


def warn(lines: Iterable[str]) -> None:
    """Write lines to standard error."""
    for line in lines:
        messages.print(Text(line))


def write_file(path: Path, data: bytes) -> None:
    """Write a file that the user named; folders above it are made.

    A report is made again and again, so a file that is there is replaced, at once and by a whole
    one: whatever goes wrong before that leaves it as it was. What is no file, such as a pipe, is
    written to as it is.

    Raises
    ------
    InputError
        If it cannot be written there.
    """
    try:
        # Such as /dev/stdout or /dev/null, which root could replace.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))  # a link stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, data)
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be written: {error.strerror}") from None


def tell_of_compiling() -> None:
    """Say why the first use on a machine takes longer."""
    messages.print("compiling code for this machine, which is done once: some ten seconds")


def report_problems(problems: Problems) -> None:
    """Say what could not be used as it stood."""
    warn(problems.lines())


class ProgressLine:
    """A line on the terminal that says what is being done; nothing where there is no terminal.

    Parameters
    ----------
    what : str, optional
        What is counted, such as "tokens"; documents by default, steps in training.
    """

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._stage = Stage("reading", 0)
        self._live = Live(console=messages, get_renderable=self._picture, transient=True)

    def __enter__(self) -> Self:
        if messages.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if messages.is_terminal:
            self._live.stop()

    def _picture(self) -> Text:
        return self._stage.text()

    def report(self, stage: str, done: int, total: int, what: str = "") -> None:
        """Show progress; `what` is counted, if it is something else in this stage."""
        what = what or self._what
        if (stage, what) != (self._stage.name, self._stage.what):
            self._stage = Stage(stage, total, what)
        self._stage.done, self._stage.total = done, total
