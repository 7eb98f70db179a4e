"""The log-odds of places, compared with the formula word by word; rare and common words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.dictionaries.divergence import WordDivergence
from taggers.dictionaries.town_odds import TownOdds, common_words
from taggers.dictionaries.word_usage import CASES, NoteWords, Uses, case_numbers, name_share

TOWNS = (("toledo", 80), ("mora", 10), ("santa cruz", 30), ("alta", 1))
COUNTRIES = (("chile", 1), ("cuba", 1))
PEOPLE = (("toledo", 20), ("mora", 400), ("anna", 500), ("pere", 300))
COUNTS = {"Toledo": 9, "Mora": 3, "Chile": 2, "Alta": 4, "alta": 50, "Anna": 8, "y": 900}
SMOOTHING = 0.3


@pytest.mark.parametrize("smoothing", [SMOOTHING, 2.0])
def test_log_odds_are_those_of_the_formula(make_gazetteer, smoothing) -> None:
    rows = [(term, "town", count) for term, count in TOWNS]
    rows += [(term, "country", count) for term, count in COUNTRIES]
    places = Frequencies.from_gazetteer(make_gazetteer(*rows), ("town", "country"))
    names = Frequencies.from_gazetteer(make_gazetteer(*((term, "name", n) for term, n in PEOPLE)))
    types, counts = tuple(COUNTS), np.array([*COUNTS.values()])
    notes = NoteWords(types, counts, np.zeros(len(types), np.int32))
    persons = WordDivergence.from_uses(names, Uses.from_notes(names, notes), smoothing)
    model = TownOdds.from_counts(places, names, persons, notes, smoothing)

    tokens = sum(COUNTS.values())
    totals = {"town": 80 + 10 + 30 + 30 + 1, "country": 2}  # each word of a name counts
    shares = {term: count / totals["town"] for term, count in TOWNS if " " not in term}
    shares |= {term: count / totals["country"] for term, count in COUNTRIES}
    capital = np.array([COUNTS.get(term.title(), 0) for term in shares])
    scale = max(name_share(np.array([*shares.values()]), capital, tokens), 1e-4)
    bearers = sum(count for _, count in PEOPLE)
    for term, share in shares.items():
        classes, odds = model.classes_and_odds(word_hashes([term]), case_numbers([term.title()]))
        place = share * scale * tokens + smoothing
        person = dict(PEOPLE).get(term, 0) / bearers * persons.scales.sum() * tokens + smoothing
        expected = math.log(place / person)
        expected -= math.log(1 + 0.05 * COUNTS.get(term, 0) / place)
        assert odds.item() == pytest.approx(expected)
        assert classes.item() == (term in dict(COUNTRIES))
    for word in ("santa", "cruz", "anna"):  # only within a longer name, and in no list
        classes, odds = model.classes_and_odds(word_hashes([word]), case_numbers([word.title()]))
        assert (classes.item(), odds.item()) == (-1, -math.inf)
    penalties = [
        model.classes_and_odds(word_hashes(["toledo"]), np.array([case]))[1].item()
        for case in range(len(CASES))
    ]
    assert np.argmax(penalties) == CASES.index("first")


def test_common_words_occur_in_lower_case_or_often() -> None:
    types = ("Fiebre", "fiebre", "Zurbarán", "Servicio", "URGENCIAS", "12")
    counts = np.array([2, 9, 3, 40, 1, 7])
    common = common_words(NoteWords(types, counts, np.arange(6, dtype=np.int32)), 10.0)
    words = ("Fiebre", "Zurbarán", "Servicio", "Urgencias", "Nuevo", "12")
    rows = common.rows(word_hashes(fold(words)))
    assert [word for word, row in zip(words, rows, strict=True) if row >= 0] == [
        "Fiebre",
        "Servicio",
    ]
    assert common.patients[rows[[0, 2]]].tolist() == [1, 3]
