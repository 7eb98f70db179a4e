"""Character encodings of text files; all others are converted to UTF-8 while a file is read."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any, cast

from corpus.errors import InputError, shown

#: Bytes that are decoded at a time.
_PIECE = 1 << 16

#: A lone surrogate in place of bytes that cannot be decoded.
_MARK = "\udc80"
#: What `transcoded` puts in place of bytes that cannot be decoded. It never occurs in UTF-8.
UNDECODABLE = _MARK.encode("utf-8", "surrogatepass")
#: A character in their place for a parser that expects UTF-8. It is none that text contains.
SUBSTITUTE = "\ufdd0"

_MARKING, _SUBSTITUTING = "bootstrap.mark", "bootstrap.substitute"


def _mark(error: UnicodeError) -> tuple[str, int]:
    return _MARK, cast(UnicodeDecodeError, error).end


def _substitute(error: UnicodeError) -> tuple[bytes, int]:
    return SUBSTITUTE.encode(), cast(UnicodeEncodeError, error).end


codecs.register_error(_MARKING, _mark)
codecs.register_error(_SUBSTITUTING, _substitute)


def checked_codec(name: str) -> str:
    """Return the standard name of a text encoding.

    Raises
    ------
    InputError
        If Python has no such encoding.
    """
    try:
        "".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise InputError(
            f"there is no encoding {shown(name)}; expected a name such as utf-8 or latin-1"
        ) from None


def is_utf8(encoding: str) -> bool:
    """Return whether a name is one of UTF-8."""
    return codecs.lookup(encoding).name == "utf-8"


def transcoded(file: IO[bytes], encoding: str) -> IO[bytes]:
    """Return a file whose bytes are those of another one in UTF-8.

    Bytes that cannot be decoded become `UNDECODABLE`, so that the lines and values that have them
    can be told from others.

    Parameters
    ----------
    file : file object
        It is returned as it is if it is in UTF-8.
    encoding : str
        The name of a Python codec.
    """
    if is_utf8(encoding):
        return file
    return cast(IO[bytes], io.BufferedReader(Transcoded(file, encoding)))


class Transcoded(io.RawIOBase):
    """A file in another encoding, read as UTF-8.

    Parameters
    ----------
    file : file object
        The file.
    encoding : str
        The name of a Python codec.
    substituting : bool
        Whether bytes that cannot be decoded become `SUBSTITUTE` instead of `UNDECODABLE`.

    Attributes
    ----------
    undecodable : bool
        Whether there were bytes that cannot be decoded in what was read so far.
    """

    def __init__(self, file: IO[bytes], encoding: str, *, substituting: bool = False) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)(_MARKING)
        self._errors = _SUBSTITUTING if substituting else "surrogatepass"
        self._ready = memoryview(b"")
        self._ended = False
        self.undecodable = False

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        while not self._ready and not self._ended:
            self._ready = memoryview(self._encoded(self._decoded()))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decoded(self) -> str:
        piece = self._file.read(_PIECE)
        self._ended = not piece
        try:
            return self._decoder.decode(piece, self._ended)
        except UnicodeError:  # of the whole file, such as a missing byte-order mark
            self._ended = True
            return _MARK

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError:
            self.undecodable = True
            return text.encode("utf-8", self._errors)
