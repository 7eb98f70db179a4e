"""Writing of text files: plain, compressed (``.gz``, ``.zst``), or standard output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from corpus.formats.files import codec_of, is_standard
from corpus.storage.atomic import new_file


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
    with new_file(target) as file, compressed(file, codec_of(target)) as stream:
        yield stream


@contextmanager
def compressed(file: BinaryIO, codec: str | None) -> Iterator[IO[bytes]]:
    """Return a stream that compresses its data into a file; no codec means no compression."""
    if codec is None:
        yield file
        return
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and only needed here

    # Arrow closes its file, but the original must stay open until it is synchronised to disk.
    duplicate = os.fdopen(os.dup(file.fileno()), "wb")
    with duplicate, pa.CompressedOutputStream(duplicate, codec) as stream:
        buffered = io.BufferedWriter(cast(io.RawIOBase, stream), io.DEFAULT_BUFFER_SIZE * 8)
        yield buffered
        buffered.flush()
        buffered.detach()
