"""Text files, read and written: plain, compressed (``.gz``, ``.zst``), or standard streams."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from corpus.errors import InputError
from corpus.storage.atomic import new_file

#: The name of standard input and standard output.
STANDARD = Path("-")

#: What may begin a file, and belongs to no line of it.
BYTE_ORDER_MARK = "\ufeff"

#: Maximum number of characters of a line, and of the row of a table. A longer one is damaged.
LONGEST_LINE = 1 << 25
#: The same of a line that is written: the length of rows is known to a block of their reader.
LONGEST_WRITTEN = LONGEST_LINE - (1 << 20)
#: Maximum number of bytes of a file that is one document.
LONGEST_FILE = 1 << 28

_BLOCK = 1 << 20  # bytes read at a time to count lines
_BUFFER = io.DEFAULT_BUFFER_SIZE * 8

#: Suffixes of compressed files, and Arrow's names of their codecs.
CODECS = {".gz": "gzip", ".zst": "zstd"}


def checked_codec(name: str) -> str:
    """Return the standard name of a text encoding.

    Raises
    ------
    InputError
        If Python has no such encoding.

    Examples
    --------
    >>> checked_codec("latin-1")
    'iso8859-1'
    """
    try:
        "".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise InputError(
            f"there is no encoding {name}; expected a name such as utf-8 or latin-1"
        ) from None


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
            yield io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER)


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
        raise InputError(f"{path} cannot be read: {reason_of(error)}") from error


@contextmanager
def open_text(path: Path, encoding: str, newline: str) -> Iterator[TextIO]:
    """Open a text file; bytes that cannot be decoded become lone surrogates.

    Parameters
    ----------
    path : Path
        The file, or ``-`` for standard input.
    encoding : str
        The name of a Python codec.
    newline : str
        What ends a line, as in `open`. Line ends are never translated.

    Raises
    ------
    InputError
        If it cannot be opened or read to its end, or any part of it is not in this encoding.
    """
    is_text = True
    with open_source(path) as file:
        text = io.TextIOWrapper(file, encoding, errors="surrogateescape", newline=newline)
        try:
            yield text
        except UnicodeError:  # such as a missing byte-order mark
            is_text = False
        finally:
            if not file.closed:  # as it may be where a reader is discarded
                text.detach()
    if not is_text:  # outside of the handler, whose context holds text
        raise InputError(f"{path} is not text in {encoding}; name another encoding")


def lines_of(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a file with their line feeds.

    A line longer than `LONGEST_LINE` is cut one character after this limit, so
    that the memory needed is bounded; see `corpus.formats.records.checked_line`.

    Raises
    ------
    InputError
        If it cannot be opened or read to its end.
    """
    with open_text(path, encoding, "\n") as text:
        while line := text.readline(LONGEST_LINE + 1):
            yield line
            while len(line) > LONGEST_LINE and not line.endswith("\n"):
                line = text.readline(LONGEST_LINE + 1)


def count_lines(path: Path) -> int:
    """Count the lines of a file, including blank ones, in bounded memory."""
    total, last = 0, b"\n"
    with open_source(path) as file:
        while block := file.read(_BLOCK):
            total += block.count(b"\n")
            last = block[-1:]
    return total + (last != b"\n")  # the last line may have no line feed


def readable(line: bytes) -> bytes:
    """Return a line, or a row, to write; one that is too long to be read is an `InputError`."""
    if len(line) > LONGEST_WRITTEN and len(line.decode()) > LONGEST_WRITTEN:
        raise InputError(
            f"a document needs a line of more than {LONGEST_WRITTEN:,} characters, the limit of "
            "text files; write Parquet"
        )
    return line


@contextmanager
def new_text_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a new text file, compressed according to its suffix; ``-`` is standard output.

    Raises
    ------
    InputError
        As `new_file`.
    """
    if is_standard(target):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    codec = codec_of(target)
    with new_file(target) as file:
        if codec is None:
            yield file
            return
        import pyarrow as pa  # noqa: PLC0415 - slow to import, and only needed here

        # Arrow closes its file, but the original must stay open until it is synchronised to disk.
        duplicate = os.fdopen(os.dup(file.fileno()), "wb")
        with duplicate, pa.CompressedOutputStream(duplicate, codec) as stream:
            buffered = io.BufferedWriter(cast(io.RawIOBase, stream), _BUFFER)
            yield buffered
            buffered.flush()
            buffered.detach()
