"""Selection strategies: which pseudo-labels of a tagged batch join the training set.

A strategy is a pure function of a tagging, its batch and a random generator. ``[select] strategy``
names a row of `STRATEGIES`, which the configuration, its help and the page of settings read.
Callers of `bootstrap.self_training.loop.self_train` may pass any function of that signature.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bootstrap.config.options import AUTO, InitialModelSelection, Measure
from bootstrap.selection.agreement import Average, agreed_spans
from bootstrap.selection.proportional import Selection, select_examples
from bootstrap.selection.proportions import Reference
from corpus.batch import Batch
from corpus.ragged import count_by_row
from corpus.tags import UNKNOWN, find_entities
from taggers.base import Detail, Tagging
from taggers.options import Capability, option

#: Selects from a tagged batch; all documents may be selected. The generator belongs to the
#: iteration's selection. Its state is the same in every run with the same random state.
SelectionFunction = Callable[[Tagging, Batch, np.random.Generator], Selection]

#: The number of further views of strategies with a second view, and with a tagger of lists too.
SECOND_VIEW, LIST_VIEW = 1, 2

# The share of a variant that selects fewer entities, with higher precision. The chosen strategy is
# compared with its variant in the next iteration. In the first one, with only the errors of the
# seed, validation cannot tell which is better later.
_FEWER = 0.6


@dataclass(frozen=True, slots=True)
class Strategy:
    """A selection function and the output of the tagger that it needs.

    Parameters
    ----------
    select : callable
        ``(tagging, batch, rng) -> Selection``.
    measure : str
        The measure of a document's confidence, one of `taggers.base.MEASURES`.
    detail : {"document", "token", "entity", "labels"}
        The output of the tagger in addition to tags and the confidence of documents.
    views : int
        The number of further views with which the tagging is compared. ``Tagging.views`` holds at
        least as many: first the second view, then the tagger of lists.
    name : str
        The name in the records of iterations; empty for a function without one.
    variants : tuple of Strategy
        Strategies that are compared with this one in the iteration after it was chosen among
        several.
    """

    select: SelectionFunction
    measure: str = "probability"
    detail: Detail = "document"
    views: int = 0
    name: str = ""
    variants: tuple[Strategy, ...] = ()


@dataclass(frozen=True, slots=True)
class StrategyKind:
    """A row of `STRATEGIES`.

    Parameters
    ----------
    build : callable
        Builds the selection function from the options of ``[select]`` and the reference of the
        proportions, which is None if proportions are not kept.
    summary : str
        What it selects, for the help.
    detail : {"document", "token", "entity", "labels"}
        The output of the tagger that it needs in addition to tags and the confidence of documents.
    needs : frozenset of str
        The capabilities of taggers that it requires; "partial_tags" if it selects parts of
        documents.
    views : int
        The number of further views that it needs.
    compared : mapping of str to Any or None
        The options that override the configuration where "auto" compares it; None if "auto" leaves
        it out. The first strategy compared is the paper's.
    """

    build: Callable[[SelectOptions, Reference | None], SelectionFunction]
    summary: str
    detail: Detail = "document"
    needs: frozenset[Capability] = frozenset()
    views: int = 0
    compared: Mapping[str, Any] | None = None


def confident_documents(options: SelectOptions, reference: Reference | None) -> SelectionFunction:
    """Build the strategy that selects whole documents above the confidence threshold."""

    def select(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        return select_examples(
            tagging,
            batch,
            reference=reference if options.proportions else None,
            confidence=options.confidence,
            most=options.max_selected,
        )

    return select


def confident_spans(options: SelectOptions, reference: Reference | None) -> SelectionFunction:
    """Build the strategy that selects documents with the tags above the confidence threshold.

    The other tags of a selected document are unknown, and marginalised in training.
    """

    def select(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        parts, useful = confident_parts(tagging, batch, options.confidence)
        selection = select_examples(
            parts,
            batch,
            reference=reference if options.proportions else None,
            confidence=0.0,
            most=options.max_selected,
            selectable=useful,
        )
        return replace(selection, tagging=parts)

    return select


def confident_parts(
    tagging: Tagging, batch: Batch, confidence: float
) -> tuple[Tagging, npt.NDArray[np.bool_]]:
    """Replace tags below a confidence threshold by unknown tags.

    The tags of an entity are kept if the probability of exactly this span with this class reaches
    the threshold, and the tag of a token outside of entities if its own probability does.

    Parameters
    ----------
    tagging : Tagging
        A tagging with the confidence of tokens and the probabilities of entities.
    batch : Batch
        The documents tagged.
    confidence : float
        The threshold.

    Returns
    -------
    parts : Tagging
        The tagging with the other tags unknown; the confidence of a document is the share of its
        tokens with a known tag.
    useful : ndarray of bool, shape (D,)
        Whether a document keeps an entity, or all of its tags.

    Raises
    ------
    ValueError
        If the tagging lacks the confidence of tokens or the probabilities of entities.
    """
    if tagging.token_confidence is None:
        raise ValueError("partial pseudo-labels need the confidence of every token")
    confident = tagging.token_confidence >= confidence
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    kept = tagging.entity_confidence(entities) >= confidence
    owners = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    for first, last, keep in zip(entities.first, entities.last, kept, strict=True):
        confident[first : last + 1] = keep
    number = count_by_row(confident, batch.document_offsets)
    useful = number == batch.lengths
    useful[owners[kept]] = True
    tags = np.where(confident, tagging.tags, UNKNOWN).astype(np.int16)
    share = number / np.maximum(batch.lengths, 1)
    return replace(tagging, tags=tags, confidence=share), useful


def agreement(
    options: SelectOptions,
    reference: Reference | None,
    *,
    views: int,
    average: Average | None,
) -> SelectionFunction:
    """Build the strategy that selects the spans that the tagger and further views support.

    See `bootstrap.selection.agreement.agreed_spans` for `average`.
    """

    def select(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        return agreed_spans(
            [tagging, *tagging.views[:views]],
            batch,
            reference=reference if options.proportions else None,
            share=options.share,
            min_outside=options.min_outside,
            average=average,
            most=options.max_selected,
            rng=rng,
        )

    return select


_PARTIAL: frozenset[Capability] = frozenset({"partial_tags"})


def _agreement(
    summary: str,
    *,
    views: int = SECOND_VIEW,
    average: Average | None = None,
    compared: Mapping[str, Any] | None = None,
) -> StrategyKind:
    """Return a row of agreement of views."""
    build = partial(agreement, views=views, average=average)
    return StrategyKind(build, summary, "token", _PARTIAL, views, compared)


#: Strategies by their name in ``[select] strategy``. Add new strategies here.
STRATEGIES: Mapping[str, StrategyKind] = {
    "confident_documents": StrategyKind(
        confident_documents, "whole documents above the threshold", compared={}
    ),
    "confident_spans": StrategyKind(
        confident_spans,
        "tags above the threshold",
        detail="entity",
        needs=_PARTIAL | {"entity_probabilities"},
    ),
    "agreement": _agreement("spans that two views support", compared={}),
    "consensus": _agreement(
        "such spans at their other occurrences, too", average="words", compared={"min_outside": 0.9}
    ),
    "agreement_with_lists": _agreement(
        "spans that two views and a tagger of lists of names and places support",
        views=LIST_VIEW,
        compared={},
    ),
    "context_support": _agreement(
        "spans that these views support in their context: below their header, or after the words "
        "before them",
        views=LIST_VIEW,
        average="contexts",
        compared={},
    ),
    "likely_spans": _agreement(
        "spans and tokens outside of them that the tagger takes for likely", views=0
    ),
}

_listed = "; ".join(f'"{name}", {kind.summary}' for name, kind in STRATEGIES.items())


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """Options of selection; every field is a key of ``[select]``."""

    strategy: str = option(
        AUTO,
        f"what is selected: {_listed}; or "
        f'"{AUTO}", the strategy that validation prefers (bootstrap help self-training)',
        choices=(AUTO, *STRATEGIES),
    )
    confidence: float = option(
        0.5,
        "threshold: confident_documents selects no document with a lower confidence; with "
        "confident_spans, entities, and tokens outside of entities, with a lower probability stay "
        "unlabelled",
        least=0,
        most=1,
    )
    measure: Measure = option(
        "probability",
        'confidence of a document: "probability" of its tag sequence, P(y|x), "normalised" by its '
        'length, or "min_marginal", the lowest marginal of its tokens',
    )
    max_selected: int = option(50_000, "maximum number of documents selected from a batch", least=1)
    proportions: bool = option(
        True,
        "select documents in the reference proportions of the classes, and spans up to their rates",
    )
    share: float = option(
        0.9,
        "agreement and consensus: the entities of each class per token that are selected, as a "
        "share of the reference",
        least=0,
    )
    min_outside: float = option(
        0.5,
        "agreement and consensus: threshold of tokens outside of entities; those with a lower "
        "probability stay unlabelled",
        least=0,
        most=1,
    )


def strategy_kinds(name: str) -> Mapping[str, StrategyKind]:
    """Return the rows of `STRATEGIES` that ``[select] strategy`` names; "auto" names several."""
    if name != AUTO:
        return {name: STRATEGIES[name]}
    return {name: kind for name, kind in STRATEGIES.items() if kind.compared is not None}


def uses_lists(name: str) -> bool:
    """Return whether a strategy, or one that "auto" compares, has a view of lists."""
    return any(kind.views >= LIST_VIEW for kind in strategy_kinds(name).values())


def portfolio(
    options: SelectOptions,
    reference: Reference | None,
    capabilities: Collection[Capability],
    *,
    lists: bool = False,
) -> list[Strategy]:
    """Build the strategies that a run compares.

    Parameters
    ----------
    options : SelectOptions
        Its `strategy` is a key of `STRATEGIES`, or "auto" for all that it compares.
    reference : Reference or None
        The proportions to keep; required with ``options.proportions``.
    capabilities : collection of str
        The capabilities of the tagger. "auto" leaves out strategies that need others.
    lists : bool
        Whether there is a tagger of lists; without one, "auto" leaves out strategies that need it.
    """
    if options.strategy != AUTO:
        return [strategy_for(options, reference)]
    return [
        _with_variant(replace(options, strategy=name, **(kind.compared or {})), reference)
        for name, kind in strategy_kinds(AUTO).items()
        if kind.needs <= set(capabilities) and (lists or kind.views < LIST_VIEW)
    ]


def _with_variant(options: SelectOptions, reference: Reference | None) -> Strategy:
    """Build a strategy with its variant, if the share has an effect, as in agreement of views."""
    strategy = strategy_for(options, reference)
    if not strategy.views or not options.proportions or options.share == _FEWER:
        return strategy
    variant = strategy_for(replace(options, share=_FEWER), reference)
    return replace(strategy, variants=(replace(variant, name=f"{variant.name} (share {_FEWER})"),))


def strategy_for(options: SelectOptions, reference: Reference | None) -> Strategy:
    """Build the strategy that ``[select]`` chooses.

    Raises
    ------
    ValueError
        If ``options.proportions`` is true and there is no reference.
    """
    if options.proportions and reference is None:
        raise ValueError("proportions can only be kept with a reference")
    kind = STRATEGIES[options.strategy]
    select = kind.build(options, reference)
    return Strategy(select, options.measure, kind.detail, kind.views, options.strategy)


def initial_strategy_for(
    initial: InitialModelSelection, options: SelectOptions, reference: Reference | None
) -> Strategy:
    """Build the strategy for documents tagged by an initial model, which is not trained on a seed.

    They are selected as a whole, with the threshold and the measure of the initial model. Where
    only documents with entities are, no proportions are kept.
    """
    own = replace(options, confidence=initial.confidence, measure=initial.measure)
    strategy = strategy_for(replace(own, strategy="confident_documents"), reference)
    if initial.documents == "all":
        return strategy

    def select(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        return select_examples(
            tagging,
            batch,
            reference=None,
            confidence=own.confidence,
            most=own.max_selected,
            selectable=count_by_row(tagging.tags > 0, batch.document_offsets) > 0,
        )

    return replace(strategy, select=select)
