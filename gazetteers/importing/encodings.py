"""Detection of the character encoding of a text file."""

from __future__ import annotations

import codecs
from pathlib import Path

from corpus.errors import InputError, shown
from corpus.formats.files import checked_codec

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
BINARY = "a binary file; expected text: CSV or TSV"


def find_encoding(path: Path, named: str | None = None) -> str:
    """Detect the encoding of a text file.

    Parameters
    ----------
    path : Path
        A regular file.
    named : str, optional
        The encoding that the user named. The default is the encoding of the byte-order mark, UTF-16
        if every other byte is zero, UTF-8, or Windows-1252 (which includes Latin-1) if the first
        byte that is not ASCII is not UTF-8.

    Returns
    -------
    str
        The name of a Python codec with a defined byte order.

    Raises
    ------
    InputError
        If the file cannot be read or is not text, or the encoding is unknown.
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
        raise InputError(f"{shown(path)} is {BINARY}")
    return encoding or ("utf-8" if _begins_as_utf8(path) else "cp1252")


def _begins_as_utf8(path: Path) -> bool:
    """Return whether the first character that is not ASCII is UTF-8; later ones may be damaged."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        while True:
            data = file.read(_PIECE)
            try:
                if not decoder.decode(data, not data).isascii():
                    return True
            except UnicodeDecodeError as error:
                return not error.object[: error.start].isascii()
            if not data:
                return True


def _without_mark(head: bytes) -> str:
    """Return UTF-16 for bytes of which every other one is zero, as in any European text."""
    if any(code in head for code in b"\1\2\3\4\5\6\7\b"):
        return ""
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.7 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * pairs and odd < 0.1 * pairs else ""
