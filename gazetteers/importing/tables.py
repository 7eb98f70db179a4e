"""CSV and TSV files of terms and counts, with their encoding, delimiter and header."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TextIO, cast

from corpus.arguments import encodable
from corpus.errors import InputError
from corpus.formats.tabular.delimited_rows import DelimitedRows
from corpus.formats.tabular.dialects import (
    BINARY,
    SAMPLE,
    checked_delimiter,
    find_delimiter,
    find_encoding,
    is_row,
    parsed,
)

#: How files begin that are no text.
_SIGNATURES = (
    (b"PK\x03\x04", "a spreadsheet or a zip file; save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet; save it as CSV"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"PAR1", "a Parquet file; expected CSV or TSV"),
)
Progress = Callable[[int, int], None]


class Table:
    """A CSV or TSV file with a header.

    Parameters
    ----------
    path : Path
        A regular file: its encoding is checked before it is parsed.
    delimiter : str, optional
        One character. The default is the one of `DELIMITERS` with which most of the first rows
        have as many fields as the header, or, if there are several, the one with the most fields.
    encoding : str, optional
        The default is what `find_encoding` detects.

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
        named = checked_delimiter(delimiter) if delimiter is not None else None
        try:
            if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
                raise InputError(f"{path} is not a regular file; save its text in one")
            self.encoding = _encoding_of(path, encoding)
            text, whole = _beginning(path, self.encoding)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        if not text.strip():
            raise InputError(f"{path} is empty; expected a header and rows")
        self.delimiter = named or find_delimiter(text, whole)
        rows = parsed(text, self.delimiter, whole)
        self._header = next((number for number, row in enumerate(rows, 1) if is_row(row)), 0)
        if not self._header:
            raise InputError(
                f"{path}:1: expected a header, and this line is longer than "
                f"{SAMPLE:,} characters or has a quote that is not closed"
            )
        names = [" ".join(name.split()) for name in rows[self._header - 1]]
        if not any(names):
            raise InputError(f"{path}:{self._header}: expected a header: names of columns")
        self.columns = _distinct(names)
        first = [row for row in rows[self._header :] if len(row) == len(names) and is_row(row)]
        self.sample = {
            name: [row[place] for row in first] for place, name in enumerate(self.columns)
        }
        self.empty = whole and not any(map(is_row, rows[self._header :]))

    def rows(self, progress: Progress | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the line on which each row begins, from 1, and its fields; blank rows are skipped.

        Parameters
        ----------
        progress : callable, optional
            Called with the number of bytes read and their total.

        Raises
        ------
        InputError
            If the file cannot be parsed to its end.
        """
        try:
            # A surrogate stands for a byte that cannot be decoded.
            with self.path.open(
                encoding=self.encoding, errors="surrogateescape", newline=""
            ) as file:
                text = cast(TextIO, _Text(file, self.path, self.encoding, progress))
                table = DelimitedRows(text, self.delimiter, str(self.path))
                for row in islice(table, self._header, None):
                    is_whole = len(row) == len(self.columns)
                    if any(row) if is_whole else len(row) > 1 or "".join(row).strip(' \t"'):
                        yield table.line, row
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from None
        if not table.is_closed:
            raise InputError(
                f"{self.path}:{table.line}: this row has a quote that is not closed; "
                "the file is cut off, or a quote is missing"
            )


class _Text:
    """The text of a table, which is checked and whose reading is reported."""

    def __init__(
        self, file: TextIO, path: Path, encoding: str, progress: Progress | None = None
    ) -> None:
        self._file, self._path, self._encoding, self._progress = file, path, encoding, progress
        self._total = path.stat().st_size
        self._line = 1

    def read(self, size: int) -> str:
        text = "\udc80"  # for what is undecodable as a whole, such as half a character at the end
        with suppress(UnicodeError):
            text = self._file.read(size)
        self._line += _line_ends(text)
        if "\0" in text or not encodable(text):
            raise self._error(text)
        if self._progress:
            self._progress(os.lseek(self._file.fileno(), 0, os.SEEK_CUR), self._total)
        return text

    def _error(self, text: str) -> InputError:
        place = next(
            place for place, letter in enumerate(text) if letter == "\0" or not encodable(letter)
        )
        where = f"{self._path}:{self._line - _line_ends(text[place:])}"
        if text[place] == "\0":
            return InputError(f"{where}: a NUL character: this is {BINARY}")
        return InputError(
            f"{where}: this is not {self._encoding}; name the encoding of the file with --encoding "
            "(latin-1, cp850, mac-roman)"
        )


def _line_ends(text: str) -> int:
    return text.count("\n") or text.count("\r")


def _beginning(path: Path, encoding: str) -> tuple[str, bool]:
    """Return the text of the first bytes of a file, and whether it is complete."""
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        text = _Text(file, path, encoding).read(SAMPLE + 1)
    return text[:SAMPLE].removeprefix("\ufeff"), len(text) <= SAMPLE


def _distinct(names: Sequence[str]) -> list[str]:
    """Return distinct names: repeated names are numbered, and missing names are created."""
    distinct: list[str] = []
    for place, name in enumerate(names, start=1):
        tried, times = name or f"column{place}", 1
        while tried in distinct or (times > 1 and tried in names):
            times += 1
            tried = f"{name or f'column{place}'}.{times}"
        distinct.append(tried)
    return distinct


def _encoding_of(path: Path, named: str | None) -> str:
    """Return the encoding of a text file; a file that is no text is an `InputError`."""
    with path.open("rb") as file:
        head = file.read(max(len(signature) for signature, _ in _SIGNATURES))
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            raise InputError(f"{path} is {what}")
    encoding = find_encoding(path, named)
    if encoding is None:
        raise InputError(f"{path} is {BINARY}")
    return encoding
