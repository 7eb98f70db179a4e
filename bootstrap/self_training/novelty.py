"""What pseudo-labels add to a training set: entities that occur for the first time."""

from __future__ import annotations

from collections.abc import Iterable

from corpus.batch import Batch
from corpus.tags import classes_of, find_entities

#: The words of an entity and its class.
Entity = tuple[tuple[str, ...], str]


def entities_of(batches: Iterable[Batch]) -> set[Entity]:
    """Return the distinct entities of tagged batches."""
    return {entity for batch in batches for entity in _entities(batch)}


def _entities(batch: Batch) -> set[Entity]:
    if not batch.labels:
        return set()
    found = find_entities(batch.tags, batch.document_offsets, batch.labels)
    names, words = classes_of(batch.labels), batch.word_ids.tolist()
    rows = zip(found.first.tolist(), found.last.tolist(), found.classes.tolist(), strict=True)
    distinct = {(tuple(words[first : last + 1]), kind) for first, last, kind in rows}
    return {(tuple(batch.vocabulary[word] for word in ids), names[kind]) for ids, kind in distinct}
