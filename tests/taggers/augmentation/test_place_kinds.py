"""Places are recognized by their first and last words, and composed anew."""

import re

import numpy as np
import pytest

from gazetteers.gazetteer import Gazetteer
from taggers.augmentation.frames import NumberSources, fill
from taggers.augmentation.grammar import Grammar
from taggers.augmentation.letter_case import LetterCase
from taggers.augmentation.mentions import parse_mentions
from taggers.augmentation.place_kinds import Places
from taggers.augmentation.term_lists import TermLists

GRAMMAR = Grammar.read()
#: A name that fills a street or a hospital, in title case.
NAME = (
    r"(Sol|Luna|Mar|Norte|Sur|Estrella|Cometa|Lluna|Vic|Olot|Palma de Mallorca"
    r"|(Ana|Pau|Maria Carmen) (Puig|Soler|Vila))"
)


def places_of(name: str, gazetteer: Gazetteer, mention: str) -> Places:
    lists = TermLists([gazetteer])
    parsed = parse_mentions([mention])[0]
    return Places(name, lists, lists.shares([parsed.term]), GRAMMAR)


def drawn(name: str, gazetteer: Gazetteer, mention: str) -> set[str]:
    """Return many mentions in place of one, the most frequent frames first."""
    places = places_of(name, gazetteer, mention)
    (alternatives,) = places.frames(parse_mentions([mention]), NumberSources([mention]))
    frames = alternatives.frames
    assert len(alternatives.weights) == len(frames) and min(alternatives.weights) > 0
    case = LetterCase(GRAMMAR.particles)
    return set(fill(frames, [40] * len(frames), np.random.default_rng(0), case))


@pytest.mark.parametrize(
    ("name", "mention", "expected"),
    [
        ("street", "C/ Real, 12", rf"(C/|C\.|Cl\.|\w+|\w+\.) (de )?{NAME}, [1-9]\d"),
        ("street", "Calle 2 de Mayo nº 7 3º B", rf"\S+ (de )?{NAME} nº [1-9] [1-9]º B"),
        ("street", "Avda. de la Paz, s/n", rf"\S+ (de )?{NAME}, s/n"),
        ("street", "calle Real", rf"[a-zç.]+/? (de )?{NAME}"),
        ("street", "Plaza Real, bajo", rf"\S+ (de )?{NAME}, bajo"),
        ("street", "12 Baker Street", rf"[1-9]\d {NAME} Street"),
        ("street", "Baker St., 7", rf"{NAME} St\., [1-9]"),
        ("hospital", "Hospital Real.", rf"\S+( Universitario| U\.)? {NAME}\."),
        ("hospital", "HOSPITAL REAL", rf"\S+( UNIVERSITARIO| U\.)? {NAME.upper()}"),
        ("municipality", "Vic", "(Vic|Olot|Palma de Mallorca)"),
        ("municipality", "PALMA DE MALLORCA", "(VIC|OLOT|PALMA DE MALLORCA)"),
    ],
)
def test_new_mentions_have_the_form_of_the_mention(
    small_gazetteer: Gazetteer, name: str, mention: str, expected: str
) -> None:
    found = drawn(name, small_gazetteer, mention)
    assert len(found) > 2
    wrong = [each for each in found if not re.fullmatch(expected, each)]
    assert wrong == []


def test_other_heads_are_written_as_in_notes(small_gazetteer: Gazetteer) -> None:
    heads = {each.split()[0] for each in drawn("street", small_gazetteer, "C/ Real")}
    assert {"C/", "Calle", "Plaza"} <= heads
    assert heads & {"Avda.", "Av.", "Avd.", "Pl.", "Pza.", "Plza."}


@pytest.mark.parametrize(
    ("name", "mention"),
    [
        ("street", "Vic"),
        ("street", "Calle"),
        ("street", "C/ ,"),
        ("street", "12"),
        ("street", "Street"),
    ],
)
def test_other_mentions_are_no_streets(small_gazetteer: Gazetteer, name: str, mention: str) -> None:
    places = places_of(name, small_gazetteer, mention)
    assert places.likelihood(parse_mentions([mention])[0]) == 0


def test_terms_are_likelier_than_names_with_a_head(small_gazetteer: Gazetteer) -> None:
    term, other = parse_mentions(["Hospital Estrella", "Hospital Quark"])
    places = places_of("hospital", small_gazetteer, term.text)
    assert places.likelihood(term) > 1000 * places.likelihood(other) > 0
