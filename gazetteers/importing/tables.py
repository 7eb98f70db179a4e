"""Tables of CSV and TSV files, read piece by piece: what is in memory is a piece of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from corpus.errors import InputError, shown
from gazetteers.importing.decoding import TextPieces
from gazetteers.importing.records import Places, Records

#: What stands between columns, the likeliest first.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

#: Bytes at the beginning of a file by which its delimiter and its columns are told.
_SAMPLE = 1 << 17
#: Bytes that a record may have.
_LONGEST = 1 << 24

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be used.

    Parameters
    ----------
    line : int
        Where it begins.
    kind, detail : str
        What is wrong with it, without its text.
    """

    line: int
    kind: str
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Where the rows of a piece of a table begin: this is only asked where something is wrong."""

    records: Records
    number: int
    begin: int

    def of(self, rows: Places) -> Places:
        whole = (self.records.fields() == self.number) & ~self.records.faulty()
        lines: Places = self.records.lines()[whole][rows] + self.begin
        return lines


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a table.

    Parameters
    ----------
    columns : dict of str to pyarrow.StringArray
        Those that were asked for.
    number : int
        How many rows these are.
    faults : list of Fault
        The rows between them that have more or fewer fields than there are columns.
    """

    columns: dict[str, pa.StringArray]
    number: int
    faults: list[Fault]
    _lines: _Lines = field(repr=False)

    def lines(self, rows: Places) -> Places:
        """Give the lines on which some of these rows begin."""
        return self._lines.of(rows)


class Table:
    """A CSV or TSV file with a header.

    Parameters
    ----------
    path : Path
        Read once, so that it may be a pipe.
    delimiter : str, optional
        One character; by default that of `DELIMITERS` which the header has, but for those in
        quotes, and the first rows have as often.
    encoding : str, optional
        See `TextPieces`.

    Attributes
    ----------
    columns : list of str
        Distinct: what the header repeats is numbered (``town``, ``town.2``), and what it does not
        name is ``column1`` if it is the first.
    empty : bool
        Whether there is nothing but the header.
    sample : dict of str to list of str
        The first rows.

    Raises
    ------
    InputError
        If it cannot be read, or there is no header.
    """

    def __init__(
        self, path: Path, *, delimiter: str | None = None, encoding: str | None = None
    ) -> None:
        self.path = path
        named = _one(delimiter) if delimiter is not None else None
        self._text = TextPieces(path, encoding)
        # So the last line ends, too; an empty line more is nothing.
        self._pieces = chain((text.encode() for text in self._text), [b"\n"])
        head = _beginning(self._pieces)
        sample = head[:_SAMPLE]
        if not sample.strip():
            raise InputError(f"{shown(path)} is empty; expected a header and rows")
        self.delimiter = named or _delimiter_of(sample)
        begin, end = self._header(Records(sample, self.delimiter.encode()))
        names = _fields(sample[begin:end], self.delimiter)
        self._line = sample[:end].count(b"\n") + 1
        if not any(names):
            raise InputError(f"{shown(path)}:{self._line - 1}: expected a header: names of columns")
        self.columns = _distinct(names)
        self._rest = chain([head[end:]], self._pieces)
        self.empty = len(head) <= _SAMPLE and not head[end:].strip()
        self.sample = self._first_rows(sample[end:])

    @property
    def encoding(self) -> str:
        """The encoding, as far as it is known from what was read."""
        return self._text.encoding

    def _header(self, records: Records) -> tuple[int, int]:
        """Find the first line that is not empty."""
        full = np.flatnonzero(records.fields())
        if not len(full):
            raise InputError(
                f"{shown(self.path)}:1: expected a header, and this line is longer than "
                f"{_SAMPLE:,} bytes or has a quote that is not closed"
            )
        return int(records.starts()[full[0]]), int(records.ends[full[0]])

    def _first_rows(self, data: bytes) -> dict[str, list[str]]:
        data = data[: Records(data, self.delimiter.encode()).length]
        found, _ = _parsed(data, self.delimiter, range(len(self.columns)), len(self.columns))
        return {name: column.to_pylist() for name, column in zip(self.columns, found, strict=True)}

    def rows(self, names: Sequence[str], progress: Progress | None = None) -> Iterator[Rows]:
        """Read all rows, once.

        Parameters
        ----------
        names : sequence of str
            Columns to read, each once.
        progress : callable, optional
            Told how many bytes are read, of how many.

        Raises
        ------
        InputError
            If the file cannot be read to its end.
        """
        number, places = len(self.columns), [self.columns.index(name) for name in names]
        for data, records in self._complete():
            sound = data
            if len(records.faults):
                sound = records.without_faulty(data)
            columns, ragged = _parsed(sound, self.delimiter, places, number)
            faults = self._faults(records) if ragged or sound is not data else []
            lines = _Lines(records, number, self._line)
            yield Rows(dict(zip(names, columns, strict=True)), len(columns[0]), faults, lines)
            self._line += records.newlines
            if progress:
                progress(self._text.done, self._text.total)

    def _complete(self) -> Iterator[tuple[bytes, Records]]:
        """Yield the file in pieces that end where a record ends."""
        rest = b""
        for piece in self._rest:
            data = rest + piece
            records = Records(data, self.delimiter.encode())
            rest = data[records.length :]
            if records.length:
                yield data[: records.length], records
            if len(rest) > _LONGEST:
                raise InputError(self._endless(rest))
        if rest:
            raise InputError(self._endless(rest))

    def _endless(self, data: bytes) -> str:
        """Say why a record does not end."""
        line = Records(data, self.delimiter.encode()).open_line()
        if line is None:
            return f"{shown(self.path)}:{self._line}: this line is longer than {_LONGEST:,} bytes"
        return (
            f"{shown(self.path)}:{self._line + line}: this line has a quote that is not closed; "
            "the file is cut off, or a quote is missing"
        )

    def _faults(self, records: Records) -> list[Fault]:
        """Say what is wrong with the rows that were left out."""
        number, fields, faulty = len(self.columns), records.fields(), records.faulty()
        lines = records.lines() + self._line
        found = []
        for place in np.flatnonzero(faulty | (fields > 0) & (fields != number)).tolist():
            if faulty[place]:
                kind = "text after a closing quote"
                detail = "expected a quote within quotes twice, or a quote missing before it"
            else:
                kind = f"row with too {'few' if fields[place] < number else 'many'} fields"
                detail = (
                    f"{fields[place]}, and the header has {number}, with a "
                    f"{DELIMITERS.get(self.delimiter, self.delimiter)} between them"
                )
            found.append(Fault(int(lines[place]), kind, detail))
        return found


def _beginning(pieces: Iterator[bytes]) -> bytes:
    """Read so much that it is more than a sample, or all."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) > _SAMPLE:
            break
    return head


def _one(delimiter: str) -> str:
    """Check a delimiter that was named; a tab can be named by its name."""
    found = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(found) != 1 or not found.isascii() or found in '"\n\r' or found.isalnum():
        raise InputError(
            f"--delimiter {shown(delimiter)}: expected one character such as , or ; or | or the "
            "word tab"
        )
    return found


def _delimiter_of(sample: bytes) -> str:
    """Find what the header has, outside of quotes, and the rows have as often."""
    found = []
    for delimiter in DELIMITERS:
        fields = Records(sample, delimiter.encode()).fields()
        fields = fields[fields > 0]
        if len(fields) and fields[0] > 1:
            found.append((np.mean(fields == fields[0]), fields[0], delimiter))
    # Of two that do as well, the first: max keeps it.
    return max(found, key=lambda each: each[:2])[2] if found else next(iter(DELIMITERS))


def _fields(record: bytes, delimiter: str) -> list[str]:
    """Read one record."""
    number = int(Records(record, delimiter.encode()).fields()[0])
    columns, _ = _parsed(record, delimiter, range(number), number)
    return [" ".join(column[0].as_py().split()) for column in columns]


def _distinct(names: Sequence[str]) -> list[str]:
    """Give a number to names that are there before, and a name to columns without one."""
    found: list[str] = []
    for place, name in enumerate(names, start=1):
        tried, times = name or f"column{place}", 1
        while tried in found or (times > 1 and tried in names):
            times += 1
            tried = f"{name or f'column{place}'}.{times}"
        found.append(tried)
    return found


def _parsed(
    data: bytes, delimiter: str, places: Sequence[int], number: int
) -> tuple[list[pa.StringArray], bool]:
    """Read some columns of rows of `number` fields, and say whether there are others."""
    ragged = []

    def skip(row: Any) -> str:
        ragged.append(True)
        return "skip"

    if not data:
        return [pa.array([], pa.string()) for _ in places], False
    names = [str(place) for place in range(number)]
    wanted = [names[place] for place in places]
    table = pa.csv.read_csv(
        pa.BufferReader(data),
        pa.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
        pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip),
        pa.csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.string()),
            include_columns=wanted,
            check_utf8=False,  # it was encoded here
        ),
    )
    return [table[name].combine_chunks() for name in wanted], bool(ragged)
