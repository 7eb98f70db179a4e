"""Encrypted maps of what was replaced, which lead from de-identified notes back to the originals.

A map is as secret as the notes. It has a header (a magic number, the fingerprint of the key and a
random number) and blocks, each with its size. A block has the rows of `ROWS` as an Arrow stream,
encrypted and authenticated by AES-SIV (RFC 5297) together with the header and its number, so that
none can be read, changed, moved or left out without the key. The last one says that it is the last.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa

from anonymizers.keys import Key
from anonymizers.spans import Spans
from corpus.errors import InputError, quoted
from corpus.flat import FlatTexts, flat_spans, span_lists
from corpus.formats.batches import from_bytes
from corpus.ragged import owners_of
from corpus.replacement import replace_spans
from corpus.storage.atomic import new_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

#: The columns of a map: each note and a digest of its new text; where replacements are in this
#: text; and what they replaced.
ROWS = pa.schema(
    [
        ("id", pa.large_string()),
        ("digest", pa.binary(16)),
        ("starts", pa.list_(pa.int32())),
        ("ends", pa.list_(pa.int32())),
        ("originals", pa.list_(pa.large_string())),
    ]
)

_MAGIC = b"bootstrap map 1\n"
_END = b"end"
_SALT = 16  # bytes
_HEADER = len(_MAGIC) + 16 + _SALT
_AMBIGUOUS = -1
_SIZE = 4  # bytes, of the size of a block
_BLOCK = 1 << 10  # notes


def replaced_rows(
    notes: pa.RecordBatch, originals: Spans, new: pa.RecordBatch, spans: Spans
) -> pa.RecordBatch:
    """Return the rows of a map (`ROWS`), one for each note.

    Parameters
    ----------
    notes, new : RecordBatch
        The notes as they were, and with new texts.
    originals, spans : Spans
        Where each text was that was replaced, and where its replacement is, in order.
    """
    texts = FlatTexts(notes.column("text"))
    origins = texts.offsets[spans.rows]
    old = texts.ranges(origins + originals.starts, origins + originals.ends)
    lists = span_lists(spans.rows, len(notes), spans.starts, spans.ends, old)
    return pa.record_batch([notes.column("id"), _digests(new), *lists], schema=ROWS)


@contextmanager
def map_writer(path: Path, key: Key) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Write an encrypted map, which only its owner can read and which appears when it is complete.

    Parameters
    ----------
    path : Path
        A file that does not exist.
    key : Key
        The key.

    Yields
    ------
    callable
        Adds rows (`ROWS`) to the map.

    Raises
    ------
    InputError
        If the file exists or cannot be made.
    WriteError
        If the file system is full or read-only.
    """
    header = _MAGIC + key.fingerprint.encode() + secrets.token_bytes(_SALT)
    cipher, numbers = _cipher(key), count()
    with new_file(path) as file:

        def write(data: bytes) -> None:
            block = cipher.encrypt(data, _context(header, next(numbers)))
            file.write(len(block).to_bytes(_SIZE, "big") + block)

        def add(rows: pa.RecordBatch) -> None:
            for start in range(0, len(rows), _BLOCK):
                write(_to_bytes(rows.slice(start, _BLOCK)))

        file.write(header)
        yield add
        write(_END)


def read_map(path: Path, key: Key) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a map in the order in which they were added, in bounded memory.

    Raises
    ------
    InputError
        If the file is no map, cannot be read, was written with another key or is not complete.
        Rows that precede damage are yielded before.
    """
    try:
        with path.open("rb") as file:
            yield from _read(file, path, key)
    except OSError as error:
        raise InputError(f"the map {path} cannot be read: {error.strerror}") from None


def _read(file: BinaryIO, path: Path, key: Key) -> Iterator[pa.RecordBatch]:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - not always used

    header = file.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise InputError(f"{path} is no map: expected a file of `deidentify --reversible`")
    fingerprint = header[len(_MAGIC) : -_SALT].decode("latin-1")
    if fingerprint != key.fingerprint:
        raise InputError(
            f"{path} was written with another key, with the fingerprint {quoted(fingerprint)}"
        )
    cipher, size = _cipher(key), os.fstat(file.fileno()).st_size
    for number in count():
        length = int.from_bytes(file.read(_SIZE), "big")
        block = file.read(min(length, size))
        try:
            data = cipher.decrypt(block, _context(header, number))
        except InvalidTag:
            data = b""
        if len(block) < length or not data or (data == _END and file.read(1)):
            raise InputError(f"the map {path} is damaged or not complete, from its block {number}")
        if data == _END:
            return
        yield from_bytes(data)


class ReplacedTexts:
    """What was replaced in notes, in memory.

    Parameters
    ----------
    rows : iterable of RecordBatch
        The rows of a map; see `read_map`.
    """

    def __init__(self, rows: Iterable[pa.RecordBatch]) -> None:
        self._rows = pa.Table.from_batches(rows, ROWS).combine_chunks()
        # The row of each note, and `_AMBIGUOUS` where notes that became equal were different.
        self._numbers: dict[tuple[str, bytes], int] = {}
        for number, name in enumerate(_names_of(self._rows)):
            first = self._numbers.setdefault(name, number)
            if first in {number, _AMBIGUOUS}:
                continue
            if self._rows.slice(first, 1) != self._rows.slice(number, 1):
                self._numbers[name] = _AMBIGUOUS
        self._ids = {name for name, _ in self._numbers}

    def restore(self, notes: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
        """Restore what was replaced in notes.

        A note whose text has changed since it was written stays as it is, and so does one of
        several that have the same id and text now and had others.

        Parameters
        ----------
        notes : RecordBatch
            Notes (`corpus.formats.batches.SCHEMA`) in which spans were replaced, and any other
            columns. Annotations move with the text; one that begins or ends within a replacement
            covers what was replaced, and an empty one what was removed there.

        Returns
        -------
        notes : RecordBatch
            The notes as they were.
        left : int
            The number of notes of the map that stay as they are.
        """
        names = list(_names_of(notes.append_column("digest", _digests(notes))))
        numbers = np.array([self._numbers.get(name, _AMBIGUOUS) for name in names], np.int64)
        fitting = np.flatnonzero(numbers >= 0)
        left = sum(names[row][0] in self._ids for row in np.flatnonzero(numbers < 0).tolist())
        rows = self._rows.take(pa.array(numbers[fitting])).combine_chunks()
        starts, ends, originals = (rows[name].combine_chunks() for name in ROWS.names[2:])
        owners = fitting[owners_of(starts.offsets.to_numpy())]
        columns = dict(zip(notes.schema.names, notes.columns, strict=True))
        columns["starts"], columns["ends"] = span_lists(
            owners, len(notes), starts.flatten(), ends.flatten()
        )
        replaced = pa.record_batch(list(columns.values()), schema=notes.schema)
        restored, offsets = replace_spans(replaced, originals.flatten())

        source = FlatTexts(notes.column("text"))
        annotated, starts, ends = flat_spans(notes, source.offsets)
        starts = offsets.convert(annotated, starts - source.offsets[annotated], "start")
        ends = offsets.convert(annotated, ends - source.offsets[annotated], "end")
        # Of an empty annotation, the end is moved to before what was removed, and the start after.
        starts, ends = np.minimum(starts, ends), np.maximum(starts, ends)
        columns["text"] = restored.column("text")
        columns["starts"], columns["ends"] = span_lists(annotated, len(notes), starts, ends)
        notes = pa.record_batch(list(columns.values()), schema=notes.schema)
        return notes, left


def _names_of(rows: pa.RecordBatch | pa.Table) -> Iterator[tuple[str, bytes]]:
    """Return what tells notes apart: their ids and the digests of their texts."""
    return zip(rows["id"].to_pylist(), rows["digest"].to_pylist(), strict=True)


def _cipher(key: Key) -> AESSIV:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415 - rarely used

    return AESSIV(key.digest("reversible map", size=64))


def _context(header: bytes, number: int) -> list[bytes]:
    """Return what a block is authenticated with."""
    return [header, number.to_bytes(8, "big")]


def _digests(notes: pa.RecordBatch) -> pa.Array:
    """Return a digest of the text of each note."""
    texts = notes.column("text").cast(pa.large_binary()).to_pylist()
    return pa.array([blake2b(text, digest_size=16).digest() for text in texts], pa.binary(16))


def _to_bytes(rows: pa.RecordBatch) -> bytes:
    """Return rows as a compressed Arrow stream; ids and replacements repeat."""
    sink, options = pa.BufferOutputStream(), pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as stream:
        stream.write_batch(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data
