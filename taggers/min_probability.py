"""The smallest probability of entities, by class: what is less probable is not tagged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from corpus.batch import Batch
from corpus.ragged import ranges_of
from corpus.tags import classes_of, find_entities
from taggers.base import Tagging


def without_improbable(
    tagging: Tagging, batch: Batch, min_probability: Mapping[str, float]
) -> Tagging:
    """Return a tagging without the entities that are less probable than their class asks for.

    Parameters
    ----------
    tagging : Tagging
        With the probabilities of entities.
    batch : Batch
        The documents tagged.
    min_probability : mapping of str to float
        The smallest probability of entities by class; other classes have none.

    Returns
    -------
    Tagging
        The tokens of the entities that were left out are outside of entities. Their confidence is
        the rest of the probability of their tag, and the confidence of their documents is at most
        the rest of the probability of the entity; both are upper bounds.
    """
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    limits = np.array([min_probability.get(name, 0.0) for name in classes_of(tagging.labels)])
    probabilities = tagging.entity_confidence(entities)
    kept = probabilities >= limits[entities.classes]
    if kept.all():
        return tagging
    first, last = entities.first[~kept], entities.last[~kept]
    tokens = ranges_of(first, last - first + 1)
    tags, confidence = tagging.tags.copy(), tagging.confidence.copy()
    tags[tokens] = tagging.labels.index("O")
    rows = np.searchsorted(batch.document_offsets, first, side="right") - 1
    np.minimum.at(confidence, rows, 1 - probabilities[~kept])
    assert tagging.token_confidence is not None
    assert tagging.entity_probabilities is not None
    token_confidence = tagging.token_confidence.copy()
    token_confidence[tokens] = 1 - token_confidence[tokens]
    return replace(
        tagging,
        tags=tags,
        confidence=confidence,
        token_confidence=token_confidence,
        entity_probabilities=tagging.entity_probabilities[kept],
    )
