"""Linear chains: the scores of the labels of many documents, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.tags import classes_of, well_formed
from taggers.base import Detail, Tagging
from taggers.confidence import document_confidence, needs_marginals, spread, token_confidence_of
from taggers.crf import lattice
from taggers.crf.lattice.entities import EntityLabels, PackedEntities, in_order
from taggers.threads import one_thread

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_PACKED = 4096  # tokens packed at a time, so that what is computed of them stays in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """The best label sequences of documents.

    Parameters
    ----------
    labels : ndarray of int16, shape (N,)
        The labels of the best sequences.
    log_probability : ndarray of float64, shape (D,)
        The logarithm of the probability of each sequence; 0 for documents without tokens, and for
        all if only tags were requested.
    chosen : ndarray of float64, shape (N,), or None
        The marginal probability of each of these labels, if requested.
    marginals : ndarray of float64, shape (N, L), or None
        The marginal probability of every label of each token, if requested.
    entities : ndarray of float64, shape (E, C), or None
        The probability of each entity of the sequences for each class, if requested.
    """

    labels: npt.NDArray[np.int16]
    log_probability: Floats
    chosen: Floats | None
    marginals: Floats | None
    entities: Floats | None


#: Computes the scores of the labels of packed tokens, shape (packed tokens, P), into an array.
Score = Callable[[lattice.Packing, lattice.Reals], None]


@dataclass(frozen=True, slots=True, eq=False)
class LinearChain:
    """A distribution over the label sequences of documents.

    The probability of a sequence is proportional to the exponential of the sum of the scores of its
    labels and transitions.

    Parameters
    ----------
    labels : sequence of str
        The names of the L labels.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    score : callable
        Computes the scores of packed tokens. Padding labels score `lattice.NEVER`. It is valid
        until the tagger is used again.
    transition : ndarray of float64, shape (L, L)
        Scores from a label to the following one.
    real : dtype
        The type of scores: float32 or float64.
    packed : int
        Tokens that are scored at a time.
    """

    labels: Sequence[str]
    document_offsets: Indices
    score: Score
    transition: Floats
    real: np.dtype[np.floating]
    packed: int = _PACKED

    @property
    def width(self) -> int:
        """The number of labels with padding, P."""
        return -(-len(self.transition) // lattice.LANES) * lattice.LANES

    def tag(self, labels: tuple[str, ...], measure: str, detail: Detail) -> Tagging:
        """Predict the most probable label sequences.

        Parameters
        ----------
        labels : tuple of str
            The labels of the tagger, which include those of the chain, in any order.
        measure, detail : str
            The measure of confidence in documents and what to compute in addition to tags, as in
            `taggers.base.Tagger.tag`.
        """
        need: Detail = "token" if needs_marginals(measure) and detail == "document" else detail
        decoded, offsets = self.decode(need), self.document_offsets
        numbers, classes = [labels.index(name) for name in self.labels], classes_of(labels)
        best, chosen = np.array(numbers, np.int16)[decoded.labels], decoded.chosen
        marginals, entities = decoded.marginals, decoded.entities
        if marginals is not None:
            marginals = spread(marginals, numbers, len(labels))
            chosen = token_confidence_of(marginals, best)
        if entities is not None:
            own = [classes.index(name) for name in classes_of(self.labels)]
            entities = spread(entities, own, len(classes))
        confidence = np.ones(len(offsets) - 1)
        if detail != "tags":
            confidence = document_confidence(
                measure, offsets, token_confidence=chosen, log_probability=decoded.log_probability
            )
        tags = well_formed(best, offsets, labels)
        token_confidence = None if detail == "document" else chosen
        return Tagging(tags, labels, confidence, token_confidence, marginals, entities)

    def decode(self, detail: Detail = "document") -> Decoded:
        """Compute the best label sequence of each document.

        Parameters
        ----------
        detail : str
            What to compute in addition to the best sequences; see `taggers.base.Detail`.
        """
        with one_thread():
            return self._decode(detail)

    def _decode(self, detail: Detail) -> Decoded:
        transition, offsets, real = self.transition, self.document_offsets, self.real
        padded = lattice.padded_transition(transition, real)
        transitions = lattice.Transitions(transition, real)
        labels = EntityLabels.from_names(self.labels)
        number, tokens = len(offsets) - 1, int(offsets[-1])
        tags, log_probability = np.zeros(tokens, np.int16), np.zeros(number)
        chosen = np.zeros(tokens) if detail in {"token", "entity"} else None
        marginals = np.zeros((tokens, len(transition))) if detail == "labels" else None
        packings = lattice.pack(offsets, self.packed)
        largest = max((packing.tokens for packing in packings), default=0)
        buffers = np.empty((2, largest, self.width), real)
        entities = []
        for packing in packings:
            scores, other = buffers[:, : packing.tokens]
            self.score(packing, scores)
            best = np.empty(len(packing.documents))
            lattice.viterbi(packing.steps, scores, padded, other)
            lattice.backtrack(packing.where, scores, other, padded, transition, tags, best)
            if detail == "tags":
                continue
            sums = transitions.forward(packing, scores, other)
            if detail == "entity":
                entities.append(PackedEntities.from_tags(packing, tags, labels))
                entities[-1].begin(packing, sums, transitions.exponential)
            if detail != "document":
                transitions.backward(packing, sums, np.ones(len(best)), np.zeros((0, 0)))
            if detail == "entity":
                entities[-1].end(packing, sums, transitions.exponential)
            if chosen is not None:
                positions = packing.positions
                chosen[positions] = sums.alpha[np.arange(packing.tokens), tags[positions]]
            if marginals is not None:
                marginals[packing.positions] = sums.alpha[:, : len(transition)]
            log_probability[packing.documents] = np.minimum(best - sums.log_z, 0.0)
        of_entities = in_order(entities, labels) if detail == "entity" else None
        return Decoded(tags, log_probability, chosen, marginals, of_entities)
