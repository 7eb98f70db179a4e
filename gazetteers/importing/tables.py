"""CSV and TSV files as columns of strings, parsed by pyarrow in blocks of bounded size.

This module adds what pyarrow lacks: detection of the delimiter, distinct names of columns, and an
error for a quote that is not closed, which pyarrow would extend to the end of the file.
"""

from __future__ import annotations

import codecs
import csv
import io
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from corpus.errors import InputError, shown
from corpus.formats.encodings import transcoded
from corpus.formats.tabular.csv_batches import csv_batches
from gazetteers.importing.encodings import find_encoding

#: Delimiters and their names, the most likely first.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

#: Bytes at the beginning of a file from which its delimiter and its columns are detected.
_SAMPLE = 1 << 17
#: Bytes that are parsed at a time. A row cannot be longer.
_BLOCK = 1 << 23

Progress = Callable[[int, int], None]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be used.

    Parameters
    ----------
    row : int
        The number of the row; see `Rows`.
    kind, detail : str
        A description of the fault, without text of the row.
    """

    row: int
    kind: str
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A block of rows of a table.

    Parameters
    ----------
    columns : dict of str to pyarrow.StringArray
        The columns by name, with N rows.
    numbers : ndarray of int64, shape (N,)
        The number of each row in the file, counted from 1, including empty lines. It is the line
        number as long as no quoted field has a line break.
    faults : list of Fault
        Rows of the block whose number of fields differs from the number of columns.
    """

    columns: dict[str, pa.StringArray]
    numbers: Numbers
    faults: list[Fault]


class Table:
    """A CSV or TSV file with a header.

    Parameters
    ----------
    path : Path
        A regular file: its encoding is checked before it is parsed.
    delimiter : str, optional
        One character. The default is the one of `DELIMITERS` with which most of the first rows
        have as many fields as the header, and among several the one with the most fields.
    encoding : str, optional
        See `find_encoding`.

    Attributes
    ----------
    columns : list of str
        Distinct names. A repeated name is numbered (``town``, ``town.2``), and a column without a
        name is called by its position (``column1``).
    sample : dict of str to list of str
        The first rows, by column.
    empty : bool
        Whether the file has no rows but the header.
    encoding : str
        The encoding that was named or detected.

    Raises
    ------
    InputError
        If the file cannot be read or has no header.
    """

    def __init__(
        self, path: Path, *, delimiter: str | None = None, encoding: str | None = None
    ) -> None:
        self.path = path
        named = _checked_delimiter(delimiter) if delimiter is not None else None
        try:
            if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
                raise InputError(f"{shown(path)} is not a regular file; save its text in one")
            self.encoding = find_encoding(path, encoding)
            text, whole = _beginning(path, self.encoding)
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be read: {error.strerror}") from None
        if not text.strip():
            raise InputError(f"{shown(path)} is empty; expected a header and rows")
        self.delimiter = named or _detect_delimiter(text, whole)
        rows = _parsed(text, self.delimiter, whole)
        self._header = next((number for number, row in enumerate(rows, 1) if _is_row(row)), 0)
        if not self._header:
            raise InputError(
                f"{shown(path)}:1: expected a header, and this line is longer than "
                f"{_SAMPLE:,} bytes or has a quote that is not closed"
            )
        names = [" ".join(name.split()) for name in rows[self._header - 1]]
        if not any(names):
            raise InputError(f"{shown(path)}:{self._header}: expected a header: names of columns")
        self.columns = _distinct(names)
        first = [row for row in rows[self._header :] if len(row) == len(names) and _is_row(row)]
        self.sample = {
            name: [row[place] for row in first] for place, name in enumerate(self.columns)
        }
        self.empty = whole and not any(map(_is_row, rows[self._header :]))

    def rows(self, names: Sequence[str], progress: Progress | None = None) -> Iterator[Rows]:
        """Yield all rows in blocks.

        Parameters
        ----------
        names : sequence of str
            The columns to return, each once.
        progress : callable, optional
            Called with the number of bytes read and their total.

        Raises
        ------
        InputError
            If the file cannot be parsed to its end.
        """
        invalid = _InvalidRows(len(self.columns), self.delimiter, self._header + 1)
        empty = {name: pa.array([], pa.string()) for name in names}
        try:
            with self.path.open("rb") as file:
                stream = io.BufferedReader(_Stream(file, self.encoding, invalid.end, progress))
                for batch in self._batches(stream, invalid):
                    numbers, faults = invalid.placed(len(batch))
                    rows, numbers = _without_empty_rows(batch, numbers)
                    columns = {name: rows.column(self.columns.index(name)) for name in names}
                    yield Rows(columns, numbers, faults)
        except OSError as error:
            raise InputError(f"{shown(self.path)} cannot be read: {error.strerror}") from None
        except pa.ArrowInvalid:
            raise InputError(
                f"{shown(self.path)}:{invalid.next}: this row is longer than {_BLOCK:,} bytes or "
                "has a quote that is not closed"
            ) from None
        numbers, faults = invalid.placed(0)
        if not invalid.ended:
            raise InputError(
                f"{shown(self.path)}:{invalid.next - 1}: this row has a quote that is not closed; "
                "the file is cut off, or a quote is missing"
            )
        if faults:
            yield Rows(empty, numbers, faults)

    def _batches(self, stream: BinaryIO, invalid: _InvalidRows) -> Iterator[pa.RecordBatch]:
        """Yield all columns as strings; empty lines are rows of empty strings."""
        names = [str(place) for place in range(len(self.columns))]
        yield from csv_batches(
            stream,
            pa.csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK,
                column_names=names,
                skip_rows_after_names=self._header,
            ),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                check_utf8=False,  # it was decoded before
            ),
            invalid.add,
            delimiter=self.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=False,
        )


class _InvalidRows:
    """A collection of the rows whose number of fields differs from the number of columns.

    Attributes
    ----------
    end : str
        A unique invalid row to append to the file. If it is not parsed as the last row, a quote was
        not closed.
    ended : bool
        Whether this row was parsed.
    next : int
        The number of the next row.
    """

    def __init__(self, columns: int, delimiter: str, first: int) -> None:
        self._delimiter = DELIMITERS.get(delimiter, delimiter)
        self._last = delimiter * columns + "\0"
        self._numbers: list[int] = []
        self._faults: list[Fault] = []
        self.end = f"\n{self._last}\n"
        self.ended = False
        self.next = first

    def add(self, row: pa.csv.InvalidRow) -> None:
        """Record an invalid row."""
        self._numbers.append(row.number)
        if row.text == self._last:
            self.ended = True
        elif row.text.strip(' \t"'):  # otherwise it is an empty line
            found, expected = row.actual_columns, row.expected_columns
            kind = f"row with too {'few' if found < expected else 'many'} fields"
            detail = (
                f"{found}, and the header has {expected}, with a {self._delimiter} between them"
            )
            self._faults.append(Fault(row.number, kind, detail))

    def placed(self, count: int) -> tuple[Numbers, list[Fault]]:
        """Return the numbers of the next valid rows, and the faults before, between and after them.

        pyarrow may be a block ahead, so some invalid rows may follow the valid rows of the next
        call.
        """
        invalid = np.array(self._numbers, np.int64)
        numbers = np.arange(self.next, self.next + count)
        numbers += np.searchsorted(invalid - np.arange(len(invalid)), numbers, side="right")
        self.next = int(numbers[-1]) + 1 if count else self.next
        for number in self._numbers[np.searchsorted(invalid, self.next) :]:
            if number > self.next:
                break
            self.next += 1
        # Only removed from the front: a thread of Arrow may append.
        del self._numbers[: bisect_left(self._numbers, self.next)]
        faults = self._faults[: bisect_left(self._faults, self.next, key=attrgetter("row"))]
        del self._faults[: len(faults)]
        return numbers, faults


class _Stream(io.RawIOBase):
    """A file in UTF-8 with some text appended, whose reading is reported."""

    def __init__(
        self, file: BinaryIO, encoding: str, end: str, progress: Progress | None = None
    ) -> None:
        self._file = file
        self._text = transcoded(file, encoding)
        self._end = io.BytesIO(end.encode())
        self._progress = progress
        self._total = Path(file.name).stat().st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        number: int = self._text.readinto(buffer)  # type: ignore[attr-defined]
        if self._progress:
            self._progress(self._file.tell(), self._total)
        return number or self._end.readinto(buffer)


def _without_empty_rows(batch: pa.RecordBatch, numbers: Numbers) -> tuple[pa.RecordBatch, Numbers]:
    """Remove the rows whose fields are all empty."""
    empty = pc.equal(batch.column(0), "")
    for column in batch.columns[1:]:
        if not pc.any(empty).as_py():
            return batch, numbers
        empty = pc.and_(empty, pc.equal(column, ""))
    kept = pc.invert(empty)
    return batch.filter(kept), numbers[kept.to_numpy(zero_copy_only=False)]


def _beginning(path: Path, encoding: str) -> tuple[str, bool]:
    """Return the text of the first bytes of a file, and whether it is complete."""
    with path.open("rb") as file:
        data = file.read(_SAMPLE + 1)
    whole = len(data) <= _SAMPLE
    text = codecs.getincrementaldecoder(encoding)().decode(data[:_SAMPLE], whole)
    return text.removeprefix("\ufeff"), whole


def _parsed(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Return the complete rows of a sample, including empty lines."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return rows if whole else rows[:-1]


def _is_row(fields: Sequence[str]) -> bool:
    """Return whether a row is more than an empty line."""
    return len(fields) > 1 or any(field.strip() for field in fields)


def _checked_delimiter(delimiter: str) -> str:
    """Check a delimiter that the user named, and return it; ``tab`` is accepted for a tab."""
    found = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(found) != 1 or not found.isascii() or found in '"\n\r' or found.isalnum():
        raise InputError(
            f"--delimiter {shown(delimiter)}: expected one character such as , or ; or | or the "
            "word tab"
        )
    return found


def _detect_delimiter(text: str, whole: bool) -> str:
    """Return the delimiter with which the header has several fields, and most rows as many."""
    found = []
    for delimiter in DELIMITERS:
        lengths = [len(row) for row in _parsed(text, delimiter, whole) if _is_row(row)]
        if lengths and lengths[0] > 1:
            share = lengths.count(lengths[0]) / len(lengths)
            found.append((share, lengths[0], delimiter))
    # Of equally good delimiters, max returns the first.
    return max(found, key=lambda each: each[:2])[2] if found else next(iter(DELIMITERS))


def _distinct(names: Sequence[str]) -> list[str]:
    """Return distinct names: repeated names are numbered, and missing names are created."""
    found: list[str] = []
    for place, name in enumerate(names, start=1):
        tried, times = name or f"column{place}", 1
        while tried in found or (times > 1 and tried in names):
            times += 1
            tried = f"{name or f'column{place}'}.{times}"
        found.append(tried)
    return found
