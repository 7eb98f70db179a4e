"""Inference: tagging documents with a trained model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import UNIT_FILE
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.patients import number_patients
from corpus.storage.fields import parse_json
from corpus.storage.opening import refuse_links
from corpus.tags import find_entities
from corpus.tokens.normalisation import UnusualCharacters
from corpus.units import UNITS, Unit, units_of
from taggers import Tagger
from taggers.base import Detail
from taggers.model_folder import read_file_of_model
from taggers.name_propagation import propagate_names

_UNITS_PER_BATCH = 20_000  # enough work for every process within bounded memory


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
    """

    unit: Unit
    propagate: tuple[str, ...] = ()


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


def tag_documents(
    documents: Iterable[Document],
    tagger: Tagger,
    unit: Unit,
    measure: str = "probability",
    *,
    detail: Detail = "document",
    propagate: Sequence[str] = (),
    unusual: UnusualCharacters | None = None,
) -> Iterator[TaggedDocument]:
    """Yield documents with the spans that a tagger finds, tagged a bounded number at a time.

    Parameters
    ----------
    documents : iterable of Document
        The documents; their own spans are ignored.
    tagger : Tagger
        The trained tagger.
    unit : {"document", "line", "sentence"}
        The unit that is tagged separately; spans keep the offsets of the source.
    measure : str
        The measure of confidence, one of `taggers.base.MEASURES`.
    detail : str
        "entity" computes the confidence of each span.
    propagate : sequence of str
        Classes for name propagation within a note, and between notes of a patient that are tagged
        in the same batch; see `taggers.name_propagation`.
    unusual : UnusualCharacters, optional
        Counts the documents with soft hyphens, full-width letters and the like.
    """
    unusual = unusual or UnusualCharacters()
    pending: list[tuple[Document, list[tuple[int, Document]]]] = []
    number = 0
    bare_documents = (replace(document, spans=()) for document in documents)
    for bare, units in units_of(bare_documents, unit, Problems()):
        pending.append((bare, units))
        number += len(units)
        if number >= _UNITS_PER_BATCH:
            unusual.add([source.text for source, _ in pending])
            yield from _tag_units(pending, tagger, measure, detail, propagate)
            pending, number = [], 0
    unusual.add([source.text for source, _ in pending])
    yield from _tag_units(pending, tagger, measure, detail, propagate)


def _tag_units(
    sources: list[tuple[Document, list[tuple[int, Document]]]],
    tagger: Tagger,
    measure: str,
    detail: Detail,
    propagate: Sequence[str],
) -> Iterator[TaggedDocument]:
    units = [unit for _, pieces in sources for _, unit in pieces]
    span_confidences: Iterator[float] = iter(())
    if units:
        batch = make_batch(units, labelled=False)
        tagging = tagger.tag(batch, measure=measure, detail="entity" if propagate else detail)
        if propagate:
            tagging = propagate_names(tagging, batch, _note_numbers(sources), propagate)
        spans = batch.with_tags(tagging.tags, tagging.labels).spans()
        if detail == "entity":
            entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
            span_confidences = iter(tagging.entity_confidence(entities).tolist())
    first = 0
    for source, pieces in sources:
        rows = slice(first, first + len(pieces))
        first += len(pieces)
        if not pieces:
            yield TaggedDocument(source, 1.0)
            continue
        joined = (
            Span(span.start + offset, span.end + offset, span.label)
            for (offset, _), of_unit in zip(pieces, spans[rows], strict=True)
            for span in of_unit
        )
        document = replace(source, spans=tuple(joined))
        confidence = float(tagging.confidence[rows].min())
        yield TaggedDocument(
            document, confidence, tuple(islice(span_confidences, len(document.spans)))
        )


def _note_numbers(
    sources: list[tuple[Document, list[tuple[int, Document]]]],
) -> npt.NDArray[np.int64]:
    """Return the number of the note of each unit; the notes of a patient share a number."""
    notes = number_patients((source.group for source, _ in sources), map(str, range(len(sources))))
    return np.repeat(notes, [len(pieces) for _, pieces in sources])
