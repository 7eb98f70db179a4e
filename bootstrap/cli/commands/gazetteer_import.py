"""``bootstrap gazetteer import``: a gazetteer of CSV and TSV files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    Commands,
    add_command,
    add_invalid,
    add_list,
    add_output,
    positive,
)
from bootstrap.cli.commands.gazetteer_merge import refuse_repeated, sizes_line
from corpus.errors import shown
from corpus.problems import Problems

if TYPE_CHECKING:
    from bootstrap.cli.progress import StageProgress
    from gazetteers.importing.importer import Imported
    from gazetteers.importing.tables import Progress

_MEGABYTE = 1_000_000


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "import", main, "import a gazetteer from CSV or TSV files")
    parser.add_argument("sources", type=Path, nargs="+", metavar="FILE", help="CSV or TSV files")
    add_output(parser, "a new Parquet file")
    classes = parser.add_mutually_exclusive_group()
    classes.add_argument(
        "--class",
        dest="class_name",
        metavar="CLASS",
        help="class of all terms (default: the name of the column of terms)",
    )
    classes.add_argument("--class-column", metavar="COLUMN", help="column of the class of a term")
    add_list(
        parser,
        "--term",
        str,
        metavar="COLUMN",
        help="columns of terms, joined with a space (default: one with a well-known name, or the "
        "only column of text)",
    )
    counts = parser.add_mutually_exclusive_group()
    add_list(
        counts,
        "--count",
        str,
        metavar="COLUMN",
        help="columns of counts, added up (default: one with a well-known name, or the only column "
        "of integers)",
    )
    counts.add_argument("--count-rows", action="store_true", help="count each row once")
    parser.add_argument(
        "--delimiter",
        metavar="D",
        help="delimiter of columns: a character, or tab (default: detected in the header)",
    )
    parser.add_argument(
        "--encoding",
        help="encoding of the files (default: that of a byte-order mark, or utf-8, or else cp1252)",
    )
    parser.add_argument(
        "--width",
        type=positive,
        metavar="N",
        help="pad numeric terms with zeros to N digits (default: 5 in columns of postal codes)",
    )
    add_invalid(parser, "rows that cannot be used")


def main(options: argparse.Namespace) -> None:
    """Import a gazetteer and report how each file was read."""
    from bootstrap.cli.console import print_lines, report_problems
    from bootstrap.cli.progress import StageProgress
    from corpus.storage.atomic import refuse_existing
    from gazetteers.gazetteer import merge
    from gazetteers.importing.importer import ImportOptions, import_table

    refuse_existing(options.output)
    refuse_repeated(options.sources)
    wanted = ImportOptions(
        terms=options.term,
        counts=[] if options.count_rows else options.count,
        class_name=options.class_name,
        class_column=options.class_column,
        delimiter=options.delimiter,
        encoding=options.encoding,
        width=options.width,
    )
    problems = Problems(invalid=options.invalid)
    with StageProgress("MB") as bar:
        imported = [
            import_table(path, wanted, problems=problems, progress=_progress(bar, path))
            for path in options.sources
        ]
    report_problems(problems)
    gazetteer = merge([each.gazetteer for each in imported])
    gazetteer.save(options.output)
    for path, each in zip(options.sources, imported, strict=True):
        doubtful = options.encoding is None and each.encoding == "cp1252"
        print_lines(_lines_of(path, each, guessed=doubtful, unnamed=options.term is None))
    print_lines([sizes_line(gazetteer, options.output)])


def _progress(bar: StageProgress, path: Path) -> Progress:
    """Return a function that shows the bytes read of a file."""

    def report(done: int, total: int) -> None:
        bar.report(f"reading {shown(path.name)}", done // _MEGABYTE, total // _MEGABYTE)

    return report


def _lines_of(path: Path, imported: Imported, *, guessed: bool, unnamed: bool) -> Iterator[str]:
    """Yield lines that describe how a file was read."""
    from gazetteers.importing.guessing import is_well_known
    from gazetteers.importing.tables import DELIMITERS

    between = DELIMITERS.get(imported.delimiter, shown(imported.delimiter))
    doubt = " (guessed; --encoding names another)" if guessed else ""
    yield f"{shown(path)}: {imported.encoding}{doubt}, {between} between columns"
    columns = [
        f"{shown(name)}{_width(width)}"
        for name, width in zip(imported.terms, imported.widths, strict=True)
    ]
    # In a list without a header, the header is the first term.
    only = unnamed and not is_well_known(imported.terms[0])
    how = " (the only column of text; the first line was taken as the header)" if only else ""
    yield f"  term: {' and '.join(columns)}{how}"
    counts = " + ".join(shown(name) for name in imported.counts)
    yield f"  count: {counts or 'each row counts 1'}"
    if imported.class_column:
        yield f"  class: that of {shown(imported.class_column)}"
    else:
        yield f"  class: {imported.gazetteer.classes[0]}"
    if imported.unused:
        yield f"  not used: {', '.join(shown(name) for name in imported.unused)}"
    left = f", {imported.left_out:,} left out" if imported.left_out else ""
    yield f"  {_counted(imported.rows, 'row')}{left}: {_counted(len(imported.gazetteer), 'term')}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _width(width: int) -> str:
    return f" (numbers with {width} digits, zeros on the left)" if width else ""
