"""Whether a gazetteer would find entities that a model misses, measured on validation documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.evaluation.scoring import Entities, matches
from corpus.ragged import offsets_of
from corpus.tags import TokenSpans, classes_of, find_entities
from gazetteers.builtin import OTHER_LANGUAGES
from taggers.base import Tagging
from taggers.options import TaggerOptions, path_fields

#: The minimum number of listed entities, and of unlisted ones, to measure a class.
_LEAST = 20
#: The minimum difference in recall for the advice to list more entities of a class.
_LEAST_DIFFERENCE = 0.1
#: The share of a class's missed entities that an unused list must contain.
_LEAST_SHARE = 0.2
#: How many times as often entities of the class must be listed as tokens outside of entities. Below
#: that, as in a list of names that are common words, features of the list gain nothing.
_LEAST_LIFT = 100.0

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ListedRecall:
    """The recall of the entities of a class that the gazetteers of a tagger contain.

    Parameters
    ----------
    name : str
        The class.
    share : float
        The share of its entities that are listed.
    listed, others : float
        The recall of the listed entities, and of the others.
    """

    name: str
    share: float
    listed: float
    others: float


@dataclass(frozen=True, slots=True)
class UnusedList:
    """A builtin list that contains entities which a model misses.

    Parameters
    ----------
    option, list : str
        The option of the tagger, which is empty, and the list that it accepts.
    name : str
        The class.
    missed : int
        Number of missed entities of the class.
    share : float
        The share of them that are listed.
    """

    option: str
    list: str
    name: str
    missed: int
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class EntityRecall:
    """The gold entities of validation documents, and which of them a model found.

    Parameters
    ----------
    batch : Batch
        The documents with their gold tags.
    entities : TokenSpans
        Their E entities.
    found : ndarray of bool, shape (E,)
        Whether the model predicted the entity with the same tokens and class.
    """

    batch: Batch
    entities: TokenSpans
    found: Mask

    @classmethod
    def from_tagging(cls, batch: Batch, tagging: Tagging) -> EntityRecall:
        """Compare the gold tags of a batch with predicted ones."""
        gold = find_entities(batch.tags, batch.document_offsets, batch.labels)
        predicted = Entities.from_tags(batch.with_tags(tagging.tags, tagging.labels))
        same_offsets, same_class = matches(predicted, Entities.from_tags(batch))
        return cls(batch, gold, same_offsets & same_class)

    @property
    def names(self) -> tuple[str, ...]:
        """The classes."""
        return classes_of(self.batch.labels)

    def listed(self, tokens: Mask) -> Mask:
        """Return which entities have at least half of their tokens in a list, shape (E,)."""
        sums = offsets_of(tokens)
        lengths = self.entities.last + 1 - self.entities.first
        number = sums[self.entities.last + 1] - sums[self.entities.first]
        covered: Mask = 2 * number >= lengths
        return covered


def listed_recall(recall: EntityRecall, options: TaggerOptions) -> list[ListedRecall]:
    """Measure whether entities that the gazetteers of a tagger contain are found more often.

    Returns
    -------
    list of ListedRecall
        Classes with mostly unlisted entities, if these have a lower recall than the listed ones.
    """
    tokens = options.listed(recall.batch)
    if tokens is None:
        return []
    listed = recall.listed(tokens)
    rows = []
    for number, name in enumerate(recall.names):
        own = recall.entities.classes == number
        inside, outside = own & listed, own & ~listed
        if min(inside.sum(), outside.sum()) < _LEAST or outside.sum() < inside.sum():
            continue
        recalls = [float(recall.found[group].mean()) for group in (inside, outside)]
        if recalls[0] - recalls[1] >= _LEAST_DIFFERENCE:
            rows.append(ListedRecall(name, float(inside.sum() / own.sum()), *recalls))
    return rows


def unused_lists(
    recall: EntityRecall, options: TaggerOptions, names: Sequence[str]
) -> list[UnusedList]:
    """Find the builtin lists that contain missed entities and that no option names.

    Parameters
    ----------
    recall : EntityRecall
        The entities of validation documents.
    options : TaggerOptions
        The options of the tagger. Those that accept a builtin list and are empty are tried.
    names : sequence of str
        The classes to look for.

    Returns
    -------
    list of UnusedList
        For each class, at most one list: the one with most of its missed entities, if it contains
        at least a fifth of them and hardly any token outside of entities. Ties go to the last
        option, with which the CRF matches whole phrases.
    """
    if not names:
        return []
    best: dict[str, UnusedList] = {}
    for option, builtin, tokens in _unused(recall.batch, options):
        listed = recall.listed(tokens)
        outside = max(float(tokens[recall.batch.tags == 0].mean()), 1e-9)
        for name in names:
            own = recall.entities.classes == recall.names.index(name)
            missed = own & ~recall.found
            if missed.sum() < _LEAST or listed[own].mean() / outside < _LEAST_LIFT:
                continue
            share = float(listed[missed].mean())
            if share >= _LEAST_SHARE and (name not in best or share >= best[name].share):
                best[name] = UnusedList(option, builtin, name, int(missed.sum()), share)
    return list(best.values())


def _unused(batch: Batch, options: TaggerOptions) -> Iterator[tuple[str, str, Mask]]:
    """Yield each empty option, a builtin list that it accepts, and the tokens in that list."""
    lists = {name: builtin for name, builtin in path_fields(type(options)).items() if builtin}
    others = {name: () for name in lists if isinstance(getattr(options, name), tuple)}
    for option, builtin in lists.items():
        if getattr(options, option) != ():
            continue
        for name in builtin:
            if name in OTHER_LANGUAGES:  # places of the world are also in the lists of Spain
                continue
            tokens = replace(options, **(others | {option: (name,)})).listed(batch)
            if tokens is not None and (batch.tags == 0).any():
                yield option, name, tokens
