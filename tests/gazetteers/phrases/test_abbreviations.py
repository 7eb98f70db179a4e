"""Abbreviations stand for what they are said to, and spellings for what lists mean."""

from __future__ import annotations

import pytest

from corpus.batch import make_batch
from corpus.document import Document
from gazetteers.folding import fold
from gazetteers.phrases.matcher import PhraseMatcher
from gazetteers.phrases.spellings import ABBREVIATIONS, WORDS, spellings


def finds(phrase: str, text: str) -> bool:
    """Return whether a phrase is found in the whole of a text."""
    batch = make_batch([Document("", text)], labelled=False)
    matches = PhraseMatcher({"A": [phrase]}).find(batch)
    spans = [(batch.starts[matches.first], batch.ends[matches.last])]
    return [(start.tolist(), end.tolist()) for start, end in spans] == [([0], [len(text)])]


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        *(("H.", "Hospital"), ("Htal", "Hospital"), ("Hosp.", "Hospitalario"), ("S.", "Santa")),
        *(("Ntra.", "Nuestra"), ("Nª", "Nuestra"), ("Mª", "María"), ("C/", "Calle"), ("c/", "rúa")),
        *(("Av.", "Avinguda"), ("AVDA", "avenida"), ("Pça.", "Plaça"), ("Clin", "Clínica")),
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
        *(("N. S.", "Nuestra Señora"), ("N.S.", "Ntra. Sra. de"), ("CS", "Centro de Salud")),
        *(("C.A.P.", "Centre d’atenció primaria"), ("HU", "Hosp. Universitario"), ("C.S.", "CS")),
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


def test_canonical_words_are_canonical_and_folded() -> None:
    """Otherwise a word would be another one in a note than in a list."""
    for table in (WORDS, ABBREVIATIONS):
        assert fold([*table, *table.values()]) == [*table, *table.values()]
        assert {WORDS.get(word, word) for word in table.values()} == set(table.values())
    assert not set(WORDS) & set(ABBREVIATIONS)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("Iglesia, 8", ["iglesia"]),
        ("del Frontón s/n", ["del fronton"]),
        ("C/ SAN LEONARDO, Nº 7", ["c/ san leonardo"]),
        ("Calle Mayor 5-7", ["calle mayor"]),
        ("Av. Blondel nº 3 bis", ["av. blondel"]),
        ("Plaza 2 de Mayo, 3", ["plaza 2 de mayo"]),
        ("CAMINO DE LA BOTICA S/N. RETAMAR", ["camino de la botica"]),
        ("Hospital 12 de Octubre", ["hospital 12 de octubre"]),
        ("Calle 13", ["calle 13"]),
        ("Carretera nacional 332", ["carretera nacional 332"]),
        ("Plaza, 8", ["plaza, 8"]),
        ("Escorial, El", ["el escorial"]),
        ("Hospitalet, L’", ["l’hospitalet"]),
        ("Elche/Elx", ["elche/elx", "elche", "elx"]),
        ("Lorcha/Orxa, l'", ["l'lorcha/orxa", "lorcha", "l'orxa"]),
        ("Noáin (Valle de Elorz)/Noain", ["noain/noain", "noain"]),
        ("ABLAÑA (CP)", ["ablaña"]),
        ("C/ Real/Mayor", ["c/ real/mayor"]),
    ],
)
def test_lists_write_what_notes_do_not(term: str, expected: list[str]) -> None:
    assert spellings([term]) == [tuple(expected)]
