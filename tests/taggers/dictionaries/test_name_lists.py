"""Gazetteers by their paths, or by the names of those that come along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import InputError
from gazetteers.builtin import (
    BLOCKING,
    BUILTIN_LISTS,
    CENSUS,
    CUE_WORDS,
    PLACES,
    read_gazetteer,
)
from gazetteers.gazetteer import Gazetteer
from taggers.annotators import Phrases
from taggers.dictionaries.name_frequencies import read_names

MakeGazetteer = Callable[..., Gazetteer]


def borne(*paths: object, classes: tuple[str, ...] = ()) -> dict[str, list[int]]:
    """Return how often each word of dictionaries is borne, by class."""
    result = read_names([str(path) for path in paths], classes)
    return dict(zip(result.words, result.counts.tolist(), strict=True))


def test_lists_that_come_along_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a file of such a name is not looked at."""
    monkeypatch.chdir(tmp_path)
    for name in BUILTIN_LISTS:
        Path(name).write_text("something else")
    assert BUILTIN_LISTS == (CENSUS, PLACES, BLOCKING, CUE_WORDS)
    assert all(len(read_gazetteer(name)) for name in BUILTIN_LISTS)
    with pytest.raises(InputError, match="is not a gazetteer"):
        read_gazetteer(str(tmp_path / CENSUS))


def test_any_other_name_is_a_path(
    tmp_path: Path, make_gazetteer: MakeGazetteer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = make_gazetteer(("anna", "given", 20), ("puig", "surname", 3))
    made.save(Path("Census-es"))
    for path in ("Census-es", str(tmp_path / "Census-es")):
        assert read_gazetteer(path).table().equals(made.table())


@pytest.mark.parametrize("name", ["missing.parquet", "no/such/folder.parquet", "census-es.parquet"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    readers: list[Callable[[str], Any]] = [
        read_gazetteer,
        lambda path: read_names([path]),
        lambda path: read_names([CENSUS, path]),
        lambda path: Phrases.of_files([BLOCKING, path]),
    ]
    for reader in readers:
        with pytest.raises(InputError) as caught:
            reader(str(tmp_path / name))
        assert str(caught.value) == f"{tmp_path / name} does not exist; expected a gazetteer"


def test_names_of_several_gazetteers_are_put_together_and_added_up(
    tmp_path: Path, make_gazetteer: MakeGazetteer
) -> None:
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    make_gazetteer(("anna", "given", 20), ("puig", "surname", 3)).save(one)
    make_gazetteer(("anna", "given", 5), ("anna maria", "given", 2), ("puig", "x", 7)).save(other)
    assert borne(one) == {"anna": [20, 0], "puig": [0, 3]}
    together = {"anna": [27, 0, 0], "maria": [2, 0, 0], "puig": [0, 3, 7]}
    assert borne(one, other) == borne(other, one) == together
    assert borne(one, other, classes=("x", "given")) == {
        "anna": [0, 27],
        "maria": [0, 2],
        "puig": [7, 0],
    }
    # Named twice, it counts twice.
    assert borne(one, one) == {"anna": [40, 0], "puig": [0, 6]}


def test_a_class_may_be_in_one_of_them_and_must_be(
    tmp_path: Path, make_gazetteer: MakeGazetteer
) -> None:
    path = tmp_path / "more.parquet"
    make_gazetteer(("xkcd", "alias", 5)).save(path)
    assert borne(CENSUS, path, classes=("alias",)) == {"xkcd": [5]}
    with pytest.raises(InputError, match="there is no class alias in the gazetteer; it has given"):
        read_names([CENSUS], ("alias",))
