"""The component of spaCy and the recognizer of Presidio, with the packages themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bootstrap
from taggers import CRFOptions, CRFTagger
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import notes

pytestmark = pytest.mark.slow

TEXTS = ["Visita Joan Puig.", "", "ingressa a Sant Pau amb Anna", "res\n\nde nou 👩"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    train = notes(
        *("Visita {Joan Puig}.", "ingressa a [Sant Pau] amb {Anna}", "res de nou", "amb {Joan}")
    )
    options = plain(CRFOptions, features=("form",), window=1)
    folder = tmp_path_factory.mktemp("model")
    CRFTagger(options).fit(train, rng=np.random.default_rng(0)).save(folder)
    return folder


def expected(model: Path) -> list[list[tuple[int, int, str]]]:
    return [
        [(span.start, span.end, span.label) for span in note.spans]
        for note in bootstrap.load(model).tag(TEXTS)
    ]


def test_the_component_of_spacy_sets_what_the_model_finds(model: Path, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("es")
    nlp.add_pipe("bootstrap", config={"model": str(model)})

    def spans_of(doc: Any) -> list[tuple[int, int, str]]:
        return [(span.start_char, span.end_char, span.label_) for span in doc.ents]

    assert list(map(spans_of, nlp.pipe(TEXTS, batch_size=3))) == expected(model)
    assert [spans_of(nlp(text)) for text in TEXTS] == expected(model)
    assert sum(map(len, expected(model))) >= 3
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert [spans_of(again(text)) for text in TEXTS] == expected(model)
    with pytest.raises(bootstrap.InputError, match="neither a run"):
        spacy.blank("es").add_pipe("bootstrap", config={"model": str(tmp_path)})


def test_the_component_widens_to_the_tokens_of_the_pipeline(model: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    nlp = spacy.blank("es")
    component = nlp.add_pipe("bootstrap", config={"model": str(model)})
    words = ["Visita", "Joan Puig."]  # a token that the entity ends within
    doc = component(spacy.tokens.Doc(nlp.vocab, words=words, spaces=[True, False]))
    assert [span.text for span in doc.ents] == ["Joan Puig."]


def test_the_recognizer_of_presidio_returns_what_the_model_finds(model: Path) -> None:
    presidio = pytest.importorskip("presidio_analyzer", reason="Presidio is not installed")
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    from bootstrap.adapters.presidio_recognizer import BootstrapRecognizer

    class Blank(SpacyNlpEngine):  # type: ignore[misc]
        """An engine without a pipeline that would have to be downloaded."""

        def __init__(self) -> None:
            super().__init__(models=[{"lang_code": "es", "model_name": "blank"}])
            self.nlp = {"es": spacy.blank("es")}

    recognizer = BootstrapRecognizer(model, "es", names={"LOCATION": "PLACE"})
    registry = presidio.RecognizerRegistry([recognizer], supported_languages=["es"])
    analyzer = presidio.AnalyzerEngine(
        registry=registry, nlp_engine=Blank(), supported_languages=["es"]
    )
    names = {"LOCATION": "PLACE", "PERSON": "PERSON"}
    for text, spans in zip(TEXTS, expected(model), strict=True):
        results = sorted(analyzer.analyze(text, "es"), key=lambda result: result.start)
        assert [(r.start, r.end, r.entity_type) for r in results] == [
            (start, end, names[label]) for start, end, label in spans
        ]
        assert all(0 < result.score <= 1 for result in results)
    (place,) = analyzer.analyze(TEXTS[2], "es", entities=["PLACE"])
    assert place.entity_type == "PLACE"
