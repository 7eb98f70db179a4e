"""Spanish and Catalan abbreviations in names of places, and the words that they stand for.

An abbreviation may stand for several words: ``S.`` for ``san`` and ``santa``, ``Av.`` for
``avenida`` and ``avinguda``. Such words are equivalent, and the first of them is canonical.
"""

from __future__ import annotations

from collections.abc import Sequence

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
        for each in fold(abbreviations.split()):
            short.setdefault(each, same[0])
    return words, short


#: The canonical word of each word, and of each abbreviation.
WORDS, ABBREVIATIONS = _pairs(_STREETS | _OTHERS)

#: The canonical words for kinds of streets.
STREETS = frozenset(_pairs(_STREETS)[0].values())


def is_street(words: Sequence[str]) -> bool:
    """Return whether folded words begin with a kind of street, written out or abbreviated."""
    return bool(words) and WORDS.get(words[0], ABBREVIATIONS.get(words[0])) in STREETS
