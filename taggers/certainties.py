"""The base class of taggers that are certain of each tag to a degree, without a lattice."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import find_entities
from taggers.base import Detail, Tagging
from taggers.confidence import check_measure, document_confidence, entity_probabilities_of
from taggers.trained_tagger import OptionsT, TrainedTagger

_Floats = npt.NDArray[np.float64]
#: The tag of each token, and its certainty in [0, 1].
Certainties: TypeAlias = tuple[npt.NDArray[np.int16], _Floats]

_BEGIN = 1  # the index of the first `B-` in labels


class CertainTagger(TrainedTagger[OptionsT]):
    """Base class of taggers that are certain of each tag to a degree."""

    @abstractmethod
    def _decoded(self, batch: Batch) -> Certainties:
        """Return the tag and the certainty of each token."""

    def tag(
        self, batch: Batch, *, measure: str = "min_marginal", detail: Detail = "document"
    ) -> Tagging:
        """Predict the tags of documents; see `taggers.base.Tagger.tag`.

        The measure "min_marginal" is the lowest certainty of a token (paper 003, equation 3.7),
        "probability" the product of the certainties, and "normalised" their geometric mean.
        """
        self._check_trained()
        check_measure(measure)
        tags, certainty = self._decoded(batch)
        confidence = document_confidence(
            measure, batch.document_offsets, token_confidence=certainty
        )
        marginals = entities = None
        if detail in {"labels", "entity"}:
            marginals = _marginals(certainty, tags, len(self.labels))
        if detail == "entity" and marginals is not None:
            spans = find_entities(tags, batch.document_offsets, self.labels)
            entities = entity_probabilities_of(marginals, spans, self.labels)
        return Tagging(
            tags,
            self.labels,
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
