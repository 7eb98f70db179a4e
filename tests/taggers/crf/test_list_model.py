"""The CRF with the tags of a model of lists: what they tell, and what a model keeps of them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.batch import make_batch
from corpus.errors import InputError
from corpus.synthetic import synthetic_notes
from taggers import CRFOptions, CRFTagger, load_tagger, make_tagger
from taggers.dictionaries.dictionary_options import ListOptions
from taggers.model_folder import verify_model
from taggers.privacy.pruning import Pruning
from tests.taggers.conftest import plain
from tests.taggers.crf.conftest import fitted, marked, notes, right

SEED = ("{Antonio García López} acude con [C/ Olmos, 3] y fiebre", "sin fiebre ni tos en el campo")
OTHERS = (
    "[Avda. de Zurbarán, 80] es su domicilio, y no el campo",
    "acude con {Manuel Rodríguez Moreno}, sin tos",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the built-in lists, fitted to the words of synthetic notes."""
    folder = tmp_path_factory.mktemp("lists") / "model"
    words = make_batch(list(synthetic_notes(300, random_state=0)), labelled=False)
    make_tagger("lists", ListOptions()).fit(words, rng=np.random.default_rng(0)).save(folder)
    return folder


def options(folder: Path | str) -> CRFOptions:
    least = plain(CRFOptions, features=("has_digit",), window=0, streams=(), conjunctions=())
    return replace(least, list_model=str(folder))


def test_words_that_were_never_learned_are_known_by_the_lists(folder: Path) -> None:
    seed, others = notes(*SEED), notes(*OTHERS)
    assert right(fitted(seed, options("")), others) < 1
    assert right(fitted(seed, options(folder)), others) == 1


@pytest.mark.parametrize("path_type", [str, Path])
def test_a_model_has_its_list_model(folder: Path, tmp_path: Path, path_type: Any) -> None:
    tagger = fitted(notes(*SEED), replace(options(folder), list_model=path_type(folder)))
    before = tagger.tag(notes(*OTHERS), detail="labels")
    tagger.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.tag(notes(*OTHERS), detail="labels").marginals, before.marginals
    )
    assert str(folder).encode() not in (tmp_path / "model" / "model.json").read_bytes()
    assert verify_model(tmp_path / "model") > verify_model(folder)
    loaded.save(tmp_path / "again")
    assert verify_model(tmp_path / "again") == verify_model(tmp_path / "model")


def test_a_list_model_of_another_model_is_refused(folder: Path, tmp_path: Path) -> None:
    fitted(notes(*SEED), options(folder)).save(tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / "list_tags")
    make_tagger("lists", ListOptions()).fit(notes(*OTHERS), rng=np.random.default_rng(0)).save(
        tmp_path / "model" / "list_tags"
    )
    for read in (load_tagger, verify_model):
        with pytest.raises(InputError, match=r"list_tags/model\.json is damaged"):
            read(tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / "list_tags")
    with pytest.raises(InputError, match=r"list_tags is damaged: it lacks the file model\.json"):
        load_tagger(tmp_path / "model")


def test_an_exported_model_tags_by_a_pruned_list_model(folder: Path, tmp_path: Path) -> None:
    documents = [marked(str(number), text) for number, text in enumerate((*SEED, *SEED))]
    train = make_batch(documents, labelled=True, classes=["PERSON", "LOCATION"])
    pruning = Pruning.from_choices(2, hash_names=False, keep=[])
    reduced, lists = (
        model.pruned(pruning) for model in (fitted(train, options(folder)), load_tagger(folder))
    )
    assert lists.contents() != load_tagger(folder).contents()
    parts = {f"{name} (list model)": size for name, size in lists.contents().items()}
    assert parts.items() <= reduced.contents().items()
    reduced.save(tmp_path / "reduced")
    assert right(load_tagger(tmp_path / "reduced"), train) == 1


def test_automatic_list_models_are_those_of_the_run(folder: Path) -> None:
    automatic = options("auto")
    assert automatic.training_files() == {}
    assert list(automatic.check()) == []
    assert automatic.with_list_model(lambda: folder) == options(folder)
    assert automatic.with_list_model(lambda: None) == options("")
    assert CRFTagger(automatic).options == options("")  # outside of a run
    assert options(folder).with_list_model(lambda: pytest.fail("is named")) == options(folder)


def test_templates_of_a_list_model_that_a_run_lacks_are_left_out() -> None:
    named = replace(
        options("auto"),
        streams=("list_tags[-2..2]", "header"),
        conjunctions=("list_tags[0] header", "header colon"),
    ).with_list_model(lambda: None)
    assert (named.streams, named.conjunctions) == (("header",), ("header colon",))
    assert not named.check()


def test_a_folder_of_another_kind_is_refused(folder: Path, tmp_path: Path) -> None:
    assert list(options(folder).check()) == []
    with pytest.raises(InputError, match="is not the folder of a model"):
        options(tmp_path).check()
    fitted(notes(*SEED), options("")).save(tmp_path / "crf")
    with pytest.raises(InputError, match='model of another kind; expected "lists"'):
        options(tmp_path / "crf").check()
    unnamed = replace(options(""), streams=("list_tags",))
    with pytest.raises(InputError, match='no stream or feature "list_tags"'):
        unnamed.check()
