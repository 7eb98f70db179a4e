"""Phrases as a stream, and what becomes of them in a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.storage.fields import Fields
from gazetteers.gazetteer import Gazetteer
from gazetteers.phrases.matcher import BLOCKED
from taggers import CRFOptions, CRFTagger, load_tagger
from taggers.annotators import Phrases
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain

#: Looks at nothing that tells one capitalised word from another.
LEAST = plain(CRFOptions, features=("capitalization",), window=0, streams=(), conjunctions=())
TOWNS = ["Vic", "Olot", "Reus", "Sant Pol de Mar"]

GazetteerFile = Callable[..., str]


@pytest.fixture
def gazetteer_file(tmp_path: Path) -> GazetteerFile:
    """Write a gazetteer: `gazetteer_file("towns", TOWN=["Vic"])` gives its path."""

    def make(name: str, **terms: list[str]) -> str:
        rows = [(term.lower(), kind) for kind, part in terms.items() for term in part]
        columns = zip(*rows, strict=True) if rows else ([], [])
        texts = [pa.array(list(column), pa.large_string()) for column in columns]
        path = tmp_path / f"{name}.parquet"
        Gazetteer(texts[0], texts[1], np.ones(len(rows), np.int64)).save(path)
        return str(path)

    return make


def notes(*words: list[str]) -> Batch:
    """Make a note of each list; those of TOWNS are a TOWN."""
    documents = []
    for number, words_of_note in enumerate(words):
        text, spans = "", []
        for word in words_of_note:
            if word in TOWNS:
                spans.append(Span(len(text), len(text) + len(word), "TOWN"))
            text += f"{word} , "
        documents.append(Document(str(number), text, tuple(spans)))
    return make_batch(documents, labelled=True, classes=["TOWN"])


TRAIN = notes(["Vic", "Pau", "x"], ["Pau", "y"], ["x", "Sant Pol de Mar", "Rosa"], ["Olot", "Mar"])
JUDGE = notes(["Reus", "Anna"], ["Anna", "Sant Pol de Mar", "z"])


def said(stream: Stream) -> list[str | None]:
    assert stream.values.dtype == np.int32
    return [stream.vocabulary[value] if value >= 0 else None for value in stream.values.tolist()]


def fitted(options: CRFOptions) -> CRFTagger:
    return CRFTagger(options).fit(TRAIN, rng=np.random.default_rng(0))


def test_the_stream_begins_and_goes_on_with_a_class() -> None:
    phrases = Phrases({"TOWN": TOWNS, BLOCKED: ["marzo"]})
    batch = make_batch([Document("", "En Vic, S. Pol de Mar, en marzo")], labelled=False)
    town = ["B-TOWN", "I-TOWN", "I-TOWN", "I-TOWN", "I-TOWN"]
    expected = [None, "B-TOWN", None, *town, None, None, "B-BLOCKED"]
    assert said(phrases.annotate(batch)) == expected
    again = Phrases.from_settings(Fields(json.loads(json.dumps(phrases.settings())), "model"))
    assert said(again.annotate(batch)) == expected


def test_of_two_files_the_class_of_the_first_counts(gazetteer_file: GazetteerFile) -> None:
    one = gazetteer_file("one", TOWN=["Vic"])
    other = gazetteer_file("other", RIVER=["Vic", "Ter"])
    batch = make_batch([Document("", "Vic Ter")], labelled=False)
    assert said(Phrases.from_files([one, other]).annotate(batch)) == ["B-TOWN", "B-RIVER"]
    assert said(Phrases.from_files([other, one]).annotate(batch)) == ["B-RIVER", "B-RIVER"]


@pytest.mark.parametrize("trainer", ["wordtype", "crfsuite"])
def test_a_model_needs_the_files_no_more(trainer, gazetteer_file, tmp_path) -> None:
    path = gazetteer_file("towns", TOWN=TOWNS)
    without = fitted(replace(LEAST, trainer=trainer)).tag(JUDGE)
    assert without.tags.tolist() != JUDGE.tags.tolist()
    tagger = fitted(replace(LEAST, trainer=trainer, phrases=(path,)))
    assert tagger.tag(JUDGE).tags.tolist() == JUDGE.tags.tolist()
    tagger.save(tmp_path / "model")
    Path(path).unlink()
    loaded = load_tagger(tmp_path / "model")
    for measure in ("probability", "min_marginal"):
        before, after = (model.tag(JUDGE, measure=measure) for model in (tagger, loaded))
        assert after.tags.tolist() == JUDGE.tags.tolist()
        assert after.confidence.tolist() == before.confidence.tolist()
    assert isinstance(loaded, CRFTagger)
    reduced = (
        loaded.pruned(Pruning.from_choices(keep=["phrases"])) if trainer == "wordtype" else loaded
    )
    reduced.save(tmp_path / "again")
    again = load_tagger(tmp_path / "again")
    assert again.tag(JUDGE).tags.tolist() == JUDGE.tags.tolist()
    again.fit(TRAIN, rng=np.random.default_rng(0))
    assert again.tag(JUDGE).tags.tolist() == JUDGE.tags.tolist()
    assert str(tmp_path) not in (tmp_path / "model" / "model.json").read_text()


def test_files_are_read_in_training_alone(gazetteer_file: GazetteerFile, tmp_path: Path) -> None:
    tagger = CRFTagger(replace(LEAST, phrases=(str(tmp_path / "towns.parquet"),)))
    with pytest.raises(InputError, match=r"towns\.parquet does not exist"):
        tagger.fit(TRAIN, rng=np.random.default_rng(0))
    gazetteer_file("towns", TOWN=TOWNS)
    tagger.fit(TRAIN, rng=np.random.default_rng(0))
    assert tagger.tag(JUDGE).tags.tolist() == JUDGE.tags.tolist()


@pytest.mark.parametrize(
    ("streams", "conjunctions", "expected"),
    [
        ((), (), {"phrases": (-1, 0, 1)}),
        (("header",), (), {"header": (0,), "phrases": (-1, 0, 1)}),
        (("phrases",), (), {"phrases": (0,)}),
        (("phrases[-2..0]", "colon"), (), {"phrases": (-2, -1, 0), "colon": (0,)}),
        ((), ("phrases form[-1]",), {}),
    ],
)
def test_files_add_the_stream_where_nothing_names_it(streams, conjunctions, expected) -> None:
    options = replace(LEAST, streams=streams, conjunctions=conjunctions, phrases=("a.parquet",))
    templates = options.templates()
    assert {stream.name: stream.offsets for stream in templates.streams} == expected
    assert "phrases" in templates.needed
    assert len(replace(options, phrases=()).templates().streams) == len(streams)
