"""The tagger of lists as a view of a run: which classes its names and places belong to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bootstrap.config.options import AUTO, StrategyName
from bootstrap.selection import LIST_VIEW, PORTFOLIO, STRATEGIES
from corpus.batch import Batch
from gazetteers.builtin import read_gazetteer
from taggers.augmentation import AugmentOptions, MentionReplacement
from taggers.augmentation.grammar import Grammar
from taggers.dictionaries.places.options import OUTSIDE_LABEL, ListOptions
from taggers.dictionaries.places.place_classes import place_classes

#: The minimum share of the mentions of a class that are in lists, for the class to be one of them.
_MIN_SHARE = 0.2

#: The number of mentions of each kind by class.
Kinds = Mapping[str, Mapping[str, int]]


def uses_lists(strategy: StrategyName) -> bool:
    """Return whether a strategy, or one of those that "auto" compares, has a view of lists."""
    names = PORTFOLIO if strategy == AUTO else [strategy]
    return any(STRATEGIES[name].views >= LIST_VIEW for name in names)


def list_options_for(gold: Batch, options: AugmentOptions) -> ListOptions | None:
    """Return the options of a tagger that finds the classes of gold documents by lists.

    The kinds of the mentions of a class, such as hospitals or names of people, are found as for
    augmentation. The class with most names of people is that of the names of the lists; each kind
    of place belongs to the class with most mentions of it.

    Parameters
    ----------
    gold : Batch
        Annotated documents.
    options : AugmentOptions
        The lists and the grammar.

    Returns
    -------
    ListOptions or None
        None if there is no list of names, or no class consists of names or places of lists.

    Raises
    ------
    InputError
        If a list or the grammar is missing or invalid.
    """
    grammar = Grammar.read(Path(options.grammar) if options.grammar else None)
    known = {path: _classes_of(path) for path in options.gazetteers}
    names = tuple(path for path in known if known[path] & grammar.name_classes)
    places = tuple(path for path in known if path not in names)
    if not names:
        return None
    # Distinct ones: there are few words for a sex, even if a list of names has them all.
    mentions = MentionReplacement(gold, options).distinct
    of_names, of_places = frozenset(grammar.names), _union(known[path] for path in places)
    persons = _classes_of_kinds(mentions, of_names, of_places)
    placed = _classes_of_kinds(mentions, of_places, of_names)
    if not persons and not placed:
        return None
    lists = ListOptions(
        names=names,
        classes=tuple(sorted(grammar.name_classes & _union(known[path] for path in names))),
        places=places,
    )
    if persons:
        lists = replace(lists, label=persons[0])
    if placed:
        lists = replace(lists, place_label=placed[0])
    if len(placed) > 1:
        lists = replace(lists, place_labels=_place_labels(mentions, placed, lists))
    return lists


def _classes_of(path: str) -> frozenset[str]:
    return frozenset(read_gazetteer(path).classes.unique().to_pylist())


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _classes_of_kinds(
    mentions: Kinds, kinds: Collection[str], others: Collection[str]
) -> list[str]:
    """Return the classes that consist of some kinds rather than of others, the largest first."""
    found = {}
    for name, numbers in mentions.items():
        number, other = (sum(numbers.get(kind, 0) for kind in each) for each in (kinds, others))
        if number > other and number >= _MIN_SHARE * sum(numbers.values()):
            found[name] = number
    return sorted(found, key=lambda name: -found[name])


def _place_labels(mentions: Kinds, placed: Sequence[str], lists: ListOptions) -> dict[str, str]:
    """Return the class of each kind of place: the one with most mentions of it, if there is any.

    With several classes, it is not known to which one a kind without mentions belongs.
    """
    gazetteers, cue_words = (
        [read_gazetteer(path) for path in paths] for paths in (lists.places, lists.cue_words)
    )
    labels = {}
    for kind in place_classes(gazetteers, cue_words):
        numbers = {name: mentions[name].get(kind, 0) for name in placed}
        most = max(placed, key=lambda name: numbers[name])
        labels[kind] = most if numbers[most] else OUTSIDE_LABEL
    return labels
