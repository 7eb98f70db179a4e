"""Taggers of dictionaries: what they tag, what is refused, and what is in their folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.counts import count_words
from corpus.document import Document
from corpus.errors import InputError
from corpus.formats.batches import batches_of
from corpus.synthetic import synthetic_notes
from gazetteers.builtin import CENSUS
from gazetteers.gazetteer import Gazetteer
from taggers import CRFTagger, TrainingError, load_tagger, make_tagger
from taggers.base import MEASURES
from taggers.dictionaries.binary import DictionaryTagger
from taggers.dictionaries.divergence import DivergenceTagger
from taggers.dictionaries.list_tagger import ListTagger
from tests.taggers.dictionaries.conftest import OPTIONS, entities_in, fitted, notes, same

MakeGazetteer = Callable[..., Gazetteer]
KINDS = {"divergence": DivergenceTagger, "dictionary": DictionaryTagger, "lists": ListTagger}
NAMES = [
    ("anna", "given", 500),
    ("pere", "given", 300),
    ("puig", "surname", 200),
    ("rosa", "surname", 19),
    ("de la torre", "surname", 90),
    ("torre", "surname", 80),
]


@pytest.fixture(params=["divergence", "dictionary"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def names_in(tagger: Any, *texts: str) -> list[list[str]]:
    return [[name for name, _ in entities_in(tagger, text)] for text in texts]


@pytest.fixture(params=KINDS)
def saved(trained: Callable[[str], Any], request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    trained(request.param).save(tmp_path / request.param)
    return tmp_path / request.param


@pytest.fixture
def names(make_gazetteer: MakeGazetteer, tmp_path: Path) -> Path:
    make_gazetteer(*NAMES).save(tmp_path / "names.parquet")
    return tmp_path / "names.parquet"


# The binary dictionary


def test_what_is_in_the_dictionary_is_a_name(names: Path) -> None:
    train = notes("Anna Puig ve . pere y torre", *["la casa de x y z"] * 50)
    tagger = fitted("dictionary", train, names, frequent=1, bearers=20)
    texts = ("ANNA Puig , pere", "la Torre de Anna de la Torre", "rosa Rosa", "casa")
    assert names_in(tagger, *texts) == [
        ["ANNA Puig", "pere"],
        ["Torre", "Anna", "Torre"],  # nobody is called just de, and nothing joins
        [],  # 19 people are called so
        [],
    ]
    tagging = tagger.tag(notes(*texts), detail="token")
    assert set(tagging.confidence) == set(tagging.token_confidence) == {1.0}
    assert names_in(fitted("dictionary", train, names, frequent=1, bearers=19), "rosa") == [
        ["rosa"]
    ]


def test_a_word_of_both_dictionaries_leaves_no_confidence(names, make_gazetteer, tmp_path) -> None:
    make_gazetteer(("torre", "noun", 1), ("casa", "noun", 1), ("puig alt", "x", 0)).save(
        tmp_path / "other.parquet"
    )
    train = notes("Anna Puig ve", "casa")
    tagger = fitted("dictionary", train, names, not_names=(str(tmp_path / "other.parquet"),))
    texts = ("Anna y la TORRE", "Anna", "Puig", "casa")
    assert names_in(tagger, *texts) == [["Anna"], ["Anna"], [], []]
    for measure in MEASURES:
        confidence = tagger.tag(notes(*texts), measure=measure).confidence
        assert confidence.tolist() == [0, 1, 0, 1]


def test_words_that_are_frequent_in_notes_and_rare_among_names_are_none(names: Path) -> None:
    """Of 100 words, 10 are rosa, 5 torre and 2 anna; of 1,369 words of names, 19 are rosa."""
    train = notes(*["rosa"] * 10, *["torre"] * 5, *["anna"] * 2, *["x"] * 83)
    for frequent, rare, negative in (
        (0.05, 0.02, {"rosa"}),
        (0.05, 0.2, {"rosa", "torre"}),
        (0.051, 0.2, {"rosa"}),
        (0.05, 0.001, set()),
        (0.02, 1.0, {"rosa", "torre", "anna"}),
        (0.0, 1.0, {"rosa", "torre", "anna", "pere", "puig"}),
    ):
        options = {"frequent": frequent, "rare": rare, "bearers": 1}
        words = ["rosa", "torre", "anna", "pere", "puig"]
        if negative == set(words):
            with pytest.raises(TrainingError, match="there is nothing to tag"):
                fitted("dictionary", train, names, **options)
            continue
        confidence = fitted("dictionary", train, names, **options).tag(notes(*words)).confidence
        assert {word for word, sure in zip(words, confidence, strict=True) if not sure} == negative


# Both kinds


def test_names_are_of_the_classes_that_are_asked_for(kind: str, names: Path) -> None:
    train = notes(*["Anna Puig viene con Pere", "sin fiebre ni tos hoy"] * 20)
    whole = fitted(kind, train, names, label="NAME")
    part = fitted(kind, train, names, classes=("given",), label="NAME")
    assert whole.labels == part.labels == ("O", "B-NAME", "I-NAME")
    assert names_in(whole, "Anna Puig", "Pere y Torre")[0] == ["Anna Puig"]
    assert names_in(part, "Anna Puig", "Pere y Torre") == [["Anna"], ["Pere"]]


def test_counts_of_a_file_are_as_good_as_those_of_the_notes(kind, synthetic, tmp_path) -> None:
    documents = [*synthetic_notes(800, random_state=4)]
    count_words(batches_of(documents)).save(tmp_path / "words.parquet")
    counted = fitted(kind, notes("nada"), CENSUS, counts=str(tmp_path / "words.parquet"))
    given = fitted(kind, synthetic, CENSUS)
    assert given.tag(synthetic).tags.any()
    for tagger in (counted, given):
        tagger.save(tmp_path / "model" / str(id(tagger)))
    one, other = (tmp_path / "model" / str(id(tagger)) for tagger in (counted, given))
    for path in other.glob("*.npy"):
        assert (one / path.name).read_bytes() == path.read_bytes()
    assert same(counted.tag(synthetic, detail="token"), given.tag(synthetic, detail="token"))


def test_without_words_there_is_nothing_to_compare(kind: str, names: Path, tmp_path: Path) -> None:
    for train in (notes(), notes("", " ")):
        with pytest.raises(TrainingError, match="the notes contain no words"):
            fitted(kind, train, names)
    count_words(batches_of([Document("a", " ")])).save(tmp_path / "words.parquet")
    with pytest.raises(TrainingError, match="the notes contain no words"):
        fitted(kind, notes("Anna"), names, counts=str(tmp_path / "words.parquet"))


def test_dictionaries_of_others_are_told(names: Path) -> None:
    with pytest.raises(TrainingError, match="none of the dictionary's words occurs in the notes"):
        fitted("divergence", notes("sin fiebre ni tos", "12"), names)
    with pytest.raises(TrainingError, match="borne by 501 people or more"):
        fitted("dictionary", notes("Anna"), names, bearers=501)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"counts": "no.parquet"}, "no.parquet is not a file of word counts"),
        ({"classes": ("town",)}, "no class town in the gazetteer; it has given, surname"),
    ],
)
def test_what_cannot_be_read_is_told(kind, names, options, message) -> None:
    with pytest.raises(InputError, match=message):
        fitted(kind, notes("Anna"), names, **options)
    with pytest.raises(InputError, match=r"gone\.parquet does not exist"):
        fitted(kind, notes("Anna"), names, names.with_name("gone.parquet"))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("divergence", {"names": ()}, "names is empty"),
        ("divergence", {"label": ""}, "expected the name of a class"),
        ("dictionary", {"label": "A\nPERSON"}, "expected the name of a class"),
        ("dictionary", {"not_names": ("",)}, 'not_names names "": expected paths of gazetteers'),
        ("lists", {"cue_words": ("",)}, 'cue_words names "": expected paths of gazetteers'),
        ("lists", {"label": "A\tB"}, r"^label = 'A\\tB': expected the name of a class"),
        ("lists", {"place_labels": {"street": "A\x85"}}, "place_labels.street = .*: expected the"),
        ("lists", {"label": "", "place_label": ""}, "neither people nor places would be tagged"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(kind, options, message) -> None:
    with pytest.raises(InputError, match=message):
        OPTIONS[kind](**{"names": ("a",), **options})


@pytest.mark.parametrize("kind", KINDS)
def test_an_unfitted_tagger_does_nothing(kind, trained, tmp_path) -> None:
    tagger = make_tagger(kind, OPTIONS[kind](names=(CENSUS,)))
    for work in (lambda: tagger.tag(notes("Anna")), lambda: tagger.save(tmp_path)):
        with pytest.raises(ValueError, match=r"has not been (fitted|trained)"):
            work()
    with pytest.raises(InputError, match="there is no measure"):
        trained(kind).tag(notes("a"), measure="x")


# Folders


def test_saved_and_loaded_it_tags_alike(synthetic, trained, saved) -> None:
    first, again = trained(saved.name), load_tagger(saved)
    assert type(again) is KINDS[saved.name]
    assert (again.labels, again.training) == (first.labels, None)
    lists = ("names", "blocked", "places", "cue_words")
    own = {name: getattr(first.options, name) for name in lists if hasattr(first.options, name)}
    assert replace(again.options, **own) == first.options
    for detail in ("token", "entity", "labels"):
        one, other = (tagger.tag(synthetic, detail=detail) for tagger in (first, again))
        assert same(one, other)
        for name in ("marginals", "entity_probabilities"):
            if getattr(one, name) is not None:
                assert (getattr(one, name) == getattr(other, name)).all()
    again.save(saved.with_name("copy"))
    for path in saved.iterdir():
        assert (saved.with_name("copy") / path.name).read_bytes() == path.read_bytes()
    with pytest.raises(InputError, match="holds a model of another kind; expected"):
        CRFTagger.load(saved)


def test_a_model_needs_its_dictionaries_no_more(kind, names, make_gazetteer, tmp_path) -> None:
    make_gazetteer(("x", "y", 1)).save(tmp_path / "other.parquet")
    count_words(batches_of([Document("a", "Anna Puig ve")] * 3)).save(tmp_path / "words.parquet")
    options: dict[str, Any] = {"counts": str(tmp_path / "words.parquet")}
    if kind == "dictionary":
        options["not_names"] = (str(tmp_path / "other.parquet"),)
    tagger = fitted(kind, notes("nada"), names, **options)
    tagger.save(tmp_path / "model")
    for path in tmp_path.glob("*.parquet"):
        path.unlink()
    assert str(tmp_path) not in (tmp_path / "model" / "model.json").read_text()
    again = load_tagger(tmp_path / "model")
    text = notes("Anna Puig ve", "la casa")
    assert same(tagger.tag(text, detail="token"), again.tag(text, detail="token"))
    assert again.tag(text).tags.any()


@pytest.mark.parametrize("kind", KINDS)
def test_no_word_is_spelled_in_the_folder(kind: str, names: Path, tmp_path: Path) -> None:
    tagger = fitted(kind, notes("Anna Puig ve", "Torre", "Xyzabeitia secretísimo"), names)
    tagger.save(tmp_path / "model")
    words = ["xyzabeitia", "secretísimo", *(["anna", "puig", "torre"] if kind != "lists" else [])]
    for path in (tmp_path / "model").iterdir():
        content = path.read_bytes().lower()
        for word in words:  # some of which are in the public lists of places
            for encoding in ("utf-8", "utf-16-le", "utf-32-le"):
                assert word.encode(encoding) not in content
