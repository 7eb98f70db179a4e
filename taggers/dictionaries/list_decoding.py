"""Decoding of people and places from symbols of words and from their frequencies.

The evidence for a town sums the log-odds of its word (`taggers.dictionaries.town_odds`) and of the
words before and after it. The certainty of a decision with log-odds z is
``tanh(|z| / 2)``: 0 where both outcomes are equally likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.ragged import offsets_of, ranges_of
from corpus.tags import TokenSpans
from taggers.dictionaries import place_grammar as grammar
from taggers.dictionaries.place_grammar import (
    CAPITALIZED,
    CODE,
    DASH,
    HYPHEN,
    LINE_END,
    MARKS,
    PLACE,
    POSTAL_CODE,
    STREET,
    SURNAME,
    TOWN,
    SymbolLines,
    Symbols,
    among,
    in_lower_case,
)

Classes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
#: How often each context of a word was found beside places, and beside other words.
Counts = Mapping[str, tuple[int, int]]

#: Classes of tokens: outside of all names, and of a person; other numbers are classes of places.
OUTSIDE, PERSON = -1, -2

#: What precedes and what follows words of the lists that name places, and how many of them are
#: places and how many are not, such as surnames. ``python benchmarks/census.py contexts`` counts
#: them in notes without annotation, by expectation maximization from the log-odds of the words.
BEFORE: Counts = {
    "nothing of these": (86, 82),
    "title": (1, 49),
    "origin": (956, 7),
    "before": (9, 2),
    "code": (279, 3),
    "place": (246, 2),
    "name": (2, 479),
    "colon": (1, 226),
}
BEHIND: Counts = {
    "nothing of these": (1480, 403),
    "name": (1, 437),
    "place": (95, 4),
}

#: The certainty of a name that a rule finds, and of a name without further evidence.
_CERTAIN, _DOUBTFUL = 1.0, 0.0


@dataclass(frozen=True, slots=True, eq=False)
class WordEvidence:
    """The properties of T word types.

    Parameters
    ----------
    symbols, people : ndarray of uint8, shape (T,)
        The symbols of `taggers.dictionaries.place_grammar`, and those for its grammar `PEOPLE`.
    kinds, towns : ndarray of int32, shape (T,)
        The class of place that a word begins, and the one that it names alone; -1 for none.
    odds : ndarray of float64, shape (T,)
        The log-odds of a place against a name of a person.
    divergence : ndarray of float64, shape (T,)
        The divergence from a name of a person; infinite for a word that is in no name.
    """

    symbols: Symbols
    people: Symbols
    kinds: npt.NDArray[np.int32]
    towns: npt.NDArray[np.int32]
    odds: Floats
    divergence: Floats


class _Place(NamedTuple):
    """A name of a place: its first and last place in the symbols, its class and its certainty."""

    first: int
    last: int
    kind: int
    certainty: float


class ListDecoder:
    """The decoding of the N tokens of a batch.

    Parameters
    ----------
    lines : SymbolLines
        The tokens by lines.
    words : WordEvidence
        The word types.
    phrases : TokenSpans
        The phrases of lists, with indices into `classes`.
    blocked : ndarray of bool, shape (N,)
        Which tokens cannot begin a name.
    thresholds : tuple of float
        The threshold of divergence, and the one after a word of a name.
    classes : sequence of str
        The classes of places.
    """

    def __init__(
        self,
        lines: SymbolLines,
        words: WordEvidence,
        phrases: TokenSpans,
        *,
        blocked: Flags,
        thresholds: tuple[float, float],
        classes: Sequence[str],
    ) -> None:
        self._lines, self._phrases, self._classes = lines, phrases, classes
        self._thresholds = thresholds
        self._symbols = lines.symbols(words.symbols)
        self._text = self._symbols.tobytes().decode("ascii")
        self._people = lines.symbols(words.people)
        self._divergence = lines.of_types(words.divergence, np.inf)
        self._kinds = lines.of_types(words.kinds, OUTSIDE)
        self._towns = lines.of_types(words.towns, OUTSIDE)
        self._odds = lines.of_types(words.odds, 0.0)
        self._blocked = lines.spread(blocked, True)
        self._marks = among(self._symbols, "".join({*MARKS.values(), DASH} - {"p"}))
        self._names = among(self._symbols, CAPITALIZED) & among(self._people, "NVW")

    def decode(self) -> tuple[Classes, Flags, Floats]:
        """Return the class of each token, whether it begins a name, and its certainty.

        Returns
        -------
        classes : ndarray of int64, shape (N,)
            An index of a class of places, `PERSON` or `OUTSIDE`.
        begins : ndarray of bool, shape (N,)
        certainty : ndarray of float64, shape (N,)
        """
        size = len(self._symbols)
        classes, begins, certainty = np.full(size, OUTSIDE), np.zeros(size, bool), np.ones(size)
        end = 0
        for place in sorted(self._places(certainty), key=lambda place: (place[0], -place[1])):
            if place.first <= end:
                continue
            end = place.last
            while self._marks[end]:  # a full stop after an abbreviation
                end -= 1
            classes[place.first : end + 1] = place.kind
            certainty[place.first : end + 1] = place.certainty
            begins[place.first] = True
        self._add_people(classes, begins, certainty)
        places = self._lines.places
        return classes[places], begins[places], certainty[places]

    def _places(self, certainty: Floats) -> list[_Place]:
        """Return places that may overlap; write the certainty of words that are not places."""
        places = self.places_of_rules()
        certain = self.covered(places)
        first, last, kinds, prior = self.candidates()
        placed = certain
        for _ in range(2):  # places support each other
            before, behind = self.contexts(first, last, placed)
            odds = prior + ODDS_BEFORE[before] + ODDS_BEHIND[behind]
            towns = odds > 0
            placed = certain.copy()
            placed[np.concatenate([first[towns], last[towns]])] = True
        sure = np.tanh(np.abs(odds) / 2)
        certainty[first[~towns]] = sure[~towns]
        columns = (first, last, kinds, sure)
        rows = zip(*(column[towns].tolist() for column in columns), strict=True)
        return [*places, *map(_Place._make, rows), *self.codes(placed)]

    def places_of_rules(self) -> list[_Place]:
        """Return the places that the grammar finds, and phrases that are not names of people."""
        street, unlisted = map(self._classes.index, (STREET, PLACE))
        places = [
            _Place(match.start(), match.end() - 1, street, _CERTAIN)
            for line in _lines_with(grammar.STREET_CUES, self._symbols)
            for match in grammar.STREETS.finditer(self._text, *line)
        ]
        for match in grammar.OTHER_PLACES.finditer(self._text):
            kind = int(self._kinds[match.start()])
            places.append(_Place(match.start(), match.end() - 1, kind, _CERTAIN))
        for match in grammar.ANNOUNCED_PLACES.finditer(self._text):
            sure = _DOUBTFUL if match["code"] is None else _CERTAIN
            places.append(_Place(match.start("place"), match.end("place") - 1, unlisted, sure))
        first, last, kinds = self._phrase_columns(~self._unsure)
        for start, end, kind in zip(first.tolist(), last.tolist(), kinds.tolist(), strict=True):
            number = grammar.HOUSE_NUMBER.match(self._text, end + 1) if kind == street else None
            places.append(_Place(start, number.end() - 1 if number else end, kind, _CERTAIN))
        return places

    def covered(self, places: Iterable[_Place]) -> Flags:
        """Return which places of the symbols belong to some names of places."""
        covered = np.zeros(len(self._symbols), bool)
        for place in places:
            covered[place.first : place.last + 1] = True
        return covered

    def candidates(self) -> tuple[Indices, Indices, Classes, Floats]:
        """Return the first and last place, class and prior log-odds of towns and of phrases.

        Only phrases that may be names of people are included.
        """
        words = np.flatnonzero((self._towns >= 0) & ~self._blocked)
        first, last, kinds = self._phrase_columns(self._unsure)
        return (
            np.concatenate([words, first]),
            np.concatenate([words, last]),
            np.concatenate([self._towns[words], kinds]),
            np.concatenate([self._odds[words], np.zeros(len(first))]),
        )

    def _phrase_columns(self, chosen: Flags) -> tuple[Indices, Indices, Classes]:
        """Return the first and last place and the class of phrases of several words."""
        phrases, places = self._phrases, self._lines.places
        rows = chosen & (phrases.last > phrases.first) & ~self._blocked[places[phrases.first]]
        return places[phrases.first[rows]], places[phrases.last[rows]], phrases.classes[rows]

    @cached_property
    def _unsure(self) -> Flags:
        """Which phrases may be names of people."""
        phrases, places = self._phrases, self._lines.places
        first, last = places[phrases.first], places[phrases.last]
        is_name = np.isfinite(self._divergence) | among(self._people, "Pp")
        others = offsets_of(~is_name)
        only_names = others[last + 1] == others[first]
        street = self._classes.index(STREET)
        unsure: Flags = only_names & (phrases.classes != street)
        return unsure & ~among(self._symbols[first], "Hh")

    def codes(self, placed: Flags) -> Iterator[_Place]:
        """Yield the postal codes that are announced, or beside a place."""
        kind = self._classes.index(POSTAL_CODE)
        codes = np.flatnonzero(among(self._symbols, CODE))
        before, _ = self._neighbours(codes, -1, 3)
        behind, _ = self._neighbours(codes, 1, 1)
        announced = [match.start("code") for match in grammar.ANNOUNCED_CODES.finditer(self._text)]
        sure = placed[before] | np.isin(codes, announced)
        towns = among(self._symbols[behind], TOWN + SURNAME)
        for row in np.flatnonzero(sure | towns).tolist():
            code = int(codes[row])
            yield _Place(code, code, kind, _CERTAIN if sure[row] else _DOUBTFUL)

    def _neighbours(self, places: Indices, step: int, most: int) -> tuple[Indices, Indices]:
        """Return the next word in a direction (0 if none), and the number of marks passed."""
        near = places + step
        for _ in range(most):
            near = near + step * self._marks[near]
        is_word = ~self._marks[near] & ~among(self._symbols[near], LINE_END)
        return np.where(is_word, near, 0), np.abs(near - places) - 1

    def contexts(self, first: Indices, last: Indices, placed: Flags) -> tuple[Indices, Indices]:
        """Return what precedes and what follows words, as numbers in `BEFORE` and `BEHIND`.

        Parameters
        ----------
        first, last : ndarray of int64, shape (n,)
            The first and the last place of each.
        placed : ndarray of bool
            Which places belong to names of places.
        """
        near, gaps = self._neighbours(first, -1, 2)
        symbols, earlier = (
            in_lower_case(self._symbols[places]) for places in (near, np.maximum(near - 1, 0))
        )
        joined = (gaps == 0) & among(symbols, "ewpi")  # a single letter is VIU A in upper case
        before = {
            "title": among(symbols, "t") & (gaps <= 1),
            "origin": among(symbols, "o") | (joined & among(earlier, "o")),
            "before": joined & among(symbols, "e"),
            "code": among(symbols, CODE) & (gaps <= 1),
            "place": placed[near],
            "name": self._names[near] & (gaps == 0) & ~among(symbols, TOWN),
            "colon": among(self._symbols[first - 1], ":"),
        }
        after = last + 1
        beyond, _ = self._neighbours(last, 1, 2)
        separated = among(self._symbols[after], ",(:")
        hyphened = among(self._symbols[after], HYPHEN)
        behind = {
            "name": self._names[after] | (hyphened & self._names[beyond]),
            "place": separated & among(self._symbols[beyond], TOWN + SURNAME + CODE),
        }
        return _first_true(before, BEFORE), _first_true(behind, BEHIND)

    def _add_people(self, classes: Classes, begins: Flags, certainty: Floats) -> None:
        """Write the names of people outside of places, and the certainty of other words."""
        threshold, threshold_after = self._thresholds
        people, divergence = self._people.copy(), self._divergence
        blocked = self._blocked & among(people, "NVWR")
        people[blocked] |= 0x20
        people[classes != OUTSIDE] = ord("?")
        text = people.tobytes().decode("ascii")
        spans = [
            match.span()
            for line in _lines_with(grammar.PEOPLE_CUES, people)
            for match in grammar.PEOPLE.finditer(text, *line)
        ]
        first, end = np.array(spans, np.int64).reshape(-1, 2).T
        words, several = ranges_of(first, end - first), end - first > 1
        title, near = among(people, "t"), people[first - 1]
        titled = title[first - 1] | (title[first - 2] & (near != ord(LINE_END)))
        limits = np.full(len(classes), threshold_after)
        limits[first[~titled & among(people[first], "N")]] = threshold
        sure = np.clip(1 - divergence[words] / limits[words], 0, 1)
        sure[among(people[words], "PpI.")] = 1.0
        certainty[words] = np.where(np.repeat(several, end - first), 0.5 + 0.5 * sure, sure)
        certainty[first[~several & (near == ord("p"))]] = _DOUBTFUL  # prueba de Allen
        classes[words], begins[first] = PERSON, True
        # The closer other words of the lists are to the threshold, the less certain they are.
        limits = np.full(len(classes), threshold)
        limits[1:][classes[:-1] == PERSON] = threshold_after
        limits[:-1][among(people[1:], "N")] = threshold_after
        other = np.isfinite(divergence) & (divergence >= limits) & ~blocked & (classes == OUTSIDE)
        sure = 1 - limits[other] / divergence[other]
        certainty[other] = np.minimum(certainty[other], sure)


def _lines_with(cues: str, symbols: Symbols) -> Iterator[tuple[int, int]]:
    """Yield where the lines that have one of some symbols begin and end."""
    ends = np.flatnonzero(among(symbols, LINE_END))
    lines = np.unique(np.searchsorted(ends, np.flatnonzero(among(symbols, cues))))
    yield from zip((ends[lines - 1] + 1).tolist(), ends[lines].tolist(), strict=True)


def _first_true(tests: Mapping[str, Flags], names: Counts) -> Indices:
    """Return the number among `names` of the first test that is true; the first one has no test."""
    order = list(names)
    numbers: Indices = np.select([*tests.values()], [order.index(name) for name in tests], 0)
    return numbers


def log_odds(counts: Counts) -> Floats:
    """Return the log ratio of places to others, relative to the first row."""
    places, others = np.array([*counts.values()], float).T
    odds: Floats = np.log(places / others)
    odds -= odds[0]
    return odds


ODDS_BEFORE, ODDS_BEHIND = log_odds(BEFORE), log_odds(BEHIND)
