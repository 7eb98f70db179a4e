"""Tagging notes with a model: any corpus in, the same notes with their spans out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, tee
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bootstrap.execution.parallel_tagger import ParallelTagger, Report
from bootstrap.runs.folder import Run
from bootstrap.runs.runner import UNIT_FILE
from corpus.batch import make_batch
from corpus.corpora import read_corpus
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats import Columns, WriteReport, write
from corpus.kernels.registry import warm_up
from corpus.problems import Problems
from corpus.tags import find_entities
from corpus.units import UNITS, Unit, join_spans, split_document
from taggers import Tagger
from taggers.base import Detail
from taggers.name_propagation import propagate_names, refuse_unknown

_UNITS_AT_A_TIME = 20_000  # enough for every process; few enough for memory


def find_model(path: Path) -> Path:
    """Find the model folder that a path means: the best model of a run, or the folder itself.

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
        return path / "model"
    raise InputError(
        f"{path} is neither a run (config.toml, data.parquet) nor the folder of a model "
        "(model.json)"
    )


def trusted_kinds(model: Path) -> tuple[str, ...]:
    """Return the kinds of taggers that the configuration of a run names.

    Parameters
    ----------
    model : Path
        As in `find_model`. The folder of a model alone names none: a kind of another package that
        it holds is loaded if there is an entry point for it.
    """
    run = Run(model)
    if not run.has_begun():
        return ()
    tables = run.configuration()
    found = (tables.get(section) for section in ("tagger", "initial_model"))
    return tuple(
        str(table["kind"]) for table in found if isinstance(table, dict) and "kind" in table
    )


def unit_of(model: Path) -> Unit:
    """Give the unit that a model was trained on."""
    unit = _beside(model).get("unit", "document")
    if unit not in UNITS:
        raise InputError(f'{model / UNIT_FILE}: unit "{unit}"; expected one of {", ".join(UNITS)}')
    found: Unit = unit
    return found


def propagated_classes(model: Path) -> tuple[str, ...]:
    """Give the classes of names that a model's run tagged wherever they came again."""
    found = _beside(model)
    if "repeated" in found:
        raise InputError(
            f'{model / UNIT_FILE} is of an earlier version ("repeated" is now "propagate"): train '
            "the model again"
        )
    propagated = found.get("propagate", [])
    if not isinstance(propagated, list) or not all(isinstance(name, str) for name in propagated):
        raise InputError(f'{model / UNIT_FILE}: "propagate" is no list of classes')
    return tuple(propagated)


def _beside(model: Path) -> dict[str, Any]:
    """Read what a run says of a model beside it; nothing of one that is no run's."""
    try:
        found = json.loads((model / UNIT_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{model / UNIT_FILE} does not name a unit: {error}") from None
    if not isinstance(found, dict) or "unit" not in found:
        raise InputError(f"{model / UNIT_FILE} does not name a unit")
    return found


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """A document with the spans that a model found.

    Parameters
    ----------
    document : Document
        The document of the source, with the spans found in place of its own.
    confidence : float
        The confidence in the document; of several units, the lowest of theirs.
    span_confidences : tuple of float
        The probability of each span as an entity of its class, where it was requested.
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
    measure: str,
    *,
    detail: Detail = "document",
    propagate: Sequence[str] = (),
) -> Iterator[TaggedDocument]:
    """Tag documents as they come, a bounded number of them at a time.

    Parameters
    ----------
    documents : iterable of Document
        Their own spans are not looked at.
    tagger : Tagger
        Tags.
    unit : {"document", "line", "sentence"}
        What is tagged by itself; the spans are put together at the offsets of the source.
    measure : str
        How confidence is measured.
    detail : str
        "entity" if the confidence of each span is wanted.
    propagate : sequence of str
        Classes of names whose words are tagged wherever they stand in a note, or in the notes of a
        patient that are tagged at the same time; see `taggers.name_propagation`.
    """
    waiting: list[tuple[Document, list[tuple[int, Document]]]] = []
    number = 0
    for document in documents:
        bare = replace(document, spans=())
        units = split_document(bare, unit, Problems())
        waiting.append((bare, units))
        number += len(units)
        if number >= _UNITS_AT_A_TIME:
            yield from _tag_units(waiting, tagger, measure, detail, propagate)
            waiting, number = [], 0
    yield from _tag_units(waiting, tagger, measure, detail, propagate)


def _tag_units(
    sources: list[tuple[Document, list[tuple[int, Document]]]],
    tagger: Tagger,
    measure: str,
    detail: Detail,
    propagate: Sequence[str],
) -> Iterator[TaggedDocument]:
    units = [unit for _, pieces in sources for _, unit in pieces]
    sure: Iterator[float] = iter(())
    if units:
        batch = make_batch(units, labelled=False)
        tagging = tagger.tag(batch, measure=measure, detail="entity" if propagate else detail)
        if propagate:
            tagging = propagate_names(tagging, batch, _notes_of(sources), propagate)
        spans = batch.with_tags(tagging.tags, tagging.labels).spans()
        if detail == "entity":
            found = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
            sure = iter(tagging.entity_confidence(found).tolist())
    place = 0
    for source, pieces in sources:
        here = slice(place, place + len(pieces))
        place += len(pieces)
        if not pieces:
            yield TaggedDocument(source, 1.0)
            continue
        offsets = [offset for offset, _ in pieces]
        document = replace(source, spans=join_spans(zip(offsets, spans[here], strict=True)))
        confidence = float(tagging.confidence[here].min())
        yield TaggedDocument(document, confidence, tuple(islice(sure, len(document.spans))))


def _notes_of(
    sources: list[tuple[Document, list[tuple[int, Document]]]],
) -> npt.NDArray[np.int64]:
    """Give each unit the number of its note; the notes of a patient have the same."""
    patients: dict[str, int] = {}
    found = []
    for number, (source, pieces) in enumerate(sources):
        note = number if source.group is None else patients.setdefault(source.group, number)
        found += [note] * len(pieces)
    return np.array(found, np.int64)


def tag_corpus(
    model: Path,
    source: str,
    target: Path,
    *,
    source_format: str | None,
    target_format: str | None,
    columns: Columns,
    encoding: str = "utf-8",
    measure: str,
    scored_spans: bool,
    propagate: Sequence[str],
    problems: Problems,
    jobs: int,
    report: Report,
    tell: Callable[[], None],
) -> WriteReport:
    """Tag a corpus and write it with the spans found.

    Parameters
    ----------
    model : Path
        A run, whose best model is taken, or the folder of a model.
    source : str
        The notes.
    target : Path
        Where to write them; it must not exist.
    source_format, target_format : str, optional
        Detected if not given.
    columns : Columns
        Names of columns and keys, in both.
    encoding : str
        Of the source, where its format is text.
    measure : str
        How confidence is measured.
    scored_spans : bool
        Whether to write how sure the model is of each span, too.
    propagate : sequence of str
        Classes of names whose words are tagged wherever they stand in a note; those of the run if
        there are none.
    problems : Problems
        Told of what cannot be read.
    jobs : int
        Processes that tag.
    report : callable
        Told of the documents done.
    tell : callable
        Told if the first use on a machine takes long.

    Returns
    -------
    WriteReport
        What was written, and what the format could not hold.
    """
    folder = find_model(model)
    tagger = ParallelTagger.load(folder, trusted=trusted_kinds(model), jobs=jobs)
    propagate = propagate or propagated_classes(folder)
    refuse_unknown(propagate, tagger.labels)  # before there is a file
    warm_up(*tagger.kernels, announce=tell)
    # The column of the annotations is that of the target: the source need not have it.
    documents = read_corpus(
        source,
        format=source_format,
        columns=columns,
        problems=problems,
        labelled=False,
        encoding=encoding,
    )
    unit = unit_of(folder)
    detail: Detail = "entity" if scored_spans else "document"
    found = tag_documents(documents, tagger, unit, measure, detail=detail, propagate=propagate)
    # An iterator that nobody takes from would keep everything.
    left, middle, *right = tee(_counted(found, report), 3 if scored_spans else 2)
    return write(
        (item.document for item in left),
        target,
        format=target_format,
        columns=columns,
        confidences=(item.confidence for item in middle),
        span_confidences=(item.span_confidences for item in right[0]) if right else None,
    )


def _counted(tagged: Iterable[TaggedDocument], report: Report) -> Iterator[TaggedDocument]:
    for number, item in enumerate(tagged, 1):
        if number % 500 == 0:
            report("tagging", number, 0)
        yield item
