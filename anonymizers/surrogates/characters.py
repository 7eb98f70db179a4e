"""Letters and digits in the place of others, and the words beside numbers, which stay."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.resources import files
from typing import Any

from anonymizers.keys import Draws
from anonymizers.mention import folded
from corpus.storage.fields import parse_toml

#: A word with its accents, or one of the abbreviations of ``número`` and ``historia clínica``.
_WORD = re.compile(r"((?<![^\W_])[NHCnhc]?\.?[ºª]|(?:[^\W\d_ºª][\u0300-\u036f]*)+)")

#: How often something is drawn until it is accepted. The rarest case, a number that passes two
#: kinds of checks by chance, takes ten draws on average.
_TRIES = 200


def read_tables(name: str) -> Mapping[str, Any]:
    """Read a TOML file of this package."""
    return parse_toml((files(__package__) / name).read_bytes(), name)


def draw_until(accept: Callable[[str], bool], draw: Callable[[], str]) -> str | None:
    """Return the first text drawn that is accepted; None after many tries."""
    return next(filter(accept, (draw() for _ in range(_TRIES))), None)


def characters_like(text: str, draws: Draws) -> str:
    """Return random digits for the digits of a text, and random capitals for its letters.

    Zeros before the first other digit stay, since they fill a number to a fixed length, and this
    digit becomes no zero.
    """
    new, least = [], 1
    for character in text:
        if character.isalpha():
            new.append(draws.choice(string.ascii_uppercase))
        elif least and character == "0":
            new.append("0")
        else:
            new.append(str(least + draws.below(10 - least)))
            least = 0
    return "".join(new)


def rewritten(text: str, characters: Iterator[str]) -> str:
    """Write other characters in the place of the letters and digits of a text, in their case.

    All other characters stay, except marks (accents in Unicode normalization form D) of letters.

    Examples
    --------
    >>> rewritten("12.a-b", iter("98XY"))
    '98.x-y'
    """
    new, follows = [], False
    for old in text:
        if old.isalnum():
            character = next(characters)
            new.append(character.lower() if old.islower() else character)
            follows = True
        elif not (follows and unicodedata.category(old)[0] == "M"):
            new.append(old)
            follows = False
    return "".join(new)


def split_headings(text: str, headings: Collection[str]) -> tuple[list[str], list[int]]:
    """Split a text at words that say what stands beside them, such as ``NHC`` or ``ext``.

    They are folded words, and the abbreviations ``Nº``, ``Hª`` and ``Cª``. Return the parts of the
    text, and the indices of those that are no headings.
    """
    parts = _WORD.split(text)
    others = [
        place
        for place, part in enumerate(parts)
        if place % 2 == 0 or not (part[-1] in "ºª" or folded(part) in headings)
    ]
    return parts, others
