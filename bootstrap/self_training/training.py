"""The trainings of an iteration, which are independent of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from corpus.batch import Batch
from taggers.base import Tagger


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A training to be done.

    Parameters
    ----------
    tagger : Tagger
        An untrained tagger.
    train, validation : Batch
        The documents.
    warm_start : Tagger or None
        A tagger whose weights initialise training.
    rng : numpy.random.Generator
        The source of random numbers.
    """

    tagger: Tagger
    train: Batch
    validation: Batch
    warm_start: Tagger | None
    rng: np.random.Generator

    def run(self) -> Tagger:
        """Train the tagger, and return it."""
        return self.tagger.fit(
            self.train, self.validation, warm_start=self.warm_start, rng=self.rng
        )


#: Does several trainings, and returns the trained taggers in the same order.
Train = Callable[[Sequence[Fit]], list[Tagger]]


def train_in_turn(fits: Sequence[Fit]) -> list[Tagger]:
    """Train taggers one after the other."""
    return [fit.run() for fit in fits]
