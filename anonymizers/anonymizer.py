"""Notes with other texts in the place of mentions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymizers.categories import UNKNOWN
from anonymizers.keys import Key
from anonymizers.mention import Mention, folded
from anonymizers.operator import Operator
from anonymizers.operators import PLACEHOLDER, name_of
from anonymizers.policy import Policy
from anonymizers.spans import Spans, resolved
from corpus.formats.batches import with_annotations
from corpus.patients import patient_keys
from corpus.replacement import OffsetMap, replace_spans

#: What happened to a mention: a placeholder stands for it except in the first two cases.
REPLACED, UNCHANGED = "replaced", "unchanged"
NO_VALUE, UNKNOWN_CLASS, CROSSING = "no value", "class without category", "spans that cross"


@dataclass(slots=True)
class Counts:
    """What was replaced, in numbers.

    Parameters
    ----------
    mentions : Counter of (str, str, str, str)
        The mentions by class, source, name of the operator, and what happened to them.
    notes, changed : int
        The number of notes, and of those with a mention.
    same_names : int
        The surrogates of names that are the name of somebody else in the note.
    """

    mentions: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    notes: int = 0
    changed: int = 0
    same_names: int = 0

    def add(self, other: Counts) -> None:
        """Add the numbers of other notes."""
        self.mentions.update(other.mentions)
        self.notes += other.notes
        self.changed += other.changed
        self.same_names += other.same_names


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """The mentions of notes, in order and without overlaps.

    Parameters
    ----------
    spans : Spans
        Where they are.
    crossing, mixed : ndarray of bool
        Which were several spans that cross, and which were several of different classes.
    items : list of Mention
        What they are.
    """

    spans: Spans
    crossing: npt.NDArray[np.bool_]
    mixed: npt.NDArray[np.bool_]
    items: list[Mention]

    @classmethod
    def of_spans(cls, notes: pa.RecordBatch, spans: Spans, policy: Policy) -> Self:
        """Return the mentions of spans, which may overlap; see `anonymizers.spans.resolved`."""
        ids, texts = (notes.column(name).to_pylist() for name in ("id", "text"))
        patients = patient_keys(notes.column("group"), notes.column("id")).to_pylist()
        spans, crossing, mixed = resolved(spans, texts)
        categories = {label: policy.category(label) for label in set(spans.labels)}
        places = zip(spans.rows.tolist(), spans.starts.tolist(), spans.ends.tolist(), strict=True)
        items = [
            Mention(
                texts[row][start:end],
                label,
                categories[label],
                patients[row],
                row,
                ids[row],
                start,
            )
            for (row, start, end), label in zip(places, spans.labels, strict=True)
        ]
        return cls(spans, crossing, mixed, items)

    def joined(self, others: Mentions) -> Mentions:
        """Return these mentions and others, which do not overlap them."""
        spans = Spans.joined([self.spans, others.spans])
        order = np.lexsort((spans.ends, spans.starts, spans.rows))
        items = [*self.items, *others.items]
        crossing, mixed = (
            np.concatenate(pair)[order]
            for pair in ((self.crossing, others.crossing), (self.mixed, others.mixed))
        )
        return Mentions(
            spans.take(order), crossing, mixed, [items[place] for place in order.tolist()]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Anonymized:
    """De-identified notes.

    Parameters
    ----------
    notes : RecordBatch
        The notes with new texts, and with spans where these are.
    spans : Spans
        These spans, with their sources.
    offsets : OffsetMap
        The map between offsets in the old and the new texts.
    counts : Counts
        What was replaced.
    """

    notes: pa.RecordBatch
    spans: Spans
    offsets: OffsetMap
    counts: Counts


def anonymize(notes: pa.RecordBatch, mentions: Mentions, policy: Policy, key: Key) -> Anonymized:
    """Replace mentions. It fails closed: what cannot be replaced becomes a placeholder.

    Parameters
    ----------
    notes : RecordBatch
        Notes (`corpus.formats.batches.SCHEMA`), whose own spans are ignored.
    mentions : Mentions
        Their mentions.
    policy : Policy
        What replaces the mentions of each class.
    key : Key
        The key from which replacements follow.
    """
    spans, items = mentions.spans, mentions.items
    operators = {label: policy.operator(label) for label in set(spans.labels)}
    texts = _replacements(mentions, operators, key)
    # What may stay in one class may not in the class of a mention within it.
    stays = np.array([t == m.text for t, m in zip(texts, items, strict=True)], bool)
    closed = mentions.crossing | (mentions.mixed & stays)
    texts = [None if shut else t for t, shut in zip(texts, closed.tolist(), strict=True)]
    counts = Counts(notes=len(notes), changed=len(np.unique(spans.rows)))
    results = (
        NO_VALUE if text is None else UNCHANGED if text == mention.text else REPLACED
        for text, mention in zip(texts, items, strict=True)
    )
    outcomes = Counter(zip(spans.labels, spans.sources, closed.tolist(), results, strict=True))
    for (label, source, crossing, result), number in outcomes.items():
        is_unknown = policy.category(label) == UNKNOWN
        outcome = CROSSING if crossing else UNKNOWN_CLASS if is_unknown else result
        operator = operators[label] if outcome in {REPLACED, UNCHANGED} else PLACEHOLDER
        counts.mentions[label, source, name_of(operator), outcome] += number
    counts.same_names = _same_names(items, texts)
    final = [
        PLACEHOLDER.replace(mention, key) if text is None else text
        for text, mention in zip(texts, items, strict=True)
    ]
    annotated = with_annotations(notes, spans.lists(len(notes)), {})
    replaced, offsets = replace_spans(annotated, pa.array(final, pa.large_string()))
    return Anonymized(replaced, spans.moved(offsets), offsets, counts)


def _replacements(
    mentions: Mentions, operators: Mapping[str, Operator], key: Key
) -> list[str | None]:
    """Return what the operators of classes write for each mention."""
    texts: list[str | None] = [None] * len(mentions.items)
    of_label: dict[str, list[int]] = defaultdict(list)
    for number in np.flatnonzero(~mentions.crossing).tolist():
        of_label[mentions.items[number].label].append(number)
    for label, numbers in of_label.items():
        parts = operators[label].replaced([mentions.items[number] for number in numbers], key)
        for number, text in zip(numbers, parts, strict=True):
            texts[number] = text
    return texts


def _same_names(mentions: Sequence[Mention], texts: Sequence[str | None]) -> int:
    """Count the new names that are another name of their note."""
    names = {(m.note, folded(m.text)) for m in mentions if m.category == "person"}
    return sum(
        text is not None and mention.category == "person" and (mention.note, folded(text)) in names
        for mention, text in zip(mentions, texts, strict=True)
        if text != mention.text
    )
