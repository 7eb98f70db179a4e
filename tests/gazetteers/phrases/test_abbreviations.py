"""Abbreviations stand for what they are said to, and spellings for what lists mean."""

from __future__ import annotations

import pytest

from corpus.batch import make_batch
from corpus.document import Document
from gazetteers.folding import fold
from gazetteers.phrases.matcher import PhraseMatcher
from gazetteers.phrases.spellings import (
    ABBREVIATIONS,
    SEVERAL,
    STREETS,
    WORDS,
    is_street,
    spellings,
)


def finds(phrase: str, text: str) -> bool:
    """Return whether a phrase is found in the whole of a text."""
    batch = make_batch([Document("", text)], labelled=False)
    found = PhraseMatcher({"A": [phrase]}).find(batch)
    spans = [(batch.starts[found.first], batch.ends[found.last])]
    return [(start.tolist(), end.tolist()) for start, end in spans] == [([0], [len(text)])]


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        *(("H.", "Hospital"), ("Hosp.", "Hospital"), ("Htal", "Hospital"), ("Hptal.", "Hospital")),
        *(("Hosp.", "Hospitalario"), ("Univ.", "Universitario"), ("U.", "Universitari")),
        *(("Sta.", "Santa"), ("Sto", "Santo"), ("S.", "San"), ("S.", "Santa"), ("St.", "Sant")),
        *(("Ntra.", "Nuestra"), ("Nª", "Nuestra"), ("Sra.", "Señora"), ("Sª", "Señora")),
        *(("Dr.", "Doctor"), ("Dra", "Doctora"), ("Mª", "María"), ("Fco.", "Francisco")),
        *(("Fdo.", "Fernando"), ("C/", "Calle"), ("C.", "Calle"), ("CL", "Calle"), ("c/", "rúa")),
        *(("Avda.", "Avenida"), ("Av.", "Avinguda"), ("Avgda.", "Avinguda"), ("AVDA", "avenida")),
        *(("Pza.", "Plaza"), ("Plz.", "Plaza"), ("Pl.", "Plaça"), ("Pça.", "Plaça")),
        *(("Ctra.", "Carretera"), ("Crta.", "Carretera"), ("Pº", "Paseo"), ("Pso.", "Paseo")),
        *(("Pg.", "Passeig"), ("Gral.", "General"), ("Prov.", "Provincial"), ("Reg.", "Regional")),
        *(("Clín.", "Clínico"), ("Clin", "Clínica")),
    ],
)
def test_an_abbreviation_stands_for_words(short: str, whole: str) -> None:
    assert finds(f"{whole} Xarau", f"{short} Xarau")
    assert finds(f"{short} Xarau", f"{whole} Xarau")
    assert finds(f"{short} Xarau", f"{short} Xarau")
    assert not finds(f"{whole} Xarau", f"Zeta {short} Xarau")


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("N. S.", "Nuestra Señora"),
        ("N.S.", "Ntra. Sra. de"),
        ("CS", "Centro de Salud"),
        ("C.S.", "Centro de Salud"),
        ("CAP", "Centre d'Atenció Primària"),
        ("C.A.P.", "Centre d’atenció primaria de"),
        ("HU", "Hosp. Universitario"),
        ("C.S.", "CS"),
    ],
)
def test_letters_stand_for_several_words(short: str, whole: str) -> None:
    assert finds(f"{whole} Xarau", f"{short} Xarau")
    assert finds(f"{short} Xarau", f"{whole} Xarau")
    assert finds(f"Alto {whole} Xarau", f"Alto {short} Xarau")


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        *(("H", "Hospital"), ("S", "San"), ("C", "Calle"), ("U", "Universitario")),
        *(("N S", "Nuestra Señora"), ("Dra.", "Doctor")),
        *(("Sta.", "Señora"), ("D.", "Doctor"), ("Pza.", "Paseo")),
    ],
)
def test_what_stands_for_nothing_or_something_else(short: str, whole: str) -> None:
    assert not finds(f"{whole} Xarau", f"{short} Xarau")


def test_what_counts_for_a_word_counts_for_itself() -> None:
    """Otherwise it would be another word in a note than in a list."""
    for table in (WORDS, ABBREVIATIONS):
        assert fold([*table, *table.values()]) == [*table, *table.values()]
        assert {WORDS.get(word, word) for word in table.values()} == set(table.values())
        assert not {word for word in table.values() if word in ABBREVIATIONS}
    assert not set(WORDS) & set(ABBREVIATIONS)
    assert {len(ways) for ways in SEVERAL} <= {2, 3, 4}


def test_kinds_of_streets_are_known_by_their_first_word() -> None:
    assert {"calle", "avenida", "plaza"} <= STREETS
    assert is_street(["ctra", "vieja"]) and is_street(["passeig"]) and is_street(["c", "mayor"])
    assert not is_street(["mayor", "calle"]) and not is_street([])


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("Iglesia, 8", ["iglesia"]),
        ("del Frontón s/n", ["del fronton"]),
        ("del Frontón, S/Nº", ["del fronton"]),
        ("C/ SAN LEONARDO, Nº 7", ["c/ san leonardo"]),
        ("C/ DR. SEGARRA, nº 32 bajo", ["c/ dr. segarra"]),
        ("Calle Mayor 5-7", ["calle mayor"]),
        ("Av. Blondel nº 3 bis", ["av. blondel"]),
        ("Ctra. Manacor, km. 6,2", ["ctra. manacor"]),
        ("Plaza 2 de Mayo, 3", ["plaza 2 de mayo"]),
        ("CAMINO DE LA BOTICA S/N. RETAMAR", ["camino de la botica"]),
        ("Hospital 12 de Octubre", ["hospital 12 de octubre"]),
        ("Zona 4", ["zona 4"]),
        ("Calle 13", ["calle 13"]),
        ("Carretera nacional 332", ["carretera nacional 332"]),
        ("Plaza, 8", ["plaza, 8"]),
        ("Escorial, El", ["el escorial"]),
        ("Hospitalet, L’", ["l’hospitalet"]),
        ("Mercadal, Es", ["es mercadal"]),
        ("Elche/Elx", ["elche/elx", "elche", "elx"]),
        ("Lorcha/Orxa, l'", ["l'lorcha/orxa", "lorcha", "l'orxa"]),
        ("Noáin (Valle de Elorz)/Noain", ["noain/noain", "noain"]),
        ("ABLAÑA (CP)", ["ablaña"]),
        ("(CP)", ["(cp)"]),
        ("C/ Real/Mayor", ["c/ real/mayor"]),
    ],
)
def test_lists_write_what_notes_do_not(term: str, expected: list[str]) -> None:
    assert spellings([term]) == [tuple(expected)]
