"""The work of other processes, done in this one: starting them takes longer than small work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def in_processes_here(
    work: Callable[..., None], tasks: Sequence[Sequence[Any]], *, jobs: int
) -> Iterator[tuple[int, Any]]:
    """Do the work of other processes in this one, and yield what they send."""
    for index, arguments in enumerate(tasks):
        sent: list[Any] = []
        work(sent.append, *arguments)
        yield from ((index, message) for message in sent)
