"""The pseudo-labels of an iteration: tagging unlabeled batches and selecting from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.config.options import LoopOptions
from bootstrap.selection import Selection, Strategy
from bootstrap.self_training.iteration import PseudoLabelled
from bootstrap.self_training.stopwatch import Stopwatch
from corpus.batch import Batch
from corpus.tags import find_entities
from taggers.base import Detail, Tagger, Tagging
from taggers.name_propagation import note_numbers, propagate_names

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

# Part of the seed of the random generator of selection; that of training has no such part.
_SELECTION_STAGE = 1


def tag(tagger: Tagger, batch: Batch, measure: str, detail: Detail, loop: LoopOptions) -> Tagging:
    """Tag a batch, and propagate names within documents if the options name classes for it."""
    if not loop.propagate:
        return tagger.tag(batch, measure=measure, detail=detail)
    tagging = tagger.tag(batch, measure=measure, detail="entity")
    return propagate_names(tagging, batch, note_numbers(batch), loop.propagate)


class Labelling:
    """The pseudo-labels of one iteration, batch after batch."""

    def __init__(
        self, strategy: Strategy, held_out: frozenset[str], loop: LoopOptions, iteration: int
    ) -> None:
        self.selected: list[PseudoLabelled] = []
        self.selections: list[Selection] = []
        self.tagged = self.blank = 0
        self._confidence: list[npt.NDArray[np.float64]] = []
        self._strategy = strategy
        self._held_out = pa.array(sorted(held_out), pa.large_string())
        self._loop = loop
        self._rng = np.random.default_rng([loop.random_state, iteration, _SELECTION_STAGE])

    def add(self, tagger: Tagger, batch: Batch, watch: Stopwatch) -> None:
        """Tag a batch and select from its documents that are not held out."""
        with watch.stage("tag"):
            tagging = tag(tagger, batch, self._strategy.measure, self._strategy.detail, self._loop)
        self.tagged += len(batch)
        self.blank += int((batch.lengths == 0).sum())
        self._confidence.append(tagging.confidence)
        with watch.stage("select"):
            held_out = pc.is_in(batch.groups, self._held_out).to_numpy(zero_copy_only=False)
            if held_out.any():
                tagging, batch = _take(tagging, batch, np.flatnonzero(~held_out))
            selection = self._strategy.select(tagging, batch, self._rng)
            self.selections.append(selection)
            if len(selection.indices):
                kept = selection.tagging or tagging
                tagged = batch.with_tags(kept.tags, kept.labels).take(selection.indices)
                self.selected.append(PseudoLabelled(tagged, kept.confidence[selection.indices]))

    def quantiles(self) -> dict[float, float]:
        """Compute quantiles of the confidence of all documents tagged."""
        if not self.tagged:
            return {}
        values = np.quantile(np.concatenate(self._confidence), _QUANTILES)
        return dict(zip(_QUANTILES, values.tolist(), strict=True))


def _take(tagging: Tagging, batch: Batch, indices: npt.NDArray[np.int64]) -> tuple[Tagging, Batch]:
    """Return a subset of the documents of a tagged batch; `indices` are sorted."""
    kept = np.zeros(len(batch), bool)
    kept[indices] = True
    tokens = np.repeat(kept, batch.lengths)
    entities = None
    if tagging.entity_probabilities is not None:
        found = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
        entities = tagging.entity_probabilities[tokens[found.first]]
    part = Tagging(
        tagging.tags[tokens],
        tagging.labels,
        tagging.confidence[indices],
        None if tagging.token_confidence is None else tagging.token_confidence[tokens],
        None if tagging.marginals is None else tagging.marginals[tokens],
        entities,
    )
    return part, batch.take(indices)
