"""Errors that the user can correct, problems of a corpus, and what messages may quote.

A problem is input that cannot be used unchanged. It is counted and reported, or stops the program.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

#: The maximum number of characters of a line that reaches a terminal or a log.
LONGEST_MESSAGE = 2000
#: The characters of its end that a longer line keeps: what was expected and how to correct it.
_TAIL = 600

#: What a message may quote: at most 60 letters, digits and other characters of ids.
_QUOTABLE = re.compile(r"[\w.\-/:#]{1,60}")


class InputError(Exception):
    """An error in the input of the program: a file, an option or an argument.

    The message is one line that states what was found, where (file, line, document id or
    offset, nothing else that a file contains), what was expected and how to correct it. The command
    line prints it without a traceback and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def quoted(name: str, otherwise: str | None = None) -> str:
    """Return the id of a document or the class of an annotation if a message may quote it.

    Nothing else that a file contains may be quoted. An id or a class with other characters than
    those of names may be text of a note in the wrong column.

    Parameters
    ----------
    name : str
        The id or the class.
    otherwise : str, optional
        What takes its place, such as the number of its row; by default its number of characters.

    Examples
    --------
    >>> quoted("NOMBRE_SUJETO"), quoted("Ana Puig, 52 años")
    ('NOMBRE_SUJETO', '<17 characters>')
    """
    if _QUOTABLE.fullmatch(name):
        return name
    return f"<{number_of(len(name), 'character')}>" if otherwise is None else otherwise


def number_of(count: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun, in the plural except after 1: ``1 note``, ``1,200 notes``."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def one_line(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Escape a text as `escaped` does, and omit the middle of a very long one."""
    line = escaped(text)
    return line if len(line) <= most else f"{line[: most - _TAIL - 3]}...{line[-_TAIL:]}"


def escaped(text: str, *, kept: str = "") -> str:
    r"""Escape the non-printable characters of a text, which a terminal could obey.

    These are control characters, line breaks, characters that change the direction of writing,
    invisible ones, and all spaces but the usual one.

    Parameters
    ----------
    text : str
        Any text.
    kept : str
        Characters that are not escaped.

    Examples
    --------
    >>> escaped("a\x1b[31m")
    'a\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in kept
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


#: Errors of files that are not what was expected, rather than of the system that reads them.
_WRONG_FILE = (None, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG)


#: What to do where the system has no more open files.
OPEN_FILES = "raise the limit (ulimit -n)"


class UnreadableError(InputError):
    """A file that the system could not read, so that nothing is known of its content."""


def unreadable(path: object, error: BaseException) -> UnreadableError | None:
    """Return the error of a file that the system could not read, such as of too many open files.

    Returns
    -------
    UnreadableError or None
        None for any other error: the file is missing, damaged or of another kind.
    """
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        reason = f"{os.strerror(errno.ENOMEM)}; use a machine with more, or another file"
        return UnreadableError(f"{path} cannot be read: {reason}")
    if not isinstance(error, OSError) or error.errno in _WRONG_FILE:
        return None
    advice = f"; {OPEN_FILES}" if error.errno == errno.EMFILE else ""
    return UnreadableError(
        f"{error.filename or path} cannot be read: {os.strerror(error.errno)}{advice}"
    )


#: The number of problems of each kind that a report lists; all of them are counted.
NAMED_PER_KIND = 20


class ProblemError(InputError):
    """A problem of a kind that stops the program."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An input that could not be used unchanged.

    Parameters
    ----------
    kind : str
        The kind of problem, such as ``"overlapping annotations"``.
    where : str
        The file and line, or the document id; never the text of a note.
    detail : str
        Offsets, labels and how the problem was resolved.
    """

    kind: str
    where: str
    detail: str

    def __str__(self) -> str:
        return one_line(f"{self.where}: {self.kind}: {self.detail}")


@dataclass(slots=True)
class Problems:
    """A collection of problems, which raises an error at the kinds that stop the program.

    Parameters
    ----------
    conflicts : {"stop", "longest", "joined"}
        The policy for overlapping and discontinuous annotations: stop; keep the longest of
        overlapping annotations and the longest fragment of a discontinuous one; or join
        overlapping ones, to the class ``"A+B"`` if they have two, and keep all fragments.
    invalid : {"stop", "skip"}
        The policy for documents and annotations that cannot be read: stop, or skip them.
    on_problem : callable, optional
        Called with each problem that does not stop the program.

    Attributes
    ----------
    counts : Counter of str
        The number of problems of each kind.
    conflicting, rejected : int
        The number of problems that `conflicts` and `invalid` apply to, respectively.
    named : dict of str to list of Problem
        The first problems of each kind, at most `NAMED_PER_KIND`.
    unused : set of str
        The columns and keys that are not used.
    """

    conflicts: Literal["stop", "longest", "joined"] = "stop"
    invalid: Literal["stop", "skip"] = "stop"
    on_problem: Callable[[Problem], None] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    conflicting: int = 0
    rejected: int = 0
    named: dict[str, list[Problem]] = field(default_factory=dict)
    unused: set[str] = field(default_factory=set)

    def conflict(self, problem: Problem) -> None:
        """Record a conflict between annotations.

        Raises
        ------
        ProblemError
            If conflicts stop the program.
        """
        if self.conflicts == "stop":
            raise ProblemError(f'{problem} (conflicts = "longest" keeps the longest)')
        self.conflicting += 1
        self.note(problem)

    def reject(self, problem: Problem) -> None:
        """Record an input that cannot be read and is skipped.

        Raises
        ------
        ProblemError
            If invalid input stops the program.
        """
        if self.invalid == "stop":
            raise ProblemError(f'{problem} (invalid = "skip" skips and counts such input)')
        self.rejected += 1
        self.note(problem)

    def note(self, problem: Problem) -> None:
        """Record a problem that never stops the program."""
        self.counts[problem.kind] += 1
        named = self.named.setdefault(problem.kind, [])
        if len(named) < NAMED_PER_KIND:
            named.append(problem)
        if self.on_problem:
            self.on_problem(problem)

    def count(self, kind: str) -> None:
        """Count a problem without keeping its details, for kinds that may be very frequent."""
        self.counts[kind] += 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report: the count and the first problems of each kind."""
        for kind, count in sorted(self.counts.items()):
            yield f"{kind}: {count}"
            named = self.named.get(kind, [])
            yield from (one_line(f"  {problem.where}: {problem.detail}") for problem in named)
            if named and count > len(named):
                yield f"  and {count - len(named)} more"
