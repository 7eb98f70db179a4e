"""Tagging of record batches, which may be done in other processes: they import little else."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.execution.parallel_tagger import ParallelTagger
from corpus.batch import Batch, batch_of_texts
from corpus.errors import Problems, number_of
from corpus.flat import FlatTexts
from corpus.formats.batches import (
    list_array,
    regrouped,
    unlabelled,
    with_annotations,
    with_whole_groups,
)
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES
from corpus.patients import number_patients
from corpus.tags import classes_of, find_entities
from corpus.tokens.normalisation import UnusualCharacters
from corpus.units import Unit, split_batch
from taggers import Tagger, Tagging
from taggers.base import Detail, joined
from taggers.min_probability import without_improbable
from taggers.options import Reach
from taggers.propagation import propagate

Result = TypeVar("Result")

#: The rows and approximate bytes of notes that are tagged at a time, and their units. Smaller parts
#: would look up more words repeatedly.
_ROWS, _BYTES, _UNITS = 16_384, 1 << 23, 16_384

#: The borders of the confidences that are counted.
_BORDERS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class TagOptions:
    """How notes are tagged.

    Parameters
    ----------
    unit : {"document", "line", "sentence"}
        The unit that is tagged separately; spans keep the offsets of the note.
    measure : str
        The measure of confidence, one of `taggers.base.MEASURES`.
    detail : str
        "entity" computes the confidence of each span.
    propagate : mapping of str to {"text", "words"}
        What is propagated of the entities of each class within a note, and between notes of a
        patient that are tagged in the same batch; see `taggers.propagation`.
    min_probability : mapping of str to float
        The smallest probability of entities by class; see `taggers.min_probability`.
    """

    unit: Unit = "document"
    measure: str = "probability"
    detail: Detail = "document"
    propagate: Mapping[str, Reach] = field(default_factory=dict)
    min_probability: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoteSpans:
    """The spans that a tagger found in notes, and what was counted on the way.

    Attributes
    ----------
    lists : list of ListArray
        The starts, ends and labels of the spans of each note.
    confidences : dict of str to Array
        The confidence of each note, which is the lowest of its units and 1 if it has none, and
        those of its spans if they were requested.
    tokens : int
        The number of tokens.
    unusual : UnusualCharacters
        Counts of the notes with characters that are not read as themselves.
    """

    lists: list[pa.ListArray[Any]]
    confidences: dict[str, pa.Array[Any]]
    tokens: int
    unusual: UnusualCharacters


def find_spans(options: TagOptions, tagger: Tagger, notes: pa.RecordBatch) -> NoteSpans:
    """Find the spans of notes without annotations, which may be done in another process."""
    units = split_batch(notes, options.unit, Problems())
    ids, texts, groups = units.batch.columns[:3]
    batch = batch_of_texts(texts, ids, groups)
    revises = options.propagate or options.min_probability
    detail: Detail = "entity" if revises else options.detail
    tagging = tag_in_chunks(tagger, batch, options.measure, detail)
    if options.min_probability:
        tagging = without_improbable(tagging, batch, options.min_probability)
    if options.propagate:
        rows = pa.array(np.arange(len(notes))).cast(pa.large_string())  # ids may be repeated
        numbers = number_patients(notes.column("group"), rows)[units.owners]
        tagging = propagate(tagging, batch, numbers, options.propagate)
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    rows = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    starts, ends = batch.starts[entities.first], batch.ends[entities.last]
    classes = pa.array(classes_of(tagging.labels), pa.string()).take(pa.array(entities.classes))
    lists = units.joined_spans(len(notes), rows, starts, ends, classes)
    confidence = np.ones(len(notes))
    np.minimum.at(confidence, units.owners, tagging.confidence)
    confidences = {CONFIDENCE: pa.array(confidence)}
    if options.detail == "entity":
        of_spans = pa.array(tagging.entity_confidence(entities))
        confidences[SPAN_CONFIDENCES] = list_array(lists[0].offsets, of_spans)
    rows = FlatTexts(notes.column("text")).unusual_rows()
    unusual = UnusualCharacters(len(notes) - len(rows))
    unusual.add(notes.column("text").take(pa.array(rows)))
    return NoteSpans(lists, confidences, batch.n_tokens, unusual)


def tag_in_chunks(tagger: Tagger, batch: Batch, measure: str, detail: Detail) -> Tagging:
    """Tag a batch, a bounded number of units at a time."""
    starts = range(0, max(len(batch), 1), _UNITS)
    chunks = [batch] if len(starts) == 1 else (batch.slice(s, s + _UNITS) for s in starts)
    return joined([tagger.tag(chunk, measure=measure, detail=detail) for chunk in chunks])


def tagged_batches(
    batches: Iterable[pa.RecordBatch], tagger: Tagger, options: TagOptions, summary: TagSummary
) -> Iterator[pa.RecordBatch]:
    """Yield notes with the spans and confidences of a tagger.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Notes as in `corpus.formats.batches`; their own spans are ignored. They are regrouped, so
        that results depend neither on the size of the batches of a reader nor on the number of
        processes.
    tagger : Tagger
        The trained tagger. A `ParallelTagger` tags in its processes.
    options : TagOptions
        How they are tagged.
    summary : TagSummary
        Counts the notes.
    """
    for notes, spans in applied(partial(find_spans, options), tagger, batches, unlabelled):
        summary.add(spans)
        yield with_annotations(notes, spans.lists, spans.confidences)


def applied(
    work: Callable[[Tagger, pa.RecordBatch], Result],
    tagger: Tagger,
    batches: Iterable[pa.RecordBatch],
    sent: Callable[[pa.RecordBatch], pa.RecordBatch],
) -> Iterator[tuple[pa.RecordBatch, Result]]:
    """Yield notes in batches of a fixed size, and the results of a function of a tagger and them.

    Notes of a patient that follow each other are in one batch.

    Parameters
    ----------
    work : callable
        A function of a module, or a `functools.partial` of one.
    tagger : Tagger
        The tagger. The function is called in the processes of a `ParallelTagger`.
    batches : iterable of RecordBatch
        The notes, which are read as they are needed.
    sent : callable
        Returns the columns that the function needs. The others stay in this process.
    """
    waiting: deque[pa.RecordBatch] = deque()

    def parts() -> Iterator[pa.RecordBatch]:
        for notes in with_whole_groups(regrouped(batches, _ROWS, _BYTES)):
            waiting.append(notes)
            yield sent(notes)

    if isinstance(tagger, ParallelTagger):
        results = tagger.apply(work, parts())
    else:
        results = map(partial(work, tagger), parts())
    for result in results:
        yield waiting.popleft(), result


@dataclass(slots=True)
class TagSummary:
    """Counts of the notes that were tagged."""

    notes: int = 0
    tokens: int = 0
    confidences: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(len(_BORDERS) - 1, np.int64)
    )
    unusual: UnusualCharacters = field(default_factory=UnusualCharacters)

    def add(self, spans: NoteSpans) -> None:
        """Count the spans that were found in notes."""
        confidences = spans.confidences[CONFIDENCE].to_numpy()
        self.notes += len(confidences)
        self.tokens += spans.tokens
        self.confidences += np.histogram(confidences, _BORDERS)[0]
        self.unusual.update(spans.unusual)

    def update(self, other: TagSummary) -> None:
        """Add the counts of other notes."""
        self.notes += other.notes
        self.tokens += other.tokens
        self.confidences += other.confidences
        self.unusual.update(other.unusual)

    def as_dict(self) -> dict[str, Any]:
        """Return all counts, serialisable as JSON."""
        unusual = self.unusual
        return {
            "notes": self.notes,
            "tokens": self.tokens,
            "confidences": self.confidences.tolist(),
            "unusual": [unusual.notes, dict(unusual.kinds), sorted(unusual.hidden)],
        }

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> TagSummary:
        """Return the counts that `as_dict` returned."""
        notes, kinds, hidden = counts["unusual"]
        unusual = UnusualCharacters(notes, Counter(kinds), set(hidden))
        confidences = np.array(counts["confidences"], np.int64)
        return cls(counts["notes"], counts["tokens"], confidences, unusual)

    def lines(self) -> Iterator[str]:
        """Yield the number of tokens, and the distribution of the confidences."""
        if not self.notes:
            return
        yield f"{number_of(self.tokens, 'token')}; confidence of the notes:"
        for low, high, count in zip(_BORDERS, _BORDERS[1:], self.confidences, strict=False):
            yield f"  {low:4.2f} to {high:4.2f}  {count / max(self.notes, 1):6.1%}  {count:,}"
