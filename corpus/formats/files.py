"""Reading of text files: plain, compressed (``.gz``, ``.zst``), or standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from corpus.errors import InputError, shown
from corpus.formats.encodings import transcoded

#: The name of standard input and standard output.
STANDARD = Path("-")

#: Maximum number of bytes of a line, and of the row of a table; one that is longer is damaged, or
#: fills the memory on purpose.
LONGEST_LINE = 1 << 25
#: Maximum number of bytes of a file that is one document.
LONGEST_FILE = 1 << 28

_BLOCK = 1 << 20  # bytes read at a time to count lines

#: Suffixes of compressed files, and Arrow's names of their codecs.
CODECS = {".gz": "gzip", ".zst": "zstd"}


def is_standard(path: str | Path) -> bool:
    """Return whether a path denotes standard input or output."""
    return str(path) == str(STANDARD)


def codec_of(path: Path) -> str | None:
    """Return the codec of a file by its suffix; None if it is not compressed."""
    return CODECS.get(path.suffix.lower())


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read its decompressed bytes; ``-`` is standard input, which stays open.

    Raises
    ------
    OSError
        If it cannot be opened, or turns out to be truncated or damaged while it is read.
    """
    codec = codec_of(path)
    if is_standard(path):
        yield sys.stdin.buffer
    elif codec is None:
        with path.open("rb") as file:
            yield file
    else:
        import pyarrow as pa  # noqa: PLC0415 - slow to import, and only needed here

        if path.stat().st_size == 0:
            raise OSError("Truncated compressed stream")
        with path.open("rb") as file, pa.CompressedInputStream(file, codec) as stream:
            # Closing the buffered reader would close the stream twice.
            yield io.BufferedReader(cast(io.RawIOBase, stream), io.DEFAULT_BUFFER_SIZE * 8)


def reason_of(error: OSError) -> str:
    """Return the reason why a file cannot be read."""
    if error.strerror:
        return error.strerror
    if "Truncated" in str(error):
        return "the compressed file is truncated; was it cut off while it was written or copied?"
    return "the compressed file is damaged, or its suffix is wrong"


@contextmanager
def open_source(path: Path) -> Iterator[BinaryIO]:
    """Open a file as `open_binary` does.

    Raises
    ------
    InputError
        If it cannot be opened or read to its end.
    """
    try:
        with open_binary(path) as file:
            yield file
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be read: {reason_of(error)}") from error


def lines_of(path: Path, encoding: str = "utf-8") -> Iterator[bytes]:
    """Yield the lines of a file in UTF-8 with their line feeds.

    Of a line that is longer than `LONGEST_LINE`, only one byte more than that is yielded, so that
    the memory needed is bounded; see `corpus.formats.records.refuse_longer`.

    Raises
    ------
    InputError
        If it cannot be opened or read to its end.
    """
    with open_source(path) as file:
        lines = transcoded(file, encoding)
        while line := lines.readline(LONGEST_LINE + 1):
            yield line
            while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                line = lines.readline(LONGEST_LINE + 1)


def count_lines(path: Path) -> int:
    """Count the lines of a file, including blank ones, in bounded memory."""
    total, last = 0, b"\n"
    with open_source(path) as file:
        while block := file.read(_BLOCK):
            total += block.count(b"\n")
            last = block[-1:]
    return total + (last != b"\n")  # the last line may have no line feed
