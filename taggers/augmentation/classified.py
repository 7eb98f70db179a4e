"""Mentions with their kinds, and random mentions of the same kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from taggers.augmentation.grammar import Grammar
from taggers.augmentation.kinds import Frame, Frames, Numbers, fill, kinds_of
from taggers.augmentation.mentions import Occurrences
from taggers.augmentation.term_lists import TermLists

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_ROUNDS = 15


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
        self._found, self._particles = found, grammar.particles
        kinds = kinds_of(found.mentions, lists, grammar)
        self._kinds: list[str] = [""] * len(found.mentions)
        self._frames: list[Frames] = [[] for _ in found.mentions]
        self._number_frames: list[Frame] = [()] * len(found.mentions)
        likelihoods = np.array(
            [[kind.likelihood(mention) for kind in kinds] for mention in found.mentions]
        ).reshape(-1, len(kinds))
        counts = np.bincount(found.numbers, minlength=len(found.mentions))
        for number in range(len(found.classes)):
            of_class = np.flatnonzero(found.of_classes == number)
            mentions = {row: found.mentions[row] for row in of_class.tolist()}
            numbers = Numbers([mention.text for mention in mentions.values()])
            weights = mixture_weights(likelihoods[of_class], counts[of_class])
            best = np.argmax(likelihoods[of_class] * weights, axis=1)
            for column, kind in enumerate(kinds):
                rows = of_class[best == column].tolist()
                frames = kind.frames([mentions[row] for row in rows], numbers)
                for row, of_mention in zip(rows, frames, strict=True):
                    self._kinds[row], self._frames[row] = kind.name, of_mention
            for row, mention in mentions.items():
                self._number_frames[row] = numbers.frame(mention.text)
        self._same_kind: dict[tuple[int, str], list[int]] = {}
        self._same_class: dict[int, list[int]] = {}
        for row in found.numbers.tolist():
            self._same_kind.setdefault(self._key(row), []).append(row)
            self._same_class.setdefault(self._key(row)[0], []).append(row)

    def _key(self, mention: int) -> tuple[int, str]:
        return int(self._found.of_classes[mention]), self._kinds[mention]

    @property
    def shares(self) -> dict[str, dict[str, float]]:
        """For each class with mentions, the share of its mentions that is of each kind."""
        return {
            name: {kind: number / sum(numbers.values()) for kind, number in numbers.items()}
            for name, numbers in self._count(self._found.numbers.tolist()).items()
        }

    @property
    def distinct(self) -> dict[str, dict[str, int]]:
        """For each class with mentions, the number of its distinct mentions of each kind."""
        return self._count(range(len(self._kinds)))

    def _count(self, mentions: Sequence[int]) -> dict[str, dict[str, int]]:
        """Count kinds by class, the most frequent ones first."""
        counts: dict[str, dict[str, int]] = {}
        for (number, kind), count in Counter(map(self._key, mentions)).most_common():
            counts.setdefault(self._found.classes[number], {})[kind] = count
        return {name: counts[name] for name in self._found.classes if name in counts}

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
        """
        return [self._drawn(mention, own, rng) for mention in mentions.tolist()]

    def _drawn(self, mention: int, own: float, rng: np.random.Generator) -> str:
        if rng.random() < own:
            return self._found.mentions[_member(self._same_kind[self._key(mention)], rng)].text
        if frames := self._frames[mention]:
            edges = np.cumsum([weight for weight, _ in frames])
            chosen = int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
            return fill(frames[chosen][1], rng, self._particles)
        # Without frames, it becomes another mention of its class with other numbers.
        donor = _member(self._same_class[self._key(mention)[0]], rng)
        return fill(self._number_frames[donor], rng, self._particles)


def _member(members: Sequence[int], rng: np.random.Generator) -> int:
    return members[int(rng.integers(len(members)))]


def mixture_weights(likelihoods: Floats, counts: Indices) -> Floats:
    """Estimate the weights of the components of a mixture by expectation maximization.

    The weights are the mode of their posterior probability under a Dirichlet prior, which counts as
    one more mention that is of every possible kind to the same degree.

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
