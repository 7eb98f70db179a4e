"""Decoding of people and places from symbols of words and from their frequencies.

The evidence for a town is a sum of log-odds: those of its word (`taggers.dictionaries.town_odds`)
and those of the words before and after it. The certainty of a decision with log-odds z is
``tanh(|z| / 2)``: 0 where both outcomes are equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.tags import TokenSpans
from taggers.dictionaries import place_grammar as grammar
from taggers.dictionaries.place_symbols import (
    CAPITALIZED,
    CODE,
    DASH,
    HYPHEN,
    LINE_END,
    MARKS,
    PLACE,
    POSTAL_CODE,
    RARE,
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
#: How often what precedes or follows a word was found beside places, and beside other words.
Counts = Mapping[str, tuple[int, int]]

#: Classes of tokens: outside of all names, and of a person; other numbers are classes of places.
OUTSIDE, PERSON = -1, -2

#: What precedes and what follows words of the lists that name places, and how many of them are
#: places and how many are not, such as surnames. ``python benchmarks/census.py contexts`` counts
#: them in notes without annotation, by expectation maximization from the log-odds of the words.
BEFORE: Counts = {
    "nothing of these": (66, 57),
    "title": (1, 49),
    "origin": (952, 11),
    "before": (9, 2),
    "towards": (1, 1),
    "particle after a name": (4, 9),
    "particle": (19, 19),
    "code": (279, 3),
    "place": (243, 3),
    "name": (2, 480),
    "colon": (1, 226),
}
BEHIND: Counts = {
    "nothing of these": (1471, 406),
    "name": (1, 437),
    "rare word": (4, 5),
    "place": (95, 4),
}
_ROUNDS = 10  # of expectation maximization

#: The certainty of a place that the grammar or a list finds; of one without a name of its own or
#: without a house number; and of one in lower case or in no list.
_CERTAIN, _LIKELY, _DOUBTFUL = 0.95, 0.85, 0.4
#: The certainty of a name of one word after a particle (``prueba de Allen``) is multiplied by this.
_EPONYM = 0.4
#: The certainty of a rare word within a name, before it is raised as that of all its words.
_RARE_WORD = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class WordEvidence:
    """What is known of T word types.

    Parameters
    ----------
    symbols, people : ndarray of uint8, shape (T,)
        The symbols of `taggers.dictionaries.place_symbols`, and those for the grammar `PEOPLE` of
        `taggers.dictionaries.place_grammar`.
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
        """Return places that may overlap; write the certainty of words that are no places."""
        listed, ambiguous = self._listed()
        found = [*self._grammatical(), *listed]
        certain = np.zeros(len(self._symbols), bool)
        for place in found:
            certain[place.first : place.last + 1] = True
        first, last, kinds, prior = self.candidates(ambiguous)
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
        return [*found, *map(_Place._make, rows), *self._codes(placed)]

    def count_contexts(self) -> list[dict[str, tuple[int, int]]]:
        """Return `BEFORE` and `BEHIND` as the lists and these documents alone show them.

        Each round weights the contexts by the odds of the round before; at first, they are all 0.
        """
        certain = np.zeros(len(self._symbols), bool)
        for place in (*self._grammatical(), *self._listed()[0]):
            certain[place.first : place.last + 1] = True
        words = np.flatnonzero((self._towns >= 0) & ~self._blocked & ~certain)
        odds = prior = self._odds[words]
        counts = [BEFORE, BEHIND]
        for _ in range(_ROUNDS):
            placed = certain.copy()
            placed[words[odds > 0]] = True
            for code in self._codes(placed):
                placed[code.first] = True
            places, odds = 1 / (1 + np.exp(-odds)), prior
            for row, numbers in enumerate(self.contexts(words, words, placed)):
                names = list(counts[row])
                table = [
                    np.rint(np.bincount(numbers, weights, len(names)) + 1).astype(int).tolist()
                    for weights in (places, 1 - places)
                ]
                counts[row] = dict(zip(names, zip(*table, strict=True), strict=True))
                odds = odds + log_odds(counts[row])[numbers]
        return [dict(table) for table in counts]

    def candidates(self, phrases: TokenSpans) -> tuple[Indices, Indices, Classes, Floats]:
        """Return the first and last place, class and prior log-odds of towns and of phrases."""
        words, places = np.flatnonzero((self._towns >= 0) & ~self._blocked), self._lines.places
        return (
            np.concatenate([words, places[phrases.first]]),
            np.concatenate([words, places[phrases.last]]),
            np.concatenate([self._towns[words], phrases.classes]),
            np.concatenate([self._odds[words], np.zeros(len(phrases.first))]),
        )

    def _grammatical(self) -> Iterator[_Place]:
        """Yield the places that the grammar finds."""
        street, unlisted = map(self._classes.index, (STREET, PLACE))
        for match in grammar.STREETS.finditer(self._text):
            sure = _CERTAIN if match["numbered"] else _DOUBTFUL if match["lower"] else _LIKELY
            yield _Place(match.start(), match.end() - 1, street, sure)
        for match in grammar.OTHER_PLACES.finditer(self._text):
            kind = int(self._kinds[match.start()])
            sure = _LIKELY if match["modified"] else _CERTAIN
            yield _Place(match.start(), match.end() - 1, kind, sure)
        for match in grammar.ANNOUNCED_PLACES.finditer(self._text):
            sure = _LIKELY if match["code"] is not None else _DOUBTFUL
            yield _Place(match.start("place"), match.end("place") - 1, unlisted, sure)

    def _listed(self) -> tuple[list[_Place], TokenSpans]:
        """Return phrases of lists, with house numbers, and those that may be names of people."""
        phrases, street = self._phrases, self._classes.index(STREET)
        first, last = self._lines.places[phrases.first], self._lines.places[phrases.last]
        is_name = np.isfinite(self._divergence) | among(self._people, "Pp")
        others = np.concatenate([[0], np.cumsum(~is_name)])
        unsure = (others[last + 1] == others[first]) & (phrases.classes != street)
        unsure &= ~among(self._symbols[first], "Hh")
        several, places = last > first, []
        for row in np.flatnonzero(several & ~unsure).tolist():
            end, kind = int(last[row]), int(phrases.classes[row])
            number = grammar.HOUSE_NUMBER.match(self._text, end + 1) if kind == street else None
            end = number.end() - 1 if number else end
            places.append(_Place(int(first[row]), end, kind, _CERTAIN))
        rows = several & unsure
        return places, TokenSpans(phrases.first[rows], phrases.last[rows], phrases.classes[rows])

    def _codes(self, placed: Flags) -> Iterator[_Place]:
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
        symbols = in_lower_case(self._symbols[near])
        earlier = np.maximum(near - 1, 0)
        beside = gaps == 0
        joined = beside & among(symbols, "ewp")
        after_origin = joined & among(in_lower_case(self._symbols[earlier]), "o")
        before = {
            "title": among(symbols, "t") & (gaps <= 1),
            "origin": among(symbols, "o") | after_origin,
            "before": joined & among(symbols, "e"),
            "towards": joined & among(symbols, "w"),
            "particle after a name": joined & (self._names & ~placed)[earlier],
            "particle": joined,
            "code": among(symbols, CODE) & (gaps <= 1),
            "place": placed[near],
            "name": self._names[near] & beside & ~among(symbols, TOWN),
            "colon": among(self._symbols[first - 1], ":"),
        }
        after = last + 1
        beyond, _ = self._neighbours(last, 1, 2)
        separated = among(self._symbols[after], ",(:")
        hyphened = among(self._symbols[after], HYPHEN)
        behind = {
            "name": self._names[after] | (hyphened & self._names[beyond]),
            "rare word": among(self._symbols[after], RARE),
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
        for match in grammar.PEOPLE.finditer(text):
            name = slice(*match.span())
            titled = "t" in text[max(name.start - 2, 0) : name.start].rpartition(LINE_END)[2]
            limits = np.full(name.stop - name.start, threshold_after)
            if not titled and text[name.start] == "N":
                limits[0] = threshold
            sure = np.where(divergence[name] < limits, 1 - divergence[name] / limits, _RARE_WORD)
            sure[among(people[name], "PpI.")] = 1.0
            if titled or len(sure) > 1:
                sure = 0.5 + 0.5 * sure
            elif text[name.start - 1] == "p":
                sure *= _EPONYM
            classes[name], begins[name.start], certainty[name] = PERSON, True, sure
        # Other words of the lists are as uncertain as they are close to the threshold.
        limits = np.full(len(classes), threshold)
        limits[1:][classes[:-1] == PERSON] = threshold_after
        limits[:-1][among(people[1:], "N")] = threshold_after
        other = np.isfinite(divergence) & (divergence >= limits) & ~blocked & (classes == OUTSIDE)
        sure = 1 - limits[other] / divergence[other]
        certainty[other] = np.minimum(certainty[other], sure)


def _first_true(tests: Mapping[str, Flags], names: Counts) -> Indices:
    """Return the number among `names` of the first test that is true; the first one has no test."""
    order = list(names)
    numbers: Indices = np.select([*tests.values()], [order.index(name) for name in tests], 0)
    return numbers


def log_odds(counts: Counts) -> Floats:
    """Return the logarithm of the ratio of places to others, relative to that of the first row."""
    places, others = np.array([*counts.values()], float).T
    odds: Floats = np.log(places / others)
    odds -= odds[0]
    return odds


ODDS_BEFORE, ODDS_BEHIND = log_odds(BEFORE), log_odds(BEHIND)
