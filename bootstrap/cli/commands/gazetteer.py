"""``bootstrap gazetteer``: import, merge and inspect gazetteers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    Commands,
    add_command,
    add_group,
    add_invalid,
    add_list,
    add_number,
    add_output,
)
from corpus.errors import InputError, Problems, shown
from gazetteers.builtin import BUILTIN_LISTS

if TYPE_CHECKING:
    import pyarrow as pa

    from bootstrap.cli.progress import StageProgress
    from gazetteers.gazetteer import Gazetteer
    from gazetteers.importing.importer import Imported
    from gazetteers.importing.tables import Progress

_MEGABYTE = 1_000_000
#: Number of terms listed of a class, and of those that contain a word.
_OF_CLASS, _OF_WORD = 10, 5


def register(commands: Commands) -> None:
    """Add the commands."""
    group = add_group(commands, "gazetteer", "import, merge and inspect gazetteers")
    _register_import(group)
    names = ", ".join(BUILTIN_LISTS)
    parser = add_command(group, "merge", merge, "merge gazetteers and add up their counts")
    help = f"gazetteers, or builtin lists: {names}"
    parser.add_argument("sources", type=Path, nargs="+", metavar="FILE", help=help)
    add_output(parser, "a new Parquet file")

    parser = add_command(group, "show", show, "show the classes of a gazetteer, or a term")
    help = f"a gazetteer, or a builtin list: {names}"
    parser.add_argument("gazetteer", metavar="FILE", help=help)
    parser.add_argument(
        "term", nargs="?", metavar="TERM", help="a term; case and accents are ignored"
    )
    add_number(
        parser,
        "-n",
        "--number",
        help=f"number of terms listed (default: {_OF_CLASS} of a class, {_OF_WORD} that contain a "
        "word)",
    )


def _register_import(group: Commands) -> None:
    parser = add_command(group, "import", import_, "import a gazetteer from CSV or TSV files")
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
        "COLUMN",
        "columns of terms, joined with a space (default: one with a well-known name, or the "
        "only column of text)",
    )
    counts = parser.add_mutually_exclusive_group()
    add_list(
        counts,
        "--count",
        "COLUMN",
        "columns of counts, added up (default: one with a well-known name, or the only column "
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
    add_number(
        parser,
        "--width",
        help="pad numeric terms with zeros to N digits (default: 5 in columns of postal codes)",
    )
    add_invalid(parser, "rows that cannot be used")


def import_(options: argparse.Namespace) -> None:
    """Import a gazetteer and report how each file was read."""
    from bootstrap.cli.console import print_lines, report_problems
    from bootstrap.cli.progress import StageProgress
    from corpus.storage.atomic import refuse_existing
    from gazetteers.gazetteer import merge
    from gazetteers.importing.importer import ImportOptions, import_table

    refuse_existing(options.output)
    _refuse_repeated(options.sources)
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
    gazetteer = merge([table.gazetteer for table in imported])
    gazetteer.save(options.output)
    for path, table in zip(options.sources, imported, strict=True):
        guessed = options.encoding is None and table.encoding == "cp1252"
        print_lines(_lines_of(path, table, guessed=guessed, unnamed=options.term is None))
    print_lines([_sizes_line(gazetteer, options.output)])


def _progress(bar: StageProgress, path: Path) -> Progress:
    """Return a function that shows the bytes read of a file."""
    return lambda done, total: bar.report(
        f"reading {shown(path.name)}", done // _MEGABYTE, total // _MEGABYTE
    )


def _lines_of(path: Path, imported: Imported, *, guessed: bool, unnamed: bool) -> Iterator[str]:
    """Yield lines that describe how a file was read."""
    from gazetteers.importing.guessing import is_well_known
    from gazetteers.importing.tables import DELIMITERS

    between = DELIMITERS.get(imported.delimiter, shown(imported.delimiter))
    doubt = " (guessed; --encoding names another)" if guessed else ""
    yield f"{shown(path)}: {imported.encoding}{doubt}, {between} between columns"
    padded = " (numbers with {} digits, zeros on the left)"
    columns = [
        f"{shown(name)}{padded.format(width) if width else ''}"
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


def merge(options: argparse.Namespace) -> None:
    """Merge gazetteers and write the sums of their counts."""
    from bootstrap.cli.console import print_lines
    from corpus.storage.atomic import refuse_existing
    from gazetteers.builtin import read_gazetteer
    from gazetteers.gazetteer import merge

    refuse_existing(options.output)
    _refuse_repeated(options.sources)
    gazetteer = merge([read_gazetteer(str(path)) for path in options.sources])
    gazetteer.save(options.output)
    print_lines([_sizes_line(gazetteer, options.output)])


def _refuse_repeated(paths: Sequence[Path]) -> None:
    """Raise an `InputError` if a file is named twice: its counts would be doubled."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{shown(path)} is named twice; expected different files")
        seen.add(path.resolve())


def _sizes_line(gazetteer: Gazetteer, path: Path) -> str:
    """Return the numbers of terms and occurrences of each class."""
    sizes = ", ".join(
        f"{shown(size.name)} {size.terms:,} ({size.count:,} in all)" for size in gazetteer.sizes()
    )
    terms = "1 term is" if len(gazetteer) == 1 else f"{len(gazetteer):,} terms are"
    return f"{terms} in {shown(path)}: {sizes}"


def show(options: argparse.Namespace) -> None:
    """Print the classes of a gazetteer, or its entries of a term."""
    from gazetteers.builtin import read_gazetteer
    from gazetteers.folding import fold

    gazetteer = read_gazetteer(options.gazetteer)
    if options.term is None:
        _show_classes(gazetteer, options.number or _OF_CLASS)
        return
    term = " ".join(fold([" ".join(options.term.split())])[0].split())
    if not _show_term(gazetteer, term, options.number or _OF_WORD):
        raise InputError(
            f"{shown(options.gazetteer)}: no such term, and none that contains this word; "
            "bootstrap gazetteer show without a term lists the classes"
        )


def _show_classes(gazetteer: Gazetteer, number: int) -> None:
    """Print the size of each class and its most frequent terms."""
    import pyarrow.compute as pc

    for size in gazetteer.sizes():
        title = f"{shown(size.name)}: {size.terms:,} terms, {size.count:,} in all"
        _list(title, gazetteer.table().filter(pc.equal(gazetteer.classes, size.name)), number)


def _show_term(gazetteer: Gazetteer, term: str, number: int) -> bool:
    """Print the count of a term in each class and the terms that contain it, if there are any."""
    import pyarrow.compute as pc

    from bootstrap.cli.console import print_lines

    sizes = {size.name: size.count for size in gazetteer.sizes()}
    entries = gazetteer.rows_of_term(term).to_pylist()
    for row in entries:
        name, total = row["class"], sizes[row["class"]]
        share = row["count"] / max(total, 1)
        print_lines([f"{shown(name)}: {row['count']:,}, {share:.4%} of {total:,}"])
    parts = gazetteer.rows_with_word(term) if term and " " not in term else None
    if parts is None or not len(parts):
        return bool(entries)
    if not entries:
        print_lines(["not a term itself"])
    for name in sizes:
        of_class = parts.filter(pc.equal(parts["class"], name))
        if len(of_class):
            total = pc.sum(of_class["count"]).as_py()
            title = f"{shown(name)}: part of {len(of_class):,} terms, {total:,} in all"
            _list(title, of_class, number)
    return True


def _list(title: str, rows: pa.Table, number: int) -> None:
    """Print a title and the first terms, which are the most frequent."""
    from bootstrap.cli.console import print_lines, print_pairs

    print_lines([title])
    first = rows.slice(0, number).to_pylist()
    print_pairs((shown(row["term"]), f"{row['count']:,}") for row in first)
