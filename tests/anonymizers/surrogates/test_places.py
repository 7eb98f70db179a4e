"""Places become places of their kind and size, the same ones each time, and never themselves."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.categories import builtin_categories
from anonymizers.keys import Key
from anonymizers.mention import Mention
from anonymizers.surrogates import surrogate
from anonymizers.surrogates.place_words import kept_words
from corpus.errors import Problems
from corpus.formats import read
from gazetteers.folding import fold
from gazetteers.written_places import place_key, population_of, written_places

KEY = Key(bytes(range(32)))


def place(text: str, label: str = "LOCATION", patient: str = "p1", key: Key = KEY) -> str | None:
    return surrogate(Mention(text, label, "place", patient), key)


def organisation(text: str, patient: str = "p1") -> str | None:
    return surrogate(Mention(text, "ORG", "organisation", patient), KEY)


def names(kind: str) -> set[str]:
    return set(written_places()[kind].names)


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("town", ("Madrid", "Mostoles", "Lérida", "L'Hospitalet de Llobregat", "Vitoria-Gasteiz")),
        ("province", ("Cantabria", "Bizkaia")),
        ("region", ("Andalucía", "País Vasco")),
        ("country", ("España", "Germany", "U.S.A.")),
        ("city", ("La Habana", "Ciudad de México", "Bogotá")),
        ("postal_code", ("28013", "08001")),
        ("hospital", ("La Paz",)),
        ("town", ("Nowhere", "Salamanaca")),
    ],
)
def test_a_place_becomes_one_of_its_kind(kind: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        new = place(text)
        assert new in names(kind), text
        assert new != text


@pytest.mark.parametrize(
    ("text", "label", "pattern", "kind"),
    [
        ("C/ Mayor, 3, 4º D", "CALLE", r"C/ (.+), \d, \dº D", "street"),
        ("Avda. de la Constitución nº 14", "LOCATION", r"Avda. (.+) nº [1-9]\d", "street"),
        ("Calle Alcalá 265, Bajo A", "CALLE", r"Calle (.+) [1-9]\d\d, Bajo A", "street"),
        ("Plaza del Hospital Civil, s/n", "CALLE", r"Plaza (.+), s/n", "square"),
        ("carrer de Mallorca, 23", "LOCATION", r"carrer (.+), [1-9]\d", "street_ca"),
        ("plaça de Catalunya 1 esc. B", "LOCATION", r"plaça (.+) \d esc. B", "square_ca"),
        ("Ctra. de Colmenar, km 9,100", "CALLE", r"Ctra. de (.+), km \d,[1-9]\d\d", "town"),
        (
            "Hospital Clínico Universitario San Carlos",
            "HOSPITAL",
            r"Hospital Clínico Universitario (.+)",
            "hospital",
        ),
        (
            "Hospital Universitario 12 de Octubre",
            "LOCATION",
            r"Hospital Universitario (.+)",
            "hospital",
        ),
        ("Hospital de Barbastro", "HOSPITAL", r"Hospital de (.+)", "town"),
        ('Hospital "Virgen de la Luz"', "HOSPITAL", r'Hospital "(.+)"', "hospital"),
        ("Hospital General", "HOSPITAL", r"Hospital (.+)", "hospital"),
        ("Centro de Salud de Chantrea", "CENTRO_SALUD", r"Centro de Salud (.+)", "health_centre"),
        ("CAP La Sagrera", "LOCATION", r"CAP (.+)", "health_centre_ca"),
        ("28013 Madrid", "LOCATION", r"\d{5} (.+)", "town"),
        ("E-28013", "TERRITORIO", r"E-(\d{5})", "postal_code"),
        ("Lleida (Catalunya)", "LOCATION", r"(.+) \(.+\)", "town"),
    ],
)
def test_only_names_and_numbers_are_replaced(
    text: str, label: str, pattern: str, kind: str
) -> None:
    match = re.fullmatch(pattern, place(text, label) or "")
    assert match
    assert match[1] in names(kind)
    assert fold([match[1]])[0] not in fold([text])[0]


def test_parts_are_replaced_one_by_one() -> None:
    text = "C/ Mayor, 3, 28013 Madrid\n(España)"
    new = place(text) or ""
    match = re.fullmatch(r"C/ (.+), (\d), (\d{5}) (.+)\n\((.+)\)", new)
    assert match
    for part, kind in ((1, "street"), (3, "postal_code"), (4, "town"), (5, "country")):
        assert match[part] in names(kind)
    assert match[4] == place("Madrid") and match[3] == place("28013") and match[2] != "3"


@pytest.mark.parametrize(
    ("text", "pattern", "kinds"),
    [
        ("Hospital Clínic, Barcelona", r"Hospital (.+), (.+)", ("hospital", "town")),
        ("Hospital Clínic (Barcelona)", r"Hospital (.+) \((.+)\)", ("hospital", "town")),
        ("Barcelona, Hospital Clínic", r"(.+), Hospital (.+)", ("town", "hospital")),
        ("Hospital, Barcelona", r"Hospital, (.+)", ("town",)),
        ("Hospital Vall d'Hebron de Barcelona", r"Hospital (.+)", ("hospital",)),
        ("CAP Sants, Barcelona", r"CAP (.+), (.+)", ("health_centre_ca", "town")),
        ("Hospital General, C/ Mayor 5, Madrid", r"Hospital (.+), C/ (.+) \d, (.+)",
         ("hospital", "street", "town")),
        ("Calle Mayor 5, Móstoles, Madrid", r"Calle (.+) \d, (.+), (.+)",
         ("street", "town", "town")),
    ],
)  # fmt: skip
def test_a_hospital_and_its_town_are_replaced_by_others(
    text: str, pattern: str, kinds: tuple[str, ...]
) -> None:
    words = {word for word in place_key(text).split() if len(word) > 3} - kept_words()
    for number in range(50):
        new = place(text, key=Key(bytes([number]) * 32)) or ""
        match = re.fullmatch(pattern, new)
        assert match and not words & set(place_key(new).split())
        for name, kind in zip(match.groups(), kinds, strict=True):
            assert name in names(kind) | set(written_places()[kind].catalan)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Córdoba", "CORDOBA"),
        ("Córdoba", unicodedata.normalize("NFD", "Córdoba")),
        ("Alicante", "Alicante/Alacant"),
        ("Girona", "Gerona"),
        ("Getafe", "Hospital de Getafe"),
        ("La Paz", "HOSPITAL LA PAZ"),
        ("Hospital de la Princesa", "H. U. La Princesa"),
        ("calle de Alcalá", "C/ Alcalá, 7"),
        ("Calle Doctor Esquerdo", "c/ del Dr. Esquerdo, 46"),
        ("Vilafranca del Penedès", "Vila\u00adfranca\u00a0del Penedès"),
    ],
)
def test_a_place_has_one_surrogate_however_it_is_written(one: str, other: str) -> None:
    words = set(place_key(place(one) or "").split()) - set(place_key(one).split())
    assert words
    assert words <= set(place_key(place(other) or "").split())


def test_another_patient_and_another_key_have_other_places() -> None:
    texts = ("Getafe", "C/ Mayor, 3", "Hospital La Paz")
    for others in ({"patient": "p2"}, {"key": Key(bytes(32))}):
        assert [place(text) for text in texts] != [place(text, **others) for text in texts]


@pytest.mark.parametrize(
    ("text", "changed"), [("SEVILLA", str.upper), ("calle mayor, 7", str.lower)]
)
def test_case_stays(text: str, changed: Callable[[str], str]) -> None:
    new = place(text)
    assert new is not None and new == changed(new) != text


@pytest.mark.parametrize("text", ["", "...", " \n", "😀", "-", "(,)", "C/", "s/n", "Hospital"])
def test_without_a_name_there_is_no_surrogate(text: str) -> None:
    assert place(text) is None
    assert organisation(text) is None


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Universidad de Salamanca", r"Universidad de (.+)"),
        ("Facultad de Ciencias de la Salud, Universidad de Granada",
         r"Facultad de Ciencias de la Salud, Universidad de (.+)"),
        ("Institut d'Oftalmologia", r"Institut (.+)"),
        ("Fundación Puigvert", r"Fundación (.+)"),
        ("Centro Nacional de Toxicología", r"Centro (.+)"),
    ],
)  # fmt: skip
def test_an_organisation_keeps_the_words_for_its_kind(text: str, pattern: str) -> None:
    new = organisation(text) or ""
    assert re.fullmatch(pattern, new)
    assert re.fullmatch(pattern, text)[1] not in new  # type: ignore[index]


def test_an_organisation_without_a_head_becomes_surnames() -> None:
    for text, form in (
        ("Acme Imaging", r"[A-Z]\w+ [A-Z]\w+"),
        ("IML de Sevilla", r"[A-ZÀ-Ú]+ de \w+"),
    ):
        new = organisation(text)
        assert new and re.fullmatch(form, new) and "Sevilla" not in new


def test_towns_have_a_similar_size() -> None:
    for town in ("Getafe", "Lleida", "Sigüenza", "Abengibre"):
        size = population_of(town) or 0
        news = {place(town, patient=f"p{number}") or "" for number in range(40)}
        assert len(news) > 15
        assert all(size / 2.5 <= (population_of(new) or 0) <= size * 2.5 for new in news)
    largest = {place("Madrid", patient=f"p{number}") for number in range(40)}
    assert len(largest) > 4  # where no other town is as large, the next ones


ANYTHING = st.text("aAé ,.-/'’\n\t3 7ñ\u0301\u00ad\u00a0٣אب😀º(Ç", max_size=30)
WORDS = st.lists(
    st.sampled_from(
        re.split(
            r"\|",
            "Calle|C/|Madrid|la|Paz|de|Hospital|3|28013|,|\n|HU12O|Ea|d'|España|s/n|4ºB|Universidad"
            "|García|Nº|Alacant|(|)",
        )
    ),
    max_size=9,
).map(" ".join)


@given(ANYTHING | WORDS, st.sampled_from(["LOCATION", "CALLE", "HOSPITAL", "PAIS"]))
def test_a_surrogate_never_contains_what_it_replaces(text: str, label: str) -> None:
    for new in (place(text, label), organisation(text)):
        if new is not None:
            assert len(text.strip()) < 3 or fold([text.strip()])[0] not in fold([new])[0]
            separators = r"[,;()\n\t/😀]"
            assert re.findall(separators, new) == re.findall(separators, text)


def test_places_of_real_notes_are_replaced(meddocan: Path) -> None:
    labels = {"TERRITORIO", "CALLE", "HOSPITAL", "PAIS", "CENTRO_SALUD", "INSTITUCION"}
    replaced = dict.fromkeys(labels, 0)
    total = dict.fromkeys(labels, 0)
    for document in read(meddocan / "dev", problems=Problems()):
        for span in document.spans:
            if span.label not in labels:
                continue
            text = document.text[span.start : span.end]
            category = builtin_categories()[span.label]
            new = surrogate(Mention(text, span.label, category, document.id), KEY)
            total[span.label] += 1
            replaced[span.label] += new is not None
            words = {word for word in place_key(text).split() if len(word) > 3} - kept_words()
            assert not words & set(place_key(new or "").split()), span
    assert replaced["INSTITUCION"] > 0.4 * total["INSTITUCION"]
    places = labels - {"INSTITUCION"}
    assert sum(replaced[name] for name in places) > 0.99 * sum(total[name] for name in places)
