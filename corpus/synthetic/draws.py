"""Random decisions, drawn cheaply."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

#: Numbers taken from the generator at a time: a call for each would cost more than the rest.
_BUFFER = 8192


class Draws:
    """Decide by the numbers of a generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        It runs ahead of what has been decided, so nobody else should draw from it.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        #: Draw a number from 0 to 1, without 1.
        self.uniform = _numbers(rng).__next__

    def chance(self, probability: float) -> bool:
        """Be true with this probability."""
        return self.uniform() < probability

    def below(self, limit: int) -> int:
        """Draw an integer from 0 to `limit`, without `limit`."""
        return int(self.uniform() * limit)

    def choose(self, options: Sequence[T]) -> T:
        """Draw one of some options, all alike."""
        return options[int(self.uniform() * len(options))]

    def weigh(self, options: Sequence[T], cumulative: Sequence[float]) -> T:
        """Draw one of some options, given the running totals of their weights."""
        return options[bisect(cumulative, self.uniform() * cumulative[-1])]


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(_BUFFER).tolist()
