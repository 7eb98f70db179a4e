"""Keeping the parts of a document that a tagger is sure of, and leaving the rest open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import UNKNOWN, find_entities
from taggers.base import Tagging


def confident_parts(
    tagging: Tagging, batch: Batch, confidence: float
) -> tuple[Tagging, npt.NDArray[np.bool_]]:
    """Open the tags that a tagger is not sure of.

    An entity stays if its probability, as just this span of just this class, reaches the
    threshold, and a token outside if that of its tag does.

    Parameters
    ----------
    tagging : Tagging
        With the probabilities of tokens and of entities.
    batch : Batch
        The documents tagged.
    confidence : float
        The threshold.

    Returns
    -------
    parts : Tagging
        The rest of its tags are unknown; the confidence of a document is the share of its tokens
        that are known.
    useful : ndarray of bool, shape (D,)
        Documents that keep an entity, or all of their tags.
    """
    if tagging.token_confidence is None:
        raise ValueError("the confidence of every token is needed to keep parts of documents")
    sure = tagging.token_confidence >= confidence
    entities = find_entities(tagging.tags, batch.documents, tagging.labels)
    kept = tagging.entity_confidence(entities) >= confidence
    owners = np.searchsorted(batch.documents, entities.first, side="right") - 1
    for first, last, keep in zip(entities.first, entities.last, kept, strict=True):
        sure[first : last + 1] = keep
    known = np.concatenate([np.zeros(1, np.int64), np.cumsum(sure)])
    number = np.diff(known[batch.documents])
    useful = number == batch.lengths
    useful[owners[kept]] = True
    tags = np.where(sure, tagging.tags, UNKNOWN).astype(np.int16)
    share = number / np.maximum(batch.lengths, 1)
    return replace(tagging, tags=tags, confidence=share), useful
