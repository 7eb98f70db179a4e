"""Durations of the stages of a computation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


class Stopwatch:
    """A stopwatch that adds up the seconds of each stage.

    Attributes
    ----------
    seconds : dict of str to float
        The total duration of each stage.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent in the context to a stage."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            elapsed = time.perf_counter() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + elapsed

    def each(self, name: str, items: Iterable[_T]) -> Iterator[_T]:
        """Yield items, and add the time spent waiting for them to a stage."""
        iterator = iter(items)
        while True:
            with self.stage(name):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item
