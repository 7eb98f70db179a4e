"""Inference: tagging documents with a trained model, or with a tagger that needs no training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path

import msgspec
import numpy as np

from bootstrap.config.tagger_sections import TaggerSection
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.execution.processes import temporary_folder
from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import UNIT_FILE
from bootstrap.tagging import TagOptions, TagSummary, tagged_batches
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats.batches import (
    batches_of,
    documents_of,
)
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.storage.fields import parse_json
from corpus.storage.opening import refuse_links
from corpus.units import UNITS, Unit
from taggers import Tagger, TrainingError, make_tagger
from taggers.model_folder import read_file_of_model
from taggers.options import Reach


def find_model(path: Path) -> Path:
    """Return the model folder of a path: the final or best model of a run, or the path itself.

    Raises
    ------
    InputError
        If the path is neither a run nor a model.
    """
    if Run(path).has_begun():
        return Run(path).model()
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
    propagate : dict of str to {"text", "words"}
        What is propagated of the entities of each class.
    columns : Columns
        The names of the columns of the unlabeled documents of the run.
    min_probability : dict of str to float
        The smallest probability of entities by class.
    """

    unit: Unit
    propagate: dict[str, Reach] = {}
    columns: Columns = Columns()
    min_probability: dict[str, float] = {}

    def tag_options(self) -> TagOptions:
        """Return how the run would tag notes."""
        return TagOptions(self.unit, propagate=self.propagate, min_probability=self.min_probability)


def read_unit_file(model: Path) -> UnitFile:
    """Read the settings of the run that trained a model.

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
            f"{model / UNIT_FILE} does not name a unit, one of {', '.join(UNITS)}, and by class "
            'what is propagated ("text" or "words") and a smallest probability'
        ) from None


@contextmanager
def fitted_tagger(
    section: TaggerSection, count: Callable[[Path], Path], *, jobs: int
) -> Iterator[ParallelTagger]:
    """Fit a tagger that needs no annotated documents, in a folder that is removed afterwards.

    Parameters
    ----------
    section : TaggerSection
        The kind of tagger and its options.
    count : callable
        Counts the words of the documents that will be tagged, if the tagger uses them, and writes
        them to a new file, whose path it receives and returns.
    jobs : int
        Number of processes that tag.

    Raises
    ------
    InputError
        If the options name a file that cannot be used, or the words are not enough.
    """
    section.options.check()
    with temporary_folder() as folder:
        options = section.options.with_word_counts(partial(count, folder / "words.parquet"))
        tagger = make_tagger(section.kind, options)
        try:
            tagger.fit(make_batch([], labelled=True), rng=np.random.default_rng(0))
        except TrainingError as error:
            raise InputError(f'kind = "{section.kind}": {error}') from None
        tagger.save(folder / "model")
        yield ParallelTagger.load(folder / "model", trust=(section.kind,), jobs=jobs)


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
    documents: Iterable[Document], tagger: Tagger, options: TagOptions
) -> Iterator[TaggedDocument]:
    """Yield documents with the spans that a tagger finds, tagged a bounded number at a time.

    Parameters
    ----------
    documents : iterable of Document
        The documents; their own spans are ignored.
    tagger : Tagger
        The trained tagger.
    options : TagOptions
        How they are tagged.
    """
    for batch in tagged_batches(batches_of(documents), tagger, options, TagSummary()):
        of_spans: Iterable[Sequence[float]] = repeat(())
        if options.detail == "entity":
            of_spans = batch.column(SPAN_CONFIDENCES).to_pylist()
        confidences = batch.column(CONFIDENCE).to_pylist()
        for document, confidence, sure in zip(
            documents_of(batch), confidences, of_spans, strict=False
        ):
            yield TaggedDocument(document, confidence, tuple(sure))
