"""Surrogates of numbers: of identity, insurance and licences, records, accounts and vehicles."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping, Sequence

from anonymizers.keys import Draws, Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.characters import (
    characters_like,
    draw_until,
    read_tables,
    rewritten,
    split_headings,
)

_TABLES = read_tables("numbers.toml")
_HEADINGS = frozenset(_TABLES["headings"])
_PLATE_PROVINCES: Sequence[str] = _TABLES["plate_provinces"]

#: What a part of a number is drawn from, by the name of its group in `_FORMS`.
_ALPHABETS: Mapping[str, str] = {
    "nie": "XYZ",
    "nif": "KLM",
    "control": "TRWAGMYFPDXBNJZSQVHLCKE",
    "cif": "ABCDEFGHIJ",
    "supply": "FPRCXYZ",
    "plate": "BCDFGHJKLMNPRSTVWXYZ",
}

#: Forms of numbers in capitals without separators; the first that matches counts. What is
#: in no group is drawn character by character.
_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        r"(?P<province>\d\d)(?P<same>(?P=province))\d{5}",  # the licence of a doctor
        r"(?P<province>\d\d)\d{9,10}",  # social security
        r"\d{7,8}(?P<control>[A-Z])",  # a DNI
        r"(?P<nie>[XYZ])\d{7}(?P<control>[A-Z])",
        r"(?P<nif>[KLM])\d{7}(?P<control>[A-Z])",
        r"(?P<kept>[A-HJNP-SUVW])\d{7}(?:\d|(?P<cif>[A-J]))",  # a CIF and its kind of organisation
        r"[A-Z]{4}(?P<kept>[01])(?P<date>\d{6})\d{3}",  # a Catalan health card and the sex
        r"(?P<kept>ES)\d{16}[A-Z]{2}(?:\d(?P<supply>[FPRCXYZ]))?",  # a CUPS
        r"(?P<kept>[A-Z]{2})\d{2}[\dA-Z]{11,30}",  # an IBAN and its country
        rf"\d{{4}}(?P<plate>[{_ALPHABETS['plate']}]{{3}})",
        rf"(?P<seat>{'|'.join(_PLATE_PROVINCES)})\d{{4}}[A-Z]{{1,2}}",
    )
)

_DIGIT = re.compile(r"\d")
#: What separates two numbers. A slash may be within a number, and so may letters in capitals.
_BETWEEN = re.compile(
    r"(\s+(?:[yeoiu]|and|or)\s+|[,;]\s+|(?<=\S{5})\s+(?:[/YEOIU]|AND|OR)\s+(?=\S{5}))"
)

_DAYS = (datetime.date(1925, 1, 1), 36_525)  # a hundred years, which two digits tell apart
_PROVINCES = 53  # of social security
#: Of shorter numbers, one in ten has the check digit of cards by chance.
_CARD = r"\d{12,}"


def surrogate_number(mention: Mention, key: Key) -> str | None:
    """Return other numbers of the same form; None if there is no digit, or no other number.

    Digits become digits, and letters letters in their case. Separators stay, and so do words before
    the first digit that say what a number is, and words between numbers. A number passes the checks
    of `corpus.identifiers` that the original passes, and no others; by chance it may be a number of
    somebody else. The same digits and letters become the same ones, whatever separates them.
    """
    if not _DIGIT.search(mention.text):
        return None
    new = _BETWEEN.split(mention.text)
    for place, text in enumerate(new[::2]):
        other = _other_text(text, mention.patient, key)
        if other is None:
            return None
        new[2 * place] = other
    return "".join(new)


def _other_text(text: str, patient: str, key: Key) -> str | None:
    """Return another number, with the words before it; None if no other one is drawn."""
    before = _DIGIT.split(text, maxsplit=1)[0]
    parts, others = split_headings(before, _HEADINGS)
    others.append(len(parts))
    parts.append(text[len(before) :])  # its words may be check letters, such as EL
    text = "".join(parts[place] for place in others)
    value = "".join(filter(str.isalnum, text))
    seed = text if text.isascii() else folded(text)
    draws = key.draws("number", patient, "".join(filter(str.isalnum, seed)).lower())
    new = value and _other_number(value.upper() if value.isascii() else value, draws)
    if new is None:
        return None
    characters = iter(new)
    for place in others:
        parts[place] = rewritten(parts[place], characters)
    return "".join(parts)


def _other_number(value: str, draws: Draws) -> str | None:
    """Return a number that differs and passes the same checks; None if none is drawn."""
    passed = _passed(value)
    checks = _checks(value.isdecimal())
    complete: Callable[[str], str] = checks[passed[0]][1] if passed else str
    return draw_until(
        lambda new: new != value and _passed(new) == passed,
        lambda: complete(_drawn(value, draws)),
    )


def _passed(value: str) -> list[str]:
    """Return the checks that a number passes."""
    return [
        name
        for name, (form, complete) in _checks(value.isdecimal()).items()
        if form.fullmatch(value) and complete(value) == value
    ]


@functools.cache
def _checks(of_digits: bool) -> Mapping[str, tuple[re.Pattern[str], Callable[[str], str]]]:
    """Return the form and the completion of numbers with check digits, with and without letters."""
    from corpus.identifiers.check_digits import NUMBERS  # noqa: PLC0415 - stdnum imports slowly

    return {
        name: (re.compile(_CARD if name == "luhn" else form, re.ASCII), complete)
        for name, (form, complete) in NUMBERS.items()
        if (name in {"nass", "ccc", "luhn"}) == of_digits
    }


def _drawn(value: str, draws: Draws) -> str:
    """Return a random number of the form of another."""
    match = next(filter(None, (form.fullmatch(value) for form in _FORMS)), None)
    if not match:
        return characters_like(value, draws)
    parts, end = [], 0
    for name, number in match.re.groupindex.items():
        start, after = match.span(number)
        if start >= 0:
            parts.append(characters_like(value[end:start], draws))
            parts.append(parts[-2] if name == "same" else _part(name, match[number], draws))
            end = after
    return "".join([*parts, characters_like(value[end:], draws)])


def _part(name: str, old: str, draws: Draws) -> str:
    """Return what takes the place of the group of a form."""
    match name:
        case "kept":
            return old
        case "date":
            first, days = _DAYS
            return (first + datetime.timedelta(draws.below(days))).strftime("%y%m%d")
        case "seat":
            return draws.choice([seat for seat in _PLATE_PROVINCES if len(seat) == len(old)])
        case "province" if 1 <= int(old) <= _PROVINCES:
            least, most = (1, 9) if old[0] == "0" else (10, _PROVINCES)
            return f"{least + draws.below(most + 1 - least):02}"
        case "province":
            return characters_like(old, draws)
        case _:
            return "".join(draws.choice(_ALPHABETS[name]) for _ in old)
