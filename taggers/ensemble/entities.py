"""Probabilities of entities, from the averaged marginals of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.tags import TokenSpans, classes_of
from taggers.confidence import entity_probabilities_of

Floats = npt.NDArray[np.float64]


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
