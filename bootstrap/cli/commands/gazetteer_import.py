"""``bootstrap gazetteer import``: frequency dictionaries of CSV and TSV files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from bootstrap.cli.commands.gazetteer_merge import refuse_repeated, sizes_line
from bootstrap.cli.console import ProgressLine, report_problems, say
from corpus.errors import shown
from corpus.problems import Problems
from corpus.storage import refuse_existing
from gazetteers.gazetteer import merged
from gazetteers.importing.guessing import is_well_known
from gazetteers.importing.importer import Imported, ImportOptions, import_table
from gazetteers.importing.tables import DELIMITERS, Progress

_MEGABYTE = 1_000_000


def main(options: argparse.Namespace) -> None:
    """Make a gazetteer, and say what was taken as what."""
    refuse_existing(options.output)
    refuse_repeated(options.sources)
    wanted = ImportOptions(
        terms=options.term,
        counts=options.count,
        class_name=options.class_name,
        class_column=options.class_column,
        delimiter=options.delimiter,
        encoding=options.encoding,
        width=options.width,
    )
    problems = Problems(invalid=options.invalid)
    with ProgressLine("MB") as line:
        imported = [
            import_table(path, wanted, problems=problems, progress=_told(line, path))
            for path in options.sources
        ]
    report_problems(problems)
    gazetteer = merged([each.gazetteer for each in imported])
    gazetteer.save(options.output)
    for path, each in zip(options.sources, imported, strict=True):
        doubtful = options.encoding is None and each.encoding == "cp1252"
        say(_lines_of(path, each, guessed=doubtful, unnamed=options.term is None))
    say([sizes_line(gazetteer, options.output)])


def _told(line: ProgressLine, path: Path) -> Progress:
    def tell(done: int, total: int) -> None:
        line.report(f"reading {shown(path.name)}", done // _MEGABYTE, total // _MEGABYTE)

    return tell


def _lines_of(path: Path, imported: Imported, *, guessed: bool, unnamed: bool) -> Iterator[str]:
    """Say how a file was understood."""
    between = DELIMITERS.get(imported.delimiter, shown(imported.delimiter))
    doubt = " (guessed; --encoding names another)" if guessed else ""
    yield f"{shown(path)}: {imported.encoding}{doubt}, {between} between columns"
    columns = [
        f"{shown(name)}{_width(width)}"
        for name, width in zip(imported.terms, imported.widths, strict=True)
    ]
    # A list without a header has its first term there.
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
    yield f"  {imported.rows:,} rows{left}: {len(imported.gazetteer):,} terms"


def _width(width: int) -> str:
    return f" (numbers with {width} digits, zeros on the left)" if width else ""
