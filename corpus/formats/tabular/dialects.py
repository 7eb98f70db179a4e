"""The encoding of text files, and the delimiter of tables, detected from how they begin."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import InputError
from corpus.formats.files import BYTE_ORDER_MARK, checked_codec, open_source, open_text

#: Delimiters and their names, the most likely first.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

#: Characters at the beginning of a file from which its delimiter and its columns are detected.
SAMPLE = 1 << 17

BINARY = "a binary file; expected text: CSV or TSV"

#: Bytes by which text is distinguished from binary data.
_HEAD = 4096
#: Bytes that are decoded at a time, and at most, to tell UTF-8 from Windows-1252.
_PIECE, _MOST = 1 << 23, 1 << 26

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


@dataclass(frozen=True, slots=True)
class Dialect:
    """The encoding of a table, and the character between its columns."""

    encoding: str = "utf-8"
    delimiter: str = ","

    def __str__(self) -> str:
        between = DELIMITERS.get(self.delimiter, self.delimiter)
        return f"read as {self.encoding} with a {between} between columns"


def find_dialect(
    path: Path, column: str, *, delimiter: str | None = None, encoding: str | None = None
) -> Dialect:
    """Detect how a table is written, except for what is given.

    Parameters
    ----------
    path : Path
        A regular file, perhaps compressed.
    column : str
        The column that the header must have.
    delimiter, encoding : str or None
        What the user has named.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    codec = find_encoding(path, encoding) or "utf-8"
    if delimiter:
        return Dialect(codec, delimiter)
    with open_text(path, codec, "") as file:
        text = file.read(SAMPLE + 1)
    begin, whole = text[:SAMPLE].removeprefix(BYTE_ORDER_MARK), len(text) <= SAMPLE
    return Dialect(codec, find_delimiter(begin, whole, column))


def find_encoding(path: Path, named: str | None = None) -> str | None:
    """Detect the encoding of a text file, if the user has named none.

    It is the encoding of the byte-order mark, UTF-16 if every other byte is zero, UTF-8, or
    Windows-1252 (which includes Latin-1) if the first byte that is not ASCII is not UTF-8.

    Returns
    -------
    str or None
        None if the file begins like binary data.

    Raises
    ------
    InputError
        If it cannot be read, or there is no encoding of this name.
    """
    encoding = checked_codec(named) if named else ""
    with open_source(path) as file:
        head = file.read(_HEAD)
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    if encoding in _UNORDERED:
        encoding = marked if marked.startswith(encoding) else _UNORDERED[encoding]
    encoding = encoding or marked or _without_mark(head)
    if not encoding and b"\0" in head:
        return None
    return encoding or ("utf-8" if _begins_as_utf8(path) else "cp1252")


def _begins_as_utf8(path: Path) -> bool:
    """Return whether the first character that is not ASCII is UTF-8; later ones may be damaged."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_source(path) as file:
        for _ in range(_MOST // _PIECE):
            data = file.read(_PIECE)
            try:
                if not decoder.decode(data, not data).isascii():
                    return True
            except UnicodeDecodeError as error:
                return not error.object[: error.start].isascii()
            if not data:
                break
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


def parsed(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Return the complete rows of a sample, including empty lines."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return rows if whole else rows[:-1]


def is_row(fields: Sequence[str]) -> bool:
    """Return whether a row is more than an empty line."""
    return len(fields) > 1 or any(field.strip() for field in fields)


def checked_delimiter(delimiter: str) -> str:
    """Check a delimiter that the user named, and return it; ``tab`` is accepted for a tab."""
    mark = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(mark) != 1 or not mark.isascii() or mark in '"\n\r' or mark.isalnum():
        raise InputError(
            f"delimiter {delimiter!r}: expected one character such as , or ; or | or the word tab"
        )
    return mark


def find_delimiter(text: str, whole: bool, column: str | None = None) -> str:
    """Return the delimiter that gives the header this column, or several ones as in most rows.

    Where no header has the column, the first values are the shortest ones: ids, rather than text in
    which the character is punctuation.
    """
    fits = {}
    for delimiter in DELIMITERS:
        rows = list(filter(is_row, parsed(text, delimiter, whole)))
        if rows and (len(rows[0]) > 1 or column in rows[0]):
            lengths = list(map(len, rows))
            share = lengths.count(lengths[0]) / len(lengths)
            has_column = column in rows[0]
            is_guess = column is not None and not has_column
            first = -sum(len(row[0]) for row in rows) if is_guess else 0
            fits[delimiter] = (has_column, share, first, lengths[0])
    # Of equally good delimiters, max returns the first.
    return max(fits, key=fits.__getitem__, default=next(iter(DELIMITERS)))
