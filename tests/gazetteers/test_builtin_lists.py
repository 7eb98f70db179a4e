"""The gazetteers that come with the program: names and places of Spain, and what is no name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from corpus.batch import make_batch
from corpus.document import Document
from gazetteers.builtin import BLOCKING, BUILTIN_LISTS, CENSUS, PLACES, read_gazetteer, resource
from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer, terms_by_class
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher, blocked
from gazetteers.phrases.spellings import is_street
from gazetteers.written_places import WRITTEN_PLACES

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = ROOT / "gazetteers" / "resources"

#: The kinds of health centres, before their names.
CENTRES = ("centro de salud", "centre de salut", "cap", "consultorio", "consultori")


@pytest.fixture(scope="module")
def places() -> Gazetteer:
    return read_gazetteer(PLACES)


@pytest.fixture(scope="module")
def matcher(places: Gazetteer) -> PhraseMatcher:
    return PhraseMatcher(terms_by_class([places]))


def counts_of(gazetteer: Gazetteer, name: str) -> dict[str, int]:
    rows = gazetteer.table().to_pylist()
    return {row["term"]: row["count"] for row in rows if row["class"] == name}


@pytest.mark.parametrize("name", BUILTIN_LISTS)
def test_terms_are_folded_distinct_and_borne(name: str) -> None:
    gazetteer = read_gazetteer(name)
    terms = gazetteer.terms.to_pylist()
    assert fold(terms) == terms
    assert [" ".join(term.split()) for term in terms] == terms
    assert gazetteer.counts.min() > 0
    # Sums of repeated rows and their order are what `Gazetteer.from_table` makes of the rows.
    assert gazetteer.table().equals(Gazetteer.from_table(gazetteer.table()).table())


def test_names_of_people_have_the_number_of_their_bearers() -> None:
    census = read_gazetteer(CENSUS)
    assert {size.name for size in census.sizes()} == {"given_name", "surname"}
    given, surnames = (counts_of(census, name) for name in ("given_name", "surname"))
    assert {"maria jose", "montserrat", "jordi", "iker"} <= set(given)
    assert {"muñoz", "puig", "singh", "etxeberria"} <= set(surnames)
    assert surnames["garcia"] > 2_500_000 > surnames["puig"] > 10_000
    assert given["maria"] > 500_000 > given["montserrat"] > 50_000
    assert min(*given.values(), *surnames.values()) >= 20


def test_towns_are_named_as_they_are_spoken_and_in_each_language(places: Gazetteer) -> None:
    towns = counts_of(places, "municipality")
    assert {"el ballestero", "l'hospitalet de llobregat", "a coruña", "rivas-vaciamadrid"} <= set(
        towns
    )
    for same in (
        ("vitoria", "gasteiz", "vitoria-gasteiz"),
        ("alicante", "alacant"),
        ("el fondo de les neus", "hondon de las nieves"),
        ("palma", "palma de mallorca"),
    ):
        assert len({towns[each] for each in same}) == 1
    assert towns["madrid"] > towns["barcelona"] > 1_000_000
    assert "rivas" not in towns
    published = re.compile(r"[/()\d]|, ?(el|la|los|las|els|les|l')$")
    assert [town for town in towns if published.search(town)] == []


def test_health_centres_have_their_kind_in_front(places: Gazetteer) -> None:
    centres = counts_of(places, "health_centre")
    assert [centre for centre in centres if not centre.startswith(CENTRES)] == []
    assert {"centro de salud almeria centro", "cap la sagrera", "consultorio villafeliche"} <= set(
        centres
    )
    assert not set(centres) & set(counts_of(places, "municipality"))
    assert [
        centre for centre in centres if re.search(r'[,/()"]|\bs/n\b|auxiliar|verano', centre)
    ] == []


def test_hospitals_are_also_named_as_in_notes(places: Gazetteer) -> None:
    hospitals = set(counts_of(places, "hospital"))
    assert {"hospital universitario 12 de octubre", "hospital 12 de octubre"} <= hospitals
    assert "hospital comarcal de melilla" in hospitals  # in the catalogue: Hospital comarcal
    assert not hospitals & {"hospital", "hospital general", "hospital comarcal"}
    assert [hospital for hospital in hospitals if re.search(r'[,/()"]|\.$|  ', hospital)] == []


def test_streets_have_a_kind_and_no_number(places: Gazetteer) -> None:
    streets = counts_of(places, "street")
    assert {"calle san leonardo", "carrer major", "plaza mayor", "avenida 28 de febrero"} <= set(
        streets
    )
    assert streets["plaza mayor"] > 100
    bare = [street for street in streets if len(street.split()) < 2 or re.search(r"[,/()]", street)]
    assert bare == []
    numbered = [street for street in streets if re.search(r"\d", street)]
    assert [each for each in numbered if re.search(r"\bs/n|\d$|nº|\bkm\b", each)] == [
        each for each in numbered if "nacional" in each
    ]
    kinds = {street.split()[0] for street in streets if is_street(street.split())}
    assert {"calle", "carrer", "avenida", "plaza", "paseo", "carretera"} <= kinds
    assert not kinds & {"c", "cl", "av", "avda", "pza", "pl", "ctra", "barrio", "urbanizacion"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Vive en Almería", [("municipality", "Almería")]),
        ("Vive en El Ballestero", [("municipality", "El Ballestero")]),
        ("CS Almería Centro", [("health_centre", "CS Almería Centro")]),
        ("C.A.P. La Sagrera", [("health_centre", "C.A.P. La Sagrera")]),
        ("Consultorio de Villafeliche", [("health_centre", "Consultorio de Villafeliche")]),
        ("C/ San Leonardo, 7", [("street", "C/ San Leonardo")]),
        ("Avda. de la Constitución 3", [("street", "Avda. de la Constitución")]),
        ("Hosp. Univ. 12 de Octubre", [("hospital", "Hosp. Univ. 12 de Octubre")]),
        ("Viaja a Marruecos", [("country", "Marruecos")]),
        ("acude al centro de salud sin cita", []),
    ],
)
def test_places_are_found_as_notes_write_them(text, expected, matcher) -> None:
    batch = make_batch([Document("", text)], labelled=False)
    matches = matcher.find(batch)
    spans = zip(
        matches.classes.tolist(), matches.first.tolist(), matches.last.tolist(), strict=True
    )
    assert [
        (matcher.classes[kind], text[batch.starts[first] : batch.ends[last]])
        for kind, first, last in spans
    ] == expected


def test_the_sources_of_all_lists_are_cited_and_installed() -> None:
    description = (RESOURCES / "README.md").read_text(encoding="utf-8")
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    files = set()
    for name in BUILTIN_LISTS:
        with resource(name) as path:
            files.add(path.name)
            assert f"## {path.name}" in description
            if path.suffix == ".parquet":
                assert path.name in notice
    assert f"## {WRITTEN_PLACES}" in description and WRITTEN_PLACES in notice
    assert {path.name for path in RESOURCES.iterdir()} == files | {
        WRITTEN_PLACES,
        "accents.csv",
        "grammar.toml",
        "README.md",
    }
    for source in (
        "Instituto Nacional de Estadística",
        "Ministerio de Sanidad",
        "Catálogo Nacional de Hospitales",
        "Catálogo de Centros de Atención Primaria",
        "37/2007",
        "GeoNames",
    ):
        assert source in " ".join(notice.split())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "NOTICE" in project["license-files"]


def test_the_blocking_list_holds_eponyms_months_weekdays_and_anatomy_once_each() -> None:
    gazetteer = read_gazetteer(BLOCKING)
    terms = gazetteer.terms.to_pylist()
    assert set(gazetteer.classes.to_pylist()) == {BLOCKED}
    assert set(gazetteer.counts.tolist()) == {1}  # a term that is there twice has two
    assert fold(terms) == terms
    assert len(terms) > 250
    some = ["Parkinson", "Guillain-Barré", "Guillain", "Gram", "marzo", "març", "cabeza", "sin"]
    assert set(fold(some)) <= set(terms)
    assert not {"cruz", "paz", "rubio", "dolores", "garcia"} & set(terms)


def test_the_blocking_list_keeps_words_from_being_names() -> None:
    names = {"NAME": ["Wilson", "Barré", "Cabeza", "Marzo", "Ana"]}
    matcher = PhraseMatcher(terms_by_class([read_gazetteer(BLOCKING)]))
    both = PhraseMatcher({**names, **matcher.phrases})
    text = "Ana: enfermedad de Wilson, Guillain-Barré, Cabeza y cuello en marzo"
    batch = make_batch([Document("", text)], labelled=False)
    kept = [batch.vocabulary[word] for word in batch.word_ids[blocked(both.match(batch))].tolist()]
    assert kept == ["Wilson", "Guillain", "-", "Barré", "Cabeza", "cuello", "marzo"]
    matches = both.find(batch)
    assert [both.classes[kind] for kind in matches.classes.tolist()].count("NAME") == 1
