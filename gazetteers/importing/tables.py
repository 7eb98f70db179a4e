"""CSV and TSV files of terms and counts, with their encoding, delimiter and header."""

from __future__ import annotations

import codecs
import csv
import io
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TextIO, cast

from corpus.arguments import encodable
from corpus.errors import InputError
from corpus.formats.files import checked_codec
from corpus.formats.tabular.delimited_rows import DelimitedRows

#: Delimiters and their names, the most likely first.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

#: Characters at the beginning of a file from which its delimiter and its columns are detected.
_SAMPLE = 1 << 17

#: Bytes that are decoded at a time.
_PIECE = 1 << 23
#: Bytes by which text is distinguished from binary data.
_HEAD = 4096

#: Byte-order marks. UTF-32-LE comes first, because its mark begins with UTF-16-LE's mark.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Encodings whose byte order the byte-order mark defines.
_UNORDERED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_SIGNATURES = (
    (b"PK\x03\x04", "a spreadsheet or a zip file; save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet; save it as CSV"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"PAR1", "a Parquet file; expected CSV or TSV"),
)
BINARY = "a binary file; expected text: CSV or TSV"

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
        The default is the encoding of the byte-order mark, UTF-16 if every other byte is zero,
        UTF-8, or Windows-1252 (which includes Latin-1) if the first byte that is not ASCII is not
        UTF-8.

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
                raise InputError(f"{path} is not a regular file; save its text in one")
            self.encoding = _find_encoding(path, encoding)
            text, whole = _beginning(path, self.encoding)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        if not text.strip():
            raise InputError(f"{path} is empty; expected a header and rows")
        self.delimiter = named or _detect_delimiter(text, whole)
        rows = _parsed(text, self.delimiter, whole)
        self._header = next((number for number, row in enumerate(rows, 1) if _is_row(row)), 0)
        if not self._header:
            raise InputError(
                f"{path}:1: expected a header, and this line is longer than "
                f"{_SAMPLE:,} characters or has a quote that is not closed"
            )
        names = [" ".join(name.split()) for name in rows[self._header - 1]]
        if not any(names):
            raise InputError(f"{path}:{self._header}: expected a header: names of columns")
        self.columns = _distinct(names)
        first = [row for row in rows[self._header :] if len(row) == len(names) and _is_row(row)]
        self.sample = {
            name: [row[place] for row in first] for place, name in enumerate(self.columns)
        }
        self.empty = whole and not any(map(_is_row, rows[self._header :]))

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
        text = _Text(file, path, encoding).read(_SAMPLE + 1)
    return text[:_SAMPLE].removeprefix("\ufeff"), len(text) <= _SAMPLE


def _parsed(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Return the complete rows of a sample, including empty lines."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return rows if whole else rows[:-1]


def _is_row(fields: Sequence[str]) -> bool:
    """Return whether a row is more than an empty line."""
    return len(fields) > 1 or any(field.strip() for field in fields)


def _checked_delimiter(delimiter: str) -> str:
    """Check a delimiter that the user named, and return it; ``tab`` is accepted for a tab."""
    mark = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(mark) != 1 or not mark.isascii() or mark in '"\n\r' or mark.isalnum():
        raise InputError(
            f"--delimiter {delimiter}: expected one character such as , or ; or | or the word tab"
        )
    return mark


def _detect_delimiter(text: str, whole: bool) -> str:
    """Return the delimiter that gives the header several fields, and most rows as many."""
    fits = {}
    for delimiter in DELIMITERS:
        lengths = [len(row) for row in _parsed(text, delimiter, whole) if _is_row(row)]
        if lengths and lengths[0] > 1:
            fits[delimiter] = (lengths.count(lengths[0]) / len(lengths), lengths[0])
    # Of equally good delimiters, max returns the first.
    return max(fits, key=fits.__getitem__, default=next(iter(DELIMITERS)))


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


def _find_encoding(path: Path, named: str | None = None) -> str:
    """Detect the encoding of a text file, if the user named none; see `Table`."""
    encoding = checked_codec(named) if named else ""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            raise InputError(f"{path} is {what}")
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    if encoding in _UNORDERED:
        encoding = marked if marked.startswith(encoding) else _UNORDERED[encoding]
    encoding = encoding or marked or _without_mark(head)
    if not encoding and b"\0" in head:
        raise InputError(f"{path} is {BINARY}")
    return encoding or ("utf-8" if _begins_as_utf8(path) else "cp1252")


def _begins_as_utf8(path: Path) -> bool:
    """Return whether the first character that is not ASCII is UTF-8; later ones may be damaged."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        while True:
            data = file.read(_PIECE)
            try:
                if not decoder.decode(data, not data).isascii():
                    return True
            except UnicodeDecodeError as error:
                return not error.object[: error.start].isascii()
            if not data:
                return True


def _without_mark(head: bytes) -> str:
    """Return UTF-16 if every other byte is zero, as in any European text."""
    if any(code in head for code in b"\1\2\3\4\5\6\7\b"):
        return ""
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.7 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * pairs and odd < 0.1 * pairs else ""
