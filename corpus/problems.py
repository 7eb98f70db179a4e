"""What a corpus holds that cannot be used as it stands: counted, named, never quietly lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from corpus.errors import InputError

#: Named problems that a report keeps of each kind; all of them are counted.
NAMED_PER_KIND = 20


class ProblemError(InputError):
    """A problem that the user chose to stop at."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that could not be used as it stood.

    Parameters
    ----------
    kind : str
        What it is, such as ``"overlapping annotations"``.
    where : str
        The file and line, or the document id; never the text of a note.
    detail : str
        Offsets, labels and what became of it.
    """

    kind: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.where}: {self.kind}: {self.detail}"


@dataclass(slots=True)
class Problems:
    """Collects problems, or stops at the first of a kind that the user wants to stop at.

    Parameters
    ----------
    conflicts : {"stop", "longest"}
        What to do with overlapping and discontinuous annotations: stop, or keep the longest of
        those that overlap and the longest piece of one that is discontinuous.
    invalid : {"stop", "skip"}
        What to do with documents and annotations that cannot be read: stop, or leave them out.
    told : callable, optional
        Told of each problem that does not stop the program, however many there are.

    Attributes
    ----------
    counts : Counter of str
        Problems of each kind.
    conflicting, rejected : int
        Those of them that `conflicts` and `invalid` are about.
    named : dict of str to list of Problem
        The first few of each kind.
    unused : Counter of str
        Columns or keys that no part of a document is read from, and how many records have them.
    """

    conflicts: Literal["stop", "longest"] = "stop"
    invalid: Literal["stop", "skip"] = "stop"
    told: Callable[[Problem], None] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    conflicting: int = 0
    rejected: int = 0
    named: dict[str, list[Problem]] = field(default_factory=dict)
    unused: Counter[str] = field(default_factory=Counter)

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
        """Record something that cannot be read and is left out.

        Raises
        ------
        ProblemError
            If invalid input stops the program.
        """
        if self.invalid == "stop":
            raise ProblemError(f'{problem} (invalid = "skip" leaves such input out and counts it)')
        self.rejected += 1
        self.note(problem)

    def note(self, problem: Problem) -> None:
        """Record a problem that never stops the program."""
        self.counts[problem.kind] += 1
        named = self.named.setdefault(problem.kind, [])
        if len(named) < NAMED_PER_KIND:
            named.append(problem)
        if self.told:
            self.told(problem)

    def count(self, kind: str) -> None:
        """Record something of which there may be many and that nobody need look at one by one."""
        self.counts[kind] += 1

    def lines(self) -> Iterator[str]:
        """Yield a report: the count of each kind, and the first few by name."""
        for kind, count in sorted(self.counts.items()):
            yield f"{kind}: {count}"
            named = self.named.get(kind, [])
            yield from (f"  {problem.where}: {problem.detail}" for problem in named)
            if named and count > len(named):
                yield f"  and {count - len(named)} more"
