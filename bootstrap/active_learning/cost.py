"""What the rounds of active learning cost: the tokens that a person reads."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bootstrap.active_learning.choice import ChoiceLimits, choose_round
from bootstrap.active_learning.queries import QUERIES, ActiveOptions
from bootstrap.data.samples import MOST_TOKENS, sample_of, small_crf
from corpus.batch import Batch, are_among
from corpus.errors import number_of


@dataclass(frozen=True, slots=True)
class RoundCost:
    """The estimated cost of a round.

    Parameters
    ----------
    rounds : int
        Number of rounds that the budget admits.
    documents : int
        Number of documents of a round.
    at_random : float
        Expected number of tokens of a round of random documents.
    query : str
        The query that chose the documents of `chosen`. It differs from the configured query if that
        one needs a second view.
    chosen : int or None
        Tokens of the first round that the query chooses; None for random documents, and if the
        seed has nothing to train on.
    """

    rounds: int
    documents: int
    at_random: float
    query: str
    chosen: int | None

    def lines(self) -> list[str]:
        """Describe the cost in words."""
        chosen = ""
        if self.chosen is not None:
            chosen = (
                f", and about {self.chosen:,} in documents chosen by {self.query} (with a small "
                "CRF of the seed)"
            )
        return [
            f"a round of {number_of(self.documents, 'document')}: about {self.at_random:,.0f} "
            f"tokens to read in random documents{chosen}; the budget is enough for "
            + number_of(self.rounds, "round")
        ]


def estimate_cost(seed: Batch, gold: Batch, options: ActiveOptions) -> RoundCost:
    """Estimate what a round of active learning costs, from a random sample of `gold`."""
    candidates = gold.take(np.flatnonzero(~are_among(gold, [seed]) & (gold.lengths > 0)))
    left = max(min(options.budget - len(seed), len(candidates)), 0)
    documents = min(options.round, left)
    mean = candidates.n_tokens / max(len(candidates), 1)
    # Like disagreement, entropy is a sum over tokens; the small CRF has no second view.
    name = "entropy" if QUERIES[options.query].views else options.query
    tagger, chosen = None if name == "random" else small_crf(seed), None
    if tagger and documents:
        query = QUERIES[name]
        sample = sample_of(candidates, options.candidates, tokens=10 * MOST_TOKENS)
        tagging = tagger.tag(sample, measure=query.measure, detail=query.detail)
        utility = query.utility(tagging, sample, np.random.default_rng(0))
        limits = ChoiceLimits(
            documents,
            near_duplicate=options.near_duplicate,
            class_share=options.class_share,
            full=True,
        )
        chosen = int(sample.lengths[choose_round(utility, sample, limits, tagging)].sum())
    rounds = -(-left // options.round)
    if options.budget_tokens:
        tokens = options.budget_tokens - seed.n_tokens
        rounds = min(rounds, math.ceil(tokens / max(chosen or mean * documents, 1)))
    return RoundCost(rounds, documents, mean * documents, name, chosen)
