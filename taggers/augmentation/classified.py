"""Mentions with their kinds, and random mentions of the same kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from taggers.augmentation.frames import Frame, NumberSources, fill
from taggers.augmentation.grammar import Grammar
from taggers.augmentation.letter_case import LetterCase
from taggers.augmentation.mention_kinds import (
    Alternatives,
    ComposedNames,
    Digits,
    MentionKind,
    Shares,
    Unlisted,
)
from taggers.augmentation.mentions import Mention, Occurrences
from taggers.augmentation.mixture import mixture_weights
from taggers.augmentation.place_kinds import Places
from taggers.augmentation.term_lists import TermLists

Indices = npt.NDArray[np.int64]


class ClassifiedMentions:
    """The distinct mentions of a batch with their kinds.

    Parameters
    ----------
    found : Occurrences
        The mentions.
    lists : TermLists
        The gazetteers.
    grammar : Grammar
        The words that recognize and compose mentions.
    """

    def __init__(self, found: Occurrences, lists: TermLists, grammar: Grammar) -> None:
        self._found = found
        self._case = LetterCase(grammar.particles)
        kinds = _kinds(found.mentions, lists, grammar)
        self._names = [kind.name for kind in kinds]
        counts = np.bincount(found.numbers, minlength=len(found.mentions))
        likelihoods = np.array(
            [[kind.likelihood(mention) for kind in kinds] for mention in found.mentions]
        ).reshape(-1, len(kinds))
        self._of_kinds = np.zeros(len(found.mentions), np.int64)
        for number in range(len(found.classes)):
            rows = np.flatnonzero(found.of_classes == number)
            self._of_kinds[rows] = _most_likely_kinds(likelihoods[rows], counts[rows])
        self._same_kind = _Groups(self._keys[found.numbers], found.numbers)
        self._same_class = _Groups(found.of_classes[found.numbers], found.numbers)
        self._build_frames(kinds)

    @property
    def _keys(self) -> Indices:
        """A number of the class and the kind of each mention."""
        keys: Indices = self._found.of_classes * len(self._names) + self._of_kinds
        return keys

    def _build_frames(self, kinds: Sequence[MentionKind]) -> None:
        """Build the frames of all mentions: those of their kinds, then those of their numbers."""
        mentions, keys = self._found.mentions, self._keys
        alternatives = [Alternatives()] * len(mentions)
        number_frames: list[Frame] = [()] * len(mentions)
        for number in range(len(self._found.classes)):
            of_class = np.flatnonzero(self._found.of_classes == number).tolist()
            numbers = NumberSources([mentions[row].text for row in of_class])
            for row in of_class:
                number_frames[row] = numbers.frame(mentions[row].text)
            for kind, each in enumerate(kinds):
                rows = np.flatnonzero(keys == number * len(kinds) + kind).tolist()
                found = each.frames([mentions[row] for row in rows], numbers)
                for row, of_mention in zip(rows, found, strict=True):
                    alternatives[row] = of_mention
        listed = [frame for each in alternatives for frame in each.frames]
        self._frames: list[Frame] = [*listed, *number_frames]
        self._number_frames = len(listed)
        self._has_frames = np.array([bool(each.frames) for each in alternatives], bool)
        # For mention m, the frames divide the interval from m to m + 1.
        edges = [row + _cumulative(each.weights) for row, each in enumerate(alternatives)]
        self._edges = np.concatenate([np.zeros(0), *edges])

    @property
    def shares(self) -> dict[str, dict[str, float]]:
        """For each class with mentions, the share of its mentions that is of each kind."""
        return {
            name: {kind: number / sum(numbers.values()) for kind, number in numbers.items()}
            for name, numbers in self._count(self._keys[self._found.numbers]).items()
        }

    @property
    def distinct(self) -> dict[str, dict[str, int]]:
        """For each class with mentions, the number of its distinct mentions of each kind."""
        return self._count(self._keys)

    def _count(self, keys: Indices) -> dict[str, dict[str, int]]:
        """Count kinds by class, the most frequent ones first."""
        counts = np.bincount(keys, minlength=len(self._found.classes) * len(self._names))
        return {
            name: {self._names[n]: int(row[n]) for n in np.argsort(-row, kind="stable") if row[n]}
            for name, row in zip(
                self._found.classes, counts.reshape(-1, len(self._names)), strict=True
            )
            if row.any()
        }

    def draw(self, mentions: Indices, own: float, rng: np.random.Generator) -> list[str]:
        """Return the text of a random mention of the same class and kind for each mention.

        Parameters
        ----------
        mentions : ndarray of int64, shape (n,)
            The numbers of distinct mentions.
        own : float
            The probability that the text is that of another mention of the batch as it is.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        list of str
        """
        is_own = rng.random(len(mentions)) < own
        of_own = self._same_kind.draw(self._keys[mentions], rng)
        # A mention without frames becomes another mention of its class with other numbers.
        donors = self._same_class.draw(self._found.of_classes[mentions], rng)
        chosen = np.searchsorted(self._edges, mentions + rng.random(len(mentions)), side="right")
        frames = np.where(self._has_frames[mentions], chosen, self._number_frames + donors)
        texts = np.empty(len(mentions), object)
        texts[is_own] = [self._found.mentions[number].text for number in of_own[is_own].tolist()]
        rows = np.flatnonzero(~is_own)
        rows = rows[np.argsort(frames[rows], kind="stable")]
        used, numbers = np.unique(frames[rows], return_counts=True)
        texts[rows] = fill(
            [self._frames[frame] for frame in used.tolist()], numbers.tolist(), rng, self._case
        )
        drawn: list[str] = texts.tolist()
        return drawn


def _kinds(mentions: Sequence[Mention], lists: TermLists, grammar: Grammar) -> list[MentionKind]:
    """Return the kinds that the gazetteers and the grammar describe."""
    words = [word for mention in mentions for word in (*mention.folded, mention.term)]
    shares: Shares = lists.shares(words)
    particles = grammar.particles
    names = [
        ComposedNames(name, known, lists, shares, particles)
        for name, classes in grammar.names.items()
        if (known := [each for each in classes if lists.size(each)])
    ]
    places = [
        Places(name, lists, shares, grammar)
        for name in lists.classes
        if name not in grammar.name_classes
    ]
    return [Digits(), Unlisted(), *names, *places]


def _most_likely_kinds(
    likelihoods: npt.NDArray[np.float64], counts: Indices
) -> npt.NDArray[np.int64]:
    """Return the most likely kind of each mention of a class, shape (M,)."""
    possible = np.flatnonzero(likelihoods.any(axis=0))
    if not len(possible):
        return np.zeros(len(likelihoods), np.int64)
    weights = mixture_weights(likelihoods[:, possible], counts)
    best: npt.NDArray[np.int64] = possible[np.argmax(likelihoods[:, possible] * weights, axis=1)]
    return best


def _cumulative(weights: Sequence[float]) -> npt.NDArray[np.float64]:
    sums: npt.NDArray[np.float64] = np.cumsum(weights, dtype=float)
    return sums / sums[-1] if len(sums) else sums


class _Groups:
    """Members of groups, of which random ones are drawn.

    Parameters
    ----------
    groups, members : ndarray of int64, shape (S,)
        The group of each member, and the member.
    """

    def __init__(self, groups: Indices, members: Indices) -> None:
        order = np.argsort(groups, kind="stable")
        self._groups, self._members = groups[order], members[order]

    def draw(self, groups: Indices, rng: np.random.Generator) -> Indices:
        """Return a random member of each of the groups, which have members."""
        first = np.searchsorted(self._groups, groups)
        sizes = np.searchsorted(self._groups, groups, side="right") - first
        return self._members[first + (rng.random(len(groups)) * sizes).astype(np.int64)]
