"""``bootstrap gazetteer``: import, merge and inspect gazetteers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.cli.console import StageProgress, print_figures, print_lines, report_problems
from bootstrap.cli.parser import OF_CLASS, OF_WORD
from corpus.errors import InputError, Problems, number_of, quoted
from corpus.formats.tabular.dialects import DELIMITERS
from corpus.storage.atomic import refuse_existing
from gazetteers.builtin import read_gazetteer
from gazetteers.folding import fold_terms
from gazetteers.gazetteer import Gazetteer
from gazetteers.gazetteer import merge as merge_gazetteers
from gazetteers.importing.guessing import is_well_known
from gazetteers.importing.importer import Imported, ImportOptions, import_table
from gazetteers.importing.tables import Progress

_MEGABYTE = 1_000_000


def import_(options: argparse.Namespace) -> None:
    """Import a gazetteer and report how each file was read."""
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
    gazetteer = merge_gazetteers([part.gazetteer for part in imported])
    gazetteer.save(options.output)
    for path, part in zip(options.sources, imported, strict=True):
        guessed = options.encoding is None and part.table.encoding == "cp1252"
        print_lines(*_lines_of(path, part, guessed=guessed, unnamed=options.term is None))
    print_lines(_sizes_line(gazetteer, options.output))


def _progress(bar: StageProgress, path: Path) -> Progress:
    """Return a function that shows the bytes read of a file."""
    return lambda done, total: bar.report(
        f"reading {path.name}", done // _MEGABYTE, total // _MEGABYTE
    )


def _lines_of(path: Path, imported: Imported, *, guessed: bool, unnamed: bool) -> Iterator[str]:
    """Yield lines that describe how a file was read."""
    table = imported.table
    between = DELIMITERS.get(table.delimiter, table.delimiter)
    doubt = " (guessed; --encoding names another)" if guessed else ""
    yield f"{path}: {table.encoding}{doubt}, {between} between columns"
    padded = " (numbers with {} digits, zeros on the left)"
    numbers = {name: f"column {number}" for number, name in enumerate(table.columns, start=1)}
    columns = [
        f"{numbers[name]}{padded.format(width) if width else ''}"
        for name, width in zip(imported.terms, imported.widths, strict=True)
    ]
    # In a list without a header, the header is the first term.
    only = unnamed and not is_well_known(imported.terms[0])
    how = " (the only column of text; the first line was taken as the header)" if only else ""
    yield f"  term: {' and '.join(columns)}{how}"
    counts = " + ".join(numbers[name] for name in imported.counts)
    yield f"  count: {counts or 'each row counts 1'}"
    if imported.class_column:
        yield f"  class: that of {numbers[imported.class_column]}"
    else:
        yield f"  class: {quoted(imported.gazetteer.classes[0].as_py())}"
    used = {*imported.terms, *imported.counts, imported.class_column}
    if unused := [number for name, number in numbers.items() if name not in used]:
        yield f"  not used: {', '.join(unused)}"
    left = f", {imported.left_out:,} left out" if imported.left_out else ""
    yield f"  {number_of(imported.rows, 'row')}{left}: {number_of(len(imported.gazetteer), 'term')}"


def merge(options: argparse.Namespace) -> None:
    """Merge gazetteers and write the sums of their counts."""
    refuse_existing(options.output)
    _refuse_repeated(options.sources)
    gazetteer = merge_gazetteers([read_gazetteer(str(path)) for path in options.sources])
    gazetteer.save(options.output)
    print_lines(_sizes_line(gazetteer, options.output))


def _refuse_repeated(paths: Sequence[Path]) -> None:
    """Raise an `InputError` if a file is named twice: its counts would be doubled."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{path} is named twice; expected different files")
        seen.add(path.resolve())


def _sizes_line(gazetteer: Gazetteer, path: Path) -> str:
    """Return the numbers of terms and occurrences of each class."""
    sizes = ", ".join(
        f"{quoted(size.name)} {size.terms:,} ({size.count:,} in all)" for size in gazetteer.sizes()
    )
    terms = "1 term is" if len(gazetteer) == 1 else f"{len(gazetteer):,} terms are"
    return f"{terms} in {path}: {sizes}"


def show(options: argparse.Namespace) -> None:
    """Print the classes of a gazetteer, or its entries of a term."""
    gazetteer = read_gazetteer(options.gazetteer)
    if options.term is None:
        _show_classes(gazetteer, options.number or OF_CLASS)
        return
    term = fold_terms([options.term])[0]
    if not _show_term(gazetteer, term, options.number or OF_WORD):
        raise InputError(
            f"{options.gazetteer}: no such term, and none that contains this word; "
            "bootstrap gazetteer show without a term lists the classes"
        )


def _show_classes(gazetteer: Gazetteer, number: int) -> None:
    """Print the size of each class and its most frequent terms."""
    for size in gazetteer.sizes():
        title = f"{quoted(size.name)}: {number_of(size.terms, 'term')}, {size.count:,} in all"
        _list(title, gazetteer.table().filter(pc.equal(gazetteer.classes, size.name)), number)


def _show_term(gazetteer: Gazetteer, term: str, number: int) -> bool:
    """Print the count of a term in each class and the terms that contain it, if there are any."""
    sizes = {size.name: size.count for size in gazetteer.sizes()}
    entries = gazetteer.rows_of_term(term).to_pylist()
    for row in entries:
        name, total = row["class"], sizes[row["class"]]
        share = row["count"] / max(total, 1)
        print_lines(f"{quoted(name)}: {row['count']:,}, {share:.4%} of {total:,}")
    parts = gazetteer.rows_with_word(term) if term and " " not in term else None
    if parts is None or not len(parts):
        return bool(entries)
    if not entries:
        print_lines("not a term itself")
    for name in sizes:
        of_class = parts.filter(pc.equal(parts["class"], name))
        if len(of_class):
            total = pc.sum(of_class["count"]).as_py()
            title = f"{quoted(name)}: part of {number_of(len(of_class), 'term')}, {total:,} in all"
            _list(title, of_class, number)
    return True


def _list(title: str, rows: pa.Table, number: int) -> None:
    """Print a title and the first terms, which are the most frequent."""
    print_lines(title)
    first = rows.slice(0, number).to_pylist()
    print_figures(("", ""), ((row["term"], f"{row['count']:,}") for row in first))
