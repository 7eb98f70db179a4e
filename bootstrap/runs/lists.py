"""The tagger of lists as a view of a run: which classes its names and places belong to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from bootstrap.config.configuration import Configuration
from bootstrap.data.splits import Notes, read_labelled
from corpus.batch import Batch, concatenate
from corpus.errors import InputError, quoted
from corpus.tags import classes_of, is_label
from gazetteers.builtin import read_gazetteer
from gazetteers.grammar import Grammar
from taggers.augmentation import AugmentOptions, MentionReplacement
from taggers.dictionaries.dictionary_options import NOT_TAGGED, ListOptions, NameOptions

#: The minimum share of a class's mentions that are of some kinds, for it to consist of these kinds.
_MIN_SHARE = 0.2
#: The minimum share of the names of people, or of a kind of place, in the class they belong to.
_MIN_OWNED = 0.8
#: The minimum number of kinds of places for a class to include kinds that the seed lacks, and the
#: minimum share of its mentions of each kind: a hospital may be named like a town.
_MIN_KINDS, _MIN_KIND_SHARE = 2, 0.1

#: The number of mentions of each kind by class.
Kinds = Mapping[str, Mapping[str, int]]


def list_options_for(
    gold: Batch,
    options: AugmentOptions,
    *,
    validation: Batch | None = None,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> ListOptions | None:
    """Return the options of a tagger that finds the classes of gold documents by lists.

    The kinds of the mentions of a class, such as hospitals or names of people, are found as for
    augmentation. Names of people, and each kind of place, belong to the class with at least 80 % of
    their mentions. Without such a class they are not tagged.

    Parameters
    ----------
    gold : Batch
        Annotated documents, whose classes may be tagged.
    options : AugmentOptions
        The lists and the grammar.
    validation : Batch, optional
        Further documents, whose mentions show the kinds of a class, too. A biased seed may lack
        most of them.
    labels : mapping of str to str
        The class of some classes of the lists, whatever their mentions are.

    Returns
    -------
    ListOptions or None
        None if there is no list of names, or neither names nor places belong to a class.

    Raises
    ------
    InputError
        If a list or the grammar is missing or invalid, or `labels` names no class of the lists.
    """
    grammar = Grammar.read(Path(options.grammar) if options.grammar else None)
    known = {
        path: frozenset(read_gazetteer(path).classes.unique().to_pylist())
        for path in options.gazetteers
    }
    names = tuple(path for path in known if known[path] & grammar.name_classes)
    places = tuple(path for path in known if path not in names)
    if not names:
        return None
    classes = frozenset(gold.labels[tag][2:] for tag in np.unique(gold.tags[gold.tags > 0]))
    # Distinct ones: there are few words for a sex, even if a list of names has them all.
    shown = gold if validation is None else concatenate([gold, validation])
    mentions = MentionReplacement(shown, options).distinct
    of_names, of_places = frozenset(grammar.names), _union(known[path] for path in places)
    persons = _classes_of_kinds(mentions, of_names, of_places)
    placed = _classes_of_kinds(mentions, of_places, of_names)
    label = _owner({name: _number(mentions[name], of_names) for name in persons}, classes)
    general = _general_class(mentions, placed, of_places, classes)
    place_labels = {} if general else _place_labels(mentions, placed, of_places, classes)
    all_classes = _union(known.values())
    if unknown := sorted({*labels} - all_classes):
        raise InputError(
            f"[lists] labels names {quoted(unknown[0])}; the classes of the lists are "
            f"{', '.join(map(quoted, sorted(all_classes)))}"
        )
    for kind, name in labels.items():
        if kind in grammar.name_classes:
            label = name
        else:
            place_labels[kind] = name
    if not label and not general and not place_labels:
        return None
    return ListOptions(
        names=names,
        classes=tuple(sorted(grammar.name_classes & _union(known[path] for path in names))),
        label=label,
        places=places,
        place_label=general,
        place_labels=place_labels,
    )


def with_classes_of_lists(configuration: Configuration) -> Configuration:
    """Set the classes of the lists of an initial model to those of the validation documents.

    Its own options stay where validation has their classes.

    Raises
    ------
    InputError
        If the validation documents cannot be read, or no class of them consists of names or places
        of the lists.
    """
    model = configuration.initial_model
    if model is None or not isinstance(model.options, NameOptions):
        return configuration
    notes = read_labelled(configuration.data, "validation", configuration.labels)
    classes, options = classes_of(notes.batch.labels), model.options
    places = options.places if isinstance(options, ListOptions) else ()
    wanted = {*model.classes, *configuration.lists.labels.values()}
    if wanted <= {*classes} and not configuration.lists.labels:
        return configuration
    lists = replace(configuration.augment, gazetteers=(*options.names, *places))
    shown = list_options_for(notes.batch, lists, labels=configuration.lists.labels)
    if shown is None:
        raise InputError(
            f"[initial_model] tags {', '.join(map(quoted, model.classes))}, and no class of "
            f"validation ({', '.join(map(quoted, classes))}) consists of names or places of its "
            "lists; name the class of each list in [lists] labels"
        )
    named = bool(configuration.lists.labels)
    if named or (shown.label and options.label not in classes):
        options = replace(options, label=shown.label)
    if isinstance(options, ListOptions) and (named or options.place_label not in classes):
        options = replace(options, place_label=shown.place_label, place_labels=shown.place_labels)
    return replace(configuration, initial_model=replace(model, options=options))


def list_lines(configuration: Configuration, notes: Notes) -> list[str]:
    """Describe which classes lists have: those of an initial model, or of the view of lists."""
    model = configuration.initial_model
    lists = model.options if model else None
    if model is None and notes.seed.documents:
        lists = list_options_for(
            notes.seed.batch,
            configuration.augment,
            validation=notes.validation.batch,
            labels=configuration.lists.labels,
        )
    if not isinstance(lists, ListOptions):
        return []
    classes = {"names": lists.label, "places": lists.place_label, **lists.place_labels}
    pairs = [f"{what} are {quoted(name)}" for what, name in classes.items() if name]
    return ["", f"lists: {', '.join(pairs)}; [lists] labels names other classes"]


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _number(numbers: Mapping[str, int], kinds: Collection[str]) -> int:
    return sum(numbers.get(kind, 0) for kind in kinds)


def _classes_of_kinds(
    mentions: Kinds, kinds: Collection[str], others: Collection[str]
) -> list[str]:
    """Return the classes that consist of some kinds rather than of others."""
    names = []
    for name, numbers in mentions.items():
        number, other = _number(numbers, kinds), _number(numbers, others)
        if number > other and number >= _MIN_SHARE * sum(numbers.values()):
            names.append(name)
    return names


def _owner(numbers: Mapping[str, int], classes: Collection[str]) -> str:
    """Return the class with most of some mentions, or `NOT_TAGGED` if it has too few of them."""
    name = max(numbers, key=numbers.__getitem__, default=NOT_TAGGED)
    owned = name in classes and is_label(name)  # without line ends or control characters
    return name if owned and numbers[name] >= _MIN_OWNED * sum(numbers.values()) else NOT_TAGGED


def _place_labels(
    mentions: Kinds, placed: Sequence[str], kinds: Iterable[str], classes: Collection[str]
) -> dict[str, str]:
    """Return the class of each kind of place that belongs to one."""
    labels = {}
    for kind in sorted(kinds):
        numbers = {name: number for name in placed if (number := mentions[name].get(kind, 0))}
        if owner := _owner(numbers, classes):
            labels[kind] = owner
    return labels


def _general_class(
    mentions: Kinds, placed: Sequence[str], kinds: Iterable[str], classes: Collection[str]
) -> str:
    """Return the only class of places if it has several kinds, or else `NOT_TAGGED`."""
    # Such a class, unlike one of hospitals alone, also has the kinds that no document shows. With
    # several classes, it is not known to which one they belong.
    if len(placed) != 1 or placed[0] not in classes or not is_label(placed[0]):
        return NOT_TAGGED
    numbers = [mentions[placed[0]].get(kind, 0) for kind in kinds]
    frequent = sum(number >= _MIN_KIND_SHARE * sum(numbers) for number in numbers if number)
    return placed[0] if frequent >= _MIN_KINDS else NOT_TAGGED
