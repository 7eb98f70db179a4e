"""The classes of places that a tagger of lists tells apart."""

from __future__ import annotations

from collections.abc import Iterable

from gazetteers.gazetteer import Gazetteer, terms_by_class
from gazetteers.phrases.matcher import BLOCKED
from taggers.dictionaries.places.roles import STREET, CueWords

#: The classes of postal codes, and of places after a word such as ``natural de`` in no list.
POSTAL_CODE, PLACE = "postal_code", "place"


def place_classes(places: Iterable[Gazetteer], cue_words: Iterable[Gazetteer]) -> tuple[str, ...]:
    """Return the classes of places of lists, and those that occur in no list."""
    words = CueWords.of(cue_words)
    known = [*terms_by_class(places), *words.kinds, STREET, POSTAL_CODE, PLACE]
    return tuple(dict.fromkeys(name for name in known if name != BLOCKED))
