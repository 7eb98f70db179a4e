"""Taggings by taggers that are certain of each tag to a degree, without a lattice."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import find_entities
from taggers.base import Detail, Tagging
from taggers.confidence import document_confidence, entity_probabilities_of

_Floats = npt.NDArray[np.float64]
#: The tag of each token, and its certainty in [0, 1].
Certainties: TypeAlias = tuple[npt.NDArray[np.int16], _Floats]

_BEGIN = 1  # the index of the first `B-` in labels


def tagging_of_certainties(
    certainties: Certainties, batch: Batch, labels: tuple[str, ...], measure: str, detail: Detail
) -> Tagging:
    """Return the tagging of a batch whose tags have certainties; see `taggers.base.Tagger.tag`.

    The measure "min_marginal" is the lowest certainty of a token (paper 003, equation 3.7),
    "probability" the product of the certainties, and "normalised" their geometric mean.
    """
    tags, certainty = certainties
    confidence = document_confidence(measure, batch.document_offsets, token_confidence=certainty)
    marginals = entities = None
    if detail in {"labels", "entity"}:
        marginals = _marginals(certainty, tags, len(labels))
    if detail == "entity" and marginals is not None:
        spans = find_entities(tags, batch.document_offsets, labels)
        entities = entity_probabilities_of(marginals, spans, labels)
    return Tagging(
        tags,
        labels,
        confidence,
        None if detail == "document" else certainty,
        marginals if detail == "labels" else None,
        entities,
    )


def _marginals(certainty: _Floats, tags: npt.NDArray[np.int16], labels: int) -> _Floats:
    """Return marginals, shape (N, L)."""
    # The remaining probability of a token is assigned to `O`, or to the first `B-` if its tag is
    # `O`.
    marginals = np.zeros((len(tags), labels))
    marginals[np.arange(len(tags)), tags] = certainty
    marginals[np.arange(len(tags)), np.where(tags > 0, 0, _BEGIN)] += 1 - certainty
    return marginals
