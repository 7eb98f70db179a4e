"""The pseudo-labels of an iteration: tagging unlabeled batches and selecting from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.config.options import LoopOptions
from bootstrap.selection import Selection, Strategy
from bootstrap.self_training.iteration import CONFIDENCE_BINS, PseudoLabelled
from bootstrap.self_training.stopwatch import Stopwatch
from bootstrap.self_training.views import Views
from corpus.batch import Batch
from corpus.evaluation import ConfusionCounts, GoldBatch, score_batches
from corpus.tags import UNKNOWN, find_entities
from taggers.base import Tagging

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

# Parts of the seeds of the random generators of selection; that of training has no such part.
_SELECTION_STAGE, _VALIDATION_STAGE = 1, 2


class Labelling:
    """The pseudo-labels of one strategy in one iteration, batch after batch."""

    def __init__(
        self,
        strategy: Strategy,
        held_out: frozenset[str],
        loop: LoopOptions,
        iteration: int,
        annotated: Callable[[Batch], npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        self.strategy = strategy
        self.selected: list[PseudoLabelled] = []
        self.selections: list[Selection] = []
        self.tagged = self.blank = 0
        self.found_entities = False
        self._confidence: list[npt.NDArray[np.float64]] = []
        self._held_out = pa.array(sorted(held_out), pa.large_string())
        self._annotated = annotated
        seed = [loop.random_state, iteration]
        self._rng = np.random.default_rng([*seed, _SELECTION_STAGE])
        self._validation_rng = np.random.default_rng([*seed, _VALIDATION_STAGE])

    def add(self, tagging: Tagging, batch: Batch, watch: Stopwatch) -> None:
        """Select from the documents of a tagged batch that are neither held out nor annotated."""
        self.tagged += len(batch)
        self.blank += int((batch.lengths == 0).sum())
        self.found_entities |= bool((tagging.tags > 0).any())
        self._confidence.append(tagging.confidence)
        with watch.stage("select"):
            excluded = pc.is_in(batch.groups, self._held_out).to_numpy(zero_copy_only=False)
            if self._annotated:
                excluded = excluded | self._annotated(batch)
            if excluded.any():
                tagging, batch = _take(tagging, batch, np.flatnonzero(~excluded))
            selection = self.strategy.select(tagging, batch, self._rng)
            self.selections.append(replace(selection, tagging=None))
            if len(selection.indices):
                kept = selection.tagging or tagging
                tagged = batch.with_tags(kept.tags, kept.labels).take(selection.indices)
                self.selected.append(PseudoLabelled(tagged, kept.confidence[selection.indices]))

    def quality(self, tagging: Tagging, validation: GoldBatch) -> ConfusionCounts:
        """Score what the strategy selects from the validation documents.

        Parameters
        ----------
        tagging : Tagging
            The validation documents as tagged for the pool.
        validation : GoldBatch
            Their gold annotations.

        Returns
        -------
        ConfusionCounts
            Precision is the share of the selected entities that are right, and recall the share of
            the gold entities that are selected.
        """
        selection = self.strategy.select(tagging, validation.batch, self._validation_rng)
        kept = selection.tagging or tagging
        tags = np.full(len(kept.tags), UNKNOWN, np.int16)
        tokens = np.zeros(len(validation.batch), bool)
        tokens[selection.indices] = True
        selected = np.repeat(tokens, validation.batch.lengths)
        tags[selected] = kept.tags[selected]
        predicted = validation.batch.with_tags(tags, kept.labels)
        return score_batches(validation, predicted).counts("ner")

    def quantiles(self) -> dict[float, float]:
        """Compute quantiles of the confidence of all documents tagged."""
        if not self.tagged:
            return {}
        values = np.quantile(np.concatenate(self._confidence), _QUANTILES)
        return dict(zip(_QUANTILES, values.tolist(), strict=True))

    def histogram(self) -> tuple[int, ...]:
        """Count all documents tagged by their confidence, in intervals of equal width."""
        if not self.tagged:
            return ()
        values = np.concatenate(self._confidence)
        counts, _ = np.histogram(values, CONFIDENCE_BINS, range=(0.0, 1.0))
        return tuple(counts.tolist())


def label_pool(
    batches: Iterable[Batch], views: Views, labellings: Sequence[Labelling], watch: Stopwatch
) -> None:
    """Tag unlabeled batches, and select from each of them.

    Parameters
    ----------
    batches : iterable of Batch
        Unlabeled documents.
    views : Views
        The taggers.
    labellings : sequence of Labelling
        Each selects from all batches.
    watch : Stopwatch
        Measures the stages.
    """
    for batch in watch.each("read", batches):
        with watch.stage("tag"):
            tagging = views.tag(batch)
        for each in labellings:
            each.add(tagging, batch, watch)


def _take(tagging: Tagging, batch: Batch, indices: npt.NDArray[np.int64]) -> tuple[Tagging, Batch]:
    """Return a subset of the documents of a tagged batch; `indices` are sorted."""
    kept = np.zeros(len(batch), bool)
    kept[indices] = True
    tokens = np.repeat(kept, batch.lengths)
    offsets = batch.document_offsets
    part = _taken(tagging, offsets, tokens, indices)
    views = tuple(_taken(view, offsets, tokens, indices) for view in tagging.views)
    return replace(part, views=views), batch.take(indices)


def _taken(
    tagging: Tagging,
    offsets: npt.NDArray[np.int64],
    tokens: npt.NDArray[np.bool_],
    indices: npt.NDArray[np.int64],
) -> Tagging:
    entities = None
    if tagging.entity_probabilities is not None:
        found = find_entities(tagging.tags, offsets, tagging.labels)
        entities = tagging.entity_probabilities[tokens[found.first]]
    return Tagging(
        tagging.tags[tokens],
        tagging.labels,
        tagging.confidence[indices],
        None if tagging.token_confidence is None else tagging.token_confidence[tokens],
        None if tagging.marginals is None else tagging.marginals[tokens],
        entities,
    )
