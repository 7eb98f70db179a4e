"""Import of gazetteers from CSV and TSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.errors import InputError, Problem, Problems, shown
from gazetteers.folding import fold
from gazetteers.gazetteer import COLUMNS, Gazetteer, sum_counts
from gazetteers.importing.guessing import column_of, counts_of, terms_of, width_of
from gazetteers.importing.tables import Fault, Progress, Rows, Table
from gazetteers.phrases import numerals
from gazetteers.phrases.numerals import CountReader

#: The minimum number of rows of partial sums before they are merged.
_PARTIAL = 1 << 20

#: Terms that are folded at a time.
_FOLDED = 1 << 16

#: A visible character: not a space, a control character or a combining accent.
_VISIBLE = r"[^\pZ\pC\x{0300}-\x{036f}]"
_NO_TERM = ("no term", "expected a name or a word")
_NO_CLASS = ("no class", "expected its name")


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
        after the columns of terms.
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
    terms, counts : tuple of str
        The columns of terms and of counts.
    class_column : str or None
        The column of classes; None if all terms have the same class.
    unused : tuple of str
        The columns that were not read.
    widths : tuple of int
        The number of digits to which each column of terms was padded; 0 for none.
    encoding, delimiter : str
        The encoding and the delimiter of the file.
    rows, left_out : int
        The numbers of rows that were imported, and that could not be used.
    """

    gazetteer: Gazetteer
    terms: tuple[str, ...]
    counts: tuple[str, ...]
    class_column: str | None
    unused: tuple[str, ...]
    widths: tuple[int, ...]
    encoding: str
    delimiter: str
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
        raise InputError(f"{shown(path)} has a header and no rows")
    reading = _Reading.from_options(table, options)
    rows = left_out = 0
    sums = _Sums()
    problems = problems or Problems()
    for block in table.rows(reading.columns(), progress):
        terms, faults = reading.read(block)
        for fault in faults:
            problems.reject(Problem(fault.kind, f"{shown(path)}:{fault.row}", fault.detail))
        sums.add(terms)
        rows += len(block.numbers) - (len(faults) - len(block.faults))
        left_out += len(faults)
    if not rows:
        raise InputError(f"{shown(path)}: none of its {left_out:,} rows can be used")
    return Imported(
        gazetteer=Gazetteer.from_table(sums.table()),
        terms=reading.terms,
        counts=reading.counts,
        class_column=reading.class_column,
        unused=tuple(name for name in table.columns if name not in reading.columns()),
        widths=reading.widths,
        encoding=table.encoding,
        delimiter=table.delimiter,
        rows=rows,
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reader of terms, classes and counts from rows."""

    terms: tuple[str, ...]
    counts: tuple[str, ...]
    class_name: str
    class_column: str | None
    widths: tuple[int, ...]
    readers: tuple[CountReader, ...] = field(repr=False)

    @classmethod
    def from_options(cls, table: Table, options: ImportOptions) -> _Reading:
        named = () if options.class_column is None else (options.class_column,)
        classes = [column_of(table, name, "--class-column") for name in named]
        terms = terms_of(table, options.terms)
        counts = counts_of(table, options.counts, [*terms, *classes])
        name = " ".join(fold(terms) if options.class_name is None else [options.class_name])
        widths = [width_of(term) if options.width is None else options.width for term in terms]
        return cls(
            terms,
            counts,
            _checked(name),
            classes[0] if classes else None,
            tuple(widths),
            tuple(CountReader() for _ in counts),
        )

    def columns(self) -> list[str]:
        """Return the columns to read, each once."""
        classes = [self.class_column] if self.class_column else []
        return list(dict.fromkeys([*self.terms, *self.counts, *classes]))

    def read(self, rows: Rows) -> tuple[pa.Table, list[Fault]]:
        """Return the unfolded terms of rows, and the rows that cannot be used."""
        terms = self._terms(rows).dictionary_encode()
        faults = np.where(_visible(terms), 0, 1)
        counts = np.full(len(rows.numbers), 0 if self.counts else 1, np.int64)
        for name, reader in zip(self.counts, self.readers, strict=True):
            values, wrong = reader.read(rows.columns[name])
            counts += values
            if wrong.any():
                faults = np.where((faults == 0) & (wrong > 0), wrong + 2, faults)
        classes = pa.repeat(pa.scalar(self.class_name), len(rows.numbers)).dictionary_encode()
        if self.class_column:
            classes = pc.utf8_trim_whitespace(rows.columns[self.class_column]).dictionary_encode()
            faults = np.where((faults == 0) & ~_visible(classes), 2, faults)
        return _summed(terms, classes, counts, faults == 0), _list_faults(rows, faults)

    def _terms(self, rows: Rows) -> pa.StringArray:
        columns = [
            _padded(rows.columns[name], width)
            for name, width in zip(self.terms, self.widths, strict=True)
        ]
        return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, " ")


#: Kinds of faults of a row, by number; 0 is none.
_FAULTS = (("", ""), _NO_TERM, _NO_CLASS, *numerals.FAULTS[1:])


def _checked(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise InputError(f"--class {shown(name)}: expected the name of a class")
    return name.strip()


def _list_faults(rows: Rows, faults: npt.NDArray[np.int64]) -> list[Fault]:
    """List the faults of rows, with those of the parser, in the order of the file."""
    places = np.flatnonzero(faults)
    if not len(places):
        return rows.faults
    numbers = rows.numbers[places].tolist()
    new_faults = [
        Fault(number, *_FAULTS[fault])
        for number, fault in zip(numbers, faults[places].tolist(), strict=True)
    ]
    return sorted([*rows.faults, *new_faults], key=lambda fault: fault.row)


def _visible(texts: pa.DictionaryArray) -> npt.NDArray[np.bool_]:
    """Return which texts have a visible character."""
    visible = pc.match_substring_regex(texts.dictionary, _VISIBLE).to_numpy(zero_copy_only=False)
    return np.asarray(visible[texts.indices.to_numpy()], bool)


def _padded(texts: pa.StringArray, width: int) -> pa.StringArray:
    """Pad numbers with leading zeros."""
    if not width:
        return texts
    trimmed = pc.utf8_trim_whitespace(texts)
    numbers = pc.match_substring_regex(trimmed, "^[0-9]+$")
    return pc.if_else(numbers, pc.utf8_lpad(trimmed, width, "0"), texts)


def _summed(
    terms: pa.DictionaryArray,
    classes: pa.DictionaryArray,
    counts: npt.NDArray[np.int64],
    sound: npt.NDArray[np.bool_],
) -> pa.Table:
    """Sum the counts of each term and class."""
    rows = pa.table({"term": terms, "class": classes, "count": counts})
    return sum_counts(rows if sound.all() else rows.filter(pa.array(sound)))


class _Sums:
    """Sums of counts, whose parts are merged whenever they have more rows than the total."""

    def __init__(self) -> None:
        self._total = COLUMNS.empty_table()
        self._parts: list[pa.Table] = []
        self._rows = 0

    def add(self, part: pa.Table) -> None:
        self._parts.append(part)
        self._rows += len(part)
        if self._rows > max(_PARTIAL, len(self._total)):
            self._merge()

    def table(self) -> pa.Table:
        """Return the sums of terms, which are folded only at the end because folding is slow."""
        self._merge()
        return _folded(self._total)

    def _merge(self) -> None:
        self._total = sum_counts(pa.concat_tables([self._total, *self._parts]))
        self._parts, self._rows = [], 0


def _folded(table: pa.Table) -> pa.Table:
    """Fold terms and separate their words by single spaces."""
    parts = [_folded_rows(part) for part in table.to_batches(max_chunksize=_FOLDED)]
    return pa.Table.from_batches(parts, schema=COLUMNS)


def _folded_rows(rows: pa.RecordBatch) -> pa.RecordBatch:
    terms = fold([" ".join(term.split()) for term in rows["term"].to_pylist()])
    distinct = rows["class"].dictionary_encode()
    classes = [" ".join(name.split()) for name in distinct.dictionary.to_pylist()]
    columns = [
        pa.array(terms, pa.large_string()),
        pa.array(classes, pa.large_string()).take(distinct.indices),
        rows["count"],
    ]
    return pa.record_batch(columns, schema=COLUMNS)
