"""Numbers of mentions within a note: the same person, the same number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from anonymizers.mention import Mention, folded

_WORD = re.compile(r"[^\W\d_]+")
#: Words of fewer letters are particles and initials, which tell nobody apart.
_LEAST_LETTERS = 3


def numbers_in_note(mentions: Sequence[Mention]) -> list[int]:
    """Return the number of each mention among those of its class and note, from 1.

    A name whose words are all words of a name before it is the same person, and so is a longer name
    with all words of one before it: ``Pérez`` after ``Juan Pérez``. Two people who share a surname
    are told apart where a given name is written. Other mentions are the same if they are the same
    text, without case and accents.
    """
    known: dict[tuple[int, str], list[frozenset[str]]] = defaultdict(list)
    numbers = []
    for mention in mentions:
        words = _words(mention)
        others = known[mention.note, mention.label]
        is_name = mention.category == "person"
        same = (
            place
            for place, other in enumerate(others)
            if words == other or (is_name and (words <= other or words >= other))
        )
        number = next(same, len(others))
        if number == len(others):
            others.append(words)
        elif len(words) > len(others[number]):
            others[number] = words
        numbers.append(number + 1)
    return numbers


def _words(mention: Mention) -> frozenset[str]:
    text = folded(mention.text)
    if mention.category == "person":
        words = frozenset(word for word in _WORD.findall(text) if len(word) >= _LEAST_LETTERS)
        if words:
            return words
    return frozenset([" ".join(text.split())])
