"""The pseudo-labels of an iteration: tagging unlabeled batches and selecting from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.config.options import LoopOptions
from bootstrap.selection import LIST_VIEW, SECOND_VIEW, Selection, Strategy
from bootstrap.self_training.iteration import PseudoLabelled
from bootstrap.self_training.stopwatch import Stopwatch
from corpus.batch import Batch
from corpus.evaluation import ConfusionCounts, GoldBatch, score_batches
from corpus.tags import UNKNOWN, find_entities
from taggers.base import Detail, Tagger, Tagging
from taggers.name_propagation import note_numbers, propagate_names

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

# Parts of the seeds of the random generators of selection; that of training has no such part.
_SELECTION_STAGE, _VALIDATION_STAGE = 1, 2

# Details of taggings; each includes the output of those before it, but for the last two.
_DETAILS: tuple[Detail, ...] = ("document", "token", "entity", "labels")


def tag(tagger: Tagger, batch: Batch, measure: str, detail: Detail, loop: LoopOptions) -> Tagging:
    """Tag a batch, and propagate names within documents if the options name classes for it."""
    if not loop.propagate:
        return tagger.tag(batch, measure=measure, detail=detail)
    tagging = tagger.tag(batch, measure=measure, detail="entity")
    return propagate_names(tagging, batch, note_numbers(batch), loop.propagate)


class Labelling:
    """The pseudo-labels of one strategy in one iteration, batch after batch."""

    def __init__(
        self, strategy: Strategy, held_out: frozenset[str], loop: LoopOptions, iteration: int
    ) -> None:
        self.strategy = strategy
        self.selected: list[PseudoLabelled] = []
        self.selections: list[Selection] = []
        self.tagged = self.blank = 0
        self.found_entities = False
        self._confidence: list[npt.NDArray[np.float64]] = []
        self._held_out = pa.array(sorted(held_out), pa.large_string())
        seed = [loop.random_state, iteration]
        self._rng = np.random.default_rng([*seed, _SELECTION_STAGE])
        self._validation_rng = np.random.default_rng([*seed, _VALIDATION_STAGE])

    def add(self, tagging: Tagging, batch: Batch, watch: Stopwatch) -> None:
        """Select from the documents of a tagged batch that are not held out."""
        self.tagged += len(batch)
        self.blank += int((batch.lengths == 0).sum())
        self.found_entities |= bool((tagging.tags > 0).any())
        self._confidence.append(tagging.confidence)
        with watch.stage("select"):
            held_out = pc.is_in(batch.groups, self._held_out).to_numpy(zero_copy_only=False)
            if held_out.any():
                tagging, batch = _take(tagging, batch, np.flatnonzero(~held_out))
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


class Views:
    """The taggers that label documents: the tagger of the loop, and a second view of it.

    Parameters
    ----------
    tagger : Tagger
        The tagger of the loop.
    second : Tagger or None
        The tagger of the second view, for strategies that need one.
    list_tagger : callable or None
        Returns the tagger of lists, for strategies that need it.
    labellings : sequence of Labelling
        Their strategies, which all have the same measure, select from the taggings.
    loop : LoopOptions
        Options of the loop.

    Raises
    ------
    ValueError
        If a strategy needs a view that is None.
    """

    def __init__(
        self,
        tagger: Tagger,
        second: Tagger | None,
        list_tagger: Callable[[], Tagger] | None,
        labellings: Sequence[Labelling],
        loop: LoopOptions,
    ) -> None:
        strategies = [each.strategy for each in labellings]
        self._tagger = tagger
        # Strategies find the views by their position.
        self._others: list[Tagger] = []
        views = max(each.views for each in strategies)
        if views >= SECOND_VIEW:
            if second is None:
                raise ValueError(_missing(strategies, SECOND_VIEW, "a second tagger"))
            self._others.append(second)
        if views >= LIST_VIEW:
            if list_tagger is None:
                raise ValueError(_missing(strategies, LIST_VIEW, "a tagger of lists"))
            self._others.append(list_tagger())
        self._measure = strategies[0].measure
        self._detail = max((each.detail for each in strategies), key=_DETAILS.index)
        self._loop = loop

    def tag(self, batch: Batch) -> Tagging:
        """Tag a batch with every view."""
        tagging = tag(self._tagger, batch, self._measure, self._detail, self._loop)
        views = [tag(other, batch, self._measure, "token", self._loop) for other in self._others]
        return replace(tagging, views=tuple(views))


def _missing(strategies: Sequence[Strategy], view: int, tagger: str) -> str:
    """Return the message about a view that strategies need and that is missing."""
    names = ", ".join(repr(each.name) for each in strategies if each.views >= view)
    return f"strategy {names}: expected {tagger}, found none"


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
