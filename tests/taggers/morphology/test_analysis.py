"""Parts of speech and lemmas, by each analyser."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import Batch, concatenate
from corpus.errors import InputError
from corpus.storage.manifest import manifest_bytes
from corpus.synthetic import synthetic_notes
from taggers import CRFOptions, CRFTagger
from taggers.annotators import Annotator, Lemmas, PartsOfSpeech
from taggers.morphology.analysers import analyse, check_analysers
from taggers.morphology.analysis import Analysis
from taggers.morphology.apertium import Apertium
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import notes
from tests.taggers.morphology.conftest import batch_of

BOTH = {"es": "apertium", "ca": "apertium"}
PIECES = [
    *("El", "paciente", "del", "Madrid", "fumaba", "dáselo", "12", "a/b", "^", "$", "[x]", "\\"),
    *("<p>", "{", "}", "@", "+", "*", "~", "#", ".", "\n", "\0", "👩", "e\u0301", "García", "y/o"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map(" ".join)


def words_with(annotator: Annotator, batch: Batch) -> list[tuple[str, str | None]]:
    stream = annotator.annotate(batch)
    said = [stream.vocabulary[value] if value >= 0 else None for value in stream.values.tolist()]
    words = [batch.vocabulary[word] for word in batch.word_ids.tolist()]
    return list(zip(words, said, strict=True))


@pytest.mark.usefixtures("apertium")
def test_apertium_chooses_analyses_in_both_languages() -> None:
    batch = batch_of(
        "El paciente del hospital fue ingresada en xyzzy.", "La pacient va anar a Barcelona."
    )
    pos, lemmas = (dict(words_with(kind(BOTH), batch)) for kind in (PartsOfSpeech, Lemmas))
    assert pos["del"] == "pr+det"
    assert lemmas["del"] == "de+el"
    assert (pos["paciente"], pos["ingresada"], lemmas["ingresada"]) == ("n", "vblex.pp", "ingresar")
    assert (pos["xyzzy"], lemmas["xyzzy"]) == (None, "xyzzy")
    assert pos["Barcelona"].startswith("np.")  # type: ignore[union-attr]
    assert (pos["La"], lemmas["La"]) == ("det", "el")
    assert lemmas["va"] == "anar"


@pytest.mark.usefixtures("apertium")
@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["", "\0", "a\\/b ^x/y<n>$", ""])
def test_each_token_is_analysed_whatever_it_is_and_as_if_its_document_were_alone(
    texts: list[str],
) -> None:
    analyser = Apertium("es")
    together = analyser.analyse(batch_of(*texts))
    alone = [Apertium("es").analyse(batch_of(text)) for text in texts]
    assert together.pos == [pos for one in alone for pos in one.pos]
    assert together.lemmas == [lemma for one in alone for lemma in one.lemmas]
    assert len(together.pos) == batch_of(*texts).n_tokens


@pytest.mark.usefixtures("apertium")
def test_notes_are_analysed_in_their_languages_however_they_are_batched() -> None:
    texts = [note.text for note in synthetic_notes(60, random_state=1)]
    whole = analyse(batch_of(*texts), BOTH)
    parts = [analyse(batch_of(text), BOTH) for text in texts]
    assert whole.pos == [pos for part in parts for pos in part.pos]
    assert whole.lemmas == [lemma for part in parts for lemma in part.lemmas]
    assert np.mean([pos != "" for pos in whole.pos]) > 0.75


def test_a_pipeline_of_spacy_analyses(pipeline: str) -> None:
    batch = batch_of("el fuma", "", "otra el")
    analysers = {"es": f"spacy:{pipeline}"}
    check_analysers(analysers, pos=True)
    analysis = analyse(batch, analysers)
    assert analysis == Analysis(["DET", "VERB.Fin", "NOUN", "DET"], ["el", "fumar", "other", "el"])
    with pytest.raises(InputError, match="of another language"):
        check_analysers({"ca": f"spacy:{pipeline}"}, pos=True)


def test_simplemma_finds_lemmas_alone() -> None:
    batch = batch_of("Los pacientes", "Els pacients i les filles xyzzy")
    analysers = {"es": "simplemma", "ca": "simplemma"}
    assert dict(words_with(Lemmas(analysers), batch)) == {
        **{"Los": "el", "pacientes": "paciente", "Els": "el", "pacients": "pacient", "i": "i"},
        **{"les": "el", "filles": "filla", "xyzzy": "xyzzy"},
    }
    assert PartsOfSpeech(analysers).annotate(batch).vocabulary == ()


@pytest.mark.parametrize(
    ("analysers", "message"),
    [
        ({}, "no language is named"),
        ({"qq": "apertium"}, "expected codes of languages"),
        ({"es": "freeling"}, '"apertium", "simplemma" or'),
        ({"es": "simplemma"}, "no parts of speech"),
        ({"fr": "apertium"}, "expected one of es, ca"),
        ({"eu": "simplemma"}, "no parts of speech"),
        ({"es": "spacy:es_not_there"}, "spacy"),
        ({"es": "spacy:../evil"}, "spacy"),
    ],
)
def test_analysers_that_cannot_work_are_refused_before_a_run(
    analysers: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        plain(CRFOptions, streams=("pos",), analysers=analysers).check()


def test_only_pipelines_are_imported_and_nothing_of_a_model_is_quoted(tmp_path: Path) -> None:
    train = notes("{Joan Puig} no fuma", "Els pacients de [Sant Pau]")
    with pytest.raises(InputError, match="not installed"):
        plain(CRFOptions, streams=("lemmas",), analysers={"es": "spacy:numpy"}).check()
    with pytest.raises(InputError, match="does not know the language"):
        plain(CRFOptions, streams=("lemmas",), analysers={"zxx": "simplemma"}).check()
    options = plain(CRFOptions, streams=("lemmas",), analysers={"es": "simplemma"})
    CRFTagger(options).fit(train, rng=np.random.default_rng(0)).save(tmp_path)
    whole = json.loads((tmp_path / "model.json").read_text())
    for analysers in ({"JoanPuig": "simplemma"}, {"es": "spacy:JoanPuig"}, {"es": "JoanPuig"}):
        whole["annotators"]["lemmas"]["analysers"] = analysers
        digests = dict(whole["files"])
        values = {name: value for name, value in whole.items() if name not in ("digest", "files")}
        (tmp_path / "model.json").write_bytes(manifest_bytes(values, digests))
        with pytest.raises(InputError) as raised:
            CRFTagger.load(tmp_path)
        assert "JoanPuig" not in str(raised.value)


@pytest.mark.usefixtures("apertium")
def test_long_words_are_not_looked_up() -> None:
    analysis = Apertium("es").analyse(batch_of(f"el {'a' * 200_000} come"))
    assert analysis.pos[::2] == ["det", "vblex.pri"]
    assert analysis.pos[1] == ""


def test_a_model_keeps_its_analysers_and_their_order(tmp_path: Path) -> None:
    train = notes("{Joan Puig} no fuma", "Els pacients de [Sant Pau]", "no {Anna} sí")
    analysers = {"es": "simplemma", "ca": "simplemma"}
    streams = ("language", "lemmas[-1..1]")
    options = plain(CRFOptions, streams=streams, analysers=analysers, max_iterations=10)
    tagger = CRFTagger(options).fit(train, rng=np.random.default_rng(0))
    tagger.save(tmp_path / "model")
    loaded = CRFTagger.load(tmp_path / "model")
    assert list(loaded.options.analysers) == ["es", "ca"]
    assert loaded.tag(train).tags.tolist() == tagger.tag(train).tags.tolist()
    path = tmp_path / "model/model.json"
    settings_of = json.loads(path.read_text())["annotators"]["lemmas"]
    assert settings_of == {"analysers": analysers}


def test_lists_are_chosen_by_the_language(tmp_path: Path) -> None:
    conjunctions = ("language frequency-surname",)
    options = plain(CRFOptions, names=("census-es",), conjunctions=conjunctions, max_iterations=10)
    options.check()
    train = concatenate([notes("{Joan Puig} no fuma"), notes("La pacient {Anna Rovira} viu sola")])
    tagger = CRFTagger(options).fit(train, rng=np.random.default_rng(0))
    tagger.save(tmp_path / "model")
    assert CRFTagger.load(tmp_path / "model").tag(train).tags.tolist() == train.tags.tolist()
    wrong = plain(CRFOptions, names=("census-es",), conjunctions=("language frequency-planet",))
    with pytest.raises(InputError, match='no stream or feature "frequency-planet"'):
        wrong.check()
    as_stream = plain(CRFOptions, names=("census-es",), streams=("frequency-surname",))
    with pytest.raises(InputError, match='no stream or feature "frequency-surname"'):
        as_stream.check()
