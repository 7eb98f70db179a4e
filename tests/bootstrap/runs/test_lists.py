"""The tagger of lists finds the classes of the seed, whatever their names are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import bootstrap
from bootstrap.config.configuration import load_configuration
from bootstrap.runs.lists import list_options_for, with_classes_of_lists
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.evaluation.scoring import GoldBatch, score_batches
from taggers import make_tagger
from taggers.augmentation import AugmentOptions
from taggers.dictionaries.dictionary_options import ListOptions

NOTES = [
    "Nombre: [Q:José García López] ingresa en [C:Complejo Hospitalario de Navarra] de [T:Pamplona]",
    "Domicilio: [S:Calle Mayor, 12], [T:Sevilla]. Firma: [Q:Ana Puig Martínez]",
    "De [Q:María Ruiz Pérez], [C:Hospital Infanta Elena], [S:Avda. Castellana, 261], [T:Madrid]",
    "Acude [Q:Carmen Sánchez Gil], vecina de [T:Zaragoza], [S:Plaza de España, 3]",
    "Alta del [C:Complejo Asistencial de Soria] y del [C:Complejo Hospitalario de Toledo]",
    *["Sexo: [X:Varón]", "Sexo: [X:Mujer]"] * 5,
]


def gold(notes: list[str], classes: dict[str, str]) -> Batch:
    """Make documents of notes in which ``[Q:text]`` is an entity of the class of Q."""
    documents = []
    for number, note in enumerate(notes):
        text, spans, end = "", [], 0
        for match in re.finditer(r"\[(\w):(.*?)\]", note):
            text += note[end : match.start()]
            if label := classes.get(match[1]):
                spans.append(Span(len(text), len(text) + len(match[2]), label))
            text, end = text + match[2], match.end()
        documents.append(Document(str(number), text + note[end:], tuple(spans)))
    return make_batch(documents, labelled=True)


def options_of(seed: Batch, validation: Batch | None = None) -> ListOptions:
    options = list_options_for(seed, AugmentOptions(), validation=validation)
    assert options is not None
    return options


def texts(batch: Batch) -> list[str]:
    return batch.texts.to_pylist()


def test_one_class_of_places_has_all_kinds() -> None:
    options = options_of(gold(NOTES, {"Q": "QUI", **dict.fromkeys("CST", "ON")}))
    assert (options.label, options.place_label, options.place_labels) == ("QUI", "ON", {})
    assert (options.names, options.places) == (("census-es",), ("places-es",))
    assert options.classes == ("given_name", "surname")


def test_validation_documents_show_the_kinds_that_a_biased_seed_lacks() -> None:
    seed = gold([NOTES[1], NOTES[3]], {"Q": "QUI", "S": "ON"})
    alone = list_options_for(seed, AugmentOptions())
    assert (alone.place_label, alone.place_labels) == ("", {"street": "ON"})
    validation = gold(NOTES, {"Q": "QUI", **dict.fromkeys("CST", "ON")})
    options = options_of(seed, validation=validation)
    assert (options.label, options.place_label, options.place_labels) == ("QUI", "ON", {})


def test_only_classes_of_the_seed_are_tagged() -> None:
    """Also where validation documents have others, which no model can learn."""
    seed = gold([NOTES[1]], {"S": "CARRER"})
    validation = gold(NOTES, {"Q": "QUI", "C": "CENTRE", "S": "CARRER", "T": "POBLE"})
    options = options_of(seed, validation=validation)
    assert (options.label, options.place_label) == ("", "")
    assert set(options.place_labels.values()) == {"CARRER"}
    people = gold(NOTES, {"Q": "QUI", **dict.fromkeys("CST", "ON")})
    options = options_of(gold([NOTES[1]], {"Q": "QUI"}), validation=people)
    assert (options.label, options.place_label, options.place_labels) == ("QUI", "", {})


def test_each_kind_of_place_belongs_to_the_class_with_most_mentions_of_it() -> None:
    seed = gold(NOTES, {"Q": "QUI", "C": "CENTRE", "S": "CARRER", "T": "POBLE"})
    options = options_of(seed)
    assert options.label == "QUI"
    labels = options.place_labels
    assert (labels["hospital"], labels["street"]) == ("CENTRE", "CARRER")
    assert labels["municipality"] == "POBLE"
    assert "country" not in labels and options.place_label == ""  # no class has a country
    assert set(labels.values()) == {"CENTRE", "CARRER", "POBLE"}
    options.check()


def test_a_stray_mention_does_not_make_a_class_of_hospitals_general() -> None:
    """A hospital may be named like the town that it is in."""
    names = ["Soria", "Toledo", "Burgos", "Lugo", "León", "Huesca", "Teruel", "Cuenca", "Jaén"]
    notes = [*(f"Alta del [C:Hospital de {name}]" for name in names), "Alta en [C:Zamora]"]
    for stray, expected in ((1, ""), (3, "CENTRE")):
        seed = [*notes, *(f"Alta en [C:{name}]" for name in ("Madrid", "Sevilla")[: stray - 1])]
        options = options_of(gold([*seed, *NOTES[:2]], {"Q": "QUI", "C": "CENTRE"}))
        assert options.place_label == expected


def test_a_class_of_one_kind_of_place_has_no_other_kinds() -> None:
    options = options_of(gold(NOTES, {"Q": "QUI", "C": "CENTRE"}))
    assert (options.place_label, options.place_labels) == ("", {"hospital": "CENTRE"})
    options.check()
    seed = gold(NOTES * 3, {"Q": "QUI", "C": "CENTRE"})
    tagger = make_tagger("lists", options).fit(seed, rng=np.random.default_rng(0))
    batch = gold([re.sub(r"\[\w:(.*?)\]", r"\1", note) for note in NOTES], {})
    tagging = tagger.tag(batch)
    predicted = batch.with_tags(tagging.tags, tagging.labels)
    spans = [
        (text, span)
        for text, of_text in zip(texts(batch), predicted.spans(), strict=True)
        for span in of_text
        if span.label == "CENTRE"
    ]
    assert {text[span.start : span.end].split()[0] for text, span in spans} <= {
        "Hospital",
        "Complejo",
    } and spans


PEOPLE = ["Ana Puig Vila", "José Ruiz Gil", "Luis Pérez Moya", "Eva Sanz Rey", "Juan Mora Cano"]
PEOPLE += ["María López Sáez", "Carmen Díaz Soto", "Antonio Vega Ríos"]


@pytest.mark.parametrize(("patients", "label"), [(0, "DOCTOR"), (1, "DOCTOR"), (3, "")])
def test_names_belong_to_the_class_with_most_of_them(patients: int, label: str) -> None:
    notes = [
        f"Firma: [{'P' if number < patients else 'D'}:{name}]" for number, name in enumerate(PEOPLE)
    ]
    seed = gold([*notes, *NOTES], {"D": "DOCTOR", "P": "PATIENT", "C": "CENTRE", "T": "POBLE"})
    options = options_of(seed)
    assert options.label == label
    assert options.place_labels["hospital"] == "CENTRE"
    if patients == 3:
        assert list_options_for(gold(notes, {"D": "D", "P": "P"}), AugmentOptions()) is None


def test_a_kind_of_place_of_several_classes_is_not_tagged() -> None:
    notes = ["Nacido en [N:Getafe]", "Vive en [T:Reus]", "De [N:Sabadell]", "En [T:Leganés]"]
    seed = gold([*notes, *NOTES[4:5] * 3], {"N": "BIRTH", "T": "HOME", "C": "CENTRE"})
    options = options_of(seed)
    assert (options.place_label, options.place_labels) == ("", {"hospital": "CENTRE"})


def test_a_class_with_a_line_end_in_its_name_is_left_out() -> None:
    assert list_options_for(gold(NOTES, {"Q": "A\nB", "T": "C\nD"}), AugmentOptions()) is None


def test_a_class_that_is_in_no_list_has_no_tagger() -> None:
    notes = ["Toma [D:omeprazol] y [D:enalapril]", "Alergia: [D:metamizol]"]
    assert list_options_for(gold(notes, {"D": "DRUG"}), AugmentOptions()) is None
    assert list_options_for(gold(["sin nada"], {}), AugmentOptions()) is None


def test_without_a_list_of_names_there_is_no_tagger() -> None:
    seed = gold(NOTES, {"Q": "QUI"})
    for gazetteers in ((), ("places-es",)):
        assert list_options_for(seed, AugmentOptions(gazetteers=gazetteers)) is None
    options = list_options_for(seed, AugmentOptions(gazetteers=("census-es",)))
    assert options is not None and (options.label, options.places) == ("QUI", ())


@pytest.mark.parametrize("classes", [{}, {"C": "CENTRE", "S": "CARRER", "T": "POBLE"}])
def test_the_tagger_finds_the_classes_of_the_seed(classes: dict[str, str]) -> None:
    seed = gold(NOTES * 3, {"Q": "QUI", **dict.fromkeys("CST", "ON"), **classes})
    options = options_of(seed)
    tagger = make_tagger("lists", options).fit(seed, rng=np.random.default_rng(0))
    tagging = tagger.tag(seed, detail="token")
    assert tagging.token_confidence is not None
    predicted = seed.with_tags(tagging.tags, tagging.labels)
    assert score_batches(GoldBatch.from_tags(seed), predicted).counts("ner").f1 > 0.6


def test_labels_of_lists_override_what_their_hits_are() -> None:
    seed = gold(NOTES, {"Q": "QUI", **dict.fromkeys("CST", "ON")})
    labels = {"surname": "NOM", "municipality": "CIUTAT"}
    options = list_options_for(seed, AugmentOptions(), labels=labels)
    assert options is not None
    assert (options.label, options.place_label) == ("NOM", "ON")
    assert options.place_labels == {"municipality": "CIUTAT"}
    with pytest.raises(InputError, match="labels names town; the classes of the lists are"):
        list_options_for(seed, AugmentOptions(), labels={"town": "ON"})


@pytest.mark.parametrize(
    ("labels", "model", "expected"),
    [
        ({"Q": "PERSON", **dict.fromkeys("CST", "LOCATION")}, "lists", ("PERSON", "LOCATION")),
        ({"Q": "PER", **dict.fromkeys("CST", "LOC")}, "lists", ("PER", "LOC")),
        ({"Q": "PERSON"}, "lists", ("PERSON", "")),
        ({"Q": "NAME"}, "divergence", ("NAME", None)),
    ],
)
def test_an_initial_model_has_the_classes_of_validation(
    labels: dict[str, str], model: str, expected: tuple[str, str | None], tmp_path: Path
) -> None:
    batch = gold(NOTES, labels)
    documents = zip(batch.ids.to_pylist(), texts(batch), batch.spans(), strict=True)
    bootstrap.write((Document(*row) for row in documents), tmp_path / "validation.jsonl")
    (tmp_path / "config.toml").write_text(f'[initial_model]\nkind = "{model}"\n')
    configuration = with_classes_of_lists(load_configuration(tmp_path / "config.toml"))
    assert configuration.initial_model is not None
    options = configuration.initial_model.options
    assert (options.label, getattr(options, "place_label", None)) == expected
    assert with_classes_of_lists(configuration) == configuration
