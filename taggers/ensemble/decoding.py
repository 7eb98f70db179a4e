"""The most probable well-formed tag sequences of averaged marginals, and their entities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.ragged import owners_of
from corpus.tags import TokenSpans, classes_of
from taggers.confidence import entity_probabilities_of
from taggers.crf import lattice

Floats = npt.NDArray[np.float64]

#: Lower probabilities count as this one, so that sequences with a label of probability 0 are
#: compared by the number of such labels.
SMALLEST = 1e-300

_PACKED = 8192  # tokens packed at a time


def decode(
    marginals: Floats, document_offsets: npt.NDArray[np.int64], labels: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Compute the most probable well-formed sequence of each document.

    The probability of a sequence is the product of the probabilities of its labels. In a
    well-formed sequence, an ``I-`` label only follows a ``B-`` or ``I-`` label of the same class
    (see `corpus.tags.well_formed`). The sequence is computed by the Viterbi algorithm, with a
    score of 0 for transitions that are allowed.

    Parameters
    ----------
    marginals : ndarray of float64, shape (N, L)
        Probability of each label at each token.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of the tokens of each document.
    labels : sequence of str
        ``O``, and ``B-`` and ``I-`` of every class.

    Returns
    -------
    ndarray of int16, shape (N,)
        Indices into `labels`. Of several sequences that are equally probable, the one with the
        lowest labels, compared from the last token on.
    """
    inner = np.array([name.startswith("I-") for name in labels])
    classes = np.array([name[2:] for name in labels])  # that of O is empty
    transition = np.where(~inner | (classes[:, None] == classes), 0.0, lattice.NEVER)
    padded = lattice.padded_transition(transition, np.dtype(np.float64))
    tags = np.zeros(len(marginals), np.int16)
    for packing in lattice.pack(document_offsets, _PACKED):
        places = owners_of(packing.steps)
        tokens = packing.first[packing.rows] + places
        scores = np.full((packing.tokens, len(padded)), lattice.NEVER)
        scores[:, : len(labels)] = np.log(np.maximum(marginals[tokens], SMALLEST))
        scores[: packing.steps[1], np.flatnonzero(inner)] = lattice.NEVER
        best_to = np.empty_like(scores)
        lattice.viterbi(packing.steps, scores, padded, best_to)
        unused = np.empty(len(packing.documents))
        lattice.backtrack(packing.where, scores, best_to, padded, transition, tags, unused)
    return tags


def entity_probabilities(
    marginals: Floats,
    entities: TokenSpans,
    document_offsets: npt.NDArray[np.int64],
    labels: Sequence[str],
) -> Floats:
    """Estimate the probabilities of entities from the mean of the members' marginals.

    The estimate is the lower of the lowest marginal of the labels of the entity, and the
    probability that the token after it does not continue it. A member gives the entity at most the
    lower of its own two, as far as its sequences are well formed. The estimate is therefore an
    upper bound of the mean of the members' probabilities of the entity. These are not available:
    a tagger computes them only for the entities that it predicts itself.

    Parameters
    ----------
    marginals : ndarray of float64, shape (N, L)
        Probability of each label.
    entities : TokenSpans
        E entities.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of the tokens of each document.
    labels : sequence of str
        ``O``, and ``B-`` and ``I-`` of every class.

    Returns
    -------
    ndarray of float64, shape (E, C)
        For each of ``classes_of(labels)``.
    """
    lowest = entity_probabilities_of(marginals, entities, labels)
    inner = np.array([labels.index(f"I-{name}") for name in classes_of(labels)], np.int64)
    after = entities.last + 1
    is_first = np.zeros(len(marginals) + 1, bool)
    is_first[document_offsets] = True
    rows = np.flatnonzero(~is_first[after])
    continued = marginals[after[rows, None], inner]
    lowest[rows] = np.minimum(lowest[rows], 1.0 - continued)
    return lowest
