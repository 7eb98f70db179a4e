"""Event files of TensorBoard, written without TensorBoard.

A file is a sequence of records: the length of an event, a checksum of the length, the event and
its checksum (the format of TFRecord). An event is a message of protocol buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import groupby

from bootstrap.reports.formats.scalars import folder_name, scalars_of, time_of
from bootstrap.reports.groups import RunRecord

_VERSION = "brain.Event:2"
# CRC-32C, the polynomial of Castagnoli, reversed.
_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8


def event_files(records: Iterable[RunRecord]) -> dict[str, bytes]:
    """Return the event file of each run, by its path in a folder of logs.

    The path of a run is always the same, so that another export replaces the file.
    """
    found: dict[str, bytes] = {}
    for record in records:
        folder = name = folder_name(record.name)
        number = 1
        while any(path.startswith(f"{folder}/") for path in found):
            number += 1
            folder = f"{name}-{number}"
        begun = int(time_of(record, 0))
        found[f"{folder}/events.out.tfevents.{begun}.bootstrap"] = _events(record)
    return found


def _events(record: RunRecord) -> bytes:
    """Return the event file of a run: one event for each iteration."""
    first = _message(1, time_of(record, 0)) + _message(3, _VERSION.encode())
    parts = [_record(first)]
    for iteration, scalars in groupby(scalars_of(record), key=lambda scalar: scalar.iteration):
        values = b"".join(
            _message(1, _message(1, scalar.name.encode()) + _single(2, scalar.value))
            for scalar in scalars
        )
        event = _message(1, time_of(record, iteration)) + _integer(2, iteration)
        parts.append(_record(event + _message(5, values)))
    return b"".join(parts)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    checksum = crc32c(data)
    rotated = (checksum >> 15 | checksum << 17) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + _MASK) & 0xFFFFFFFF)


def _table() -> list[int]:
    table = []
    for byte in range(256):
        rest = byte
        for _ in range(8):
            rest = rest >> 1 ^ (_POLYNOMIAL if rest & 1 else 0)
        table.append(rest)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """Compute the CRC-32C checksum of data (RFC 3720, appendix B.4)."""
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum = checksum >> 8 ^ _TABLE[(checksum ^ byte) & 0xFF]
    return checksum ^ 0xFFFFFFFF


# Fields of protocol buffers: a number and a type, then the value.


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _single(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _message(field: int, value: bytes | float) -> bytes:
    """Return a field of bytes, text or another message, or of a number of double precision."""
    if isinstance(value, bytes):
        return _varint(field << 3 | 2) + _varint(len(value)) + value
    return _varint(field << 3 | 1) + struct.pack("<d", value)
