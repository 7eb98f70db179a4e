"""Inference: tagging documents with a trained model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import UNIT_FILE
from corpus.batch import Batch, batch_of_texts
from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats.batches import (
    batches_of,
    documents_of,
    list_array,
    regrouped,
    unlabelled,
    with_annotations,
)
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.storage.fields import parse_json
from corpus.storage.opening import refuse_links
from corpus.tags import classes_of, find_entities
from corpus.units import UNITS, Unit, split_batch
from taggers import Tagger, Tagging
from taggers.base import Detail, joined
from taggers.model_folder import read_file_of_model
from taggers.name_propagation import propagate_names

Result = TypeVar("Result")

#: The rows and approximate bytes of notes that are tagged at a time, and their units. Smaller parts
#: would look up more words repeatedly.
_ROWS, _BYTES, _UNITS = 16_384, 1 << 23, 16_384


def find_model(path: Path) -> Path:
    """Return the model folder of a path: the best model of a run, or the path itself.

    Raises
    ------
    InputError
        If the path is neither a run nor a model.
    """
    if Run(path).has_begun():
        return Run(path).best_model()
    if (path / "model.json").is_file():
        return path
    if (path / "model" / "model.json").is_file():
        refuse_links(path / "model", path)
        return path / "model"
    raise InputError(
        f"{path} is neither a run (config.toml, data.parquet) nor the folder of a model "
        "(model.json)"
    )


class UnitFile(msgspec.Struct, frozen=True):
    """The settings that a run writes beside a model, for tagging with it.

    Attributes
    ----------
    unit : {"document", "line", "sentence"}
        The unit of the documents that the model was trained on.
    propagate : tuple of str
        The classes for name propagation.
    columns : Columns
        The names of the columns of the unlabeled documents of the run.
    """

    unit: Unit
    propagate: tuple[str, ...] = ()
    columns: Columns = Columns()


def read_unit_file(model: Path) -> UnitFile:
    """Read the unit and the classes for name propagation of the run that trained a model.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    content = read_file_of_model(model, UNIT_FILE)
    if content is None:
        return UnitFile("document")
    try:
        return msgspec.convert(parse_json(content, UNIT_FILE), UnitFile)
    except (InputError, ValueError):
        raise InputError(
            f"{model / UNIT_FILE} does not name a unit, one of {', '.join(UNITS)}, and a list of "
            "classes to propagate"
        ) from None


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """A document with the spans that a model found.

    Parameters
    ----------
    document : Document
        The document of the source, with the spans that the model found instead of its own.
    confidence : float
        The confidence of the document: the lowest of its units.
    span_confidences : tuple of float
        The probability of each span as an entity of its class; empty if not requested.
    """

    document: Document
    confidence: float
    span_confidences: tuple[float, ...] = ()

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.document.id

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.document.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans that the model found, in the order of their offsets."""
        return self.document.spans


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
    propagate : tuple of str
        Classes for name propagation within a note, and between notes of a patient that are tagged
        in the same batch; see `taggers.name_propagation`.
    """

    unit: Unit = "document"
    measure: str = "probability"
    detail: Detail = "document"
    propagate: tuple[str, ...] = ()


def tag_batch(
    options: TagOptions, tagger: Tagger, notes: pa.RecordBatch
) -> tuple[pa.RecordBatch, int]:
    """Tag notes, and return them with the spans and confidences of the tagger.

    Parameters
    ----------
    options : TagOptions
        How they are tagged.
    tagger : Tagger
        The trained tagger.
    notes : RecordBatch
        Notes as in `corpus.formats.batches`; their own spans are ignored.

    Returns
    -------
    RecordBatch
        The same notes. The confidence of a note is the lowest of its units, 1 if it has none.
    int
        The number of tokens.
    """
    units = split_batch(unlabelled(notes), options.unit, Problems())
    ids, texts, groups = units.batch.columns[:3]
    batch = batch_of_texts(texts, ids, groups)
    tagging = _tag_in_chunks(tagger, batch, options)
    if options.propagate:
        numbers = _note_numbers(notes)[units.owners]
        tagging = propagate_names(tagging, batch, numbers, options.propagate)
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    rows = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    starts, ends = batch.starts[entities.first], batch.ends[entities.last]
    classes = pa.array(classes_of(tagging.labels), pa.string()).take(pa.array(entities.classes))
    lists = units.joined_spans(len(notes), rows, starts, ends, classes)
    confidence = np.ones(len(notes))
    np.minimum.at(confidence, units.owners, tagging.confidence)
    more = {CONFIDENCE: pa.array(confidence)}
    if options.detail == "entity":
        of_spans = pa.array(tagging.entity_confidence(entities))
        more[SPAN_CONFIDENCES] = list_array(lists[0].offsets, of_spans)
    return with_annotations(notes, lists, more), batch.n_tokens


def _tag_in_chunks(tagger: Tagger, batch: Batch, options: TagOptions) -> Tagging:
    """Tag a batch, a bounded number of units at a time."""
    detail: Detail = "entity" if options.propagate else options.detail
    starts = range(0, max(len(batch), 1), _UNITS)
    chunks = [batch] if len(starts) == 1 else (batch.slice(s, s + _UNITS) for s in starts)
    return joined([tagger.tag(chunk, measure=options.measure, detail=detail) for chunk in chunks])


def _note_numbers(notes: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """Return a number for each note, which the notes of a patient share, shape (D,)."""
    patients = notes.column("group").dictionary_encode()
    numbers = patients.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    alone = len(patients.dictionary) + np.arange(len(notes))
    return np.where(numbers < 0, alone, numbers)


def tagged_batches(
    batches: Iterable[pa.RecordBatch],
    tagger: Tagger,
    work: Callable[[Tagger, pa.RecordBatch], Result],
) -> Iterator[Result]:
    """Yield the results of a function of the tagger and of the notes, in order.

    Parameters
    ----------
    batches : iterable of RecordBatch
        The notes. They are regrouped, so that results depend neither on the size of the batches of
        a reader nor on the number of processes.
    tagger : Tagger
        The trained tagger. A `ParallelTagger` does the work in its processes.
    work : callable
        The function, such as `tag_batch` with its options; it has to pickle.
    """
    parts = regrouped(batches, _ROWS, _BYTES)
    if isinstance(tagger, ParallelTagger):
        return tagger.apply(work, parts)
    return map(partial(work, tagger), parts)


def tag_documents(
    documents: Iterable[Document],
    tagger: Tagger,
    unit: Unit,
    measure: str = "probability",
    *,
    detail: Detail = "document",
    propagate: Sequence[str] = (),
) -> Iterator[TaggedDocument]:
    """Yield documents with the spans that a tagger finds, tagged a bounded number at a time.

    Parameters
    ----------
    documents : iterable of Document
        The documents; their own spans are ignored.
    tagger : Tagger
        The trained tagger.
    unit, measure, detail, propagate
        As in `TagOptions`.
    """
    options = TagOptions(unit, measure, detail, tuple(propagate))
    for batch, _ in tagged_batches(batches_of(documents), tagger, partial(tag_batch, options)):
        of_spans: Iterable[Sequence[float]] = repeat(())
        if detail == "entity":
            of_spans = batch.column(SPAN_CONFIDENCES).to_pylist()
        confidences = batch.column(CONFIDENCE).to_pylist()
        for document, confidence, sure in zip(
            documents_of(batch), confidences, of_spans, strict=False
        ):
            yield TaggedDocument(document, confidence, tuple(sure))
