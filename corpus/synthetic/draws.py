"""Fast random decisions."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

#: Random numbers generated at a time: single calls of the generator are slow.
_BUFFER = 8192


class Draws:
    """A source of random decisions.

    Parameters
    ----------
    rng : numpy.random.Generator
        Numbers are drawn from it in advance, so it must not be shared.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        #: Draw a number from the half-open interval [0, 1).
        self.uniform = _numbers(rng).__next__

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.uniform() < probability

    def below(self, limit: int) -> int:
        """Draw an integer from 0 to ``limit - 1``."""
        return int(self.uniform() * limit)

    def choose(self, options: Sequence[T]) -> T:
        """Draw one of several options with equal probabilities."""
        return options[int(self.uniform() * len(options))]

    def weigh(self, options: Sequence[T], cumulative: Sequence[float]) -> T:
        """Draw one of several options by the cumulative sums of their weights."""
        return options[bisect(cumulative, self.uniform() * cumulative[-1])]


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(_BUFFER).tolist()
