"""What the footer of a Parquet file says of its columns, read without Arrow.

Arrow ends the process where a footer that was changed contradicts itself: asking it for the
metadata of a column raises an error in C++ that Python cannot catch (pyarrow 26). Here the few
numbers that are looked at before any row is read come from the footer itself, which is in the
compact protocol of Thrift.

References
----------
Apache Parquet, ``parquet.thrift``; Apache Thrift, "Thrift Compact protocol encoding".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The end of a file: the number of bytes of the footer, and a mark.
_MARK = b"PAR1"
_TAIL = 8

#: The levels of structures that are followed. The metadata of a column are at the sixth.
_DEPTH = 16

#: Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = (_I16, _I32, _I64)

#: The numbers of fields in ``parquet.thrift``.
_ROW_GROUPS, _COLUMNS, _META_DATA = 4, 1, 3
_ENCODINGS, _PATH, _UNPACKED, _PACKED = 2, 3, 6, 7

#: The number of the encoding DELTA_BYTE_ARRAY.
DELTA_BYTE_ARRAY = 7


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """A column of a group of rows.

    Parameters
    ----------
    path : str
        The path of the column in the schema, with dots between its parts.
    encodings : frozenset of int
        The numbers of the encodings of its pages.
    packed, unpacked : int
        The bytes of its pages in the file, and when they are decompressed.
    """

    path: str
    encodings: frozenset[int]
    packed: int
    unpacked: int


def column_chunks(path: Path) -> list[list[ColumnChunk]]:
    """Read the columns of each group of rows from the footer of a file.

    Parameters
    ----------
    path : Path
        A Parquet file.

    Returns
    -------
    list of list of ColumnChunk
        By group of rows, and by column in the order of the file.

    Raises
    ------
    ValueError
        If the footer is damaged.
    """
    try:
        fields = _Compact(_footer(path)).structure(_DEPTH)
        return [
            [_chunk(column[_META_DATA]) for column in group[_COLUMNS]]
            for group in fields[_ROW_GROUPS]
        ]
    except (IndexError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ValueError("the footer is damaged") from error


def _footer(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MARK or length > size - _TAIL:
            raise ValueError("the footer is missing")
        file.seek(size - _TAIL - length)
        return file.read(length)


def _chunk(fields: dict[int, Any]) -> ColumnChunk:
    packed, unpacked = fields[_PACKED], fields[_UNPACKED]
    if not (isinstance(packed, int) and isinstance(unpacked, int) and min(packed, unpacked) >= 0):
        raise ValueError("a column has no size")
    return ColumnChunk(
        b".".join(fields[_PATH]).decode(), frozenset(fields[_ENCODINGS]), packed, unpacked
    )


class _Compact:
    """A reader of the compact protocol of Thrift.

    Every value takes at least a byte, so that what is read is not larger than the content allows.

    Parameters
    ----------
    content : bytes
        What is read.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    def structure(self, depth: int) -> dict[int, Any]:
        """Read the fields of a structure, by their numbers.

        Parameters
        ----------
        depth : int
            The levels of structures and lists that are allowed in it.

        Raises
        ------
        ValueError
            If there are more levels, or an unknown type.
        IndexError
            If the content ends before.
        """
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            delta, kind = header >> 4, header & 15
            number = number + delta if delta else self._integer()
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if not depth:
            raise ValueError("the footer is nested too deeply")
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth - 1)
        if kind == _STRUCT:
            return self.structure(depth - 1)
        if kind in (_TRUE, _FALSE, _BYTE):  # true and false as elements of lists
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise ValueError("the footer has values of an unknown type")

    def _list(self, depth: int) -> list[Any]:
        header = self._byte()
        size, kind = header >> 4, header & 15
        if size == 15:
            size = self._varint()
        return [self._value(kind, depth) for _ in range(size)]

    def _integer(self) -> int:
        """Read an integer whose sign is in the lowest bit ("zigzag")."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("the footer has an integer of too many bits")

    def _byte(self) -> int:
        byte = self._content[self._place]
        self._place += 1
        return byte

    def _bytes(self, number: int) -> bytes:
        found = self._content[self._place : self._place + number]
        if len(found) != number:
            raise IndexError("the footer ends within a value")
        self._place += number
        return found
