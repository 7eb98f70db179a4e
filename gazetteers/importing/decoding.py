"""Files of text whose encoding nobody has written down, read piece by piece."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path

from corpus.errors import InputError, shown

#: Bytes that are read at once.
_PIECE = 1 << 23
#: What is looked at to tell text from other things.
_HEAD = 4096

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHERS = (
    (b"PK\x03\x04", "a spreadsheet or a zip file; save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet; save it as CSV"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"PAR1", "a Parquet file; expected CSV or TSV"),
)
_NO_TEXT = "a binary file; expected text: CSV or TSV"


class TextPieces:
    """The text of a file, with a line feed at the end of each line, whatever the file has there.

    Parameters
    ----------
    path : Path
        Any file, also a pipe.
    encoding : str, optional
        By default that of the byte-order mark, or UTF-16 where every other byte is zero, or
        UTF-8, or else Windows-1252, which has all that Latin-1 has.

    Attributes
    ----------
    encoding : str
        The one named or found; UTF-8 as long as there is nothing but ASCII.
    done, total : int
        Bytes read, and of the file.

    Raises
    ------
    InputError
        If the encoding is none.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path
        self.encoding = _checked(encoding) if encoding else ""
        self.done = 0
        self.total = 0
        self._lines = 0
        self._held = b""  # the begin of a letter, as long as nothing but ASCII was read
        self._decoder: codecs.IncrementalDecoder | None = None
        self._newlines = io.IncrementalNewlineDecoder(None, translate=True)

    def __iter__(self) -> Iterator[str]:
        """Read it once.

        Raises
        ------
        InputError
            If it cannot be read, is no text or not of this encoding.
        """
        try:
            with self.path.open("rb") as file:
                self.total = self.path.stat().st_size
                data = file.read(_PIECE)
                self._begin(data)
                while data:
                    self.done += len(data)
                    yield self._text(data, final=False)
                    data = file.read(_PIECE)
                yield self._text(b"", final=True)
        except OSError as error:
            raise InputError(f"{shown(self.path)} cannot be read: {error.strerror}") from None

    def _begin(self, data: bytes) -> None:
        """Look at the first bytes."""
        for mark, what in _OTHERS:
            if data.startswith(mark):
                raise InputError(f"{shown(self.path)} is {what}")
        named = self.encoding
        found = _marked(data) or _wide(data[:_HEAD])
        if not named and not found and b"\0" in data[:_HEAD]:
            raise InputError(f"{shown(self.path)} is {_NO_TEXT}")
        if named or found:
            self.encoding = named or found
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
        else:
            self.encoding = "utf-8"

    def _text(self, data: bytes, *, final: bool) -> str:
        begin = not self._lines and self.done == len(data)
        text = self._newlines.decode(self._decoded(data, final), final)
        if "\0" in text:
            line = self._lines + text[: text.index("\0")].count("\n") + 1
            raise InputError(f"{shown(self.path)}:{line}: a NUL character: this is {_NO_TEXT}")
        self._lines += text.count("\n")
        return text.removeprefix("\ufeff") if begin else text

    def _decoded(self, data: bytes, final: bool) -> str:
        if self._decoder is None:
            data, self._held = self._held + data, b""
            if (ascii_only := self._ascii_of(data, final)) is not None:
                return ascii_only
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            return self._decoder.decode(data, final)
        except UnicodeError as error:
            raise InputError(self._undecodable(error)) from None

    def _ascii_of(self, data: bytes, final: bool) -> str | None:
        """Give a text that tells no encoding from another, or name the encoding of the data."""
        try:
            text = codecs.getincrementaldecoder(self.encoding)().decode(data, final)
        except UnicodeDecodeError as error:
            if data[: error.start].isascii():  # or else it began as UTF-8, and is damaged
                self.encoding = "cp1252"
            return None
        if not text.isascii():
            return None
        self._held = data[len(text) :]  # the begin of a letter, or another encoding
        return text

    def _undecodable(self, error: UnicodeError) -> str:
        line = self._lines + 1
        if isinstance(error, UnicodeDecodeError):
            before = error.object[: error.start].decode(self.encoding, errors="replace")
            line += len(before.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1
        return (
            f"{shown(self.path)}:{line}: this is not {self.encoding}; name the encoding of the "
            "file with --encoding (latin-1, cp850, mac-roman)"
        )


def _checked(encoding: str) -> str:
    """Give the name of an encoding that is one."""
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise InputError(
            f"there is no encoding {shown(encoding)}; utf-8 and latin-1 are some"
        ) from None


def _marked(data: bytes) -> str:
    """Give the encoding of a byte-order mark."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), "")


def _wide(head: bytes) -> str:
    """Give UTF-16 for bytes of which every other one is zero, as in any European text."""
    if any(code in head for code in b"\1\2\3\4\5\6\7\b"):
        return ""
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.7 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * pairs and odd < 0.1 * pairs else ""
