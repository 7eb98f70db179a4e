"""Kinds of mentions that are terms of a class: towns, hospitals, streets with their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taggers.augmentation.frames import Frame, Joined, Members, NumberSources, Slot, Source, Terms
from taggers.augmentation.grammar import Grammar, PlaceWords
from taggers.augmentation.letter_case import Case, case_of
from taggers.augmentation.mention_kinds import Alternatives, Shares
from taggers.augmentation.mentions import Mention, has_letter, parse_mentions
from taggers.augmentation.term_lists import TermLists

#: The probability of a word after a head; more than two words count as two.
_NAME_WORD, _NAME_WORDS = 1e-5, 2
#: The minimum share of the terms of a class that has a head of the grammar.
_MIN_HEAD = 0.01
#: The relative frequencies of frames with a name of the lists, a filler, and another head.
_LISTED, _FILLED, _OTHER_HEAD = 0.5, 0.25, 0.25
#: The probability that a head is as notes write it, rather than as the gazetteer has it.
_WRITTEN = 0.7

_NO_WORDS = PlaceWords({}, {}, frozenset(), ())


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A mention with a head or an end.

    Parameters
    ----------
    words : tuple of str
        The heads (or ends) of the gazetteer that are written as in the mention.
    at_end : bool
        Whether they are ends.
    first, after : int
        The half-open range of the tokens of the name, without the head, the end and the tail.
    """

    words: tuple[str, ...]
    at_end: bool
    first: int
    after: int


class Places:
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
        words = grammar.places.get(name, _NO_WORDS)
        self.name = name
        self._lists = lists
        self._shares = shares
        typical = dict.fromkeys(lists.typical_words(name), ())
        self._heads = _patterns({**typical, **words.heads})
        self._ends = _patterns(words.ends)
        self._tails = frozenset(each.folded for each in parse_mentions(sorted(words.tails)))
        self._terms = Terms(lists, name)
        self._fillers = [
            source for each in words.fillers if (source := _filler(each, lists, grammar))
        ]
        self._headed = HeadForms(self._terms, words.heads)
        self._sources: dict[tuple[tuple[str, ...], bool], Source | None] = {}

    def likelihood(self, mention: Mention) -> float:
        """Return the probability of the term, plus that of a name with such a head."""
        if not mention.lettered:
            return 0.0
        whole = self._shares.get(mention.term, {}).get(self.name, 0.0)
        parsed = self._parse(mention)
        if parsed is None:
            return whole
        names = min(max(len(mention.lettered) - 1, 1), _NAME_WORDS)
        return whole + self._head_share(parsed) * _NAME_WORD**names

    def _head_share(self, parsed: _Parsed) -> float:
        rests = max(
            len(self._lists.rests(self.name, each, at_end=parsed.at_end)) for each in parsed.words
        )
        return max(rests / self._lists.size(self.name), _MIN_HEAD)

    def frames(self, mentions: Sequence[Mention], numbers: NumberSources) -> Sequence[Alternatives]:
        """Return the mentions with slots for their names and numbers."""
        return [self._alternatives(each, numbers) for each in mentions]

    def _alternatives(self, mention: Mention, numbers: NumberSources) -> Alternatives:
        parsed = self._parse(mention)
        if parsed is None:
            return Alternatives([(Slot(self._terms, case_of(mention.words)),)], [1.0])
        start, end = mention.starts[parsed.first], mention.ends[parsed.after - 1]
        case = case_of(mention.words[parsed.first : parsed.after])
        of_name: Case = "after" if case == "title" and not parsed.at_end else case
        before, behind = numbers.frame(mention.text[:start]), numbers.frame(mention.text[end:])
        found: list[tuple[Frame, float]] = []
        if source := self._listed(parsed):
            found.append(((*before, Slot(source, of_name), *behind), _LISTED))
        for each in self._fillers:
            frame = (*before, Slot(each, case), *behind)
            found.append((frame, _FILLED / len(self._fillers)))
        head_case = case_of(mention.words[: parsed.first])
        whole: Case = "lower_first" if (head_case, case) == ("lower", "title") else case
        if not parsed.at_end:
            found.append(((Slot(self._headed, whole), *behind), _OTHER_HEAD))
        return Alternatives([frame for frame, _ in found], [weight for _, weight in found])

    def _listed(self, parsed: _Parsed) -> Source | None:
        """Return the source of the names of the terms with the same head, or else with any head."""
        key = (parsed.words, parsed.at_end)
        if key not in self._sources:
            known = self._ends if parsed.at_end else self._heads
            others = dict.fromkeys(each for words in known.values() for each in words)
            self._sources[key] = self._names(parsed.words, parsed.at_end) or self._names(
                tuple(others), parsed.at_end
            )
        return self._sources[key]

    def _names(self, words: tuple[str, ...], at_end: bool) -> Source | None:
        names = [
            rest for each in words for rest in self._lists.rests(self.name, each, at_end=at_end)
        ]
        return Members(names) if names else None

    def _parse(self, mention: Mention) -> _Parsed | None:
        """Find the head or the end of a mention, and its name."""
        return self._parse_head(mention) or self._parse_end(mention)

    def _parse_head(self, mention: Mention) -> _Parsed | None:
        lettered = mention.lettered
        if lettered[0] != 0:
            return None
        for length in range(min(self._longest_head, len(lettered)), 0, -1):
            numbers = lettered[:length]
            words = self._heads.get(tuple(mention.folded[n] for n in numbers))
            if words and not any(_is_name(each) for each in _between(mention.words, numbers)):
                first = numbers[-1] + 1
                while first < len(mention.words) and not _is_name(mention.words[first]):
                    first += 1
                return _parsed(mention, words, False, first, self._tail(mention, first))
        return None

    def _parse_end(self, mention: Mention) -> _Parsed | None:
        first = mention.lettered[0]
        tail = self._tail(mention, first)
        lettered = [number for number in mention.lettered if number < tail]
        for length in range(min(self._longest_end, len(lettered)), 0, -1):
            numbers = lettered[-length:]
            words = self._ends.get(tuple(mention.folded[n] for n in numbers))
            if words and not any(_is_name(each) for each in _between(mention.words, numbers)):
                return _parsed(mention, words, True, first, numbers[0])
        return None

    @cached_property
    def _longest_head(self) -> int:
        return max(map(len, self._heads), default=0)

    @cached_property
    def _longest_end(self) -> int:
        return max(map(len, self._ends), default=0)

    def _tail(self, mention: Mention, first: int) -> int:
        """Return the first token of what follows the name that begins with the token `first`."""
        words, number = mention.words, len(mention.words)
        if not self._tails:
            return number
        for place in range(first + 1, number):
            begin, after_comma = place, words[place - 1] == ","
            if words[place][0].isdigit() or self._begins_tail(mention, place, after_comma):
                while begin - 1 > first and not self._is_of_name(mention, begin - 1):
                    begin -= 1
                return begin
        return number

    def _begins_tail(self, mention: Mention, place: int, after_comma: bool) -> bool:
        """Return whether words of a tail follow; a single word is one only after a comma."""
        return any(
            tail == mention.folded[place : place + len(tail)] and (after_comma or len(tail) > 1)
            for tail in self._tails
        )

    def _is_of_name(self, mention: Mention, place: int) -> bool:
        return _is_name(mention.words[place]) and (mention.folded[place],) not in self._tails


class HeadForms:
    """Terms whose heads are written as in notes.

    Parameters
    ----------
    terms : Source
        The terms.
    heads : mapping of str to sequence of str
        The heads of the terms, and how notes write them.
    """

    def __init__(self, terms: Source, heads: Mapping[str, Sequence[str]]) -> None:
        self._terms = terms
        self._heads = {
            tuple(head.split()): [each.lower() for each in heads[head]] for head in heads
        }
        self._longest = max(map(len, self._heads), default=0)

    def draw(self, rng: np.random.Generator, number: int) -> Sequence[str]:
        """Return terms; seven of ten heads are written in one of their forms."""
        terms = self._terms.draw(rng, number)
        written, chosen = rng.random((2, number)).tolist()
        return [
            self._written(term, which) if share < _WRITTEN else term
            for term, share, which in zip(terms, written, chosen, strict=True)
        ]

    def _written(self, term: str, which: float) -> str:
        words = term.split(" ")
        for length in range(min(self._longest, len(words) - 1), 0, -1):
            if forms := self._heads.get(tuple(words[:length])):
                return " ".join([forms[int(which * len(forms))], *words[length:]])
        return term


def _filler(name: str, lists: TermLists, grammar: Grammar) -> Source | None:
    """Return the source of a class or a kind of names; None if the gazetteers lack it."""
    if name in grammar.names:
        parts = [Terms(lists, each) for each in grammar.names[name] if lists.size(each)]
        return Joined(parts) if parts else None
    return Terms(lists, name) if lists.size(name) else None


def _patterns(words: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the heads (or ends) that are written with each sequence of folded words."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for canonical, forms in words.items():
        for mention in parse_mentions([canonical, *forms]):
            key = tuple(mention.folded[number] for number in mention.lettered)
            found[key] = tuple(dict.fromkeys([*found.get(key, ()), canonical]))
    return found


def _between(words: Sequence[str], numbers: Sequence[int]) -> list[str]:
    """Return the words between the first and the last of several that are not among them."""
    return [words[n] for n in range(numbers[0], numbers[-1]) if n not in numbers]


def _is_name(word: str) -> bool:
    """Return whether a word is no punctuation."""
    return word[0].isdigit() or has_letter(word)


def _parsed(
    mention: Mention, words: tuple[str, ...], at_end: bool, first: int, after: int
) -> _Parsed | None:
    """Return the parts of a mention; None if there is no name between them."""
    while after > first and not _is_name(mention.words[after - 1]):
        after -= 1
    return _Parsed(words, at_end, first, after) if after > first else None
