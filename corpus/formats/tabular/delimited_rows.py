"""Rows of delimited tables (CSV, TSV), read by the standard `csv` module in bounded memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TextIO

from corpus.errors import InputError
from corpus.formats.files import LONGEST_LINE

#: Characters that are read at a time.
_BLOCK = 1 << 18


class DelimitedRows:
    """The rows of a table, as lists of strings; a blank line is an empty list.

    Parameters
    ----------
    text : text file
        The table, opened with ``newline=""``.
    delimiter : str
        One character.
    name : str
        The name of the file in messages.

    Attributes
    ----------
    line : int
        The number of the first line of the last row, from 1.
    quotes : int
        The number of quotation marks read so far.
    is_closed : bool
        False if the file ended within quotation marks.
    """

    def __init__(self, text: TextIO, delimiter: str, name: str) -> None:
        self._text, self._name = text, name
        self._reader = csv.reader(self._lines(), delimiter=delimiter)
        self._size = self._last = self.quotes = 0
        self.line = 1
        self.is_closed = True

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the rows.

        Raises
        ------
        InputError
            If a row has more than `LONGEST_LINE` characters.
        """
        csv.field_size_limit(max(csv.field_size_limit(), 2 * LONGEST_LINE))
        for row in self._reader:
            self._size, self.line, self._last = 0, self._last + 1, self._reader.line_num
            yield row

    def _lines(self) -> Iterator[str]:
        rest = ""
        while block := self._text.read(min(_BLOCK, LONGEST_LINE)):
            self.quotes += block.count('"')
            self._size += len(block)
            if self._size > LONGEST_LINE:
                raise InputError(
                    f"{self._name}:{self._last + 1}: this row has more than {LONGEST_LINE:,} "
                    "characters; is a quotation mark missing?"
                )
            block = rest + block
            # A carriage return at the end may belong to a line feed.
            end = max(block.rfind("\n"), block.rfind("\r", 0, -1)) + 1
            rest = block[end:]
            yield from io.StringIO(block[:end], newline="")
        yield from io.StringIO(rest, newline="")
        self.is_closed = self._reader.line_num == self._last
