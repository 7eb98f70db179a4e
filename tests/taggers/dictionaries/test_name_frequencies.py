"""Magnitudes of frequencies among names, as features of words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.errors import InputError
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer
from taggers.dictionaries.name_frequencies import NameFrequencies
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
def test_magnitudes_are_how_often_10_bearers_are_tripled(
    make_gazetteer: MakeGazetteer, bearers: list[int]
) -> None:
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
def test_a_class_that_no_feature_can_be_named_after_is_told(
    make_gazetteer: MakeGazetteer, name: str
) -> None:
    with pytest.raises(InputError) as caught:
        NameFrequencies.from_frequencies(
            Frequencies.from_gazetteer(make_gazetteer(("rosa", name, 3)))
        )
    assert str(caught.value).startswith("names: ")
    assert "gazetteer import --class" in str(caught.value)
