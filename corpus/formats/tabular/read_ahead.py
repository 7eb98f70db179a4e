"""Files that Arrow reads ahead in a thread of its own, and that have to be left in time.

Where Arrow finds a row that it cannot parse, its thread goes on reading. If the interpreter ends
meanwhile, that thread ends the process with a crash.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

#: Seconds to wait for a thread that may not read again.
_WAIT = 0.5


@contextmanager
def read_ahead(file: BinaryIO | io.RawIOBase) -> Iterator[io.RawIOBase]:
    """Yield a file for Arrow to read, and at the end wait until no thread reads it any more."""
    shared = _Shared(file)
    try:
        yield shared
    finally:
        shared.stop()


class _Shared(io.RawIOBase):
    """A file that is read by one thread and ended by another."""

    def __init__(self, file: BinaryIO | io.RawIOBase) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._stopped = False
        self._ended = threading.Event()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        with self._lock:
            data = b"" if self._stopped else self._file.read(size) or b""
        if not data:
            self._ended.set()
        return data

    def stop(self) -> None:
        """Let what is read end here, and wait for the thread to notice it."""
        with self._lock:  # a read that has begun is waited for
            self._stopped = True
        self._ended.wait(_WAIT)
