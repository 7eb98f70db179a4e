"""Languages of documents."""

from __future__ import annotations

import pytest

from corpus.errors import InputError
from corpus.synthetic import synthetic_notes
from taggers.annotators import Languages
from taggers.morphology.languages import find_languages
from tests.taggers.morphology.conftest import batch_of


@pytest.mark.parametrize("language", ["es", "ca"])
def test_long_notes_have_their_language(language: str) -> None:
    notes = synthetic_notes(1500, random_state=3, language=language)
    texts = [note.text for note in notes if len(note.text) > 120]
    other = {"es": "ca", "ca": "es"}[language]
    assert len(texts) > 100
    for languages in ((language, other), (other, language)):
        assert find_languages(texts, languages).count(language) > 0.97 * len(texts)


def test_text_without_letters_has_the_first_language() -> None:
    texts = ["", "12/3", " ", "12 345, 67", "38,5"]
    assert find_languages(texts, ("es", "ca")) == ["es"] * 5
    assert find_languages(texts, ("ca", "es")) == ["ca"] * 5
    assert find_languages(["The patient does not smoke"], ("es",)) == ["es"]


@pytest.mark.parametrize("languages", [(), ("qq",), ("es", "catalan")])
def test_unknown_languages_are_refused(languages: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected codes"):
        find_languages(["a"], languages)


def test_all_tokens_of_a_document_have_its_language() -> None:
    batch = batch_of("La paciente no fuma.", "", "La pacient no fuma i viu sola amb la filla.")
    stream = Languages({"es": "apertium", "ca": "apertium"}).annotate(batch)
    said = [stream.vocabulary[value] for value in stream.values.tolist()]
    assert said == ["es"] * 5 + ["ca"] * 11
