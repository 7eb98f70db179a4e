"""Surrogates of names have the form, the gender and the rarity of the names that they replace."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.keys import Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.names import surrogate_name, written
from gazetteers.builtin import CENSUS, GIVEN_NAMES, read_gazetteer
from gazetteers.frequencies import Frequencies

KEY = Key(bytes(range(32)))


def surrogate_of(text: str, patient: str = "p", key: Key = KEY) -> str | None:
    return surrogate_name(Mention(text, "PERSON", "person", patient), key)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Marta Puig", r"[A-ZÀ-Ú]\w+ [A-ZÀ-Ú]\w+"),
        ("PUIG I FERRER, MARTA", r"[A-ZÀ-Ú]{2,} I [A-ZÀ-Ú]{2,}, [A-ZÀ-Ú]{2,}"),
        ("marta puig", r"[a-zà-ú]\w+ [a-zà-ú]\w+"),
        ("Dra. M. de la Peña-Ruiz", r"Dra\. [A-LN-Z]\. de la \w+-\w+"),
        ("D. Juan", r"D\. (?!Juan)\w+"),
        ("Puig\u00a0Vila,\r\n Pau", "\\w+\u00a0\\w+,\r\n \\w+"),
        ("Jose\u0301 Nu\u0301n\u0303ez", r"\w+ \w+"),
        ("Gar\u00adcía", r"\w+"),
        ("Mª Fdez. Fco.", r"\w+ \w+ \w+"),
        ("O'Brien", r"[A-NP-Z]'[A-Z]\w+"),
        ("D.ª Carmen Ruiz", r"D\.ª (?!Carmen)\w+ (?!Ruiz)\w+"),
        ("Dª Carmen, D.º Juan", r"Dª (?!Carmen)\w+, D\.º (?!Juan)\w+"),
        ("M.ª José", r"[A-ZÀ-Ú][a-zà-ú]+ (?!José)\w+"),
        ("J. Ll. Puig", r"[A-Z]\. [A-Z]\. (?!Puig)\w+"),
        ("Gel·la", r"[A-ZÀ-Ú][a-zà-ú]+"),
        ("MARCEL\u2027LÍ Puig", r"[A-ZÀ-Ú]+ \w+"),
    ],
)
def test_the_form_stays(text: str, form: str) -> None:
    new = surrogate_of(text)
    assert new and re.fullmatch(form, new), new


@pytest.mark.parametrize("text", ["", "!!", " - ", "😀", "Ana2", "12", "Dr.", "D.ª", "de la"])
def test_what_is_no_name_has_none(text: str) -> None:
    assert surrogate_of(text) is None


@given(st.text(min_size=1, max_size=25), st.sampled_from(["p", "q"]))
def test_no_word_of_the_original_is_its_own_surrogate(text: str, patient: str) -> None:
    new = surrogate_of(text, patient)
    assert new == surrogate_of(text, patient)
    if new is not None and len(folded(text).strip()) > 2:
        assert folded(text).strip() not in folded(new)


def test_a_word_has_one_surrogate_in_all_names_of_a_patient() -> None:
    whole = surrogate_of("Marta Puig Soler")
    assert whole
    given_name, first, second = whole.split()
    assert surrogate_of("PUIG") == first.upper()
    assert surrogate_of("Soler, Marta") == f"{second}, {given_name}"
    assert surrogate_of("Pau Puig").split()[1] == first  # type: ignore[union-attr]
    others = {surrogate_of("Puig", str(patient)) for patient in range(50)}
    assert len(others) > 20
    assert len({surrogate_of("Puig", "p", Key(bytes([n]) * 32)) for n in range(20)}) > 10


def test_a_word_is_the_same_however_it_is_written() -> None:
    for ways in (("Marcel·lí", "Marcel\u2219lí", "Marcel.lí"), ("María", "Mª", "M.ª", "Ma.")):
        assert len({surrogate_of(f"{way} Puig") for way in ways}) == 1


def test_gender_is_kept_and_rare_names_are_as_rare_as_in_the_census() -> None:
    given_names = Frequencies.from_gazetteer(read_gazetteer(GIVEN_NAMES), ("man", "woman"))
    counts = dict(zip(given_names.words, given_names.alone.tolist(), strict=True))
    for name, place in (("María", 1), ("Laura", 1), ("Antonio", 0), ("David", 0)):
        drawn = [folded(surrogate_of(name, str(patient)) or "") for patient in range(200)]
        assert all(counts[word][place] >= counts[word][1 - place] for word in drawn)
    surnames = Frequencies.from_gazetteer(read_gazetteer(CENSUS), ("surname",))
    bearers = dict(zip(surnames.words, surnames.alone[:, 0].tolist(), strict=True))
    drawn = [folded(surrogate_of("Ferrer", str(patient)) or "") for patient in range(1000)]
    rare = sum(bearers[word] < 1000 for word in drawn) / len(drawn)
    expected = sum(n for n in bearers.values() if n < 1000) / sum(bearers.values())
    assert abs(rare - expected) < 0.05
    assert Counter(drawn).most_common(1)[0][1] < 80  # the most frequent surname has 4 %


def test_accents_are_written_as_in_the_original() -> None:
    def accented(text: str) -> int:
        names = [surrogate_of(text, str(patient)) or "" for patient in range(300)]
        return sum(folded(name) != name.lower() for name in names)

    assert accented("García") > 60  # more than a fifth of all bearers
    assert accented("Ferrer") > 60
    assert accented("GARCIA") == accented("Garcia Puig") == 0


@pytest.mark.parametrize(
    "word",
    [
        "García",
        "González",
        "Domínguez",
        "Sáez",
        "Ordóñez",
        "Vázquez",
        "Jerez",
        "María",
        "Concepción",
        "Ferrer",
    ],
)
def test_written_forms(word: str) -> None:
    assert written(folded(word)) == word.lower()


def test_every_written_form_is_one_of_its_word() -> None:
    from anonymizers.surrogates.names import _accents

    for word, form in _accents().items():
        assert folded(form) == word != form


@pytest.mark.parametrize(
    ("text", "kept", "lost"),
    [
        ("Ana Doña", [], ["Doña"]),
        ("Luis Doctor Para", [], ["Doctor", "Para"]),
        ("Luis Santa", [], ["Santa"]),
        ("Sra. Doña Ruiz", ["Sra.", "Doña"], ["Ruiz"]),
        ("Puig, Dr. Juan", ["Dr."], ["Puig", "Juan"]),
        ("Ruiz Dra.", ["Dra."], ["Ruiz"]),
        ("Ana Santa Cruz", ["Santa"], ["Cruz"]),
        ("María de la", ["de", "la"], ["María"]),
    ],
)
def test_a_title_or_a_particle_that_is_a_surname_is_replaced(
    text: str, kept: list[str], lost: list[str]
) -> None:
    for patient in "pqrs":
        new = surrogate_name(Mention(text, "PERSON", "person", patient), KEY)
        assert new is not None and set(kept) <= set(new.replace(",", "").split())
        assert not set(lost) & set(new.replace(",", "").split())
