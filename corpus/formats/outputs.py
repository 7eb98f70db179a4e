"""Files of text as they are written: plain, compressed (``.gz``, ``.zst``), or standard output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from corpus.formats.files import codec_of, is_standard
from corpus.storage import new_file


@contextmanager
def new_text_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a new file of text, compressed if its suffix says so; ``-`` is standard output.

    Raises
    ------
    InputError
        As `new_file`.
    """
    if is_standard(target):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with new_file(target) as file, compressed(file, codec_of(target)) as stream:
        yield stream


@contextmanager
def compressed(file: BinaryIO, codec: str | None) -> Iterator[IO[bytes]]:
    """Return a stream that compresses what is written to it into a file; None leaves it plain."""
    if codec is None:
        yield file
        return
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and only needed here

    # Arrow closes the file below the stream, which is still needed to be synchronised.
    below = os.fdopen(os.dup(file.fileno()), "wb")
    with below, pa.CompressedOutputStream(below, codec) as stream:
        buffered = io.BufferedWriter(cast(io.RawIOBase, stream), io.DEFAULT_BUFFER_SIZE * 8)
        yield buffered
        buffered.flush()
        buffered.detach()
