"""The likelihood of a training set under a CRF, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taggers.crf import lattice
from taggers.crf.logspace import log_forward_backward
from taggers.crf.observed import Pairs, pairs_of_values, pairs_of_words, seen_in, transitions
from taggers.crf.weights import (
    Names,
    Weights,
    border_hashes,
    value_hashes,
    values_of,
)
from taggers.crf.wordtable import WordTable
from taggers.features import BEGIN, END
from taggers.vocabulary import Codes, Hashes

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_PACKED = 8192  # tokens packed at a time: what they need stays in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Documents as training needs them.

    Parameters
    ----------
    words : ndarray of int32, shape (N,)
        Word types, the most frequent first.
    documents : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tags : ndarray of int16, shape (N,)
        Labels, negative where not known.
    weights : ndarray of float64, shape (D,)
        How much each document counts.
    codes : ndarray of int32, shape (T + 2, F + 1)
        The values of each word's features; the last two rows are the begin and the end.
    hashes : ndarray of uint64, shape (V,)
        Of the values.
    names : Names
        The values, such as ``lower=dr``.
    seen : ndarray of int32, shape (V,)
        Documents in which each value occurs.
    state : Pairs
        Of values and labels: a weight each. Documents with unknown labels are not counted.
    transition : ndarray of float64, shape (L, L)
        How often a label follows another in the same documents.
    offsets, labels : int
        How many there are.
    """

    words: npt.NDArray[np.int32]
    documents: Indices
    tags: npt.NDArray[np.int16]
    weights: Floats
    codes: Codes
    hashes: Hashes
    names: Names
    seen: npt.NDArray[np.int32]
    state: Pairs
    transition: Floats
    offsets: int
    labels: int

    @classmethod
    def of(
        cls,
        words: npt.NDArray[np.int32],
        types: tuple[str, ...],
        documents: Indices,
        tags: npt.NDArray[np.int16],
        weights: Floats,
        *,
        features: tuple[str, ...],
        window: int,
        labels: int,
        min_frequency: float = 0.0,
    ) -> TrainingSet:
        """Look up the features of every word and count what occurs with which label."""
        offsets = 2 * window + 1
        order = np.argsort(-np.bincount(words, minlength=len(types)), kind="stable")
        rank = np.empty(len(types), np.int32)
        rank[order] = np.arange(len(types), dtype=np.int32)
        words = rank[words]
        values = values_of([types[word] for word in order.tolist()], features)
        codes, hashes, names = _coded(values, features)
        counted = np.where(partial(documents, tags), 0.0, weights)
        by_word = pairs_of_words(words, documents, tags, counted, len(types), offsets, labels)
        by_value = pairs_of_values(by_word, codes, len(hashes), offsets, labels)
        return cls(
            words,
            documents,
            tags,
            weights,
            codes,
            hashes,
            names,
            seen_in(words, documents, codes, len(hashes)),
            by_value.at_least(min_frequency),
            transitions(documents, tags, counted, labels),
            offsets,
            labels,
        )

    def weights_of(self, x: Floats) -> Weights:
        """Give the weights that a vector of `Likelihood` stands for."""
        number = len(self.state.labels)
        return Weights(
            self.labels,
            self.offsets,
            self.hashes,
            self.names,
            self.seen,
            self.state.begins,
            self.state.labels,
            x[:number],
            x[number:].reshape(self.labels, self.labels),
        )


def _coded(values: Sequence[Sequence[str]], features: Sequence[str]) -> tuple[Codes, Hashes, Names]:
    """Give the values of every feature numbers, and add the begin and the end of documents."""
    hashes = value_hashes(values, features)
    types = len(hashes)
    codes = np.full((types + 2, len(features) + 1), -1, np.int32)
    distinct: list[Hashes] = []
    names: list[str] = []
    for column, name in enumerate(features):
        found, first, inverse = np.unique(hashes[:, column], return_index=True, return_inverse=True)
        # In the order of the words, so that what frequent words need is close together.
        order = np.argsort(first)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        codes[:types, column] = rank[inverse.reshape(-1)] + len(names)
        distinct.append(found[order])
        names += [f"{name}={values[column][index]}" for index in first[order].tolist()]
    codes[types:, len(features)] = len(names) + np.arange(2)
    return codes, np.concatenate([*distinct, border_hashes()]), Names.of([*names, BEGIN, END])


def partial(documents: Indices, tags: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
    """Say which documents have tokens whose label is not known."""
    unknown = np.concatenate([np.zeros(1, np.int64), np.cumsum(tags < 0)])
    found: npt.NDArray[np.bool_] = np.diff(unknown[documents]) > 0
    return found


class Likelihood:
    """The negative log-likelihood with an L2 norm: ``-sum weight * log P(y|x) + c2 |w|^2``.

    Of documents with unknown labels, P is that of the known ones: the sum over all sequences that
    have them (Tsuboi et al., Training conditional random fields using incomplete annotations,
    2008).

    Parameters
    ----------
    training : TrainingSet
        The documents.
    c2 : float
        Weight of the L2 norm.
    real : dtype
        Of the lattices: float32, or float64 for more digits in twice the time.
    """

    def __init__(self, training: TrainingSet, c2: float, real: npt.DTypeLike) -> None:
        self._training = training
        self._c2 = c2
        self._words = WordTable(
            training.codes, training.state, training.offsets, training.labels, real
        )
        self._packings = lattice.pack(training.documents, _PACKED)
        unknown = partial(training.documents, training.tags)
        self._known = ~unknown
        self._partial = lattice.pack(training.documents, _PACKED, unknown)
        packings = [*self._packings, *self._partial]  # these may be the larger ones
        largest = max((packing.tokens for packing in packings), default=0)
        self._buffers = np.empty((2, largest, self._words.scores.shape[2]), real)
        self.size = len(training.state.labels) + training.labels**2

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Give the objective and its gradient at the weights x, shape (K + L * L,)."""
        training = self._training
        weights = training.weights_of(x)
        self._words.fill(weights.state)
        passing = _Pass(weights.transition, self._words.scores.dtype)
        value = 0.0
        for packing in self._packings:
            value += self._pass(passing, packing, constrained=False)
        for packing in self._partial:
            value -= self._pass(passing, packing, constrained=True)
        gradient = 2 * (self._c2 * x)
        number = len(training.state.labels)
        self._words.collect(gradient[:number])
        gradient[number:] += passing.transitions(training.transition).reshape(-1)
        return value + self._c2 * float(x @ x), gradient

    def _pass(self, passing: _Pass, packing: lattice.Packing, *, constrained: bool) -> float:
        """Add what is expected in a packing, and give its log Z less the scores of its tags.

        With `constrained`, only known tags are expected, and it is taken away.
        """
        training = self._training
        weights = training.weights[packing.documents]
        scores, marginals = self._buffers[:, : packing.tokens]
        where = packing.first, packing.lengths, packing.steps
        borders = len(training.codes) - 2, len(training.codes) - 1
        lattice.gather(training.words, *where, self._words.scores, *borders, scores)
        path = np.zeros(len(weights))
        if constrained:
            lattice.constrain(*where, training.tags, training.labels, scores)
        else:
            # Of the same scores, so that what they lack in digits is the same in both.
            lattice.score_paths(*where, scores, passing.transition, training.tags, path)
        sign = -1.0 if constrained else 1.0
        log_z = passing.expect(packing, scores, marginals, sign * weights)
        known = self._known[packing.documents]
        lattice.subtract_observed(*where, training.tags, known, marginals, passing.departures)
        lattice.scatter(training.words, *where, marginals, *borders, self._words.expected)
        return float(weights @ (log_z - path))


class _Pass:
    """Forward-backward over packings with the same transitions, which it counts."""

    def __init__(self, transition: Floats, real: np.dtype[np.floating]) -> None:
        self.transition = transition
        self._safe = lattice.safe(transition, real)
        self._top = float(transition.max())
        self._forward = lattice.exponential_transition(transition, real)
        self._backward = np.ascontiguousarray(self._forward.T)
        self._counts = np.zeros(self._forward.shape)
        self._exact_counts = np.zeros(transition.shape)
        self.departures = np.zeros(len(transition))

    def transitions(self, observed: Floats) -> Floats:
        """Give how much more often than observed each transition is expected, shape (L, L).

        The most frequent one from each label follows from all that depart from there, which has
        more digits than the difference of two large numbers.
        """
        labels = len(self.transition)
        counts: Floats = (self._counts * self._forward)[:labels, :labels] + self._exact_counts
        counts -= observed
        rows, most = np.arange(labels), observed.argmax(axis=1)
        counts[rows, most] = 0.0
        counts[rows, most] = self.departures - counts.sum(axis=1)
        return counts

    def expect(
        self,
        packing: lattice.Packing,
        scores: lattice.Reals,
        marginals: lattice.Reals,
        weights: Floats,
    ) -> Floats:
        """Turn scores into marginals times the weight of their document, and give log Z."""
        log_z = np.empty(len(weights))
        if not self._safe:
            self._expect_exactly(packing, scores, marginals, weights, log_z)
            return log_z
        largest = np.empty(packing.tokens, scores.dtype)
        scale = np.empty(packing.tokens)
        lattice.lower_by_largest(scores, largest)
        np.exp(scores, out=scores)
        lattice.forward(packing.steps, scores, self._forward, marginals, scale)
        lattice.log_sums(packing.steps, scale, largest, self._top, log_z)
        lattice.backward(
            packing.steps, scores, self._backward, weights, marginals, scale, self._counts
        )
        return log_z

    def _expect_exactly(
        self,
        packing: lattice.Packing,
        scores: lattice.Reals,
        marginals: lattice.Reals,
        weights: Floats,
        log_z: Floats,
    ) -> None:
        labels = len(self.transition)
        marginals[:] = 0
        for row, length in enumerate(packing.lengths.tolist()):
            places = packing.steps[:length] + row
            own = scores[places, :labels].astype(np.float64)
            alpha, beta = np.empty((2, *own.shape))
            log_z[row] = log_forward_backward(own, self.transition, alpha, beta)
            marginals[places, :labels] = weights[row] * np.exp(alpha + beta - log_z[row])
            for token in range(length - 1):
                after = own[token + 1] + beta[token + 1] - log_z[row]
                both = alpha[token][:, None] + self.transition + after
                self._exact_counts += weights[row] * np.exp(both)
