"""Magnitudes of frequencies among names, as features of words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.errors import InputError
from gazetteers.builtin import CENSUS
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer
from taggers.dictionaries.name_frequencies import NameFrequencies, read_names
from taggers.features.words import Words
from taggers.model_folder import ModelFiles, write_model

MakeGazetteer = Callable[..., Gazetteer]


def frequencies_of(gazetteer: Gazetteer) -> NameFrequencies:
    return NameFrequencies.from_frequencies(Frequencies.from_gazetteer(gazetteer))


def tripled(bearers: int) -> int:
    """Triple 10 bearers as long as there are not more than these."""
    times = 0
    while 10 * 3 ** (times + 1) <= bearers:
        times += 1
    return times


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=5))
@example([0, 1, 9, 10, 11, 29, 30, 31])
@example([10 * 3**times + more for times in range(24) for more in (-1, 0, 1)])
def test_magnitudes_are_how_often_10_bearers_are_tripled(make_gazetteer, bearers) -> None:
    words = [f"a{chr(97 + place // 26)}{chr(97 + place % 26)}" for place in range(len(bearers))]
    rows = [(word, "x", count) for word, count in zip(words, bearers, strict=True)]
    actual = NameFrequencies.from_frequencies(
        Frequencies.from_gazetteer(make_gazetteer(*rows))
    ).features()["frequency-x"]
    expected = [str(tripled(count)) if count else "" for count in bearers]
    assert actual(Words(words)) == expected


def test_there_is_a_feature_for_each_class(make_gazetteer: MakeGazetteer) -> None:
    names = frequencies_of(
        make_gazetteer(
            ("rosa", "given", 270),
            ("rosa", "surname", 12),
            ("de la rosa", "surname", 400),
            ("puig", "surname", 90),
        )
    )
    features = names.features()
    assert list(features) == list(names.names) == ["frequency-given", "frequency-surname"]
    words = Words(["Rosa", "ROSA", "rosa", "de", "la", "Puig", "Anna", "", "12"])
    assert features["frequency-given"](words) == ["3", "3", "3", *[""] * 6]
    # Nobody is called just de; Rosa is a part of the longer name, too.
    assert features["frequency-surname"](words) == ["3", "3", "3", "", "", "2", "", "", ""]
    assert features["frequency-given"](Words([])) == []


def test_written_and_read_they_say_the_same(make_gazetteer: MakeGazetteer, tmp_path: Path) -> None:
    rows = [("rosa", "given", 270), ("rosa", "surname", 12), ("peña", "surname", 30)]
    names = frequencies_of(make_gazetteer(*rows))
    assert not any(b"rosa" in content for content in names.files().values())
    write_model(tmp_path, {"kind": "crf", "names": names.classes}, names.files())
    again = NameFrequencies.from_model(ModelFiles(tmp_path, "crf"))
    words = Words(["Rosa", "Peña", "pena"])
    for name, feature in names.features().items():
        assert again.features()[name](words) == feature(words)


@pytest.mark.parametrize("name", ["given name", "a[0]", "a=b", "a:b", "a|b", ""])
def test_a_class_that_no_feature_can_be_named_after_is_told(make_gazetteer, name) -> None:
    with pytest.raises(InputError) as caught:
        NameFrequencies.from_frequencies(
            Frequencies.from_gazetteer(make_gazetteer(("rosa", name, 3)))
        )
    assert str(caught.value).startswith("names: ")
    assert "gazetteer import --class" in str(caught.value)


# Lists of names


def borne(*paths: object, classes: tuple[str, ...] = ()) -> dict[str, list[int]]:
    """Return how often each word of dictionaries is borne, by class."""
    names = read_names([str(path) for path in paths], classes)
    return dict(zip(names.words, names.counts.tolist(), strict=True))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "census-es.parquet")
    for paths in ([path], [CENSUS, path]):
        with pytest.raises(InputError) as caught:
            read_names(paths)
        assert str(caught.value) == f"{path} does not exist; expected a gazetteer"


def test_names_of_several_gazetteers_are_put_together_and_added_up(
    tmp_path: Path, make_gazetteer: MakeGazetteer
) -> None:
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    make_gazetteer(("anna", "given", 20), ("puig", "surname", 3)).save(one)
    make_gazetteer(("anna", "given", 5), ("anna maria", "given", 2), ("puig", "x", 7)).save(other)
    assert borne(one) == {"anna": [20, 0], "puig": [0, 3]}
    together = {"anna": [27, 0, 0], "maria": [2, 0, 0], "puig": [0, 3, 7]}
    assert borne(one, other) == borne(other, one) == together
    by_class = {"anna": [0, 27], "maria": [0, 2], "puig": [7, 0]}
    assert borne(one, other, classes=("x", "given")) == by_class
    assert borne(one, one) == {"anna": [40, 0], "puig": [0, 6]}  # named twice, it counts twice
    with pytest.raises(InputError, match="there is no class alias in the gazetteer; it has given"):
        read_names([CENSUS], ("alias",))
