"""The kinds of mentions: how likely a mention is of a kind, and what replaces it.

A class such as ``LOCATION`` has mentions of several kinds: towns, streets, postal codes.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gazetteers.casing import MIN_LETTERS, Case, case_of, in_case
from gazetteers.folding import fold
from gazetteers.grammar import Grammar, PlaceWords
from gazetteers.term_lists import TermLists
from taggers.augmentation.mentions import Mention

#: The probability of a word that is in no list, of a particle and of an initial in a name, and of
#: each of the first two words after the first word of a place.
_UNLISTED, _PARTICLE, _INITIAL, _NAME_WORD = 1e-6, 0.05, 1e-3, 1e-5
#: The least share of the terms of a class that has a first word of the grammar.
_LEAST_HEAD = 0.01
#: The probability that a place becomes a term with another first word.
_OTHER_HEAD = 0.25

_NUMBER = re.compile("[0-9]+")
_NO_WORD = re.compile(r"[\W_]+")

#: The probability of each folded word and term in each class of the gazetteers.
Shares = Mapping[str, Mapping[str, float]]


class Numbers:
    """Random numbers that replace the numbers of mentions.

    Most digits also occur at this place in numbers of the same length. A number begins with 0
    only if the replaced number does.
    """

    def __init__(self, mentions: Iterable[str]) -> None:
        self._seen: dict[tuple[int, bool], list[str]] = {}
        for text in mentions:
            for number in _NUMBER.findall(text):
                self._seen.setdefault(_shape(number), []).append(number)

    def replaced(self, text: str, rng: np.random.Generator) -> str:
        """Replace the numbers of one of the mentions, or of a part of it."""
        return _NUMBER.sub(lambda match: self._draw(match[0], rng), text)

    def _draw(self, number: str, rng: np.random.Generator) -> str:
        seen = self._seen[_shape(number)]
        digits = []
        for place in range(len(number)):
            row = int(rng.integers(len(seen) + 1))  # one more, with any digits
            least = int(place == 0 and number[0] != "0")
            digits.append(seen[row][place] if row < len(seen) else str(rng.integers(least, 10)))
        return "".join(digits)


def _shape(number: str) -> tuple[int, bool]:
    return len(number), number[0] == "0"


class MentionKind(ABC):
    """A kind of mention."""

    name: str

    @abstractmethod
    def likelihood(self, mention: Mention) -> float:
        """Return the probability of a mention among all mentions of this kind; 0 if it is none."""

    @abstractmethod
    def replacement(
        self, mention: Mention, numbers: Numbers, rng: np.random.Generator
    ) -> str | None:
        """Return a random text of this kind in place of a mention; None if there is no other."""


class Digits(MentionKind):
    """Mentions without letters: dates, telephone numbers, postal codes."""

    name = "digits"

    def likelihood(self, mention: Mention) -> float:
        return 0.0 if mention.offsets else 1.0

    def replacement(self, mention: Mention, numbers: Numbers, rng: np.random.Generator) -> str:
        return numbers.replaced(mention.text, rng)


class Unlisted(MentionKind):
    """Mentions with words that no list explains; only their numbers are replaced."""

    name = "own"

    def likelihood(self, mention: Mention) -> float:
        return _UNLISTED ** len(mention.offsets) if mention.offsets else 0.0

    def replacement(
        self, mention: Mention, numbers: Numbers, rng: np.random.Generator
    ) -> str | None:
        return numbers.replaced(mention.text, rng) if _NUMBER.search(mention.text) else None


class ComposedNames(MentionKind):
    """Names whose words are each drawn from a list, such as given names and surnames.

    Initials and particles such as ``de`` are kept.

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
        Folded particles.
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
        self._lists, self._shares, self._particles = lists, shares, particles

    def likelihood(self, mention: Mention) -> float:
        if not mention.offsets or _NUMBER.search(mention.text):
            return 0.0
        return math.prod(map(self._probability, mention.folded_words))

    def _probability(self, word: str) -> float:
        if word in self._particles:
            return _PARTICLE
        if len(word) == 1:
            return _INITIAL
        return sum(self._known(word).values()) / len(self._classes) / 2 + _UNLISTED / 2

    def _known(self, word: str) -> dict[str, float]:
        shares = self._shares.get(word, {})
        return {name: shares[name] for name in self._classes if name in shares}

    def replacement(self, mention: Mention, numbers: Numbers, rng: np.random.Generator) -> str:
        drawn = [
            (start, end)
            for start, end in mention.offsets
            if end - start >= MIN_LETTERS and mention.folded[start:end] not in self._particles
        ]
        text, done = "", 0
        for number, (start, end) in enumerate(drawn):
            usual = self._classes[0 if number == 0 and len(drawn) > 1 else -1]
            known = self._known(mention.folded[start:end])
            name = max(known, key=known.__getitem__, default=usual)
            case = case_of(mention.text[start:end])
            case = "after" if case == "title" and number else case
            new = in_case(self._lists.draw(name, rng.random()), case, self._particles)
            text += mention.text[done:start] + new
            done = end
        return text + mention.text[done:]


class Places(MentionKind):
    """Mentions of a class of gazetteers: its terms, and names with a typical first word.

    Parameters
    ----------
    name : str
        The class.
    lists : TermLists
        The gazetteers.
    shares : mapping
        The probabilities of the terms of all mentions.
    grammar : Grammar
        The first words, and what follows a name.
    """

    def __init__(self, name: str, lists: TermLists, shares: Shares, grammar: Grammar) -> None:
        words = grammar.places.get(name, PlaceWords())
        self.name = name
        self._lists, self._shares, self._particles = lists, shares, grammar.particles
        self._heads = _keys(words.heads)
        tail = rf"(?:[\W_]+(?:\d|{_any_of(map(_key, words.tails))}).*)?[\W_]*"
        self._named = re.compile(rf"(?P<head>{_any_of(self._heads)})[\W_]*(?P<name>\w.*?){tail}")

    def _parsed(self, mention: Mention) -> tuple[re.Match[str], list[str]] | None:
        """Return the parts of a mention, and the names of the list after its first word."""
        if not (match := self._named.fullmatch(mention.folded)):
            return None
        heads = self._heads[_key(match["head"])]
        return match, [name for head in heads for name in self._lists.rests(self.name, head)]

    def likelihood(self, mention: Mention) -> float:
        if not mention.offsets:
            return 0.0
        whole = self._shares.get(mention.term, {}).get(self.name, 0.0)
        if not (parsed := self._parsed(mention)):
            return whole
        share = max(len(parsed[1]) / self._lists.size(self.name), _LEAST_HEAD)
        return whole + share * _NAME_WORD ** min(max(len(mention.offsets) - 1, 1), 2)

    def replacement(self, mention: Mention, numbers: Numbers, rng: np.random.Generator) -> str:
        parsed = self._parsed(mention)
        if not parsed:
            return self._drawn(case_of(mention.text), rng)
        match, names = parsed
        start, end = match.span("name")
        behind, case = numbers.replaced(mention.text[end:], rng), case_of(mention.text[start:end])
        if not names or rng.random() < _OTHER_HEAD:
            return self._drawn(case, rng) + behind
        after: Case = "after" if case == "title" else case
        name = in_case(names[int(rng.integers(len(names)))], after, self._particles)
        return numbers.replaced(mention.text[:start], rng) + name + behind

    def _drawn(self, case: Case, rng: np.random.Generator) -> str:
        return in_case(self._lists.draw(self.name, rng.random()), case, self._particles)


def _key(text: str) -> str:
    """Return words of a folded text with a mark between them that no word has."""
    return _NO_WORD.sub(" ", text).strip()


def _keys(words: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the typical words of the terms that are written as each key."""
    keys: dict[str, list[str]] = {}
    for canonical, forms in words.items():
        for key in map(_key, fold([canonical, *forms])):
            known = keys.setdefault(key, [])
            if canonical not in known:
                known.append(canonical)
    return keys


def _any_of(keys: Iterable[str]) -> str:
    """Return a pattern of any of these words, whatever is between them; the longest are first."""
    ordered = sorted(keys, key=len, reverse=True)
    if not ordered:
        return "(?!)"
    words = "|".join(r"[\W_]+".join(map(re.escape, key.split(" "))) for key in ordered)
    return rf"(?:{words})(?![^\W_])"


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
        [word for mention in mentions for word in (*mention.folded_words, mention.term)]
    )
    names = [
        ComposedNames(name, known, lists, shares, grammar.particles)
        for name, classes in grammar.names.items()
        if (known := [own for own in classes if own in lists.classes])
    ]
    places = [
        Places(name, lists, shares, grammar)
        for name in lists.classes
        if name not in grammar.name_classes
    ]
    return [Digits(), Unlisted(), *names, *places]
