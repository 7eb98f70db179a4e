"""Decoding of many documents: best tag sequences, their probabilities, and marginals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from corpus.tags import classes_of, well_formed
from taggers.base import Detail, Tagging
from taggers.confidence import document_confidence, token_confidence_of
from taggers.crf import lattice
from taggers.crf.lattice.entities import EntityLabels, PackedEntities, in_order

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
        The logarithm of the probability of each sequence; 0 for documents without tokens.
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
    entities: Floats | None = None

    def renumbered(self, names: Sequence[str], labels: Sequence[str]) -> Decoded:
        """Return the same for more labels, or for labels in another order.

        Parameters
        ----------
        names : sequence of str
            The present labels.
        labels : sequence of str
            The new labels, which include the present ones.
        """
        numbers = [labels.index(name) for name in names]
        classes = classes_of(labels)
        own = [classes.index(name) for name in classes_of(names)]
        return replace(
            self,
            labels=np.array(numbers, np.int16)[self.labels],
            marginals=_spread(self.marginals, numbers, len(labels)),
            entities=_spread(self.entities, own, len(classes)),
        )

    def tagging(
        self, labels: tuple[str, ...], document_offsets: Indices, measure: str, detail: Detail
    ) -> Tagging:
        """Return the tags of documents, with a measure of confidence and the requested detail."""
        chosen = self.chosen
        if self.marginals is not None:
            chosen = token_confidence_of(self.marginals, self.labels)
        confidence = document_confidence(
            measure, document_offsets, token_confidence=chosen, log_probability=self.log_probability
        )
        return Tagging(
            well_formed(self.labels, document_offsets, labels),
            labels,
            confidence,
            None if detail == "document" else chosen,
            self.marginals,
            self.entities,
        )


def _spread(values: Floats | None, columns: Sequence[int], number: int) -> Floats | None:
    """Spread values over these columns of a wider array, whose other columns are 0."""
    if values is None:
        return None
    spread = np.zeros((len(values), number))
    spread[:, columns] = values
    return spread


@dataclass(frozen=True, slots=True, eq=False)
class StreamScores:
    """A stream of a batch, and the scores that its values add.

    Parameters
    ----------
    values : ndarray of int32, shape (N,)
        The value of each token; negative for no value.
    offsets : ndarray of int64, shape (O,)
        Offsets from the token.
    table : ndarray of float32 or float64, shape (V, O, P)
        The scores that each value adds at each offset.
    """

    values: npt.NDArray[np.int32]
    offsets: Indices
    table: lattice.Reals


#: Computes the scores of the labels of packed tokens, shape (packed tokens, P), into an array.
Score = Callable[[lattice.Packing, lattice.Reals], None]


class ScoreDecoder:
    """A decoder of documents whose tokens have a score for each label.

    Parameters
    ----------
    transition : ndarray of float64, shape (L, L)
        Scores from a label to the following one.
    real : dtype
        The type of scores: float32 or float64.
    names : sequence of str
        The names of the labels, required for the probabilities of entities.
    """

    def __init__(
        self, transition: Floats, real: np.dtype[np.floating], names: Sequence[str] = ()
    ) -> None:
        self._labels = EntityLabels.from_names(names)
        self._number = len(transition)
        self._transition = transition
        self._real = real
        self._padded = lattice.padded_transition(transition, real)
        self._transitions = lattice.Transitions(transition, real)

    def decode_scores(
        self,
        documents: Indices,
        score: Score,
        *,
        detail: Detail = "document",
        progress: Callable[[int, int], None] | None = None,
    ) -> Decoded:
        """Compute the best labels.

        Parameters
        ----------
        documents : ndarray of int64, shape (D + 1,)
            Offsets of each document's tokens.
        score : callable
            Computes the scores of packed tokens. Padding labels score `lattice.NEVER`.
        detail : str
            What to compute in addition to the best sequences; see `taggers.base.Detail`.
        progress : callable, optional
            Called with the number of documents done and of all documents.
        """
        number = len(documents) - 1
        tokens = int(documents[-1])
        decoded = Decoded(
            np.zeros(tokens, np.int16),
            np.zeros(number),
            np.zeros(tokens) if detail in {"token", "entity"} else None,
            np.zeros((tokens, self._number)) if detail == "labels" else None,
        )
        packings = lattice.pack(documents, _PACKED)
        largest = max((packing.tokens for packing in packings), default=0)
        buffers = np.empty((2, largest, len(self._padded)), self._real)
        done = number - sum(len(packing.documents) for packing in packings)
        entities = []
        for packing in packings:
            scores, other = buffers[:, : packing.tokens]
            score(packing, scores)
            best = np.empty(len(packing.documents))
            lattice.viterbi(packing.steps, scores, self._padded, other)
            lattice.backtrack(
                packing.where, scores, other, self._padded, self._transition, decoded.labels, best
            )
            sums = self._transitions.forward(packing, scores, other)
            if detail != "document":
                packed = None
                if detail == "entity":
                    packed = PackedEntities.from_tags(packing, decoded.labels, self._labels)
                    entities.append(packed)
                self._unpack_marginals(packing, sums, decoded, packed)
            decoded.log_probability[packing.documents] = np.minimum(best - sums.log_z, 0.0)
            done += len(best)
            if progress:
                progress(done, number)
        if detail == "entity":
            return replace(decoded, entities=in_order(entities, self._labels))
        return decoded

    def _unpack_marginals(
        self,
        packing: lattice.Packing,
        sums: lattice.Sums,
        decoded: Decoded,
        entities: PackedEntities | None,
    ) -> None:
        """Complete the sums of a packing, and copy what was requested to its place."""
        if entities is not None:
            entities.begin(packing, sums, self._transitions.exponential)
        self._transitions.backward(packing, sums, np.ones(len(sums.log_z)), np.zeros((0, 0)))
        if entities is not None:
            entities.end(packing, sums, self._transitions.exponential)
        if decoded.chosen is not None:
            lattice.unpack_chosen(packing.where, sums.alpha, decoded.labels, decoded.chosen)
        if decoded.marginals is not None:
            lattice.unpack(packing.where, sums.alpha, decoded.marginals)


def word_scores(
    table: lattice.Reals,
    words: npt.NDArray[np.int32],
    streams: Sequence[StreamScores] = (),
    *,
    begin: int = 0,
    end: int = 1,
) -> Score:
    """Return a function that sums the scores of the words and streams around packed tokens.

    Parameters
    ----------
    table : ndarray of float32 or float64, shape (T, O, P)
        The scores that a word adds to the tokens around it, at each offset; P is L padded.
    words : ndarray of int32, shape (N,)
        The row of each token's word.
    streams : sequence of StreamScores
        The streams of tokens, in addition to their words.
    begin, end : int
        Rows of the positions before and after a document.
    """

    def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
        lattice.gather(words, packing.where, table, begin, end, scores)
        for stream in streams:
            lattice.gather_stream(
                stream.values, packing.where, stream.offsets, stream.table, scores
            )

    return score
