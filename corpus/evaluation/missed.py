"""What predicted annotations leave in gold documents: missed entities, and the notes with one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus.document import Document, Span
from corpus.evaluation.error_analysis import MISSED, WRONG_BORDER, WRONG_CLASS, EntityError


class NoteCounts(NamedTuple):
    """Number of notes with an entity, and of those with a missed one."""

    notes: int
    missing: int


@dataclass(frozen=True, slots=True)
class Missed:
    """The gold entities that were not found as they are, and their notes.

    Parameters
    ----------
    kinds : mapping of str to int
        Number of entities that are missed (no predicted entity overlaps them), or that one of their
        class overlaps (a wrong border), or only others (a wrong class).
    notes : mapping of str to NoteCounts
        For each class, the notes with an entity, and those with a missed one.
    all_notes : NoteCounts
        The same for all classes together; a note without any entity counts, too.
    """

    kinds: Mapping[str, int]
    notes: Mapping[str, NoteCounts]
    all_notes: NoteCounts


def find_missed(gold: Iterable[Document], predicted: Iterable[Document]) -> Missed:
    """Compare gold documents with the predicted ones of the same ids.

    Examples
    --------
    >>> gold = Document("1", "Anna Puig, Olot", (Span(0, 9, "PERSON"), Span(11, 15, "PLACE")))
    >>> missed = find_missed([gold], [Document("1", gold.text, (Span(0, 4, "PERSON"),))])
    >>> missed.kinds
    {'missed': 1, 'wrong border': 1, 'wrong class': 0}
    >>> missed.notes["PERSON"], missed.notes["PLACE"]
    (NoteCounts(notes=1, missing=0), NoteCounts(notes=1, missing=1))
    """
    spans = {document.id: document.visible_spans for document in predicted}
    kinds, notes, missing = Counter[str](), Counter[str](), Counter[str]()
    total = leaking = 0
    for document in gold:
        pairs = [(span, _kind(span, spans.get(document.id, ()))) for span in document.visible_spans]
        kinds.update(kind for _, kind in pairs)
        missed = {span.label for span, kind in pairs if kind == MISSED}
        notes.update({span.label for span, _ in pairs})
        missing.update(missed)
        total += 1
        leaking += bool(missed)
    return Missed(
        {kind: kinds[kind] for kind in (MISSED, WRONG_BORDER, WRONG_CLASS)},
        {name: NoteCounts(number, missing[name]) for name, number in sorted(notes.items())},
        NoteCounts(total, leaking),
    )


def missed_kinds(errors: Sequence[EntityError]) -> dict[str, Counter[str]]:
    """Count the gold entities that were not found as they are, by class and kind of `Missed`.

    Parameters
    ----------
    errors : sequence of EntityError
        All errors of some documents.
    """
    predicted: dict[int, list[Span]] = {}
    for error in errors:
        if error.predicted:
            predicted.setdefault(error.row, []).append(error.predicted)
    kinds: dict[str, Counter[str]] = {}
    for error in errors:
        if error.gold:
            kind = _kind(error.gold, predicted.get(error.row, ()))
            kinds.setdefault(error.gold.label, Counter())[kind] += 1
    return kinds


def _kind(span: Span, predicted: Iterable[Span]) -> str:
    """Return how a gold entity was not found, or nothing if it was."""
    labels = set()
    for other in predicted:
        if other == span:
            return ""
        if other.start < span.end and span.start < other.end:
            labels.add(other.label)
    if not labels:
        return MISSED
    return WRONG_BORDER if span.label in labels else WRONG_CLASS
