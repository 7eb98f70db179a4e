"""Mentions are recognized and composed by their kind, and numbers keep their shape."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazetteers.gazetteer import Gazetteer
from gazetteers.grammar import Grammar
from gazetteers.term_lists import TermLists
from taggers.augmentation.kinds import Numbers, Places
from taggers.augmentation.mentions import parse_mentions

GRAMMAR = Grammar.read()
#: A name in the lists of streets and hospitals.
NAME = "(Sol|Luna|Mar|Norte|Sur|Estrella|Cometa|Lluna)"
texts = st.text("0123456789/-: a", max_size=14)


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=4), st.integers(0, 10**6))
def test_numbers_keep_their_shape_and_their_first_digit_not_zero(mentions, state) -> None:
    numbers = Numbers(mentions)
    for mention in mentions:
        for _ in range(3):
            text = numbers.replaced(mention, np.random.default_rng(state))
            assert re.sub("[0-9]", "9", text) == re.sub("[0-9]", "9", mention)
            for old, new in zip(re.findall(r"\d+", mention), re.findall(r"\d+", text), strict=True):
                assert old[0] == "0" or new[0] != "0"


def test_digits_are_mostly_those_seen_at_their_place() -> None:
    numbers = Numbers(["3/2014", "12/2013", "5/2019", "07/2011"])
    rng = np.random.default_rng(0)
    drawn = [numbers.replaced("3/2014", rng) for _ in range(1000)]
    years = Counter(text.split("/")[1][:2] for text in drawn)
    assert years["20"] > 500
    assert len(years) > 1  # but other digits occur
    assert all(text[0] != "0" for text in drawn)


def places_of(name: str, gazetteer: Gazetteer, mention: str) -> Places:
    lists = TermLists([gazetteer])
    parsed = parse_mentions([mention])[0]
    return Places(name, lists, lists.shares([parsed.term]), GRAMMAR)


def drawn(name: str, gazetteer: Gazetteer, mention: str) -> set[str]:
    """Return many mentions in place of one."""
    places, rng = places_of(name, gazetteer, mention), np.random.default_rng(0)
    (parsed,) = parse_mentions([mention])
    return {places.replacement(parsed, Numbers([mention]), rng) for _ in range(150)}


@pytest.mark.parametrize(
    ("name", "mention", "expected"),
    [
        ("street", "C/ Real, 12", rf"(C/|C\.|Cl\.|\w+|\w+\.) (de )?{NAME}, [1-9]\d"),
        ("street", "Calle 2 de Mayo nº 7 3º B", rf"\S+ (de )?{NAME} nº [1-9] [1-9]º B"),
        ("street", "Avda. de la Paz, s/n", rf"\S+ (de )?{NAME}, s/n"),
        ("street", "calle Real", rf"[A-Za-zç.]+/? (de )?{NAME}"),
        ("hospital", "HOSPITAL REAL", rf"\S+( UNIVERSITARIO| U\.)? {NAME.upper()}"),
        ("municipality", "PALMA DE MALLORCA", "(VIC|OLOT|PALMA DE MALLORCA)"),
    ],
)
def test_new_mentions_have_the_form_of_the_mention(
    small_gazetteer: Gazetteer, name: str, mention: str, expected: str
) -> None:
    texts = drawn(name, small_gazetteer, mention)
    assert len(texts) > 2
    assert [text for text in texts if not re.fullmatch(expected, text)] == []


def test_terms_are_likelier_than_names_with_a_head_and_others_are_none(small_gazetteer) -> None:
    for mention in parse_mentions(["Vic", "Calle", "C/ ,", "12", "Street"]):
        assert places_of("street", small_gazetteer, mention.text).likelihood(mention) == 0
    term, other = parse_mentions(["Hospital Estrella", "Hospital Quark"])
    places = places_of("hospital", small_gazetteer, term.text)
    assert places.likelihood(term) > 1000 * places.likelihood(other) > 0
