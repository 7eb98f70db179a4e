"""Conversion of the records of a source to documents; unreadable records become problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from corpus.document import Document
from corpus.formats.encodings import UNDECODABLE, is_utf8
from corpus.problems import Problem, Problems

Record = TypeVar("Record")

#: Kinds of problems that several formats have in common.
NOT_UTF8 = "text that is not UTF-8"
NULL = "rows without an id or a text"
NOT_ENCODED = "text that is not in the encoding that was named"
NOT_UNICODE = "text with half a surrogate pair"
NOT_READABLE = "files that cannot be read"
TOO_LONG = "lines or files that are too long"


class Unreadable(Exception):  # noqa: N818 - a fact about a record, caught before it is an error
    """A record cannot be converted to a document.

    Parameters
    ----------
    kind : str
        The kind of problem.
    detail : str
        What was found and what was expected, without any text of the note.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


def documents_of(
    records: Iterable[tuple[str, Record]],
    parse: Callable[[str, Record], Document],
    problems: Problems,
) -> Iterator[Document]:
    """Yield the documents of records, and reject unreadable records.

    Parameters
    ----------
    records : iterable of (str, Record)
        The position of each record (file, or file and line), and the record.
    parse : callable
        Converts a position and a record to a document, or raises `Unreadable`.
    problems : Problems
        Collects unreadable records, or raises an error at the first.

    Raises
    ------
    ProblemError
        At the first unreadable record, if invalid input stops the program.
    """
    for where, record in records:
        document, problem = _attempt(where, record, parse)
        if problem:
            problems.reject(problem)  # outside of the handler, whose context may contain note text
        if document:
            yield document


def _attempt(
    where: str, record: Record, parse: Callable[[str, Record], Document]
) -> tuple[Document | None, Problem | None]:
    try:
        return parse(where, record), None
    except Unreadable as error:
        return None, Problem(error.kind, where, error.detail)


def refuse_longer(data: bytes, most: int, what: str) -> None:
    """Raise `Unreadable` if a line or a file has more bytes than `most`; `what` names it."""
    if len(data) > most:
        raise Unreadable(TOO_LONG, f"{what} has more than {most:,} bytes, the limit")


def decoded(data: bytes, what: str = "", encoding: str = "utf-8") -> str:
    """Decode text exactly: byte-order mark and line ends are kept.

    Raises
    ------
    Unreadable
        If the bytes are not in this encoding. `what` completes the message, such as
        ``" of the line"``.
    """
    try:
        return data.decode(encoding)
    except UnicodeError as error:  # some codecs do not name the byte
        position = getattr(error, "start", 0)
    if not is_utf8(encoding):
        raise Unreadable(NOT_ENCODED, f"byte {position}{what} is no character of {encoding}")
    raise Unreadable(NOT_UTF8, f"byte {position}{what} begins no character (counted from 0)")


def decoded_line(line: bytes, encoding: str) -> str:
    """Decode a line of `corpus.formats.files.lines_of`, which is in UTF-8.

    Parameters
    ----------
    line : bytes
        The line.
    encoding : str
        The encoding of the file.

    Raises
    ------
    Unreadable
        If the line was not in the encoding of the file.
    """
    if UNDECODABLE in line and not is_utf8(encoding):
        raise not_encoded(encoding)
    return decoded(line, " of the line")


def not_encoded(encoding: str) -> Unreadable:
    """Return the error of text that is not in the encoding of its file."""
    if is_utf8(encoding):
        return Unreadable(NOT_UTF8, "expected UTF-8; name another encoding, such as latin-1")
    return Unreadable(NOT_ENCODED, f"it has bytes that are no characters of {encoding}")


def encodable(*texts: str | None) -> bool:
    """Return whether texts can be encoded in UTF-8: lone surrogates cannot."""
    try:
        for text in texts:
            if text is not None:
                text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
