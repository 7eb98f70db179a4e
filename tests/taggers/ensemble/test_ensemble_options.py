"""Options of the ensemble, which delegate to those of its members."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corpus.batch import Batch
from corpus.errors import InputError
from gazetteers.builtin import CENSUS, PLACES
from taggers import CRFOptions
from taggers.ensemble.ensemble_options import EnsembleOptions, Member
from tests.taggers.conftest import plain

SMALL = plain(CRFOptions, features=("form",), window=1)


def of(*options: CRFOptions) -> EnsembleOptions:
    return EnsembleOptions(tuple(Member("crf", chosen) for chosen in options))


def fail() -> Path:
    raise AssertionError("nothing is needed")


def test_capabilities_are_those_of_all_members(plugin: type) -> None:
    everything = {"entity_probabilities", "document_weights", "partial_tags"}
    assert of(SMALL, SMALL).capabilities == everything
    crfsuite = plain(CRFOptions, trainer="crfsuite")
    assert of(SMALL, crfsuite).capabilities == {"entity_probabilities"}
    # Which an ensemble computes from marginals, whatever its members do.
    options = EnsembleOptions((Member("crf", SMALL), Member("random")))
    assert options.members[1].resolved().capabilities == frozenset()
    assert options.capabilities == {"entity_probabilities"}


def test_files_and_errors_name_the_member(tmp_path: Path) -> None:
    lists = {"phrases": (str(tmp_path / "a.parquet"),), "names": (CENSUS,)}
    options = of(SMALL, plain(CRFOptions, **lists))
    assert options.training_files() == {"members[2].phrases": [tmp_path / "a.parquet"]}
    with pytest.raises(InputError, match=r"^members\[2\]: .*a\.parquet"):
        options.check()


def test_members_with_the_same_options_are_checked_once(make_embedding, tmp_path) -> None:
    make_embedding(tmp_path / "w1", {"de": [1, 0], "la": [0, 1]}, clusters={2: [0, 1]})
    with_clusters = plain(CRFOptions, clusters=str(tmp_path))
    options = of(SMALL, with_clusters, with_clusters)
    assert [warning.of for warning in options.check()] == ["a cluster in w1 (members[2])"]
    assert set(options.training_files()) == {"members[2].clusters", "members[3].clusters"}


def test_embeddings_are_trained_once(tmp_path: Path) -> None:
    calls = []

    def train() -> Path:
        calls.append(1)
        return tmp_path

    automatic = plain(CRFOptions, clusters="auto")
    actual = of(automatic, SMALL, automatic).with_embeddings(train)
    assert actual == of(
        plain(CRFOptions, clusters=str(tmp_path)), SMALL, plain(CRFOptions, clusters=str(tmp_path))
    )
    assert len(calls) == 1
    assert of(SMALL).with_embeddings(fail) == of(SMALL)
    assert of(SMALL).with_word_counts(fail) == of(SMALL)


def test_a_list_model_is_fitted_once(tmp_path: Path) -> None:
    calls = []

    def fit() -> Path:
        calls.append(1)
        return tmp_path

    automatic, listed = (plain(CRFOptions, list_model=name) for name in ("auto", str(tmp_path)))
    assert of(automatic, SMALL, automatic).with_list_model(fit) == of(listed, SMALL, listed)
    assert len(calls) == 1
    assert of(SMALL).with_list_model(fail) == of(SMALL)


def test_listed_tokens_are_those_of_any_member(train: Batch) -> None:
    names, places = plain(CRFOptions, names=(CENSUS,)), plain(CRFOptions, phrases=(PLACES,))
    one, two, both = (chosen.listed(train) for chosen in (names, places, of(names, SMALL, places)))
    assert np.array_equal(both, one | two)
    assert one.any() and two.any() and not np.array_equal(one, two)
    assert of(SMALL).listed(train) is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((), "members is empty"),
        ((Member("crf", SMALL), Member("ensemble", EnsembleOptions())), r"members\[2\]: .*itself"),
        ((Member("no", SMALL),), r'members\[1\]: kind = "no" is unknown'),
        ((Member("a.b:C", SMALL),), r'members\[1\]: kind = "a\.b:C" is an import path'),
        ((Member("divergence", SMALL),), r"members\[1\]: .*needs no annotated documents"),
    ],
)
def test_what_cannot_be_a_member_is_refused(members: tuple[Member, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EnsembleOptions(members)
    with pytest.raises(InputError, match=message):
        bare = EnsembleOptions(tuple(Member(member.kind) for member in members))
        bare.capabilities  # noqa: B018 - the kinds of bare members are looked up when needed
