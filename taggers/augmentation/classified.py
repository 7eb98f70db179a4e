"""Mentions with their kinds, and random mentions of the same kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gazetteers.grammar import Grammar
from gazetteers.term_lists import TermLists
from taggers.augmentation.kinds import ComposedNames, Numbers, kinds_of
from taggers.augmentation.mentions import Occurrences

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_ROUNDS = 15
#: The minimum weight of a kind of names in a class, relative to the highest one in any class.
_MIN_NAMES = 0.8


class ClassifiedMentions:
    """The distinct mentions of a batch with their kinds.

    Parameters
    ----------
    occurrences : Occurrences
        The mentions.
    lists : TermLists
        The gazetteers.
    grammar : Grammar
        The words that recognize and compose mentions.
    """

    def __init__(self, occurrences: Occurrences, lists: TermLists, grammar: Grammar) -> None:
        self._occurrences = occurrences
        mentions, self._classes = occurrences.mentions, occurrences.of_classes.tolist()
        kinds = kinds_of(mentions, lists, grammar)
        likelihoods = np.array(
            [[kind.likelihood(mention) for kind in kinds] for mention in mentions]
        ).reshape(-1, len(kinds))
        numbers = occurrences.numbers
        counts = np.bincount(numbers, minlength=len(mentions))
        best = np.zeros(len(mentions), np.int64)
        self._numbers = []
        members = [
            np.flatnonzero(occurrences.of_classes == number)
            for number in range(len(occurrences.classes))
        ]
        weights = [mixture_weights(likelihoods[rows], counts[rows]) for rows in members]
        most = np.max(weights, axis=0, initial=0.0)
        names = np.array([isinstance(kind, ComposedNames) for kind in kinds])
        for rows, first in zip(members, weights, strict=True):
            # Surnames explain many words of places that are in no list, whose copies would have
            # names of people in their place.
            likelihoods[rows] *= ~(names & (first < _MIN_NAMES * most))
            posterior = likelihoods[rows] * mixture_weights(likelihoods[rows], counts[rows])
            best[rows] = np.argmax(posterior, axis=1)
            self._numbers.append(Numbers(mentions[row].text for row in rows.tolist()))
        self._kinds = [kinds[column] for column in best.tolist()]
        self._same_kind: dict[tuple[int, str], list[int]] = {}
        self._same_class: dict[int, list[int]] = {}
        for row in numbers.tolist():
            self._same_kind.setdefault(self._key(row), []).append(row)
            self._same_class.setdefault(self._classes[row], []).append(row)

    def _key(self, mention: int) -> tuple[int, str]:
        return self._classes[mention], self._kinds[mention].name

    @property
    def shares(self) -> dict[str, dict[str, float]]:
        """For each class with mentions, the share of each kind among its mentions."""
        return {
            name: {kind: number / sum(numbers.values()) for kind, number in numbers.items()}
            for name, numbers in self._count(self._occurrences.numbers.tolist()).items()
        }

    @property
    def distinct(self) -> dict[str, dict[str, int]]:
        """For each class with mentions, the number of its distinct mentions of each kind."""
        return self._count(range(len(self._kinds)))

    def _count(self, mentions: Iterable[int]) -> dict[str, dict[str, int]]:
        """Count kinds by class, the most frequent ones first."""
        counts: dict[str, dict[str, int]] = {}
        for (number, kind), count in Counter(map(self._key, mentions)).most_common():
            counts.setdefault(self._occurrences.classes[number], {})[kind] = count
        return {name: counts[name] for name in self._occurrences.classes if name in counts}

    def draw(self, mention: int, own: float, rng: np.random.Generator) -> str:
        """Return the text of a random mention of the same class and kind.

        Parameters
        ----------
        mention : int
            The number of a distinct mention.
        own : float
            The probability that the text of another mention of the batch is used as it is.
        rng : numpy.random.Generator
            The source of randomness.
        """
        mentions = self._occurrences.mentions
        if rng.random() < own:
            return mentions[_member(self._same_kind[self._key(mention)], rng)].text
        numbers = self._numbers[self._classes[mention]]
        text = self._kinds[mention].replacement(mentions[mention], numbers, rng)
        if text is None:  # it becomes another mention of its class with other numbers
            donor = mentions[_member(self._same_class[self._classes[mention]], rng)]
            text = numbers.replaced(donor.text, rng)
        return text


def _member(members: Sequence[int], rng: np.random.Generator) -> int:
    return members[int(rng.integers(len(members)))]


def mixture_weights(likelihoods: Floats, counts: Indices) -> Floats:
    """Estimate the weights of the components of a mixture by expectation maximization.

    The weights are the mode of their posterior probability under a Dirichlet prior, which counts as
    one more mention, divided equally among all possible kinds.

    Parameters
    ----------
    likelihoods : ndarray of float64, shape (M, K)
        The likelihood of each component for each mention. Each row has a positive one.
    counts : ndarray of int64, shape (M,)
        The number of occurrences of each mention.

    Returns
    -------
    ndarray of float64, shape (K,)
        The weights, with the sum 1; 0 for components that no mention can be of.
    """
    possible = likelihoods.any(axis=0).astype(float)
    prior = possible / max(float(possible.sum()), 1.0)
    weights: Floats = prior
    for _ in range(_ROUNDS if len(likelihoods) else 0):
        shares = likelihoods * weights
        shares /= shares.sum(axis=1, keepdims=True)
        totals = counts @ shares + prior
        weights = totals / totals.sum()
    return weights
