"""Views of documents: the taggers whose taggings a strategy or a query compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, Self

from bootstrap.active_learning.queries import Query
from bootstrap.config.options import LoopOptions
from bootstrap.selection import LIST_VIEW, SECOND_VIEW, Strategy
from corpus.batch import Batch
from taggers.base import Detail, Tagger, Tagging
from taggers.name_propagation import note_numbers, propagate_names

# Details of taggings; each includes the output of those before it, but for the last two.
_DETAILS: tuple[Detail, ...] = ("document", "token", "entity", "labels")


class Taggers(Protocol):
    """The tagger of the loop, and that of the second view, if there is one."""

    @property
    def tagger(self) -> Tagger:
        """The tagger of the loop."""

    @property
    def second(self) -> Tagger | None:
        """The tagger of the second view."""


def tag(tagger: Tagger, batch: Batch, measure: str, detail: Detail, loop: LoopOptions) -> Tagging:
    """Tag a batch, and propagate names within documents if the options name classes for it."""
    if not loop.propagate:
        return tagger.tag(batch, measure=measure, detail=detail)
    tagging = tagger.tag(batch, measure=measure, detail="entity")
    return propagate_names(tagging, batch, note_numbers(batch), loop.propagate)


class Views:
    """The taggers that label documents: the tagger of the loop, and further views of it.

    Parameters
    ----------
    tagger : Tagger
        The tagger of the loop.
    others : sequence of Tagger
        The taggers of further views, in the order of ``Tagging.views``.
    measure : str
        The measure of the confidence of documents.
    details : pair of str
        The detail of the taggings by the tagger of the loop, and by the others.
    loop : LoopOptions
        Options of the loop.
    """

    def __init__(
        self,
        tagger: Tagger,
        others: Sequence[Tagger],
        *,
        measure: str,
        details: tuple[Detail, Detail],
        loop: LoopOptions,
    ) -> None:
        self._tagger = tagger
        self._others = tuple(others)
        self._measure = measure
        self._details = details
        self._loop = loop

    @classmethod
    def for_strategies(
        cls,
        strategies: Sequence[Strategy],
        taggers: Taggers,
        list_tagger: Callable[[], Tagger] | None,
        loop: LoopOptions,
    ) -> Self:
        """Return the views that strategies, which all have the same measure, select from.

        Parameters
        ----------
        strategies : sequence of Strategy
            The strategies.
        taggers : Taggers
            The tagger of the loop, and that of the second view, for strategies that need one.
        list_tagger : callable or None
            Returns the tagger of lists, for strategies that need it.
        loop : LoopOptions
            Options of the loop.

        Raises
        ------
        ValueError
            If a strategy needs a view that is None.
        """
        others: list[Tagger] = []
        views = max(each.views for each in strategies)
        if views >= SECOND_VIEW:
            if taggers.second is None:
                raise ValueError(_missing(strategies, SECOND_VIEW, "a second tagger"))
            others.append(taggers.second)
        if views >= LIST_VIEW:
            if list_tagger is None:
                raise ValueError(_missing(strategies, LIST_VIEW, "a tagger of lists"))
            others.append(list_tagger())
        detail = max((each.detail for each in strategies), key=_DETAILS.index)
        measure = strategies[0].measure
        return cls(taggers.tagger, others, measure=measure, details=(detail, "token"), loop=loop)

    @classmethod
    def for_query(cls, query: Query, taggers: Taggers, loop: LoopOptions) -> Self:
        """Return the views with which the candidates of a round are tagged.

        Names are not propagated: the uncertainty is that of the tagger itself. Where there is no
        second view, the committee is the tagger alone.
        """
        loop = replace(loop, propagate=())
        others = [taggers.second] if query.views and taggers.second else []
        details = (query.detail, query.detail)
        return cls(taggers.tagger, others, measure=query.measure, details=details, loop=loop)

    def tag(self, batch: Batch) -> Tagging:
        """Tag a batch with every view."""
        detail, others = self._details
        tagging = tag(self._tagger, batch, self._measure, detail, self._loop)
        views = [tag(other, batch, self._measure, others, self._loop) for other in self._others]
        return replace(tagging, views=tuple(views))


def _missing(strategies: Sequence[Strategy], view: int, tagger: str) -> str:
    """Return the message about a view that strategies need and that is missing."""
    names = ", ".join(repr(each.name) for each in strategies if each.views >= view)
    return f"strategy {names}: expected {tagger}, found none"
