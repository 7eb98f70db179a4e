"""The documents of a run: seed, validation and the pool of unlabeled documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.config.options import SPLITS, DataOptions, Sources, listed, named
from bootstrap.data.division import validation_notes
from corpus.batch import Batch, batch_of_texts, make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems, number_of, quoted
from corpus.formats import FORMATS, Columns, has_column, read_batches
from corpus.formats.batches import concatenated, documents_of, relabelled
from corpus.formats.sources import format_of, locate
from corpus.formats.synthetic import is_synthetic
from corpus.tokens.normalisation import normalised_text, normalised_texts
from corpus.units import split_batch, split_documents

if TYPE_CHECKING:
    from corpus.copies import Copies


def read_source_batches(
    options: DataOptions,
    split: str,
    labels: Mapping[str, str] | None,
    problems: Problems,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a split, not split into units, with the classes of the run.

    Parameters
    ----------
    options : DataOptions
        The sources of the run.
    split : {"seed", "validation", "test", "unlabeled"}
        The name of the split.
    labels : mapping of str to str or None
        The class of each label of the source; None keeps all labels as they are.
    problems : Problems
        Collects documents and annotations that cannot be used as they are.
    """
    share, is_labelled = options.validation, split != "unlabeled"
    if isinstance(share, float) and split in ("seed", "validation"):
        batches = _divided(options, split, share, problems)
    else:
        sources, columns = getattr(options, split), options.columns_of(split)
        batches = _batches_of(options, sources, columns, problems, labelled=is_labelled)
    yield from (relabelled(batch, labels, Counter()) for batch in batches)


def _divided(
    options: DataOptions, split: str, share: float, problems: Problems
) -> Iterator[pa.RecordBatch]:
    """Yield the annotated documents of the seed that belong to the seed, or to validation."""
    columns = options.columns_of("seed")
    batches = list(_batches_of(options, options.seed, columns, problems))
    is_validation = validation_notes(batches, share) if batches else np.zeros(0, bool)
    kept, first = is_validation if split == "validation" else ~is_validation, 0
    for batch in batches:
        yield batch.filter(pa.array(kept[first : first + len(batch)]))
        first += len(batch)


def _batches_of(
    options: DataOptions,
    sources: Sources,
    columns: Columns,
    problems: Problems,
    *,
    labelled: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of sources, one source after the other, without other columns."""
    for source in listed(sources):
        encoding, delimiter = _reading(options, source)
        yield from read_batches(
            source,
            columns=columns,
            problems=problems,
            labelled=labelled,
            encoding=encoding,
            delimiter=delimiter,
            carry="nothing",
        )


def _reading(options: DataOptions, source: str) -> tuple[str | None, str | None]:
    """Return the encoding and the delimiter of a source, as far as its format has them."""
    if not (options.encoding or options.delimiter) or is_synthetic(source):
        return None, None
    format = FORMATS[format_of(locate(source))]
    encoding = options.encoding if format.has_encoding else ""
    delimiter = options.delimiter if format.name == "csv" else ""
    return encoding or None, delimiter or None


def read_sources(
    options: DataOptions, split: str, labels: Mapping[str, str] | None, problems: Problems
) -> Iterator[Document]:
    """Yield the same documents one by one."""
    batches = read_source_batches(options, split, labels, problems)
    return chain.from_iterable(map(documents_of, batches))


#: The problems that are counted for documents that no tagger may be trained on.
HELD_OUT = "notes held out because a validation or test note has the same text"
SHARED = "notes left out of the seed because a validation or test note has the same text"
HELD_OUT_PATIENT = "notes held out because they are of a patient of validation or test"
#: The problem that is counted for candidates with the id and the text of another.
REPEATED = "notes left out because they are repeated"
#: The problem that is counted for unlabeled notes that are copies.
COPIES = "notes left out because they are copies"


def compared_text(document: Document) -> str | None:
    """Return the text of a document as it is compared with others; None for a blank text.

    Texts that differ only in soft hyphens or in the composition of accents count as the same, so
    that a copy of a test note is held out, too.
    """
    text = normalised_text(document.text)
    return text if text.strip() else None


def problems_for(options: DataOptions) -> Problems:
    """Return an empty list of problems with the rules of the configuration."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


def splits_of(data: DataOptions) -> list[str]:
    """Return the splits of a run; it may have no test documents, and no seed."""
    return [split for split in SPLITS if getattr(data, split)]


def source_lines(data: DataOptions) -> list[str]:
    """Describe which documents a run reads, one line for each split."""
    width = max(map(len, SPLITS))
    return [f"{split:{width}}  {named(getattr(data, split))}" for split in splits_of(data)]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNotes:
    """Annotated documents.

    Parameters
    ----------
    documents : tuple of Document
        In the unit of the run.
    batch : Batch
        The same, tokenized and tagged.
    own : HeldOut
        The texts and the patients of the source.
    problems : Problems
        Documents and annotations that could not be used as they are.
    """

    documents: tuple[Document, ...]
    batch: Batch
    own: HeldOut
    problems: Problems


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Texts and patients of validation and test, which no tagger may be trained on.

    Parameters
    ----------
    texts : frozenset of str
        The texts (see `compared_text`).
    groups : frozenset of str
        The patients.
    """

    texts: frozenset[str]
    groups: frozenset[str]

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> Self:
        """Return the texts and patients of documents."""
        documents = list(documents)
        groups = frozenset(document.group for document in documents if document.group is not None)
        return cls(frozenset(filter(None, map(compared_text, documents))), groups)

    def __or__(self, other: HeldOut) -> HeldOut:
        """Return the texts and patients of both."""
        return HeldOut(self.texts | other.texts, self.groups | other.groups)

    def others(self, documents: Iterable[Document], problems: Problems) -> Iterator[Document]:
        """Yield the documents that may be used beside these, and count those that may not."""
        for document in documents:
            if compared_text(document) in self.texts:
                problems.count(HELD_OUT)
            elif document.group in self.groups:
                problems.count(HELD_OUT_PATIENT)
            else:
                yield document


def read_labelled(
    data: DataOptions,
    split: str,
    labels: Mapping[str, str] | None,
    classes: Sequence[str] = (),
    held_out: frozenset[str] = frozenset(),
) -> LabelledNotes:
    """Read the seed, the validation or the test documents.

    Parameters
    ----------
    data : DataOptions
        The sources of the run. With an initial model, the seed may be empty.
    split : {"seed", "validation", "test"}
        The name of the split.
    labels : mapping of str to str or None
        The class of each label of the source; None keeps all labels as they are.
    classes : sequence of str
        The classes of an initial model, which the seed has in addition to its own.
    held_out : frozenset of str
        The texts (see `compared_text`) of validation and test, which are left out of the seed and
        counted. Lines and sentences without annotations are kept: many notes share them.

    Raises
    ------
    InputError
        If the documents do not exist or have no entities, if all annotated documents of the seed
        are left out, or if a validation id occurs twice.
    """
    problems = problems_for(data)
    source = getattr(data, split)
    if not source:
        batch = make_batch([], labelled=True, classes=classes)
        return LabelledNotes((), batch, HeldOut.from_documents(()), problems)
    sources, has_entities = [], False
    for document in read_sources(data, split, labels, problems):
        has_entities |= bool(document.spans)
        if compared_text(document) in held_out and (document.spans or data.unit == "document"):
            problems.count(SHARED)
        else:
            sources.append(document)
    if has_entities and not any(document.spans for document in sources):
        raise InputError(
            f"[data] seed = {named(source)}: every annotated note has the text of a validation or "
            "test note; expected others"
        )
    notes = _labelled_notes(sources, data, problems, classes)
    if not any(document.spans for document in notes.documents):
        of_seed = isinstance(source, float)
        annotated, column = (data.seed, "seed") if of_seed else (source, split)
        hint = _hint(data, annotated, data.columns_of(column).label, column, labels)
        raise InputError(_without_entities(f"[data] {split} = {named(source)}", len(sources), hint))
    if split in ("validation", "test"):
        _refuse_duplicate_ids(notes.documents, named(source))
    return notes


def read_gold(
    data: DataOptions,
    active: ActiveOptions,
    labels: Mapping[str, str] | None,
    held_out: HeldOut,
) -> LabelledNotes:
    """Read the documents from which rounds are chosen, without held-out texts and patients."""
    problems = problems_for(data)
    columns = data.columns_with(active.gold_columns)
    batches = _batches_of(data, active.gold, columns, problems)
    sources = [d for batch in batches for d in documents_of(relabelled(batch, labels, Counter()))]
    if not any(source.spans for source in sources):
        hint = _hint(data, active.gold, columns.label, "gold", labels)
        raise InputError(
            _without_entities(f"[active] gold = {named(active.gold)}", len(sources), hint)
        )
    kept = list(held_out.others(sources, problems))
    distinct = {(source.id, source.text): source for source in reversed(kept)}
    for _ in range(len(kept) - len(distinct)):
        problems.count(REPEATED)
    return _labelled_notes(list(reversed(distinct.values())), data, problems)


def _labelled_notes(
    sources: Sequence[Document],
    data: DataOptions,
    problems: Problems,
    classes: Sequence[str] = (),
) -> LabelledNotes:
    documents = tuple(split_documents(sources, data.unit, problems))
    batch = make_batch(documents, labelled=True, classes=classes, problems=problems)
    return LabelledNotes(documents, batch, HeldOut.from_documents(sources), problems)


def _without_entities(source: str, number: int, hint: str) -> str:
    """Return the message about annotated documents without any entity."""
    documents = number_of(number, "document")
    return f"{source}: {documents} without any entity; expected annotated documents{hint}"


def _hint(
    data: DataOptions, sources: Sources, column: str, split: str, labels: Mapping[str, str] | None
) -> str:
    """Suggest why documents seem to have no annotations."""

    def has_annotations(source: str) -> bool:
        encoding, delimiter = _reading(data, source)
        return is_synthetic(source) or has_column(
            source, column, encoding=encoding, delimiter=delimiter
        )

    if not any(map(has_annotations, listed(sources))):
        return f" (it has no column or key {column!r}; set [data] label or {split}_columns)"
    return " (does [labels] contain their labels?)" if labels is not None else ""


def _refuse_duplicate_ids(documents: Iterable[Document], source: str) -> None:
    """Refuse an id that occurs twice: documents are scored by their ids."""
    seen: set[str] = set()
    for number, document in enumerate(documents, start=1):
        if document.id in seen:
            name = quoted(document.id, f"number {number}")
            raise InputError(f"{source}: document {name} occurs twice; ids must be unique")
        seen.add(document.id)


#: The minimum and the maximum number of documents of a batch in proportion to the pool.
BATCH_LIMITS = (1_000, 50_000)

#: The share of the pool in such a batch.
_BATCHES = 4


class UnlabeledNotes:
    """The pool of unlabeled documents, with one batch in memory at a time.

    Attributes
    ----------
    size : int
        Number of documents in a batch.
    problems : Problems
        Documents and annotations that could not be used as they are, in the latest `batches`. They
        are counted when the record batch that has them is read.
    """

    def __init__(
        self, options: DataOptions, size: int, held_out: frozenset[str] = frozenset()
    ) -> None:
        self.problems = problems_for(options)
        self._options = options
        self.size = size
        self._held_out = pa.array(list(held_out), pa.large_string())

    def units(self, start: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the documents from number `start` on, in the unit of the run, without labels."""
        problems = self.problems = problems_for(self._options)
        skipped = start  # which are read all the same, so that problems are counted as ever
        copies = self._copies()
        # Labels of the unlabeled notes, if any, are hidden from the loop.
        for notes in read_source_batches(self._options, "unlabeled", {}, problems):
            texts = normalised_texts(notes.column("text"))
            is_held_out = np.asarray(pc.is_in(texts, self._held_out))
            if number := int(is_held_out.sum()):
                problems.counts[HELD_OUT] += number
            kept = notes.filter(pa.array(~is_held_out)) if number else notes
            if copies:
                is_copy = copies.find(kept.column("text"))
                problems.counts.update({COPIES: number} if (number := int(is_copy.sum())) else ())
                kept = kept.filter(pa.array(~is_copy))
            units = split_batch(kept, self._options.unit, problems).batch
            first = min(skipped, len(units))
            skipped -= first
            yield units.slice(first)

    def _copies(self) -> Copies | None:
        """Return what finds copies, also of held-out notes."""
        if self._options.deduplicate == "none":
            return None
        from corpus.copies import Copies  # noqa: PLC0415 - it compiles code

        copies = Copies(self._options.deduplicate)
        copies.find(self._held_out)
        return copies

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on."""
        parts: list[pa.RecordBatch] = []
        number = 0
        for units in self.units(start * self.size):
            begin = 0
            for end in range(self.size - number % self.size, len(units) + 1, self.size):
                yield _tokenized([*parts, units.slice(begin, end - begin)])
                parts, begin = [], end
            parts.append(units.slice(begin))
            number += len(units)
        if number % self.size:
            yield _tokenized(parts)


def _tokenized(parts: list[pa.RecordBatch]) -> Batch:
    notes = concatenated(parts)
    return batch_of_texts(notes.column("text"), notes.column("id"), notes.column("group"))


@dataclass(frozen=True, slots=True, eq=False)
class Notes:
    """All documents of a run.

    Parameters
    ----------
    seed, validation : LabelledNotes
        Annotated documents, held in memory.
    unlabeled : UnlabeledNotes
        Unlabeled documents, read in batches.
    gold : LabelledNotes, optional
        The documents from which rounds of active learning are chosen, held in memory.
    test : LabelledNotes, optional
        Annotated documents that are only scored, held in memory.
    """

    seed: LabelledNotes
    validation: LabelledNotes
    unlabeled: UnlabeledNotes
    gold: LabelledNotes | None = None
    test: LabelledNotes | None = None

    @property
    def held_out(self) -> HeldOut:
        """The texts and patients that no tagger may be trained on."""
        return self.validation.own | self.test.own if self.test else self.validation.own


def read_notes(
    data: DataOptions,
    labels: Mapping[str, str] | None = None,
    *,
    batch_size: int,
    classes: Sequence[str] = (),
    active: ActiveOptions | None = None,
) -> Notes:
    """Read the annotated documents, and check that the pool can be read.

    Parameters
    ----------
    data : DataOptions
        The sources of the run.
    labels : mapping of str to str, optional
        The class of each label of the source; by default, labels are classes.
    batch_size : int
        Number of documents in a batch of the pool; 0 is a quarter of them, within `BATCH_LIMITS`.
    classes : sequence of str
        The classes that an initial model tags.
    active : ActiveOptions, optional
        Options of active learning.

    Returns
    -------
    notes : Notes

    Raises
    ------
    InputError
        If documents do not exist or cannot be read, or if a split has no entities.
    """
    validation = read_labelled(data, "validation", labels)
    test = read_labelled(data, "test", labels) if data.test else None
    held_out = validation.own | test.own if test else validation.own
    seed = read_labelled(data, "seed", labels, classes, held_out.texts)
    pool = UnlabeledNotes(data, batch_size or 1, held_out=held_out.texts)
    next(pool.units(), None)
    if not batch_size:
        least, most = BATCH_LIMITS
        for number in accumulate(map(len, pool.units()), initial=0):
            if number >= _BATCHES * most:
                break
        size = min(max(math.ceil(number / _BATCHES), least), most)
        pool = UnlabeledNotes(data, size, held_out=held_out.texts)
    gold = read_gold(data, active, labels, held_out) if active else None
    return Notes(seed, validation, pool, gold, test)
