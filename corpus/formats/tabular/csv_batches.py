"""The rows of a CSV file in record batches, parsed by pyarrow in blocks of bounded size.

A thread of Arrow reads ahead. It takes Python's lock to read from a file, and again to release what
it was lent. It goes on for a while after an error, and after the last row. If the interpreter ends
meanwhile, that thread ends the process with a crash (before Python 3.14). The reader therefore
waits until the thread has released everything.
"""

from __future__ import annotations

import io
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from corpus.formats.encodings import SUBSTITUTE, Transcoded

#: Maximum number of seconds to wait for Arrow's thread, which needs some milliseconds.
_WAIT = 20.0
_PAUSE = 0.001

_T = TypeVar("_T")


def csv_batches(
    file: IO[bytes],
    read: pa_csv.ReadOptions,
    convert: pa_csv.ConvertOptions,
    on_invalid_row: Callable[[pa_csv.InvalidRow], None],
    **parse: Any,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a CSV file in record batches.

    Parameters
    ----------
    file : file object
        CSV in UTF-8. Nothing else may read it meanwhile. Values that cannot be decoded are not
        UTF-8 in the batches either.
    read, convert : ReadOptions, ConvertOptions
        Options of pyarrow. Rows are numbered only with ``use_threads=False``.
    on_invalid_row : callable
        Called with each row that has another number of fields than the header; it is skipped.
        Calls may precede the batch of the rows before.
    **parse
        Other options of pyarrow's `ParseOptions`.

    Raises
    ------
    pyarrow.ArrowInvalid
        If the file has no header, or a row longer than a block.
    Exception
        What `file.read` raises, after all complete batches before it.
    """
    lent = _Lent(file, on_invalid_row)
    last: pa.RecordBatch | None = None
    invalid: pa.ArrowInvalid | None = None
    try:
        # What Arrow uses is in no variable, so that it is released where the loop ends.
        for batch in pa_csv.open_csv(
            pa.PythonFile(lent.file(), "r"),
            read,
            pa_csv.ParseOptions(invalid_row_handler=lent.handler(), **parse),
            convert,
        ):
            if last is not None:
                yield lent.restored(last)
            last = batch
    except pa.ArrowInvalid as error:
        invalid = error
    finally:
        lent.wait_for_return()
    lent.check()  # before the last batch: where reading fails, its last row is cut off
    if last is not None:
        yield lent.restored(last)
    if invalid:
        raise invalid


class _Lent:
    """The Python objects that Arrow's thread uses, and whether it has released them."""

    def __init__(
        self, file: IO[bytes], on_invalid_row: Callable[[pa_csv.InvalidRow], None]
    ) -> None:
        # pyarrow needs UTF-8 to report an invalid row, and full blocks: it stops at one that is
        # only the line feed after a carriage return.
        self._text = Transcoded(file, "utf-8", substituting=True)
        self._file = io.BufferedReader(self._text)
        self._on_invalid_row = on_invalid_row
        self._ended = False
        self._error: Exception | None = None
        # Weak references without callbacks, so that the thread runs no Python code to release.
        self._lent: list[weakref.ref[Any]] = []

    def file(self) -> io.RawIOBase:
        """Return a new file object that reads the file."""
        return self._listed(_File(self._block))

    def handler(self) -> Callable[[pa_csv.InvalidRow], str]:
        """Return a new callable that reports an invalid row."""
        return self._listed(partial(self._skip))

    def check(self) -> None:
        """Raise the error with which reading ended, if any."""
        if self._error:
            raise self._error

    def restored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows in which values that could not be decoded are not UTF-8."""
        if not self._text.undecodable:
            return batch
        columns = [_with_invalid_bytes(column) for column in batch.columns]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def wait_for_return(self) -> None:
        """End the file where it is read, and wait until all that was lent is released."""
        self._ended = True
        until = time.monotonic() + _WAIT
        while any(each() is not None for each in self._lent) and time.monotonic() < until:
            time.sleep(_PAUSE)

    def _block(self, size: int) -> memoryview:
        """Return the next bytes; an error is kept, since Arrow's thread would release it later."""
        try:
            data = b"" if self._ended else self._file.read(size)
        except Exception as error:
            # Its traceback would keep the frames of Arrow's calls, and with them the file, alive.
            self._error, data = error.with_traceback(None), b""
        self._ended |= not data
        self._lent = [each for each in self._lent if each() is not None]
        return self._listed(memoryview(data))

    def _skip(self, row: pa_csv.InvalidRow) -> str:
        self._on_invalid_row(row)
        return "skip"

    def _listed(self, found: _T) -> _T:
        self._lent.append(weakref.ref(found))
        return found


class _File(io.RawIOBase):
    """A file that is read by a function."""

    def __init__(self, read: Callable[[int], memoryview]) -> None:
        self._read = read

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> memoryview:
        return self._read(size)


def _with_invalid_bytes(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return strings with a byte that is not UTF-8 in place of each `SUBSTITUTE`."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    data = column.cast(pa.binary() if pa.types.is_string(column.type) else pa.large_binary())
    return pc.replace_substring(data, SUBSTITUTE.encode(), b"\xff").view(column.type)
