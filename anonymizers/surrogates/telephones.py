"""Surrogates of telephone numbers: well formed, and in use by nobody."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from anonymizers.keys import Draws, Key
from anonymizers.mention import Mention
from anonymizers.surrogates.characters import (
    characters_like,
    draw_until,
    read_tables,
    rewritten,
    split_headings,
)
from corpus.identifiers import CHECKS

_TABLES = read_tables("telephones.toml")
_HEADINGS = frozenset(_TABLES["headings"])

#: Templates of numbers that nobody has, by country and the form of the national number.
_RESERVED: Mapping[str, Mapping[str, Sequence[str]]] = _TABLES["reserved"]

_SPAIN = "34"
_SPANISH = re.compile(r"((?:00)?34)?([6-9]\d{8})")

#: The least digits of a national number; extensions have fewer.
_NATIONAL = 8


def surrogate_telephone(mention: Mention, key: Key) -> str | None:
    """Return other telephone numbers, which are well formed and in use by nobody.

    They are of the ranges of ``telephones.toml``, which are reserved for fiction or not assigned;
    of other countries, numbers that `phonenumbers` finds not valid. The code of the country and the
    separators stay, and extensions become others. A number without a code that is not Spanish keeps
    its first digit and its length; its country is unknown, and so is whether somebody has it. There
    are none for a text without digits, or with words that do not stand beside telephones.
    """
    parts, others = split_headings(mention.text, _HEADINGS)
    text = "".join(parts[place] for place in others)
    signs = list(filter(str.isalnum, text))
    if not signs or not all(map(str.isdecimal, signs)):
        return None
    for place in others:
        new = ""
        for kept, country, number in _numbers(parts[place]):
            draws = key.draws("telephone", mention.patient, country + number)
            other = _other_number(country, number, draws)
            if other is None:
                return None
            new += kept + other
        parts[place] = rewritten(parts[place], iter(new))
    return "".join(parts)


def _numbers(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the first digits of each number, which stay, the country, and the national number."""
    for place, run in enumerate(text.split("+")):
        digits = "".join(str(int(sign)) for sign in run if sign.isdecimal())
        is_international = place > 0
        while digits:
            spanish = _SPANISH.match(digits)
            if spanish and (spanish[1] or not is_international):
                yield spanish[1] or "", _SPAIN, spanish[2]
                digits, is_international = digits[spanish.end() :], False
                continue
            zeros = "00" if digits.startswith("00") and not is_international else ""
            number = digits.removeprefix(zeros)
            country = _country(number) if zeros or is_international else ""
            yield zeros + country, country, number.removeprefix(country)
            break


@functools.cache
def _country_codes() -> frozenset[str]:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE  # noqa: PLC0415 - slow to import

    return frozenset(map(str, COUNTRY_CODE_TO_REGION_CODE))


def _country(number: str) -> str:
    """Return the code of the country with which an international number begins, if there is one."""
    return next((number[:size] for size in (1, 2, 3) if number[:size] in _country_codes()), "")


def _other_number(country: str, number: str, draws: Draws) -> str | None:
    """Return a national number that nobody has; None if none is drawn."""
    reserved = _RESERVED.get(country, {}).items()
    templates = next((some for form, some in reserved if re.fullmatch(form, number)), None)
    if templates:
        return draw_until(
            lambda new: new != number, lambda: _filled(draws.choice(templates), number, draws)
        )
    prefix = country and "+" + country

    def is_free(new: str) -> bool:
        return new != number and not CHECKS["phone"](prefix + new)

    # All mobile numbers of some countries begin alike, and somebody may have each of them.
    kept = number[: len(number) >= _NATIONAL]
    return draw_until(
        is_free, lambda: kept + characters_like(number[len(kept) :], draws)
    ) or draw_until(is_free, lambda: characters_like(number, draws))


def _filled(template: str, number: str, draws: Draws) -> str:
    """Fill the places of a template, after the zero that a number has and it lacks."""
    new = "".join(str(draws.below(10)) if sign == "x" else sign for sign in template)
    return new.rjust(len(number), "0")
