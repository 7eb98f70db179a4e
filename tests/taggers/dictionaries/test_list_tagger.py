"""The tagger of people and places from lists: what it finds, and what is in its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.evaluation.scoring import score
from corpus.formats import read
from corpus.synthetic import synthetic_notes
from corpus.tags import well_formed
from gazetteers.builtin import CENSUS, CUE_WORDS
from gazetteers.gazetteer import Gazetteer
from taggers import load_tagger, make_tagger
from taggers.dictionaries.dictionary_options import ListOptions
from tests.taggers.dictionaries.conftest import entities_in, fitted, notes

MakeGazetteer = Callable[..., Gazetteer]

#: Notes whose words are counted: names and places as frequent as they may be, and other words.
NOTES = (
    "Paciente de Madrid con fiebre y tos desde hace tres días",
    "Antonio García López acude con su hija María Carmen Pérez Ruiz",
    "José Luis Fernández Martín, remitido por la doctora Ana Sánchez Gómez",
    "dolor en la rodilla izquierda al caminar por la calle, sin fiebre",
    "se pauta tratamiento en el hospital y control en el centro de salud",
    "Manuel Rodríguez vive en Granada y trabaja en Jaén con Francisco Moreno",
    "hepatitis C. Niega alergias. Se deriva a la clínica. Acude con tos",
    "el mayor dolor en el paseo, con la rosa, la torre, el campo y la plaza",
)

#: Other words, which are too frequent to be names.
NOTES += (
    "natural de un pueblo, reside en la ciudad y vive con su hijo, sin alergias conocidas",
    "dolor en la rodilla izquierda al caminar, fiebre y tos, con buena respuesta al tratamiento",
    "el mayor dolor es en el campo visual, la rosa y la torre, y se pauta dieta sin sal",
) * 20


@pytest.fixture(scope="module")
def tagger() -> Any:
    return fitted("lists", notes(*NOTES))


def places_in(tagger: Any, text: str) -> list[str]:
    return [name for name, label in entities_in(tagger, text) if label == "LOCATION"]


def people_in(tagger: Any, text: str) -> list[str]:
    return [name for name, label in entities_in(tagger, text) if label == "PERSON"]


def test_its_stream_has_the_classes_of_the_lists_and_how_certain_they_are(tagger: Any) -> None:
    """Whatever classes it tags, since a CRF learns what they stand for."""
    batch = notes("Antonio García vive en la C/ Zurbarán, 80, y natural de Olmedilla")
    unlabelled = replace(tagger.options, label="", place_labels={"street": "ROAD"})
    other = make_tagger("lists", unlabelled).fit(notes(*NOTES), rng=np.random.default_rng(0))
    for stream in (tagger.stream(batch), other.stream(batch)):
        values = [stream.vocabulary[number] for number in stream.values]
        words = [batch.vocabulary[number] for number in batch.word_ids]
        classes = {word: value[:-2] for word, value in zip(words, values, strict=True)}
        assert {word: classes[word] for word in ("Antonio", "García", "vive")} == {
            "Antonio": "B-person",
            "García": "I-person",
            "vive": "O",
        }
        assert [classes[word] for word in ("C", "Zurbarán", "80")] == [
            "B-street",
            "I-street",
            "I-street",
        ]
        levels = {word: value[-1] for word, value in zip(words, values, strict=True)}
        assert (levels["Zurbarán"], levels["Olmedilla"]) == ("2", "0")  # of a rule; in no list


# Places after a kind of place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("vive en la C/ Zurbarán, 80, 5º D con su hija", "C/ Zurbarán, 80, 5º D"),
        ("domicilio: Avda. de los Olmos nº 3, 2º izq. Refiere", "Avda. de los Olmos nº 3, 2º izq"),
        ("en Ctra. de Villaverde, km. 9,100. Acude", "Ctra. de Villaverde, km. 9,100"),
        ("Calle 2 de Mayo 14", "Calle 2 de Mayo 14"),
        ("Carrer d'en Xuclà 12 bis", "Carrer d'en Xuclà 12 bis"),
        ("ingresa en el Hospital Vega Zurbarán por fiebre", "Hospital Vega Zurbarán"),
        ("en la Clínica Zurbarán-Olmos", "Clínica Zurbarán-Olmos"),
        ("en el centro de salud Olmedilla Norte", "centro de salud Olmedilla Norte"),
        (
            "Hospital General Universitario de Olmedilla",
            "Hospital General Universitario de Olmedilla",
        ),
        ("Hospital Vega Zurbarán de Madrid", "Hospital Vega Zurbarán"),
        ("Hospital Vega Zurbarán C/ Olmos, 3", "Hospital Vega Zurbarán"),
        ("el CAP Zurbarán", "CAP Zurbarán"),
    ],
)
def test_a_place_is_its_kind_its_name_and_its_number(tagger: Any, text: str, place: str) -> None:
    assert places_in(tagger, text)[:1] == [place]


@pytest.mark.parametrize(
    "text",
    [
        "se cae en la calle, sin fiebre",
        "hepatitis C. Niega fiebre",
        "centro Zurbarán",  # only before a modifier: centro de salud
        "tiene mal de cap Niega fiebre",
        "SE DERIVA AL HOSPITAL CON FIEBRE",
        "Unidad de Nutrición Clínica y Dietética",
    ],
)
def test_a_kind_without_a_name_is_no_place(tagger: Any, text: str) -> None:
    assert places_in(tagger, text) == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("CP: 28013", ["28013"]),
        ("C/ Olmos, 3. 28013 Madrid (España)", ["C/ Olmos, 3", "28013", "Madrid", "España"]),
        ("99013 leucocitos y 53013 plaquetas", []),
        ("Hermanos Zurbarán, 37. 02006 Albacete", ["Hermanos Zurbarán, 37", "02006", "Albacete"]),
    ],
)
def test_postal_codes_support_what_is_beside_them(tagger, text, places) -> None:
    assert places_in(tagger, text) == places


# Towns and surnames


def test_the_context_decides_between_a_town_and_a_surname(tagger: Any) -> None:
    for text in ("natural de Toledo", "reside en Toledo", "45001 Toledo", "Madrid (Toledo)"):
        assert "Toledo" in places_in(tagger, text)
        assert people_in(tagger, text) == []
    for text in ("Dr. Toledo", "José Toledo Pérez", "María Toledo"):
        assert places_in(tagger, text) == []
        assert "Toledo" in people_in(tagger, text)[0]


@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_a_town_in_the_case_of_other_words_needs_its_context(case: Callable[[str], str]) -> None:
    tagger = fitted("lists", notes(*map(case, NOTES)))
    for text in ("natural de granada", "viu a granada"):
        assert places_in(tagger, case(text)) == [case("granada")]
    assert not places_in(tagger, case("se le cayó una granada"))


def test_the_population_decides_between_a_town_and_a_surname_without_context(tagger: Any) -> None:
    assert entities_in(tagger, "Barcelona") == [("Barcelona", "LOCATION")]
    assert entities_in(tagger, "García") == [("García", "PERSON")]
    assert places_in(tagger, "Mora") == []  # a small town and a frequent surname


def test_a_place_in_no_list_is_found_after_its_origin(tagger: Any) -> None:
    assert entities_in(tagger, "natural de Nuakchot") == [("Nuakchot", "LOCATION")]
    assert entities_in(tagger, "acude Nuakchot") == []


def test_rare_words_and_initials_belong_to_the_name_around_them(tagger: Any) -> None:
    assert people_in(tagger, "José Xyzabeitia Pérez") == ["José Xyzabeitia Pérez"]
    assert people_in(tagger, "Antonio A. García") == ["Antonio A. García"]
    assert people_in(tagger, "De la Fuente Pérez")[:1] == ["De la Fuente Pérez"]
    assert people_in(tagger, "Xyzabeitia") == []


def test_a_name_of_one_word_after_a_particle_is_doubtful(tagger: Any) -> None:
    with_particle, alone = tagger.tag(notes("informe de García", "informe García")).confidence
    assert with_particle < alone


def test_signs_and_techniques_are_named_after_people(tagger: Any) -> None:
    for text in ("prueba de García negativa", "técnica García", "signo de García-Pérez"):
        assert "García" not in people_in(tagger, text)
    assert people_in(tagger, "prueba del Dr. García") == ["García"]
    assert people_in(tagger, "prueba. García") == ["García"]


# Options


TEXT = "Hospital Vega Zurbarán, C/ Olmos, 3. 28013 Madrid (España). José Pérez"


def test_classes_of_lists_may_be_tagged_as_other_classes(tagger: Any) -> None:
    labels = {"hospital": "HOSPITAL", "municipality": "", "postal_code": "CODE"}
    own = fitted("lists", notes(*NOTES), place_labels=labels)
    assert own.labels == (
        *("O", "B-CODE", "I-CODE", "B-HOSPITAL", "I-HOSPITAL"),
        *("B-LOCATION", "I-LOCATION", "B-PERSON", "I-PERSON"),
    )
    expected = [("Hospital Vega Zurbarán", "HOSPITAL"), ("C/ Olmos, 3", "LOCATION")]
    expected += [("28013", "CODE"), ("España", "LOCATION"), ("José Pérez", "PERSON")]
    assert entities_in(own, TEXT) == expected
    assert [name for name, _ in entities_in(tagger, TEXT) if name == "Madrid"] == ["Madrid"]


def test_people_and_places_may_be_left_untagged(tagger: Any) -> None:
    places = [("Hospital Vega Zurbarán", "LOCATION"), ("C/ Olmos, 3", "LOCATION")]
    places += [(name, "LOCATION") for name in ("28013", "Madrid", "España")]
    assert entities_in(tagger, TEXT) == [*places, ("José Pérez", "PERSON")]
    no_people = fitted("lists", notes(*NOTES), label="")
    assert no_people.labels == ("O", "B-LOCATION", "I-LOCATION")
    assert entities_in(no_people, TEXT) == places
    no_places = fitted("lists", notes(*NOTES), place_label="")
    assert no_places.labels == ("O", "B-PERSON", "I-PERSON")
    assert entities_in(no_places, TEXT) == [("José Pérez", "PERSON")]
    hospitals = fitted(
        "lists", notes(*NOTES), label="", place_label="", place_labels={"hospital": "H"}
    )
    assert entities_in(hospitals, TEXT) == [("Hospital Vega Zurbarán", "H")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["O", "Año/s"])
def test_a_class_may_have_any_name_of_one_line(name: str, tmp_path: Path) -> None:
    for side, text in (("label", "José Pérez"), ("place_label", "C/ Olmos, 3")):
        own = fitted("lists", notes(*NOTES), **{side: name})
        own.save(tmp_path / side)
        for model in (own, load_tagger(tmp_path / side)):
            assert entities_in(model, text) == [(text, name)]
    own = fitted("lists", notes(*NOTES), place_labels={"hospital": name})
    assert entities_in(own, TEXT)[:2] == [
        ("Hospital Vega Zurbarán", name),
        ("C/ Olmos, 3", "LOCATION"),
    ]


def test_own_lists_and_words_are_used(make_gazetteer: MakeGazetteer, tmp_path: Path) -> None:
    make_gazetteer(("vilaxyz", "town", 900), ("casa gran", "house", 1)).save(tmp_path / "a.parquet")
    make_gazetteer(("pensión", "house", 1), ("cerca", "before", 1)).save(tmp_path / "b.parquet")
    lists: dict[str, Any] = {"places": (str(tmp_path / "a.parquet"),)}
    lists["cue_words"] = (CUE_WORDS, str(tmp_path / "b.parquet"))
    options = ListOptions(names=(CENSUS,), place_labels={"house": "HOUSE"}, **lists)
    assert [warning.of for warning in options.check()] == ["an entry in the name lists"]
    own = make_tagger("lists", options).fit(notes(*NOTES), rng=np.random.default_rng(0))
    text = "en Vilaxyz, Pensión Olmos, Casa Gran"
    expected = [("Vilaxyz", "LOCATION"), ("Pensión Olmos", "HOUSE"), ("Casa Gran", "HOUSE")]
    assert entities_in(own, text) == expected
    with pytest.raises(
        InputError, match=r"place_labels names the class hotel; the lists have town"
    ):
        replace(options, place_labels={"hotel": "HOUSE"}).check()


def test_without_lists_of_places_the_words_remain() -> None:
    bare = fitted("lists", notes(*NOTES), places=())
    assert entities_in(bare, "Hospital Zurbarán") == [("Hospital Zurbarán", "LOCATION")]
    assert places_in(bare, "acude a Barcelona") == []
    assert places_in(bare, "natural de Barcelona") == ["Barcelona"]


# The contract of a tagger


@given(
    words=st.lists(
        st.sampled_from(" ".join((*NOTES, "C/ Olmos , 3 28013 - . ( d' S. s/n")).split())
    )
)
def test_tags_are_well_formed_and_certainties_are_probabilities(tagger, words) -> None:
    batch = notes(" ".join(words), "".join(words), "\n".join(words))
    for detail in ("token", "labels", "entity"):
        tagging = tagger.tag(batch, detail=detail)
        right = well_formed(tagging.tags, batch.document_offsets, tagging.labels)
        assert np.array_equal(right, tagging.tags)
        assert ((tagging.token_confidence >= 0) & (tagging.token_confidence <= 1)).all()
        if tagging.marginals is not None:
            assert np.allclose(tagging.marginals.sum(axis=1), 1)


#: Words that decide over the words beside them, and names.
_TEXT = (
    "calle C/ C Hospital hospital clínica en natural de del De d' la y a Dr Dra . , - / ( ) : 2 37 "
    "28013 s/n nº 5º km bajo CP Zurbarán Xyzabeitia Olmos García José Pérez Toledo Mora Madrid "
    "España Mayo A B Norte verde General prueba dolor ok"
)
_WORDS = _TEXT.split()


@st.composite
def short_texts(draw: st.DrawFn) -> str:
    """Draw words with and without blanks between and before them."""
    words = draw(st.lists(st.sampled_from(_WORDS), max_size=6))
    gaps = draw(st.lists(st.sampled_from(["", " ", " ", "\n"]), min_size=6, max_size=6))
    return "".join(gap + word for gap, word in zip(gaps, words, strict=False))


@given(texts=st.lists(short_texts(), min_size=2, max_size=3))
@example(texts=["", "Dr", "García"])
@example(texts=["Vive en calle 2", "de Mayo"])
@example(texts=["acude Mora-", "García"])
@example(texts=["José A", ".Pérez García"])
def test_a_document_is_tagged_alike_alone_and_in_company(tagger: Any, texts: list[str]) -> None:
    whole = tagger.tag(notes(*texts), detail="token")
    alone = [tagger.tag(notes(text), detail="token") for text in texts]
    assert whole.tags.tolist() == [tag for tagging in alone for tag in tagging.tags.tolist()]
    for field in ("token_confidence", "confidence"):
        assert (getattr(whole, field) == np.concatenate([getattr(o, field) for o in alone])).all()


def test_no_name_crosses_a_line(tagger: Any) -> None:
    assert places_in(tagger, "Hospital\nZurbarán") == []
    assert people_in(tagger, "José\nGarcía") == ["José", "García"]


# Real and synthetic notes


def test_places_and_people_of_real_notes_are_found(meddocan: Path) -> None:
    people = {"NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"}
    places = {"TERRITORIO", "CALLE", "HOSPITAL", "PAIS", "CENTRO_SALUD"}
    merged = dict.fromkeys(people, "PERSON") | dict.fromkeys(places, "LOCATION")
    documents = [*read(str(meddocan / "train"), problems=Problems())][:100]
    gold = [
        Document(
            document.id,
            document.text,
            tuple(replace(s, label=merged[s.label]) for s in document.spans if s.label in merged),
        )
        for document in documents
    ]
    batch = make_batch(gold, labelled=False)
    tagging = fitted("lists", batch).tag(batch)
    scores = score(gold, batch.with_tags(tagging.tags, tagging.labels).to_documents())
    assert scores.class_counts("PERSON").f1 > 0.75
    assert scores.class_counts("LOCATION").f1 > 0.75


def test_it_does_not_collapse_on_notes_with_inconsistent_capitals() -> None:
    gold = [*synthetic_notes(1500, random_state=1)]
    batch = make_batch(gold, labelled=False)
    tagging = fitted("lists", batch).tag(batch)
    scores = score(gold, batch.with_tags(tagging.tags, tagging.labels).to_documents())
    assert scores.class_counts("PERSON").f1 > 0.5
    assert scores.class_counts("LOCATION").precision > 0.75
    assert scores.class_counts("LOCATION").recall > 0.25
