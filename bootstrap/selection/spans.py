"""Partial pseudo-labels: the tags of confident entities and tokens; other tags are unknown."""

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
    """Replace tags below a confidence threshold by unknown tags.

    The tags of an entity are kept if the probability of exactly this span with this class reaches
    the threshold, and the tag of a token outside of entities if its own probability does.

    Parameters
    ----------
    tagging : Tagging
        A tagging with the confidence of tokens and the probabilities of entities.
    batch : Batch
        The documents tagged.
    confidence : float
        The threshold.

    Returns
    -------
    parts : Tagging
        The tagging with the other tags unknown; the confidence of a document is the share of its
        tokens with a known tag.
    useful : ndarray of bool, shape (D,)
        Whether a document keeps an entity, or all of its tags.

    Raises
    ------
    ValueError
        If the tagging lacks the confidence of tokens or the probabilities of entities.
    """
    if tagging.token_confidence is None:
        raise ValueError("partial pseudo-labels need the confidence of every token")
    confident = tagging.token_confidence >= confidence
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    kept = tagging.entity_confidence(entities) >= confidence
    owners = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    for first, last, keep in zip(entities.first, entities.last, kept, strict=True):
        confident[first : last + 1] = keep
    known = np.concatenate([np.zeros(1, np.int64), np.cumsum(confident)])
    number = np.diff(known[batch.document_offsets])
    useful = number == batch.lengths
    useful[owners[kept]] = True
    tags = np.where(confident, tagging.tags, UNKNOWN).astype(np.int16)
    share = number / np.maximum(batch.lengths, 1)
    return replace(tagging, tags=tags, confidence=share), useful
