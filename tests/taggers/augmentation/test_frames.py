"""Frames are filled as often as asked, and numbers keep their shape."""

import re
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from taggers.augmentation.frames import Joined, Members, NumberSources, Slot, fill
from taggers.augmentation.letter_case import LetterCase

CASE = LetterCase(frozenset({"de"}))
texts = st.text("0123456789/-: a", max_size=14)


def shape(text: str) -> str:
    return re.sub("[0-9]", "9", text)


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=4), st.integers(0, 10**6))
def test_numbers_keep_their_shape_and_their_first_digit_not_zero(
    mentions: list[str], state: int
) -> None:
    frames = [NumberSources(mentions).frame(each) for each in mentions]
    filled = fill(frames, [3] * len(frames), np.random.default_rng(state), CASE)
    assert len(filled) == 3 * len(mentions)
    for number, text in enumerate(filled):
        mention = mentions[number // 3]
        assert shape(text) == shape(mention)
        for old, new in zip(re.findall(r"\d+", mention), re.findall(r"\d+", text), strict=True):
            assert old[0] == "0" or new[0] != "0"


def test_digits_are_mostly_those_seen_at_their_place() -> None:
    sources = NumberSources(["3/2014", "12/2013", "5/2019", "07/2011"])
    drawn = fill([sources.frame("3/2014")], [1000], np.random.default_rng(0), CASE)
    years = Counter(text.split("/")[1][:2] for text in drawn)
    assert years["20"] > 500
    assert len(years) > 1  # but other digits occur
    assert all(text[0] != "0" for text in drawn)


def test_slots_are_filled_in_their_case_and_draws_are_not_shared() -> None:
    town = Members(["vic", "olot"])
    name = Joined([Members(["ana", "pau"]), Members(["de vila"])])
    frames = [
        ("en ", Slot(town, "upper"), " y ", Slot(town, "title")),
        (Slot(name, "after"), "."),
        (),
    ]
    filled = fill(frames, [200, 2, 1], np.random.default_rng(1), CASE)
    towns, names = Counter(filled[:200]), filled[200:202]
    assert set(towns) == {f"en {a} y {b}" for a in ("VIC", "OLOT") for b in ("Vic", "Olot")}
    assert min(towns.values()) > 25
    assert all(each in {"Ana de Vila.", "Pau de Vila."} for each in names)
    assert filled[202] == ""
