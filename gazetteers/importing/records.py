"""Where the records of a CSV file begin and end: a quoted field may have line breaks in it."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]

_QUOTE, _NEWLINE = b'"', b"\n"


class Records:
    """The records of a piece of a table that begins with one.

    Parameters
    ----------
    data : bytes
        In UTF-8, with a line feed at the end of each line.
    delimiter : bytes
        One byte.

    Attributes
    ----------
    ends : ndarray of int64
        The place after each complete record, of the empty ones (empty lines) too.
    faults : ndarray of int64
        The places of quotes that open a field which goes on after its closing quote.
    """

    def __init__(self, data: bytes, delimiter: bytes) -> None:
        self._data = np.frombuffer(data, np.uint8)
        self._delimiter = delimiter
        self._quotes, self.faults = _quotes(data, delimiter)
        self._newlines = np.flatnonzero(self._data == ord(_NEWLINE))
        self.ends = self._outside(self._newlines) + 1
        self.faults = self.faults[self.faults < self.length]

    @property
    def length(self) -> int:
        """How many bytes are of complete records."""
        return int(self.ends[-1]) if len(self.ends) else 0

    @property
    def newlines(self) -> int:
        """How many lines the complete records have."""
        return int(np.searchsorted(self._newlines, self.length))

    def open_line(self) -> int | None:
        """Give how many lines there are before a quote that is not closed at the end, if any."""
        if len(self._quotes) % 2 == 0:
            return None
        return int(np.searchsorted(self._newlines, self._quotes[-1]))

    def starts(self) -> Places:
        """Give the place where each record begins."""
        return np.concatenate([np.zeros(min(1, len(self.ends)), np.int64), self.ends[:-1]])

    def lines(self) -> Places:
        """Give how many lines there are before each record."""
        return np.searchsorted(self._newlines, self.starts()).astype(np.int64)

    def fields(self) -> Places:
        """Give the number of fields of each record; 0 for an empty line."""
        found = self._outside(np.flatnonzero(self._data == ord(self._delimiter)))
        before = np.searchsorted(found, self.ends)
        fields = np.diff(before, prepend=0) + 1
        return np.where(self.ends - self.starts() == 1, 0, fields)

    def faulty(self) -> npt.NDArray[np.bool_]:
        """Say which records have one of the faults."""
        faulty = np.zeros(len(self.ends), bool)
        faulty[np.searchsorted(self.ends, self.faults, side="right")] = True
        return faulty

    def without_faulty(self, data: bytes) -> bytes:
        """Leave the records out that have one of the faults."""
        places = zip(self.starts(), self.ends, self.faulty(), strict=True)
        return b"".join(data[begin:end] for begin, end, faulty in places if not faulty)

    def _outside(self, places: Places) -> Places:
        """Leave out the places that are within quotes."""
        outside: Places = places[np.searchsorted(self._quotes, places) % 2 == 0]
        return outside


def _quotes(data: bytes, delimiter: bytes) -> tuple[Places, Places]:
    """Find the quotes that open and close fields, in turn, and those of faulty fields.

    A quote within a field that is not quoted is a character like others.
    """
    raw = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(raw == ord(_QUOTE))
    if _in_turn(raw, quotes, delimiter):
        return quotes, quotes[:0]
    found: list[int] = []
    faults: list[int] = []
    for field in _field_of(delimiter).finditer(data):
        found.append(field.start())
        if field[1] is not None:
            found.append(field.start(1))
            if field[2] is None:
                faults.append(field.start())
    return np.array(found, np.int64), np.array(faults, np.int64)


def _in_turn(raw: npt.NDArray[np.uint8], quotes: Places, delimiter: bytes) -> bool:
    """Say whether each quote opens or closes a field, or half of a doubled one.

    Then every other one closes what the one before it has opened, and none need be looked at
    one by one.
    """
    edges = np.zeros(256, bool)
    edges[[ord(delimiter), ord(_NEWLINE), ord(_QUOTE)]] = True
    before, after = quotes[::2] - 1, quotes[1::2] + 1
    before, after = before[before >= 0], after[after < len(raw)]
    return bool(edges[raw[before]].all() and edges[raw[after]].all())


def _field_of(delimiter: bytes) -> re.Pattern[bytes]:
    """Match a quoted field: its closing quote is group 1, what may follow that, group 2."""
    edge = re.escape(delimiter)
    return re.compile(rb'"(?<![^%b\n]")(?:[^"]++|"")*+(?:(")([ \t]*(?![^%b\n]))?)?' % (edge, edge))
