"""The character encoding of a text file: detected, and checked before the file is parsed.

A file is converted to UTF-8 while it is parsed, which neither detects its encoding nor reports the
line of a byte that does not belong to it.
"""

from __future__ import annotations

import codecs
import io
from pathlib import Path

from corpus.errors import InputError, shown
from corpus.formats.encodings import checked_codec

#: Bytes that are decoded at a time.
_PIECE = 1 << 23
#: Bytes by which text is distinguished from binary data.
_HEAD = 4096

#: Byte-order marks. That of UTF-32-LE precedes that of UTF-16-LE, which is its prefix.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Encodings whose byte order the byte-order mark defines.
_UNORDERED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_SIGNATURES = (
    (b"PK\x03\x04", "a spreadsheet or a zip file; save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet; save it as CSV"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"PAR1", "a Parquet file; expected CSV or TSV"),
)
_BINARY = "a binary file; expected text: CSV or TSV"


def find_encoding(path: Path, named: str | None = None) -> str:
    """Detect or check the encoding of a text file by decoding all of it.

    Parameters
    ----------
    path : Path
        A regular file.
    named : str, optional
        The encoding that the user named. The default is the encoding of the byte-order mark, UTF-16
        if every other byte is zero, UTF-8 or else Windows-1252, which includes Latin-1.

    Returns
    -------
    str
        The name of a Python codec with a defined byte order.

    Raises
    ------
    InputError
        If the file cannot be read or is not text in this encoding, or the encoding is unknown.
    """
    encoding = checked_codec(named) if named else ""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            raise InputError(f"{shown(path)} is {what}")
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    if encoding in _UNORDERED:
        encoding = marked if marked.startswith(encoding) else _UNORDERED[encoding]
    encoding = encoding or marked or _without_mark(head)
    if not encoding and b"\0" in head:
        raise InputError(f"{shown(path)} is {_BINARY}")
    try:
        _decode_all(path, encoding or "utf-8")
    except _UndecodableError as error:
        if encoding or not error.ascii_before:  # otherwise it began as UTF-8 and is damaged
            raise
        encoding = "cp1252"
        _decode_all(path, encoding)
    return encoding or "utf-8"


class _UndecodableError(InputError):
    """A byte that does not belong to the encoding of a file.

    Attributes
    ----------
    ascii_before : bool
        Whether all bytes before it are ASCII.
    """

    def __init__(self, message: str, *, ascii_before: bool) -> None:
        super().__init__(message)
        self.ascii_before = ascii_before


def _decode_all(path: Path, encoding: str) -> None:
    """Decode a file and raise an `InputError` that names the first line that is not text."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = io.IncrementalNewlineDecoder(None, translate=True)
    number, ascii_only = 1, True
    with path.open("rb") as file:
        while True:
            data = file.read(_PIECE)
            try:
                decoded = decoder.decode(data, not data)
            except UnicodeError as error:
                before = b""
                if isinstance(error, UnicodeDecodeError):
                    before = error.object[: error.start]
                number += lines.decode(before.decode(encoding, errors="replace")).count("\n")
                raise _UndecodableError(
                    f"{shown(path)}:{number}: this is not {encoding}; name the "
                    "encoding of the file with --encoding (latin-1, cp850, mac-roman)",
                    ascii_before=ascii_only and before.isascii(),
                ) from None
            ascii_only = ascii_only and decoded.isascii()
            text = lines.decode(decoded, not data)
            if (place := text.find("\0")) >= 0:
                number += text.count("\n", 0, place)
                raise InputError(f"{shown(path)}:{number}: a NUL character: this is {_BINARY}")
            number += text.count("\n")
            if not data:
                return


def _without_mark(head: bytes) -> str:
    """Return UTF-16 for bytes of which every other one is zero, as in any European text."""
    if any(code in head for code in b"\1\2\3\4\5\6\7\b"):
        return ""
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.7 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * pairs and odd < 0.1 * pairs else ""
