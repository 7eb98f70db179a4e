"""The errors of predicted entities, by kind: missed, spurious, wrong class and wrong border.

Gold and predicted entities of a document that overlap are paired, each with at most one other.
Pairs are formed one after another, the best first: pairs with equal offsets, then pairs of one
class, then pairs that share more characters, then the leftmost. The kinds follow from the pairs:

========================  ====================================================
an entity is              if
========================  ====================================================
correct                   the offsets and the class of its pair are equal
a wrong class             the classes of its pair differ, whatever the offsets
a wrong border            the classes of its pair are equal, the offsets differ
missed                    it is gold, and has no pair
spurious                  it is predicted, and has no pair
========================  ====================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus.batch import Batch
from corpus.document import Span
from corpus.evaluation.scoring import Entities, GoldBatch

MISSED, SPURIOUS, WRONG_CLASS, WRONG_BORDER = "missed", "spurious", "wrong class", "wrong border"

#: The kinds of errors, in the order in which they are reported.
ERROR_KINDS = (MISSED, SPURIOUS, WRONG_CLASS, WRONG_BORDER)


class EntityError(NamedTuple):
    """An error in a document.

    Parameters
    ----------
    row : int
        The index of the document.
    gold, predicted : Span or None
        The gold and the predicted entity; None where there is no such entity.
    """

    row: int
    gold: Span | None
    predicted: Span | None

    @property
    def kind(self) -> str:
        """The kind of the error, one of `ERROR_KINDS`."""
        if self.predicted is None:
            return MISSED
        if self.gold is None:
            return SPURIOUS
        return WRONG_BORDER if self.gold.label == self.predicted.label else WRONG_CLASS


def entity_errors(gold: GoldBatch | Batch, predicted: Batch) -> list[EntityError]:
    """Return the errors of the tags of a batch.

    Parameters
    ----------
    gold : GoldBatch or Batch
        The annotations. For a `Batch`, the entities that its tags describe.
    predicted : Batch
        The same documents in the same order, with predicted tags.

    Returns
    -------
    list of EntityError
        In the order of the documents; in a document, in the order of offsets.
    """
    entities = gold.entities if isinstance(gold, GoldBatch) else Entities.from_tags(gold)
    gold_spans, predicted_spans = _spans(entities), _spans(Entities.from_tags(predicted))
    errors = []
    for row in sorted({*gold_spans, *predicted_spans}):
        pairs = pair_mentions(gold_spans.get(row, []), predicted_spans.get(row, []))
        errors += sorted((EntityError(row, *pair) for pair in pairs), key=_place)
    return errors


def _spans(entities: Entities) -> dict[int, list[Span]]:
    """Return the entities of each document that has some."""
    spans: dict[int, list[Span]] = {}
    columns = (entities.rows, entities.starts, entities.ends, entities.classes)
    for row, start, end, number in zip(*(column.tolist() for column in columns), strict=True):
        spans.setdefault(row, []).append(Span(start, end, entities.names[number]))
    return spans


def _place(error: EntityError) -> tuple[int, int]:
    return min((side.start, side.end) for side in (error.gold, error.predicted) if side)


def pair_mentions(
    gold: Sequence[Span], predicted: Sequence[Span]
) -> Iterator[tuple[Span | None, Span | None]]:
    """Yield the pairs of entities that differ, and the entities without a pair.

    Parameters
    ----------
    gold, predicted : sequence of Span
        The entities of a document, ordered by offset. Entities of one side do not overlap.

    Yields
    ------
    (Span or None, Span or None)
        The gold and the predicted entity; correct entities are left out.
    """
    paired: set[tuple[bool, Span]] = set()
    for left, right in sorted(_overlapping(gold, predicted), key=_preference):
        if (True, left) in paired or (False, right) in paired:
            continue
        paired |= {(True, left), (False, right)}
        if left != right:
            yield left, right
    yield from ((left, None) for left in gold if (True, left) not in paired)
    yield from ((None, right) for right in predicted if (False, right) not in paired)


def _preference(pair: tuple[Span, Span]) -> tuple[bool, bool, int, int, int]:
    """Return the key by which pairs are sorted, the best first."""
    gold, predicted = pair
    return (
        (gold.start, gold.end) != (predicted.start, predicted.end),
        gold.label != predicted.label,
        -(min(gold.end, predicted.end) - max(gold.start, predicted.start)),
        gold.start,
        predicted.start,
    )


def _overlapping(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield the pairs of entities that share a character, in one pass over both."""
    left = right = 0
    while left < len(gold) and right < len(predicted):
        if max(gold[left].start, predicted[right].start) < min(
            gold[left].end, predicted[right].end
        ):
            yield gold[left], predicted[right]
        if gold[left].end <= predicted[right].end:
            left += 1
        else:
            right += 1
