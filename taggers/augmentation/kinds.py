"""The kinds of mentions: how likely a mention is of a kind, and what replaces it.

A class such as ``LOCATION`` has mentions of several kinds: towns, streets, postal codes. A frame is
a mention with open slots, which are filled with random text.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taggers.augmentation.grammar import Grammar, PlaceWords
from taggers.augmentation.letter_case import MIN_LETTERS, Case, case_of, in_case
from taggers.augmentation.mentions import Mention, has_letter, parse_mentions
from taggers.augmentation.term_lists import TermLists

#: The probability of a word that is in no list, of a particle and of an initial in a name, and of
#: each of the first two words after the first word of a place.
_UNLISTED, _PARTICLE, _INITIAL, _NAME_WORD = 1e-6, 0.05, 1e-3, 1e-5
#: The least share of the terms of a class that has a first word of the grammar.
_LEAST_HEAD = 0.01
#: The relative frequencies of a name of the lists, of one after which places are named, and of a
#: term with another first word, which is mostly written as in notes.
_LISTED, _FILLED, _OTHER_HEAD, _WRITTEN = 0.5, 0.25, 0.25, 0.7
#: The prior count of each digit at each place of a number.
_PRIOR = 0.1
_NUMBER = re.compile("[0-9]+")

#: Returns a random text.
Draw = Callable[[np.random.Generator], str]
#: The probability of each folded word and term in each class of the gazetteers.
Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a frame that is drawn, and its case."""

    draw: Draw
    case: Case = "lower"


#: A mention as text and slots.
Frame = tuple[str | Slot, ...]
#: Frames with their relative frequencies; none if only other mentions replace a mention.
Frames = list[tuple[float, Frame]]


def fill(frame: Frame, rng: np.random.Generator, particles: frozenset[str]) -> str:
    """Fill the slots of a frame with random texts."""
    return "".join(
        part if isinstance(part, str) else in_case(part.draw(rng), part.case, particles)
        for part in frame
    )


class Numbers:
    """Random numbers in place of those of mentions.

    Each place of a number has mostly the digits that it has in numbers of the same length. A number
    begins with 0 only in place of one that does.

    Parameters
    ----------
    mentions : sequence of str
        Mentions of one class.
    """

    def __init__(self, mentions: Sequence[str]) -> None:
        groups: dict[tuple[int, bool], list[str]] = {}
        for number in (each for mention in mentions for each in _NUMBER.findall(mention)):
            groups.setdefault(_shape(number), []).append(number)
        self._draws = {shape: _digits(numbers) for shape, numbers in groups.items()}

    def frame(self, text: str) -> Frame:
        """Replace the numbers of the text of a mention by slots."""
        parts: list[str | Slot] = []
        end = 0
        for match in _NUMBER.finditer(text):
            parts += [text[end : match.start()], Slot(self._draws[_shape(match[0])])]
            end = match.end()
        return (*parts, text[end:])


def _shape(number: str) -> tuple[int, bool]:
    return len(number), number[0] == "0"


def _digits(numbers: Sequence[str]) -> Draw:
    """Return a function that draws numbers like some of the same length."""
    digits = np.array([[int(digit) for digit in number] for number in numbers])
    counts = (digits[:, :, None] == np.arange(10)).sum(axis=0) + _PRIOR
    if digits[:, 0].all():
        counts[0, 0] = 0
    edges = np.cumsum(counts, axis=1)
    edges /= edges[:, -1:]

    def draw(rng: np.random.Generator) -> str:
        drawn = (rng.random((len(edges), 1)) >= edges[:, :-1]).sum(axis=1)
        return "".join(map(str, drawn.tolist()))

    return draw


class MentionKind(ABC):
    """A kind of mention."""

    name: str

    @abstractmethod
    def likelihood(self, mention: Mention) -> float:
        """Return the probability of a mention among those of its kind; 0 if it is none."""

    @abstractmethod
    def frames(self, mentions: Sequence[Mention], numbers: Numbers) -> list[Frames]:
        """Return the frames for each mention of a class that is of this kind."""


class Digits(MentionKind):
    """Mentions without letters: dates, telephone numbers, postal codes."""

    name = "digits"

    def likelihood(self, mention: Mention) -> float:
        """Return 1 for a mention without letters."""
        return 0.0 if mention.lettered else 1.0

    def frames(self, mentions: Sequence[Mention], numbers: Numbers) -> list[Frames]:
        """Return the mentions with slots for their numbers."""
        return [[(1.0, numbers.frame(mention.text))] for mention in mentions]


class Unlisted(MentionKind):
    """Mentions with words that no list explains, of which only numbers are replaced."""

    name = "own"

    def likelihood(self, mention: Mention) -> float:
        """Return the product of equal probabilities of all words."""
        return _UNLISTED ** len(mention.lettered) if mention.lettered else 0.0

    def frames(self, mentions: Sequence[Mention], numbers: Numbers) -> list[Frames]:
        """Return the mentions that have numbers, with slots for them."""
        frames = [numbers.frame(mention.text) for mention in mentions]
        return [[(1.0, frame)] if len(frame) > 1 else [] for frame in frames]


class ComposedNames(MentionKind):
    """Names whose words are each drawn from a list, such as given names and surnames.

    Parameters
    ----------
    name : str
        The kind.
    classes : sequence of str
        Classes of gazetteers, in the order of a new name; at least one.
    lists : TermLists
        The gazetteers.
    shares : mapping
        The probabilities of the words of all mentions.
    particles : frozenset of str
        Folded words such as ``de``, which are kept.
    """

    def __init__(
        self,
        name: str,
        classes: Sequence[str],
        lists: TermLists,
        shares: Shares,
        particles: frozenset[str],
    ) -> None:
        self.name = name
        self._classes = tuple(classes)
        self._draws = {known: lists.drawing(known) for known in classes}
        self._shares, self._particles = shares, particles

    def likelihood(self, mention: Mention) -> float:
        """Return the product of the probabilities of the words; 0 for a mention with a digit."""
        if not mention.lettered or any(word[0].isdigit() for word in mention.words):
            return 0.0
        return float(np.prod([self._word(mention.folded[number]) for number in mention.lettered]))

    def _word(self, word: str) -> float:
        if word in self._particles:
            return _PARTICLE
        if len(word) == 1:
            return _INITIAL
        return sum(self._known(word).values()) / len(self._classes) / 2 + _UNLISTED / 2

    def _known(self, word: str) -> dict[str, float]:
        shares = self._shares.get(word, {})
        return {name: shares[name] for name in self._classes if name in shares}

    def frames(self, mentions: Sequence[Mention], numbers: Numbers) -> list[Frames]:
        """Return the mentions with slots for their words; initials and particles are kept."""
        usual: dict[str, Counter[str]] = {}
        for mention in mentions:
            for number, place in self._drawn(mention):
                if known := self._known(mention.folded[number]):
                    usual.setdefault(place, Counter())[max(known, key=known.__getitem__)] += 1
        return [[(1.0, self._frame(mention, usual))] for mention in mentions]

    def _frame(self, mention: Mention, usual: Mapping[str, Counter[str]]) -> Frame:
        """Return a name with slots for its words; a word in no list has the usual class."""
        parts: list[str | Slot] = []
        end = 0
        for number, place in self._drawn(mention):
            known = self._known(mention.folded[number]) or usual.get(place, {})
            name = max(known, key=known.__getitem__, default=self._classes[-1])
            case = case_of([mention.words[number]])
            if case == "title" and place == "later":
                case = "after"
            parts += [mention.text[end : mention.starts[number]], Slot(self._draws[name], case)]
            end = mention.ends[number]
        return (*parts, mention.text[end:])

    def _drawn(self, mention: Mention) -> list[tuple[int, str]]:
        """Return the tokens that are replaced, and whether each is the first of several."""
        numbers = [
            number
            for number in mention.lettered
            if len(mention.words[number]) >= MIN_LETTERS
            and mention.folded[number] not in self._particles
        ]
        if len(numbers) == 1:
            return [(numbers[0], "only")]
        return [(number, "later" if row else "first") for row, number in enumerate(numbers)]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A mention with typical first (or last) words of its class, and the tokens of its name."""

    words: tuple[str, ...]
    at_end: bool
    first: int
    after: int


class Places(MentionKind):
    """Mentions of a class of gazetteers: its terms, and names with a typical first or last word.

    Parameters
    ----------
    name : str
        The class.
    lists : TermLists
        The gazetteers.
    shares : mapping
        The probabilities of the terms of all mentions.
    grammar : Grammar
        The first and last words, and what follows a name.
    """

    def __init__(self, name: str, lists: TermLists, shares: Shares, grammar: Grammar) -> None:
        words = grammar.places.get(name, PlaceWords())
        self.name = name
        self._lists, self._shares, self._written = lists, shares, words.heads
        typical: dict[str, tuple[str, ...]] = dict.fromkeys(lists.typical_words(name), ())
        self._patterns = {
            False: _patterns({**typical, **words.heads}),
            True: _patterns(words.ends),
        }
        self._tails = frozenset(tail.folded for tail in parse_mentions(sorted(words.tails)))
        self._draw = lists.drawing(name)
        self._fillers = [*_fillers(words.fillers, lists, grammar)]

    def likelihood(self, mention: Mention) -> float:
        """Return the probability of the term, plus that of a name with such typical words."""
        if not mention.lettered:
            return 0.0
        whole = self._shares.get(mention.term, {}).get(self.name, 0.0)
        if not (parsed := self._parse(mention)):
            return whole
        rests = max(len(self._rests((word,), parsed.at_end)) for word in parsed.words)
        share = max(rests / self._lists.size(self.name), _LEAST_HEAD)
        return whole + share * _NAME_WORD ** min(max(len(mention.lettered) - 1, 1), 2)

    def _rests(self, words: Sequence[str], at_end: bool) -> list[str]:
        return [
            rest for word in words for rest in self._lists.rests(self.name, word, at_end=at_end)
        ]

    def frames(self, mentions: Sequence[Mention], numbers: Numbers) -> list[Frames]:
        """Return the mentions with slots for their names and numbers."""
        return [self._frames(mention, numbers) for mention in mentions]

    def _frames(self, mention: Mention, numbers: Numbers) -> Frames:
        if not (parsed := self._parse(mention)):
            return [(1.0, (Slot(self._draw, case_of(mention.words)),))]
        start, end = mention.starts[parsed.first], mention.ends[parsed.after - 1]
        case = case_of(mention.words[parsed.first : parsed.after])
        before, behind = numbers.frame(mention.text[:start]), numbers.frame(mention.text[end:])
        frames: Frames = []
        others = {word for words in self._patterns[parsed.at_end].values() for word in words}
        names = self._rests(parsed.words, parsed.at_end) or self._rests(
            sorted(others), parsed.at_end
        )
        if names:
            of_name: Case = "after" if case == "title" and not parsed.at_end else case
            frames.append((_LISTED, (*before, Slot(_member_of(names), of_name), *behind)))
        for draw in self._fillers:
            frames.append((_FILLED / len(self._fillers), (*before, Slot(draw, case), *behind)))
        if not parsed.at_end:
            lower = case_of(mention.words[: parsed.first]) == "lower" and case == "title"
            whole = Slot(self._with_written_head, "lower_first" if lower else case)
            frames.append((_OTHER_HEAD, (whole, *behind)))
        return frames

    def _with_written_head(self, rng: np.random.Generator) -> str:
        """Return a term whose first words are mostly written as in notes."""
        words = self._draw(rng).split(" ")
        if rng.random() < _WRITTEN:
            for length in range(len(words) - 1, 0, -1):
                if forms := self._written.get(" ".join(words[:length])):
                    form = forms[int(rng.integers(len(forms)))].lower()
                    return " ".join([form, *words[length:]])
        return " ".join(words)

    def _parse(self, mention: Mention) -> _Parsed | None:
        """Find the first or the last words of a mention, and its name."""
        lettered = mention.lettered
        if lettered[0] == 0:
            for length in range(len(lettered), 0, -1):
                numbers = lettered[:length]
                if words := self._words(mention, numbers, False):
                    first = numbers[-1] + 1
                    while first < len(mention.words) and not _is_name(mention.words[first]):
                        first += 1
                    return _parsed(mention, words, False, first, self._tail(mention, first))
        first = lettered[0]
        tail = self._tail(mention, first)
        lettered = tuple(number for number in lettered if number < tail)
        for length in range(len(lettered), 0, -1):
            if words := self._words(mention, lettered[-length:], True):
                return _parsed(mention, words, True, first, lettered[-length])
        return None

    def _words(self, mention: Mention, numbers: Sequence[int], at_end: bool) -> tuple[str, ...]:
        """Return the typical words that tokens are, with nothing but marks between them."""
        between = set(range(numbers[0], numbers[-1])).difference(numbers)
        if any(_is_name(mention.words[number]) for number in between):
            return ()
        return self._patterns[at_end].get(tuple(mention.folded[n] for n in numbers), ())

    def _tail(self, mention: Mention, first: int) -> int:
        """Return the first token of what follows the name that begins with the token `first`."""
        words, folded = mention.words, mention.folded
        for place in range(first + 1, len(words)) if self._tails else ():
            after_comma = words[place - 1] == ","
            begins = any(
                tail == folded[place : place + len(tail)] and (after_comma or len(tail) > 1)
                for tail in self._tails
            )
            if begins or words[place][0].isdigit():
                while place - 1 > first and (
                    not _is_name(words[place - 1]) or (folded[place - 1],) in self._tails
                ):
                    place -= 1  # noqa: PLW2901 - marks and words such as nº belong to the tail
                return place
        return len(words)


def _parsed(
    mention: Mention, words: tuple[str, ...], at_end: bool, first: int, after: int
) -> _Parsed | None:
    """Return the parts of a mention; None if there is no name between them."""
    while after > first and not _is_name(mention.words[after - 1]):
        after -= 1
    return _Parsed(words, at_end, first, after) if after > first else None


def _member_of(texts: Sequence[str]) -> Draw:
    return lambda rng: texts[int(rng.integers(len(texts)))]


def _fillers(names: Sequence[str], lists: TermLists, grammar: Grammar) -> Iterator[Draw]:
    """Yield what draws terms of classes, and names of kinds; none for what the lists lack."""
    for name in names:
        draws = [
            lists.drawing(part) for part in grammar.names.get(name, (name,)) if lists.size(part)
        ]
        if draws:
            yield lambda rng, draws=draws: " ".join(draw(rng) for draw in draws)  # type: ignore[misc]


def _patterns(words: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the typical words that are written with each sequence of folded words."""
    patterns: dict[tuple[str, ...], tuple[str, ...]] = {}
    for canonical, forms in words.items():
        for mention in parse_mentions([canonical, *forms]):
            key = tuple(mention.folded[number] for number in mention.lettered)
            patterns[key] = tuple(dict.fromkeys([*patterns.get(key, ()), canonical]))
    return patterns


def _is_name(word: str) -> bool:
    """Return whether a word is no punctuation."""
    return word[0].isdigit() or has_letter(word)


def kinds_of(mentions: Sequence[Mention], lists: TermLists, grammar: Grammar) -> list[MentionKind]:
    """Return the kinds that gazetteers and a grammar describe.

    Parameters
    ----------
    mentions : sequence of Mention
        All mentions.
    lists : TermLists
        The gazetteers.
    grammar : Grammar
        The words that recognize and compose mentions.
    """
    shares = lists.shares(
        [word for mention in mentions for word in (*mention.folded, mention.term)]
    )
    names = [
        ComposedNames(name, known, lists, shares, grammar.particles)
        for name, classes in grammar.names.items()
        if (known := [each for each in classes if lists.size(each)])
    ]
    places = [
        Places(name, lists, shares, grammar)
        for name in lists.classes
        if name not in grammar.name_classes
    ]
    return [Digits(), Unlisted(), *names, *places]
