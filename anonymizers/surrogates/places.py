"""Surrogates of places and organisations: towns for towns of their size, streets for streets."""

from __future__ import annotations

import functools
import re

from anonymizers.keys import Draws, Key
from anonymizers.mention import Mention
from anonymizers.surrogates.characters import draw_until
from anonymizers.surrogates.names import surrogate_name
from anonymizers.surrogates.place_parts import DIGITS, LETTERS, Part, read_parts
from anonymizers.surrogates.place_words import kept_words, particles, words_of
from gazetteers.casing import begins_with_vowel_sound, case_of
from gazetteers.written_places import place_key, written_places

#: What names without an explanation are in classes of one kind of place; others have towns.
_KINDS = {
    "ADDRESS": "street",
    "CALLE": "street",
    "STREET": "street",
    "CENTRO_SALUD": "health_centre",
    "COUNTRY": "country",
    "PAIS": "country",
    "HOSPITAL": "hospital",
}
#: Letters that begin many words; the others would show that an acronym is invented.
_INITIALS = "ABCDEFGHILMNOPRSTUV"
_PREPOSITION = re.compile(r"^(?:d'|(?:des|dels?|de) (?:(?:las?|los|les|els|sa|ses) |[ls]')?)")


def surrogate_place(mention: Mention, key: Key) -> str | None:
    """Return a place for a place: a town for a town, a street for a street; None without a name.

    Towns, provinces, countries and cities become others of a similar population, as names become
    others of a similar frequency (paper 004, NE randomization). Of streets, hospitals and health
    centres, the name is replaced, and of postal codes, all digits: the new code exists, and need
    not be of the new town. A name of a patient always has the same replacement.
    """
    return _replaced(mention, key, _KINDS.get(mention.label, "town"))


def surrogate_organisation(mention: Mention, key: Key) -> str | None:
    """Return an organisation of the same kind, such as a university of another town, if any.

    A name in which no word says what kind it is, such as the one of a firm, becomes surnames.
    """
    new = _replaced(mention, key, "institution")
    if new or all(word.folded in kept_words() for word in words_of(mention.text)):
        return new
    return surrogate_name(mention, key)


def _replaced(mention: Mention, key: Key, kind: str) -> str | None:
    text = mention.text
    parts, unwanted = read_parts(text, kind)
    pieces, end = [], 0
    for part in parts:
        draws = key.draws(f"place {part.kind}", mention.patient, part.value)
        new = _surrogate(part, unwanted, draws)
        if new is None:
            return None
        pieces += [text[end : part.start], _as_written(part, text, new)]
        end = part.end
    return "".join((*pieces, text[end:])) if parts else None


def _surrogate(part: Part, unwanted: frozenset[str], draws: Draws) -> str | None:
    """Return what replaces the value of a part; None if all draws have words of the mention."""
    old = _name_words(part.value)

    def is_other(new: str) -> bool:
        return not old <= _name_words(new) and unwanted.isdisjoint(_name_words(new))

    return draw_until(is_other, lambda: _drawn(part, draws))


@functools.lru_cache(1 << 16)
def _name_words(name: str) -> frozenset[str]:
    words = frozenset(place_key(name).split())
    return words - particles() or words


def _drawn(part: Part, draws: Draws) -> str:
    if part.kind == DIGITS:
        first = draws.below(9) + 1 if part.value[0] != "0" or len(part.value) == 1 else 0
        return "".join([str(first), *(str(draws.below(10)) for _ in part.value[1:])])
    if part.kind == LETTERS:
        return "".join(
            str(draws.below(10)) if letter.isdecimal() else draws.choice(_INITIALS)
            for letter in part.value
        )
    places = written_places()[part.kind]
    share = draws.uniform()
    row = places.similar(part.size, share) if part.size else places.drawn(share)
    name = places.names[row]
    return (part.catalan and name != part.value and places.catalan[row]) or name


def _as_written(part: Part, text: str, new: str) -> str:
    """Return what replaces a part, in the case of the old name and with what precedes it."""
    if part.kind in (DIGITS, LETTERS, "postal_code"):
        return new
    if part.alone:
        new = _PREPOSITION.sub("", new)
    if part.preposition:
        elided = len(part.preposition.rstrip("'’´ ")) == 1
        stays = begins_with_vowel_sound(new) if elided else place_key(part.preposition) == "de"
        new = f"{part.preposition if stays else 'de '}{new}"
    old = text[part.start : part.end]
    case = case_of(text if old[0].isdigit() else old)  # 12 de Octubre
    return new.upper() if case == "upper" else new.lower() if case == "lower" else new
