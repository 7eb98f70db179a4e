"""The kinds of mentions: how likely a mention is of a kind, and the frames of new ones.

A class such as ``LOCATION`` has mentions of several kinds: towns, streets, postal codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from taggers.augmentation.frames import Frame, NumberSources, Slot, Terms
from taggers.augmentation.letter_case import MIN_LETTERS, case_of
from taggers.augmentation.mentions import Mention
from taggers.augmentation.term_lists import TermLists

#: The probability of a word that is in no list.
UNLISTED_WORD = 1e-6
#: The probabilities of a particle and of an initial in a name.
_PARTICLE, _INITIAL = 0.05, 1e-3

#: The probability of each folded word and term in each class of the gazetteers.
Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """The frames of new mentions in place of a mention.

    Parameters
    ----------
    frames : sequence of Frame
        The frames; none if new mentions can only be other gold mentions.
    weights : sequence of float
        Their relative frequencies.
    """

    frames: Sequence[Frame] = ()
    weights: Sequence[float] = ()


class MentionKind(Protocol):
    """A kind of mention."""

    @property
    def name(self) -> str:
        """The name of the kind in reports."""
        ...

    def likelihood(self, mention: Mention) -> float:
        """Return the probability of a mention among those of its kind; 0 if it is none."""
        ...

    def frames(self, mentions: Sequence[Mention], numbers: NumberSources) -> Sequence[Alternatives]:
        """Return the frames for each mention of this kind.

        Parameters
        ----------
        mentions : sequence of Mention
            All mentions of one class that are of this kind.
        numbers : NumberSources
            The numbers of the mentions of the class.
        """
        ...


class Digits:
    """Mentions without letters: dates, telephone numbers, postal codes."""

    name = "digits"

    def likelihood(self, mention: Mention) -> float:
        """Return 1 for a mention without letters."""
        return 0.0 if mention.lettered else 1.0

    def frames(self, mentions: Sequence[Mention], numbers: NumberSources) -> Sequence[Alternatives]:
        """Return the mentions with slots for their numbers."""
        return [Alternatives([numbers.frame(each.text)], [1.0]) for each in mentions]


class Unlisted:
    """Mentions with words that no list explains."""

    name = "own"

    def likelihood(self, mention: Mention) -> float:
        """Return the product of equal probabilities of all words."""
        return UNLISTED_WORD ** len(mention.lettered) if mention.lettered else 0.0

    def frames(self, mentions: Sequence[Mention], numbers: NumberSources) -> Sequence[Alternatives]:
        """Return the mentions that have numbers, with slots for them."""
        frames = [numbers.frame(each.text) for each in mentions]
        return [Alternatives([each], [1.0]) if len(each) > 1 else Alternatives() for each in frames]


class ComposedNames:
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
        self._sources = {each: Terms(lists, each) for each in classes}
        self._shares = shares
        self._particles = particles

    def likelihood(self, mention: Mention) -> float:
        """Return the product of the probabilities of the words; 0 for a mention with a digit."""
        if not mention.lettered or any(word[0].isdigit() for word in mention.words):
            return 0.0
        product = 1.0
        for number in mention.lettered:
            product *= self._word(mention.folded[number])
        return product

    def _word(self, word: str) -> float:
        if word in self._particles:
            return _PARTICLE
        if len(word) == 1:
            return _INITIAL
        shares = self._known(word)
        return sum(shares.values()) / len(self._classes) / 2 + UNLISTED_WORD / 2

    def _known(self, word: str) -> dict[str, float]:
        found = self._shares.get(word, {})
        return {name: found[name] for name in self._classes if name in found}

    def frames(self, mentions: Sequence[Mention], numbers: NumberSources) -> Sequence[Alternatives]:
        """Return the mentions with slots for their words; initials and particles are kept."""
        places: dict[str, Counter[str]] = {}
        for mention in mentions:
            for number, place in self._drawn(mention):
                if known := self._known(mention.folded[number]):
                    places.setdefault(place, Counter())[max(known, key=known.__getitem__)] += 1
        usual = {place: counts.most_common(1)[0][0] for place, counts in places.items()}
        return [Alternatives([self._frame(each, usual)], [1.0]) for each in mentions]

    def _frame(self, mention: Mention, usual: Mapping[str, str]) -> Frame:
        parts: list[str | Slot] = []
        end = 0
        for number, place in self._drawn(mention):
            known = self._known(mention.folded[number])
            name = max(known, key=known.__getitem__) if known else usual.get(place, "")
            case = case_of([mention.words[number]])
            after = case == "title" and place == "later"
            source = self._sources[name or self._classes[-1]]
            parts += [mention.text[end : mention.starts[number]]]
            parts += [Slot(source, "after" if after else case)]
            end = mention.ends[number]
        return (*parts, mention.text[end:])

    def _drawn(self, mention: Mention) -> list[tuple[int, str]]:
        """Return the tokens that are drawn anew, and whether each is the first of several."""
        numbers = [
            number
            for number in mention.lettered
            if len(mention.words[number]) >= MIN_LETTERS
            and mention.folded[number] not in self._particles
        ]
        if len(numbers) == 1:
            return [(numbers[0], "only")]
        return [(number, "later" if n else "first") for n, number in enumerate(numbers)]
