"""Active learning in the loop: its rounds are a source of gold documents and a reason to stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from bootstrap.active_learning.rounds import Rounds
from bootstrap.selection import Selection, Strategy
from bootstrap.self_training.state import State, Views
from bootstrap.self_training.stopping import Limits
from corpus.batch import Batch

#: Selects nothing: the strategy of rounds that are not hybrid.
NO_SELECTION = Strategy(lambda tagging, batch, rng: Selection(np.zeros(0, np.int64)))


class NoDocuments:
    """A pool without documents, for rounds that are not hybrid."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield nothing."""
        return iter(())


@dataclass(frozen=True, slots=True)
class RoundLimits(Limits):
    """The limits of a loop with rounds: those of the loop count from the last round on.

    Parameters
    ----------
    rounds : Rounds
        The rounds.
    kappas : list of float or None
        Cohen's kappa of the validation tags of each model and the one before; the caller adds to
        it.
    """

    rounds: Rounds = field(kw_only=True)
    kappas: list[float | None] = field(default_factory=list)

    def gold(self, state: State | None) -> Batch:
        """Ask for the documents of the next round, and return all that are annotated."""
        if state and not self.rounds.ended():
            query, second = self.rounds.query, state.second
            # Names are not propagated: the uncertainty is that of the tagger itself.
            others = [second] if query.views and second else []
            details = (query.detail, query.detail)
            self.rounds.ask(Views(state.model.tagger, others, query.measure, details).tag)
        return self.rounds.gold(self.rounds.number)

    def asks(self) -> bool:
        """Return whether another round follows."""
        return not self.rounds.ended()

    def reads_after(self, iteration: int) -> bool:
        """Return whether the iteration after this one tags another batch, if there is one."""
        return self.asks() or iteration < self.rounds.number + self.loop.iterations

    def reason(self, state: State, *, batches_left: bool) -> str | None:
        """Return the goal or the limit that is reached."""
        if goal := self.rounds.goal(state.f1[-1], self.kappas):
            return goal
        if self.asks():
            return None
        number = self.rounds.number
        if not self.rounds.options.hybrid:
            return self.rounds.ended()
        after = replace(state, f1=state.f1[number:], learns_nothing=False)
        limits = Limits(self.loop, max(self.not_before - number, 0))
        return limits.reason(after, batches_left=batches_left)
