"""When a loop ends: the reason for stopping after an iteration, if there is one."""

from __future__ import annotations

from collections.abc import Sequence

from bootstrap.active_learning.rounds import Rounds
from bootstrap.config.options import LoopOptions
from bootstrap.self_training.iteration import stagnates


class Ending:
    """Decides after each iteration whether the loop goes on.

    With rounds of active learning, the limits of the loop are counted from the last round on.

    Parameters
    ----------
    loop : LoopOptions
        Options of the loop.
    not_before : int
        The iteration from which stagnation is counted.
    rounds : Rounds or None
        The rounds of active learning.
    kappas : sequence of float or None
        Cohen's kappa of the validation tags of consecutive models so far.

    Attributes
    ----------
    kappas : list of float or None
        The same, to which each iteration adds.
    """

    def __init__(
        self,
        loop: LoopOptions,
        not_before: int,
        rounds: Rounds | None,
        kappas: Sequence[float | None] = (),
    ) -> None:
        self.kappas = list(kappas)
        self._loop = loop
        self._not_before = not_before
        self._rounds = rounds

    @property
    def _asks(self) -> bool:
        """Whether a further round follows."""
        return self._rounds is not None and not self._rounds.ended()

    @property
    def _begin(self) -> int:
        """The iteration from which the limits of the loop are counted."""
        return self._rounds.number if self._rounds else 0

    def reads_after(self, iteration: int) -> bool:
        """Return whether the iteration after this one tags another batch."""
        return self._asks or iteration < self._begin + self._loop.iterations

    def is_last(self, *, batches_left: bool) -> bool:
        """Return whether no iteration can follow."""
        return not (batches_left or self._asks)

    def reason(self, f1: Sequence[float], *, batches_left: bool) -> str | None:
        """Return the reason for stopping after the last iteration: a key of `STOPPED`, or None.

        Parameters
        ----------
        f1 : sequence of float
            Validation F1 of all iterations.
        batches_left : bool
            Whether the pool has batches that no iteration has tagged.
        """
        last, rounds = len(f1) - 1, self._rounds
        if rounds and (goal := rounds.goal(f1[-1], self.kappas)):
            return goal
        if self._asks:
            return None
        if rounds and not rounds.options.hybrid:
            return rounds.ended()
        if last >= self._begin + self._loop.iterations:
            return "maximum"
        begin = max(self._begin, self._not_before)
        if last >= begin and stagnates(f1[begin:], self._loop):
            return "stagnation"
        return None if batches_left else "exhausted"
