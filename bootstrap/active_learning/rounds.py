"""The rounds of active learning: which documents are annotated, by whom, and when to stop."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bootstrap.active_learning.choice import ChoiceLimits, choose_round
from bootstrap.active_learning.queries import QUERIES, ActiveOptions, Floats
from bootstrap.selection.proportional import ChosenDocuments
from corpus.batch import Batch, are_among, concatenate, distinct, keys_of, make_batch
from corpus.tags import classes_of
from taggers.base import Tagging, joined

# Part of the random generator's seed; every stage has a different one.
_STAGE = 4

_TOKENS = 2_000_000  # of the candidates that are tagged at a time

#: The number of rounds over which the stability of predictions is averaged (Bloodgood and
#: Vijay-Shanker, "A Method for Stopping Active Learning Based on Stabilizing Predictions", 2009).
STABLE_ROUNDS = 3


class Oracle(Protocol):
    """Annotates documents: gold annotations in a simulation, or people."""

    def label(self, batch: Batch, indices: npt.NDArray[np.int64]) -> Batch:
        """Annotate documents completely.

        Parameters
        ----------
        batch : Batch
            Documents without tags.
        indices : ndarray of int64, shape (K,)
            The documents to annotate.

        Returns
        -------
        Batch
            These documents with their tags, in the same order.
        """


class GoldOracle:
    """An oracle that knows the gold annotations, for simulations."""

    def __init__(self, gold: Batch) -> None:
        self._gold = gold
        self._row = {key: row for row, key in enumerate(keys_of(gold).to_pylist())}

    def label(self, batch: Batch, indices: npt.NDArray[np.int64]) -> Batch:
        """Return the gold annotations of documents; see `Oracle.label`."""
        keys = keys_of(batch).take(indices).to_pylist()
        rows = np.array([self._row[key] for key in keys], np.int64)
        documents = self._gold.take(rows).to_documents()
        # As it is read from the folder of a run: with its words in the order of the text.
        return make_batch(documents, labelled=True, classes=classes_of(self._gold.labels))


class Rounds:
    """Chooses documents for annotation, and keeps the annotated ones.

    Parameters
    ----------
    seed : Batch
        The documents that are annotated before the first round.
    candidates : Batch
        The documents that may be chosen.
    oracle : Oracle
        Annotates them.
    options : ActiveOptions
        ``[active]`` of a configuration; its `gold` is not used here.
    random_state : int
        The seed of the random generators.
    queried : sequence of ChosenDocuments
        The earlier rounds.

    Attributes
    ----------
    queried : list of ChosenDocuments
        The annotated documents of each round so far.
    """

    def __init__(
        self,
        seed: Batch,
        candidates: Batch,
        oracle: Oracle,
        options: ActiveOptions,
        *,
        random_state: int = 0,
        queried: Sequence[ChosenDocuments] = (),
    ) -> None:
        self.query = QUERIES[options.query]
        self.options = options
        self._seed = seed
        self._oracle = oracle
        self._random_state = random_state
        self.queried = list(queried)
        rows = distinct(candidates)
        self._candidates = candidates.take(rows[~self.annotated(candidates)[rows]])

    @property
    def number(self) -> int:
        """The number of rounds so far; each iteration after iteration 0 is one until they end."""
        return len(self.queried)

    def gold(self, iteration: int) -> Batch:
        """Return the seed and the documents annotated up to an iteration."""
        annotated = [documents.batch for documents in self.queried[:iteration]]
        return concatenate([self._seed, *annotated]) if annotated else self._seed

    def annotated(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which documents of a batch are annotated, shape (D,)."""
        return are_among(batch, [self.gold(self.number)])

    def ended(self) -> str | None:
        """Return why no further document can be annotated: a key of `STOPPED`, or None."""
        if not self._candidates.n_tokens:  # documents without tokens are not annotated
            return "candidates"
        return None if len(self._fitting()) else "budget"

    def _fitting(self) -> npt.NDArray[np.int64]:
        """Return the candidates that the budget admits."""
        limits, lengths = self._limits(), self._candidates.lengths
        if not limits.documents:
            return np.zeros(0, np.int64)
        most = math.inf if limits.tokens is None else limits.tokens
        return np.flatnonzero((lengths > 0) & (lengths <= most))

    def _limits(self) -> ChoiceLimits:
        """Return the limits of the next round."""
        options, annotated = self.options, self.gold(self.number)
        tokens = options.budget_tokens - annotated.n_tokens if options.budget_tokens else None
        return ChoiceLimits(
            documents=min(options.round, max(options.budget - len(annotated), 0)),
            tokens=tokens,
            near_duplicate=options.near_duplicate,
            class_share=options.class_share,
            turn=self.number,
            full=True,
        )

    def ask(self, tag: Callable[[Batch], Tagging]) -> ChosenDocuments:
        """Choose the documents of the next round, and annotate them.

        Parameters
        ----------
        tag : callable
            Tags candidates with the output that `query` needs.
        """
        rng = np.random.default_rng([self._random_state, self.number, _STAGE])
        drawn = self._drawn(rng)
        batch = self._candidates.take(drawn)
        utility, tagging = self._utility(tag, batch, rng)
        chosen = choose_round(utility, batch, self._limits(), tagging)
        queried = ChosenDocuments(self._oracle.label(batch, chosen), tagging.confidence[chosen])
        self.queried.append(queried)
        left = np.setdiff1d(np.arange(len(self._candidates)), drawn[chosen])
        self._candidates = self._candidates.take(left)
        return queried

    def _utility(
        self, tag: Callable[[Batch], Tagging], batch: Batch, rng: np.random.Generator
    ) -> tuple[Floats, Tagging]:
        """Compute the utility of documents, and return their tags and confidence."""
        # They are tagged in parts: marginals take many times the memory of the documents.
        parts = np.searchsorted(batch.document_offsets, np.arange(0, batch.n_tokens, _TOKENS))
        utilities, taggings = [], []
        for start, stop in itertools.pairwise([*np.unique(parts).tolist(), len(batch)]):
            part = batch.slice(start, stop)
            tagging = tag(part)
            utilities.append(self.query.utility(tagging, part, rng))
            taggings.append(Tagging(tagging.tags, tagging.labels, tagging.confidence))
        return np.concatenate(utilities), joined(taggings)

    def _drawn(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw the candidates of a round."""
        fitting, most = self._fitting(), self.options.candidates
        if len(fitting) <= most:
            return fitting
        return np.sort(rng.choice(fitting, most, replace=False))

    def goal(self, f1: float, kappas: Sequence[float | None]) -> str | None:
        """Return the goal that is reached: a key of `STOPPED`, or None.

        Parameters
        ----------
        f1 : float
            Validation F1.
        kappas : sequence of float or None
            Cohen's kappa of the validation tags of each model and the one before. None says nothing
            about stability, and restarts the count of rounds.
        """
        options = self.options
        latest = [kappa for kappa in kappas[-STABLE_ROUNDS:] if kappa is not None]
        if options.target_f1 and f1 >= options.target_f1:
            return "target"
        if (
            options.stable_kappa
            and len(latest) == STABLE_ROUNDS
            and np.mean(latest) >= options.stable_kappa
        ):
            return "stable"
        return None
