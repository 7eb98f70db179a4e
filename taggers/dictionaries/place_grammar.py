"""The grammars of names of places and people, as regular expressions over symbols of words.

The symbols are those of `taggers.dictionaries.place_symbols`: ``S`` is ``Calle`` and ``s`` is
``calle``, ``p`` is ``de``, ``5`` a number.
"""

from __future__ import annotations

import re

_PARTICLES = "[pP]{0,3}"
#: An initial, and abbreviations in a name: ``Dr.``, ``Sta.``, ``Univ.``.
_SHORT = "(?:I(?:\\.|(?=[A-Zp1-9]))|[VYT]\\.?|[vyt]\\.(?=[A-Z1-9]))"
_HYPHENED = "(?:-[LHKMSE12379])*"
#: The words of a name after its first one: a kind of place, or a town, follows only a particle.
_FIRST = f"(?:[LHSGKMEWORNXFJ1237]|{_SHORT}){_HYPHENED}"
_NEXT = f"(?:{_PARTICLES}(?:[LMKEWORNXFJ37]|{_SHORT})|2|[pP]{{1,3}}[HSG]){_HYPHENED}"
_MODIFIER = "(?:[mMkK]|[yY]\\.)"

#: A place after a kind of place other than a street: ``Hospital General de Olmedilla``.
_KIND = f"(?:(?<![A-Z12379mk])[kK]|[hH]|[bB]\\.|[gG](?={_PARTICLES}{_MODIFIER}))"
_NAMED = f"{_KIND}(?:{_PARTICLES}{_MODIFIER})*{_PARTICLES}{_FIRST}(?:{_NEXT})*"
_MODIFIED = (
    f"(?:(?<![A-Z12379mk])K|H|B\\.|G)(?:{_PARTICLES}{_MODIFIER})*{_PARTICLES}(?:[MK]|Y\\.)"
    f"{_HYPHENED}"
)

#: A house number with floor and door: ``nº 3, 2º izq``, ``s/n``, ``km. 9,100``.
_MARKED = "[nNfF]\\.?,?-?"
_NUMBER = (
    f"[,_-]{{0,2}}(?:{_MARKED}){{0,2}}(?:5|[xX]|[iI]/[nNI])"
    f"(?:[,/_-]{{0,2}}(?:{_MARKED})?(?:5|[iI]/[nNI])|[,/_-]{{0,2}}[fFIQxX]|\\.f)*"
)
_WORDS = f"(?:{_PARTICLES}(?:{_FIRST}|5(?=[pP])))+"
_LOWER_WORDS = f"(?:{_PARTICLES}[lmhskgeworjtvbay]){{1,3}}"
#: A street: the name of one in lower case is known by its house number.
_STREET_KIND = "(?:S|[aA][./]|[qQ]\\.?/\\.?)"
_BARE_WORDS = f"(?:{_PARTICLES}(?:[LAMEWORNXFJ1237]|{_SHORT}){_HYPHENED})+"
_STREET = (
    f"(?P<numbered>{_STREET_KIND}(?:{_LOWER_WORDS})?{_WORDS}{_NUMBER}"
    f"|s{_WORDS}{_NUMBER}|{_STREET_KIND}{_LOWER_WORDS}{_NUMBER}"
    # A street without its kind is known by its house number before a postal code or after a word
    # for addresses.
    f"|(?<![A-Z1-9]){_BARE_WORDS}{_NUMBER}(?=[.,:(_-]{{0,2}}6)"
    f"|(?:(?<=[rR])|(?<=[rR][:(])){_BARE_WORDS}{_NUMBER})"
    f"|{_STREET_KIND}(?:{_LOWER_WORDS})?{_WORDS}"
    f"|(?P<lower>s(?:{_WORDS}|{_LOWER_WORDS}{_NUMBER}))"
)
STREETS = re.compile(_STREET)
OTHER_PLACES = re.compile(f"{_NAMED}|(?P<modified>{_MODIFIED})")
#: The house number after the name of a street in a list.
HOUSE_NUMBER = re.compile(_NUMBER)
#: Postal codes after a word for them; places in no list after ``natural de``.
ANNOUNCED_CODES = re.compile("(?<=[zZoO])[.,:(p]{0,3}(?P<code>6)")
ANNOUNCED_PLACES = re.compile(
    "(?:(?<=[oO])(?:[ewp]{1,2}|[.,:(]{0,2})|(?P<code>(?<=6)))(?P<place>[37]3*)"
)

#: A name of a person. ``N`` is a word that is as frequent as a name, ``W`` one that is so among
#: names, and ``R`` a rare word; in lower case, they cannot begin a name. ``P`` and ``p`` are
#: particles, ``I`` initials, ``t`` titles and ``j`` words such as ``signo``.
PEOPLE = re.compile(
    "(?:(?:(?<=t)|(?<=t[.:,]))[NVWRnvwr]|(?<!j)(?<!jp)(?:(?<!\\.)[RV](?=[NVW])|Pp*(?=[NVW]))?"
    "(?:N|(?<!\\.)[VW](?=N)))"
    "(?:(?:[PpI]|(?<=[Ii])\\.){0,2}(?:[NVWnvw]|(?<!\\.)[Rr]|(?<=[Ii]\\.)[Rr]))*"
)
