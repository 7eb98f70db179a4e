"""Spellings of place names that differ between notes and lists: abbreviations and variants.

A Spanish or Catalan abbreviation may stand for several words: ``S.`` for ``san`` and ``santa``,
``Av.`` for ``avenida`` and ``avinguda``. Such words are equivalent, and the first of them is
canonical.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gazetteers.folding import fold

#: Equivalent words for kinds of streets, and their abbreviations.
_STREETS = {
    "calle carrer rúa": "c cl",
    "avenida avinguda": "av avd avda avgda",
    "plaza plaça praza plazuela": "pl plz plza pz pza plç pça",
    "paseo passeig": "pº pso pg psg",
    "carretera": "ctra crta crtra",
    "camino camí camiño": "cno cmno cº",
    "travesía travessera travessia": "trav trva tv",
    "ronda": "rda",
    "rambla": "rbla",
    "glorieta": "gta glta",
    "callejón": "cjón",
    "pasaje passatge": "pje psj ptge",
    "barrio barri": "bº",
    "barriada": "bda",
    "urbanización urbanització": "urb",
    "polígono polígon": "pol",
}

#: Equivalent words of other kinds, and their abbreviations.
_OTHERS = {
    "san santo santa sant": "s st sta sto",
    "nuestra": "nª ntra ntr",
    "señora": "sª sra",
    "virgen": "virg vgen",
    "maría": "mª",
    "doctor": "dr",
    "doctora": "dra",
    "profesor": "prof",
    "maestro": "mtro",
    "hermanos": "hnos",
    "viuda": "vda",
    "presidente": "pdte",
    "francisco": "fco",
    "fernando": "fdo",
    "villanueva": "vva",
    "hospital hospitalario hospitalaria hospitalari": "h hosp hospit hptal hptl htal",
    "universitario universitaria universitari": "u univ",
    "general": "gral",
    "provincial": "prov",
    "regional": "reg",
    "comarcal": "com",
    "clínico clínica clínic": "clín",
    "complejo complex": "compl",
    "fundación fundació": "fund",
    "centro centre": "ctro ctre",
    "consultorio consultori": "cons",
    "residencia residència": "resid",
    "ambulatorio ambulatori": "amb",
    "materno": "mat",
    "infantil": "inf",
    "y i e": "",
}

#: Phrases of several words, each with its abbreviations.
SEVERAL = (
    ("nuestra señora", "n. s.", "ns"),
    ("centro de salud", "c. s.", "cs", "c. salud"),
    ("centre d'atenció primària", "c. a. p.", "cap"),
    ("hospital universitario", "hu"),
    ("hospital general universitario", "hgu"),
    ("complejo hospitalario universitario", "chu"),
)


def _pairs(groups: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the canonical word of each word, and of each abbreviation."""
    words: dict[str, str] = {}
    short: dict[str, str] = {}
    for whole, abbreviations in groups.items():
        same = fold(whole.split())
        words.update(dict.fromkeys(same, same[0]))
        for abbreviation in fold(abbreviations.split()):
            short.setdefault(abbreviation, same[0])
    return words, short


#: The canonical word of each word, and of each abbreviation.
WORDS, ABBREVIATIONS = _pairs(_STREETS | _OTHERS)

#: The canonical words for kinds of streets.
STREETS = frozenset(_pairs(_STREETS)[0].values())


def is_street(words: Sequence[str]) -> bool:
    """Return whether folded words begin with a kind of street, written out or abbreviated."""
    return bool(words) and WORDS.get(words[0], ABBREVIATIONS.get(words[0])) in STREETS


_WORDS = re.compile(r"\w+")
_NOTE = re.compile(r"\s*\([^()]*\)")
_ARTICLE = re.compile(r"(.+), ?(els?|l[ao]s?|les|l['’]|es|ses|s['’]|sa|n['’]|[oa]s?)")
_BILINGUAL = re.compile(r"(?<=[^\W\d_]{2}) ?/ ?(?=[^\W\d_]{2})")
_NONE = re.compile(r"[\s,]+s\s?[/.]\s?n[.º°]?(?!\w).*")
_AFTER_COMMA = re.compile(r",\s*(?:n[ro]?[.ºo°]*|n[uú]m(?:ero)?\.?|km\.?)?\s*\d.*")
# Some streets have numbers as names: calle 13, carretera nacional 332, carretera N-332.
_AT_END = re.compile(
    r"(?<=\w\w)(?<!nacional)(?<!comarcal)[\s,]+(?:n[.º°o]*\s?|n[uú]m\.?\s?)?\d+(?:\s?[-/]\s?\d+)?(?:\s?bis)?$"
)

#: The expressions above change no term of letters and blanks alone, as most terms are.
_PLAIN = re.compile(r"(?! )(?:[^\W\d_]| (?! |$))*")


def spellings(terms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the variants of each term of a list in notes, except abbreviations.

    Returns
    -------
    list of tuple of str
        Folded variants. A name in two languages (``Elche/Elx``) also has a variant for each. An
        article at the end (``Escorial, El``) is moved to the front. Text in brackets and house
        numbers (``Iglesia, 8``, ``C/ Mayor 3``, ``del Frontón s/n``) are removed.
    """
    return [tuple(dict.fromkeys(_spellings(term))) for term in fold(terms)]


def _spellings(term: str) -> Iterator[str]:
    if _PLAIN.fullmatch(term):
        yield term
        return
    term = _NOTE.sub("", term).strip() or term
    term = _without_number(term)
    yield _article_first(term)
    parts = [] if is_street(_WORDS.findall(term)) else _BILINGUAL.split(term)
    if len(parts) > 1:
        yield from map(_article_first, parts)


def _without_number(term: str) -> str:
    rest = _AFTER_COMMA.sub("", _NONE.sub("", term))
    words = _WORDS.findall(rest)
    if is_street(words) and len(words) > 2:
        rest = _AT_END.sub("", rest)
    # The number is kept if it is the only name of a street.
    return term if len(words) < 2 and is_street(words) else rest or term


def _article_first(name: str) -> str:
    match = _ARTICLE.fullmatch(name)
    if match is None:
        return name
    space = "" if match[2].endswith(("'", "’")) else " "
    return f"{match[2]}{space}{match[1]}"
