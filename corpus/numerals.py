"""Numbers below 100 in words, in Spanish, Catalan and English."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Literal

#: Where a number stands: before a noun of this gender, or alone.
Use = Literal["masculine", "feminine", "alone"]

_USES: tuple[Use, ...] = ("masculine", "feminine", "alone")

#: The first numbers in each use, the tens that follow, and what joins tens and ones.
_WORDS = {
    "es": (
        "cero un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce"
        " quince dieciséis diecisiete dieciocho diecinueve veinte veintiún|veintiuna|veintiuno"
        " veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho"
        " veintinueve",
        "treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        " y ",
    ),
    "ca": (
        "zero un|una|u dos|dues|dos tres quatre cinc sis set vuit nou deu onze dotze tretze catorze"
        " quinze setze disset divuit dinou vint vint-i-un|vint-i-una|vint-i-u"
        " vint-i-dos|vint-i-dues|vint-i-dos vint-i-tres vint-i-quatre vint-i-cinc vint-i-sis"
        " vint-i-set vint-i-vuit vint-i-nou",
        "trenta quaranta cinquanta seixanta setanta vuitanta noranta",
        "-",
    ),
    "en": (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three"
        " twenty-four twenty-five twenty-six twenty-seven twenty-eight twenty-nine",
        "thirty forty fifty sixty seventy eighty ninety",
        "-",
    ),
}
_UNACCENTED = str.maketrans("áéíóú", "aeiou")


@functools.cache
def numbers(language: str) -> Mapping[str, int]:
    """Return the numbers by their words, in all uses, with and without accents.

    Examples
    --------
    >>> numbers("es")["treinta y una"], numbers("ca")["vint-i-u"], numbers("es")["dieciseis"]
    (31, 21, 16)
    """
    words = {in_words(number, language, use): number for number in range(100) for use in _USES}
    return {word.translate(_UNACCENTED): number for word, number in words.items()} | words


@functools.cache
def in_words(number: int, language: str, use: Use = "alone") -> str:
    """Write a number below 100 in words.

    Examples
    --------
    >>> in_words(31, "es"), in_words(31, "es", "masculine"), in_words(22, "ca", "feminine")
    ('treinta y uno', 'treinta y un', 'vint-i-dues')
    """
    first, tens, joint = _WORDS[language]
    row = first.split()
    if number < len(row):
        forms = row[number].split("|")
        return forms[_USES.index(use) % len(forms)]
    ten = tens.split()[number // 10 - 3]
    return f"{ten}{joint}{in_words(number % 10, language, use)}" if number % 10 else ten
