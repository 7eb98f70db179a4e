"""Import of gazetteers from CSV and TSV files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from corpus.errors import InputError, Problems
from corpus.formats.records import Unreadable, parsed_records
from corpus.formats.tabular.dialects import DELIMITERS
from corpus.tokens.characters import is_hidden, is_mark
from gazetteers.folding import fold, fold_terms
from gazetteers.gazetteer import COLUMNS, Gazetteer
from gazetteers.importing.guessing import column_of, counts_of, is_well_known, terms_of, width_of
from gazetteers.importing.numerals import CountReader
from gazetteers.importing.tables import Progress, Table


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import; options that are None are detected.

    Parameters
    ----------
    terms : sequence of str, optional
        Columns whose values, joined by spaces, are the terms.
    counts : sequence of str, optional
        Columns whose sum is the count of a term; if empty, each row counts 1.
    class_name : str, optional
        The class of all terms.
    class_column : str, optional
        The column of the class of each term. By default all terms have one class, which is named
        after the columns of terms if they were named or have well-known names, and else ``term``.
    delimiter, encoding : str, optional
        See `Table`.
    width : int, optional
        The number of digits to which numeric terms are padded with zeros; by default 5 in columns
        of postal codes. Other columns are not padded.
    """

    terms: Sequence[str] | None = None
    counts: Sequence[str] | None = None
    class_name: str | None = None
    class_column: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    width: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """An imported gazetteer, and how its file was read.

    Parameters
    ----------
    gazetteer : Gazetteer
        The gazetteer.
    table : Table
        The file.
    terms, counts : tuple of str
        The columns of terms and of counts.
    class_column : str or None
        The column of classes; None if all terms have the same class.
    widths : tuple of int
        The number of digits to which each column of terms was padded; 0 for none.
    rows, left_out : int
        The numbers of rows that were imported, and that could not be used.
    """

    gazetteer: Gazetteer
    table: Table
    terms: tuple[str, ...]
    counts: tuple[str, ...]
    class_column: str | None
    widths: tuple[int, ...]
    rows: int
    left_out: int


def import_table(
    path: Path,
    options: ImportOptions | None = None,
    *,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Build a gazetteer from a table.

    Terms are folded, and their words are separated by single spaces. The counts of equal terms of a
    class are then summed. Memory depends on the number of distinct terms, not on the size of the
    file.

    Parameters
    ----------
    path : Path
        A CSV or TSV file with a header.
    options : ImportOptions, optional
        Columns and settings that are not detected.
    problems : Problems, optional
        Collects the rows that cannot be used; by default the first one is an error.
    progress : callable, optional
        Called with the number of bytes read and their total.

    Raises
    ------
    InputError
        If the file cannot be read, its columns cannot be detected, a row cannot be used and
        `problems` stops at such rows, or no row can be used.
    """
    options = options or ImportOptions()
    table = Table(path, delimiter=options.delimiter, encoding=options.encoding)
    if table.empty:
        raise InputError(f"{path} has a header and no rows")
    reader = _RowReader(table, options)
    problems = problems or Problems()
    rejected = problems.rejected
    sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = 0
    place = str(path)
    records = ((f"{place}:{line}", row) for line, row in table.rows(progress))
    for name, term, count in parsed_records(records, reader.read, problems):
        sums[name][term] += count
        rows += 1
    rejected = problems.rejected - rejected
    if not rows:
        raise InputError(f"{path}: none of its {rejected:,} rows can be used")
    parts = []
    for name, terms in sums.items():  # terms are folded only now because folding is slow
        columns = [fold_terms(list(terms)), [name] * len(terms), list(terms.values())]
        parts.append(pa.table(columns, schema=COLUMNS))
    return Imported(
        gazetteer=Gazetteer.from_table(pa.concat_tables(parts)),
        table=table,
        terms=reader.terms,
        counts=reader.counts,
        class_column=reader.class_column,
        widths=reader.widths,
        rows=rows,
        left_out=rejected,
    )


class _RowReader:
    """A reader of the class, the term and the count of a row."""

    def __init__(self, table: Table, options: ImportOptions) -> None:
        named = options.class_column
        self.class_column = None if named is None else column_of(table, named, "--class-column")
        taken = [] if self.class_column is None else [self.class_column]
        self.terms = terms_of(table, options.terms)
        self.counts = counts_of(table, options.counts, [*self.terms, *taken])
        self.widths = tuple(
            width_of(term) if options.width is None else options.width for term in self.terms
        )
        self._class = _checked(options.class_name or self._default_class(options.terms is not None))
        self._columns, self._delimiter = len(table.columns), table.delimiter
        places = {column: place for place, column in enumerate(table.columns)}
        self._class_place = None if self.class_column is None else places[self.class_column]
        self._terms = [
            (places[term], width) for term, width in zip(self.terms, self.widths, strict=True)
        ]
        self._counts = [(places[column], CountReader()) for column in self.counts]

    def _default_class(self, named: bool) -> str:
        # Without a header, the name of a column is a term.
        known = named or all(map(is_well_known, self.terms))
        return " ".join(fold(self.terms)) if known else "term"

    def read(self, where: str, row: list[str]) -> tuple[str, str, int]:
        """Return the class, the term and the count of a row, or raise `Unreadable`."""
        if len(row) != self._columns:
            few = "few" if len(row) < self._columns else "many"
            delimiter = DELIMITERS.get(self._delimiter, self._delimiter)
            raise Unreadable(
                f"row with too {few} fields",
                f"{len(row)}, and the header has {self._columns}, with a {delimiter} between them",
            )
        parts = [
            _padded(row[place], width) if width else row[place] for place, width in self._terms
        ]
        term = " ".join(parts)
        if not _is_visible(term):
            raise Unreadable("no term", "expected a name or a word")
        counts = [reader.read(row[place]) for place, reader in self._counts]
        name = self._class
        if self._class_place is not None:
            name = " ".join(row[self._class_place].split())
            if not _is_visible(name):
                raise Unreadable("no class", "expected its name")
        return name, term, sum(counts) if counts else 1


def _checked(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise InputError(f"--class {name}: expected the name of a class")
    return name.strip()


def _is_visible(text: str) -> bool:
    """Return whether a text has more than spaces, hidden characters and combining accents."""
    signs = (one for one in text if one.isprintable() and one != " ")
    return not all(is_hidden(sign) or is_mark(sign) for sign in signs)


def _padded(text: str, width: int) -> str:
    """Pad numbers with leading zeros."""
    number = text.strip()
    return number.zfill(width) if number.isdecimal() and number.isascii() else text
