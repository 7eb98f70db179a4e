"""Conversion of the records of a source to documents; unreadable records become problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from corpus.errors import Problem, Problems
from corpus.formats.files import LONGEST_LINE

Record = TypeVar("Record")
Parsed = TypeVar("Parsed")

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


def parsed_records(
    records: Iterable[tuple[str, Record]],
    parse: Callable[[str, Record], Parsed],
    problems: Problems,
) -> Iterator[Parsed]:
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
        problem = None
        try:
            parsed = parse(where, record)
        except Unreadable as error:
            problem = Problem(error.kind, where, error.detail)
        if problem:  # outside of the handler, whose context may contain note text
            problems.reject(problem)
        else:
            yield parsed


def checked_line(line: str, encoding: str = "utf-8") -> str:
    """Return a line of `corpus.formats.files.lines_of` if it is complete and could be decoded.

    Raises
    ------
    Unreadable
        If it is too long, or was not in the encoding of the file.
    """
    if len(line) > LONGEST_LINE:
        raise Unreadable(TOO_LONG, f"the line has more than {LONGEST_LINE:,} characters, the limit")
    return checked_text(line, encoding, "of the line")


def checked_text(text: str, encoding: str, what: str) -> str:
    """Return text of a file if all of it could be decoded; `what` completes the message.

    Raises
    ------
    Unreadable
        If it was not in the encoding of the file.
    """
    try:
        text.encode()
        return text
    except UnicodeEncodeError as error:
        place = error.start
    raise not_encoded(encoding, f"character {place} {what}")


def not_encoded(encoding: str, place: str) -> Unreadable:
    """Return the error of text that is not in the encoding of its file from a place on."""
    if encoding == "utf-8":
        return Unreadable(NOT_UTF8, f"{place} (counted from 0); name another encoding, as latin-1")
    return Unreadable(NOT_ENCODED, f"{place} (counted from 0) is no character of {encoding}")


def encodable(*texts: str | None) -> bool:
    """Return whether texts can be encoded in UTF-8: lone surrogates cannot."""
    try:
        for text in texts:
            if text is not None:
                text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
