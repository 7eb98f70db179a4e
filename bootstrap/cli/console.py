"""The console: the requested output, and files named by the user."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bootstrap.cli.logs import log_lines
from corpus.errors import InputError, Problems, escaped, shown
from corpus.storage.atomic import WriteError, write_atomically, write_errors_of

if TYPE_CHECKING:
    from corpus.tokens.normalisation import UnusualCharacters

# Names may contain markup, which is printed literally. Files and pipes have unlimited lines.
_WIDE = 10_000


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


class SafeTable(Table):
    """A table whose cells have no line breaks or other non-printable characters."""

    def add_column(self, header: RenderableType = "", *arguments: Any, **options: Any) -> None:
        super().add_column(_escaped_cell(header), *arguments, **options)

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        super().add_row(*(cell and _escaped_cell(cell) for cell in cells), **options)


def _escaped_cell(cell: RenderableType) -> RenderableType:
    return escaped(cell) if isinstance(cell, str) else cell


#: Standard output, for the requested output; messages are logged.
output = SafeConsole(
    highlight=False,
    soft_wrap=True,
    markup=False,
    emoji=False,
    width=None if sys.stdout.isatty() else _WIDE,
)


def print_lines(lines: Iterable[str]) -> None:
    """Write lines of text to standard output, each in one line."""
    for line in lines:
        output.print(Text(escaped(line)))


def print_report(lines: Iterable[str], target: Path | str) -> None:
    """Write a report on written documents, to standard error if those are on standard output."""
    if str(target) == "-":
        log_lines(logging.getLogger(__name__), logging.INFO, lines)
    else:
        print_lines(lines)


def print_pairs(rows: Iterable[tuple[str, ...]]) -> None:
    """Write an indented table of names and figures without a header."""
    table = SafeTable(box=None, show_header=False, padding=(0, 1, 0, 1))
    for row in rows:
        table.add_row(*row)
    for column in table.columns[1:]:
        column.justify = "right"
    output.print(table)


def figures_table(first: str, *titles: str) -> Table:
    """Build an empty table with a column of names and right-aligned columns of figures."""
    table = SafeTable(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, overflow="fold")
    for title in titles:
        table.add_column(title, justify="right", overflow="fold")
    return table


def write_file(path: Path, data: bytes) -> None:
    """Write a file named by the user, and create its parent folders.

    An existing file is replaced atomically, and is unchanged after a failure. A path that is not a
    regular file, such as a pipe, is written to directly.
    """
    try:
        # Such as /dev/stdout or /dev/null, which would be replaced if root runs the command.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))  # a link stays a link
        with write_errors_of(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, data)
    except WriteError:
        raise
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be written: {error.strerror}") from None


def report_compiling() -> None:
    """Log why the first use on a machine takes longer."""
    logging.getLogger(__name__).info("compiling code for this machine, once: about ten seconds")


def report_problems(problems: Problems) -> None:
    """Log the documents and annotations that could not be used as they are."""
    log_lines(logging.getLogger(__name__), logging.WARNING, problems.lines())


def report_unusual(unusual: UnusualCharacters) -> None:
    """Log the kinds of characters in the notes that are read as others, or not displayed."""
    log_lines(logging.getLogger(__name__), logging.WARNING, unusual.lines())
