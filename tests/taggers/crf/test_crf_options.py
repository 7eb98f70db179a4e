"""What options of a CRF say of their files, streams and capabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import InputError
from gazetteers.gazetteer import Gazetteer
from taggers.crf import CRFOptions, CRFTagger
from tests.taggers.conftest import plain

MakeGazetteer = Callable[..., Gazetteer]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            plain(CRFOptions, streams=("heder",)),
            'there is no stream or feature "heder"; the streams are header, colon, patterns',
        ),
        (plain(CRFOptions, conjunctions=("a[0] form[1]",)), 'there is no stream or feature "a"'),
        (plain(CRFOptions, streams=("phrases[-1]",)), 'the stream "phrases" has no phrases: name'),
        (
            plain(CRFOptions, conjunctions=("phrases form",)),
            'the stream "phrases" has no phrases: name',
        ),
        (plain(CRFOptions, clusters="/nowhere"), "/nowhere"),
        (
            plain(CRFOptions, clusters="auto", clusterings=("digits-w1-k16", "lower-w5-k128[0]")),
            'clusters = "auto" has no clustering lower-w5-k128; it has digits-w1-k16, ',
        ),
        (plain(CRFOptions, names=("/nowhere",)), "/nowhere"),
        (plain(CRFOptions, phrases=("/nowhere",)), "/nowhere"),
    ],
)
def test_what_is_missing_is_named_before_training(options: CRFOptions, message: str) -> None:
    with pytest.raises(InputError) as caught:
        options.check()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gazetteers_are_files_and_builtin_lists_are_not(make_gazetteer, tmp_path) -> None:
    path = tmp_path / "names.parquet"
    make_gazetteer(("anna", "given", 50)).save(path)
    options = plain(CRFOptions, names=("census-es", str(path)), phrases=(str(path), "blocking"))
    assert options.training_files() == {"names": [path], "phrases": [path]}
    assert list(options.check()) == []
    assert plain(CRFOptions).training_files() == {}


def test_tokens_in_gazetteers_are_listed(make_gazetteer: MakeGazetteer, tmp_path: Path) -> None:
    """Words that are names by themselves, and whole phrases that are not blocked."""
    names, places = tmp_path / "names.parquet", tmp_path / "places.parquet"
    make_gazetteer(("anna", "given", 50), ("garcia de", "name", 9)).save(names)
    make_gazetteer(("sant pau", "HOSPITAL", 1), ("vic", "BLOCKED", 1)).save(places)
    text = "Anna García de Sant Pau , Vic y Sant"
    batch = make_batch([Document("a", text)], labelled=False)

    def listed(options: CRFOptions) -> list[str]:
        rows = zip(text.split(), options.listed(batch), strict=True)
        return [word for word, is_listed in rows if is_listed]

    assert plain(CRFOptions).listed(batch) is None
    assert listed(plain(CRFOptions, names=(str(names),))) == ["Anna"]
    assert listed(plain(CRFOptions, phrases=(str(places),))) == ["Sant", "Pau"]
    both = plain(CRFOptions, names=(str(names),), phrases=(str(places),))
    assert listed(both) == ["Anna", "Sant", "Pau"]


def test_automatic_clusters_are_those_of_the_run(tmp_path: Path) -> None:
    options = plain(
        CRFOptions,
        clusters="auto",
        clusterings=("digits-w1-k16[0]",),
        conjunctions=("digits-w1-k16[-1] digits-w1-k16[0]",),
    )
    assert options.training_files() == {}
    assert list(options.check()) == []
    assert options.with_embeddings(lambda: tmp_path) == replace(options, clusters=str(tmp_path))


def test_without_clusters_of_the_run_there_are_none() -> None:
    options = plain(
        CRFOptions, clusters="auto", clusterings=("digits-w1-k16",), cluster_choice="best"
    )
    assert options.with_embeddings(lambda: None) == plain(CRFOptions)


def test_outside_of_a_run_there_are_no_automatic_clusters() -> None:
    assert CRFTagger(plain(CRFOptions, clusters="auto")).options == plain(CRFOptions)
