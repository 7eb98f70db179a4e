"""The log-likelihood of a training set under a CRF, and its gradient."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from taggers.crf import lattice
from taggers.crf.training.stream_table import OWN, StreamTable, stream_tables
from taggers.crf.training.training_set import TrainingSet, partial
from taggers.crf.training.word_table import WordTable

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_PACKED = 8192  # tokens per packing, so that its scores fit into the processor's cache
_DAMPED = 0.7  # the exponent of variances in the curvature
_FLAT = 0.01  # half the minimum curvature


class Likelihood:
    """The regularised negative log-likelihood: ``-sum weight * log P(y|x) + c2 |w|^2``.

    In documents with partial annotation, unknown labels are marginalised: P is the sum over all
    label sequences that agree with the known labels (Tsuboi et al., Training conditional random
    fields using incomplete annotations, 2008).

    Parameters
    ----------
    training : TrainingSet
        The training documents.
    c2 : float
        Weight of the L2 regularization.
    real : dtype
        The type of the lattices: float32, or float64, which takes twice the time.
    """

    def __init__(self, training: TrainingSet, c2: float, real: npt.DTypeLike) -> None:
        self._training = training
        self._c2 = c2
        self._words = WordTable(training, real)
        self._streams = stream_tables(training, real)
        self._tables: list[WordTable | StreamTable] = [self._words, *self._streams]
        self._borders = len(training.codes) - 2, len(training.codes) - 1
        unknown = partial(training.document_offsets, training.tags)
        #: Packings of documents with complete and with partial annotation.
        self._packings = {
            is_partial: lattice.pack(training.document_offsets, _PACKED, unknown == is_partial)
            for is_partial in (False, True)
        }
        packings = itertools.chain.from_iterable(self._packings.values())
        largest = max((packing.tokens for packing in packings), default=0)
        self._buffers = np.empty((4, largest, self._words.scores.shape[2]), real)
        self.size = len(training.state.labels) + training.labels**2

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Compute the objective and its gradient at the weights x, shape (K + L * L,)."""
        passing = self._begin(x)
        value = sum(
            sum(self._add(passing, packing, is_partial=is_partial) for packing in packings)
            for is_partial, packings in self._packings.items()
        )
        gradient = 2 * (self._c2 * x)
        of_transitions = self._collect(gradient)
        of_transitions += passing.transitions(self._training.transition).reshape(-1)
        return value + self._c2 * float(x @ x), gradient

    def curvature(self, x: Floats) -> Floats:
        """Estimate the diagonal of the Hessian at the weights x, shape (K + L * L,).

        The estimate of a state weight is the variance of the count of its pair of value and label,
        with tokens taken as independent. A transition has the smaller variance of its two
        labels. Since the weights of a token are correlated, the variances are damped by a power.
        """
        passing = self._begin(x)
        labels = np.zeros(self._training.labels)
        for is_partial, packings in self._packings.items():
            for packing in packings:
                labels += self._add_variances(passing, packing, is_partial=is_partial)
        variance = np.zeros(self.size)
        self._collect(variance)[:] = np.minimum.outer(labels, labels).reshape(-1)
        curved: Floats = np.maximum(variance, 0.0) ** _DAMPED + 2 * max(self._c2, _FLAT)
        return curved

    def _begin(self, x: Floats) -> _Pass:
        """Fill the tables with the weights x, and begin a pass over all packings."""
        weights = self._training.weights_of(x)
        for table in self._tables:
            table.fill(weights.state)
        return _Pass(weights.transition, self._words.scores.dtype)

    def _collect(self, totals: Floats) -> Floats:
        """Add the counts of the tables to those of state weights; return those of transitions."""
        number = len(self._training.state.labels)
        for table in self._tables:
            table.collect(totals[:number])
        return totals[number:]

    def _add_variances(
        self, passing: _Pass, packing: lattice.Packing, *, is_partial: bool
    ) -> Floats:
        """Add a packing's variances to the words' variances, and return the sum of each label."""
        training = self._training
        ones = np.ones(len(packing.documents))
        scores, variances = self._gathered(packing)
        agreeing = self._constrained(packing, scores) if is_partial else None
        passing.expect(packing, scores, variances, ones)
        variances *= 1 - variances
        if agreeing:
            passing.expect(packing, *agreeing, ones)
            variances -= agreeing[1] * (1 - agreeing[1])
        variances *= training.weights[packing.documents][packing.rows, None].astype(variances.dtype)
        self._scatter(packing, variances)
        sums: Floats = variances.sum(axis=0, dtype=np.float64)[: training.labels]
        return sums

    def _gathered(self, packing: lattice.Packing) -> tuple[lattice.Reals, lattice.Reals]:
        """Compute the scores of a packing, and return them with a buffer of the same shape."""
        scores, marginals = self._buffers[:2, : packing.tokens]
        table = self._words.scores
        lattice.gather(self._training.words, packing.where, table, *self._borders, scores)
        for stream in self._streams:
            lattice.gather_stream(stream.numbers, packing.where, OWN, stream.scores, scores)
        return scores, marginals

    def _constrained(
        self, packing: lattice.Packing, scores: lattice.Reals
    ) -> tuple[lattice.Reals, lattice.Reals]:
        """Copy scores, exclude labels that contradict the known tags, and return them likewise."""
        training = self._training
        constrained, marginals = self._buffers[2:, : packing.tokens]
        constrained[:] = scores
        lattice.constrain(packing.where, training.tags, training.labels, constrained)
        return constrained, marginals

    def _scatter(self, packing: lattice.Packing, marginals: lattice.Reals) -> None:
        """Add the expected counts of tokens to the counts of the words around them."""
        expected = self._words.expected
        lattice.scatter(self._training.words, packing.where, marginals, *self._borders, expected)
        for stream in self._streams:
            lattice.scatter_stream(stream.numbers, packing.where, OWN, marginals, stream.expected)

    def _add(self, passing: _Pass, packing: lattice.Packing, *, is_partial: bool) -> float:
        """Add the expected less the observed counts of documents, and return their objective."""
        # It is the weighted sum of log Z less the scores of the tags or, with partial annotation,
        # less the logarithm of the sum over all sequences that agree with the known tags, whose
        # expected counts are subtracted.
        tags, weights = self._training.tags, self._training.weights[packing.documents]
        scores, marginals = self._gathered(packing)
        if is_partial:
            constrained, agreeing = self._constrained(packing, scores)
            log_z = passing.expect(packing, scores, marginals, weights)
            of_tags = passing.expect(packing, constrained, agreeing, -weights)
            marginals += agreeing
        else:
            of_tags = np.zeros(len(weights))
            # From the same scores as log Z, so that their rounding errors cancel out.
            lattice.score_paths(packing.where, scores, passing.transition, tags, of_tags)
            log_z = passing.expect(packing, scores, marginals, weights)
        known, departures = not is_partial, passing.departures
        lattice.subtract_observed(packing.where, tags, known, marginals, departures)
        self._scatter(packing, marginals)
        return float(weights @ (log_z - of_tags))


class _Pass:
    """Forward-backward over packings, accumulating the expected counts of transitions."""

    def __init__(self, transition: Floats, real: np.dtype[np.floating]) -> None:
        self.transition = transition
        self._forward_backward = lattice.Transitions(transition, real)
        self._counts = np.zeros(self._forward_backward.exponential.shape)
        self.departures = np.zeros(len(transition))

    def transitions(self, observed: Floats) -> Floats:
        """Compute the expected less the observed count of each transition, shape (L, L)."""
        # The value of the most frequent transition from each label is computed from the total of
        # the label, which is more accurate than the difference of two large numbers.
        labels = len(self.transition)
        counts: Floats = (self._counts * self._forward_backward.exponential)[:labels, :labels]
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
        """Convert scores to marginals times the weight of their document, and return log Z."""
        sums = self._forward_backward.forward(packing, scores, marginals)
        self._forward_backward.backward(packing, sums, weights, self._counts)
        if sums.alpha is not marginals:  # but in double precision
            marginals[:] = sums.alpha
        return sums.log_z
