"""The documents of a run: seed, validation and the pool of unlabeled documents."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.config.options import SPLITS, DataOptions
from corpus.batch import Batch, make_batch
from corpus.corpora import is_synthetic, read_corpus, with_classes
from corpus.document import Document
from corpus.errors import InputError, Problems, quoted
from corpus.formats import has_column
from corpus.tokens.normalisation import normalised_text
from corpus.units import split_documents

_DIGEST = 16  # bytes: more than enough for billions of texts


def read_sources(
    options: DataOptions,
    split: str,
    labels: Mapping[str, str] | None,
    problems: Problems,
    start: int = 0,
) -> Iterator[Document]:
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
    start : int
        Number of records to skip without reading them.
    """
    source, columns = getattr(options, split), options.columns_of(split)
    labelled = split != "unlabeled"
    documents = read_corpus(
        source, columns=columns, problems=problems, start=start, labelled=labelled
    )
    yield from (with_classes(document, labels) for document in documents)


#: The problems that are counted for documents that no tagger may be trained on.
HELD_OUT = "notes held out because a validation or test note has the same text"
HELD_OUT_PATIENT = "notes held out because they are of a patient of validation or test"
#: The problem that is counted for candidates with the id and the text of another.
REPEATED = "notes left out because they are repeated"


def digest_of(document: Document) -> bytes | None:
    """Compute a digest that identifies the text of a document; None for a blank text.

    Texts that differ only in soft hyphens or in the composition of accents count as the same, so
    that a copy of a test note is held out, too.
    """
    text = normalised_text(document.text)
    if not text.strip():
        return None
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def problems_for(options: DataOptions) -> Problems:
    """Return an empty list of problems with the rules of the configuration."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


def splits_of(data: DataOptions) -> list[str]:
    """Return the splits of a run; it may have no test documents, and no seed."""
    return [split for split in SPLITS if getattr(data, split)]


def source_lines(data: DataOptions) -> list[str]:
    """Describe which documents a run reads, one line for each split."""
    width = max(map(len, SPLITS))
    return [f"{split:{width}}  {getattr(data, split)}" for split in splits_of(data)]


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNotes:
    """Annotated documents.

    Parameters
    ----------
    documents : tuple of Document
        In the unit of the run.
    batch : Batch
        The same, tokenized and tagged.
    groups : frozenset of str
        The patients named in the source.
    digests : frozenset of bytes
        Digests of the texts of the source (see `digest_of`).
    problems : Problems
        Documents and annotations that could not be used as they are.
    """

    documents: tuple[Document, ...]
    batch: Batch
    groups: frozenset[str]
    digests: frozenset[bytes]
    problems: Problems


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Texts and patients of validation and test, which no tagger may be trained on.

    Parameters
    ----------
    digests : frozenset of bytes
        Digests of the texts (see `digest_of`).
    groups : frozenset of str
        The patients.
    """

    digests: frozenset[bytes]
    groups: frozenset[str]

    @classmethod
    def from_notes(cls, *notes: LabelledNotes | None) -> Self:
        """Return the texts and patients of annotated documents; some may be absent."""
        present = [split for split in notes if split]
        return cls(
            frozenset[bytes]().union(*(split.digests for split in present)),
            frozenset[str]().union(*(split.groups for split in present)),
        )


def read_labelled(
    data: DataOptions,
    split: str,
    labels: Mapping[str, str] | None,
    classes: Sequence[str] = (),
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

    Raises
    ------
    InputError
        If the documents do not exist or have no entities, or if a validation id occurs twice.
    """
    problems = problems_for(data)
    source = getattr(data, split)
    if not source:
        batch = make_batch([], labelled=True, classes=classes)
        return LabelledNotes((), batch, frozenset(), frozenset(), problems)
    sources = list(read_sources(data, split, labels, problems))
    notes = _labelled_notes(sources, data, problems, classes)
    if not any(document.spans for document in notes.documents):
        hint = _hint(source, data.columns_of(split).label, split, labels)
        raise InputError(_without_entities(f"[data] {split} = {source}", len(sources), hint))
    if split in ("validation", "test"):
        _refuse_duplicate_ids(notes.documents, source)
    return notes


def _read_gold(
    data: DataOptions,
    active: ActiveOptions,
    labels: Mapping[str, str] | None,
    held_out: HeldOut,
) -> LabelledNotes:
    """Read the documents from which rounds are chosen, without held-out texts and patients."""
    problems = problems_for(data)
    columns = data.columns_with(active.gold_columns)
    documents = read_corpus(active.gold, columns=columns, problems=problems, labelled=True)
    sources = [with_classes(document, labels) for document in documents]
    if not any(source.spans for source in sources):
        hint = _hint(active.gold, columns.label, "gold", labels)
        raise InputError(_without_entities(f"[active] gold = {active.gold}", len(sources), hint))
    kept = []
    for source in _kept(sources, held_out.digests, problems):
        if source.group is not None and source.group in held_out.groups:
            problems.count(HELD_OUT_PATIENT)
        else:
            kept.append(source)
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
    return LabelledNotes(
        documents=documents,
        batch=make_batch(documents, labelled=True, classes=classes, problems=problems),
        groups=frozenset(source.group for source in sources if source.group is not None),
        digests=frozenset(filter(None, map(digest_of, sources))),
        problems=problems,
    )


def _without_entities(source: str, number: int, hint: str) -> str:
    """Return the message about annotated documents without any entity."""
    documents = "1 document" if number == 1 else f"{number} documents"
    return f"{source}: {documents} without any entity; expected annotated documents{hint}"


def _hint(source: str, column: str, split: str, labels: Mapping[str, str] | None) -> str:
    """Suggest why documents seem to have no annotations."""
    if not is_synthetic(source) and not has_column(source, column):
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
        Documents and annotations that could not be used as they are, in the latest `batches`.
    clean_batches : int
        Number of first batches in which an earlier process found no problem.
    """

    def __init__(
        self, options: DataOptions, size: int, held_out: frozenset[bytes] = frozenset()
    ) -> None:
        self.problems = problems_for(options)
        self.clean_batches = 0
        self._options = options
        self.size = size
        self._held_out = held_out

    def documents(self, start: int = 0) -> Iterator[Document]:
        """Yield the documents from number `start` on, in the unit of the run, without labels."""
        self.problems = problems_for(self._options)
        # If each record is one document, and none was left out, earlier records are not read.
        whole = self._options.unit == "document" and start <= self.clean_batches * self.size
        unread, skipped = (start, 0) if whole else (0, start)
        # Labels of the unlabeled notes, if any, are hidden from the loop.
        sources = read_sources(self._options, "unlabeled", {}, self.problems, unread)
        kept = _kept(sources, self._held_out, self.problems)
        return islice(split_documents(kept, self._options.unit, self.problems), skipped, None)

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on."""
        documents = self.documents(start * self.size)
        while chunk := list(islice(documents, self.size)):
            yield make_batch(chunk, labelled=False)


def _kept(
    sources: Iterable[Document], held_out: frozenset[bytes], problems: Problems
) -> Iterator[Document]:
    """Skip the texts of validation and test, so that no tagger is trained on them."""
    for source in sources:
        if held_out and digest_of(source) in held_out:
            problems.count(HELD_OUT)
        else:
            yield source


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
        return HeldOut.from_notes(self.validation, self.test)


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
    seed = read_labelled(data, "seed", labels, classes)
    validation = read_labelled(data, "validation", labels)
    test = read_labelled(data, "test", labels) if data.test else None
    held_out = HeldOut.from_notes(validation, test)
    pool = UnlabeledNotes(data, batch_size or 1, held_out=held_out.digests)
    next(pool.documents(), None)
    if not batch_size:
        least, most = BATCH_LIMITS
        number = sum(1 for _ in islice(pool.documents(), _BATCHES * most))
        size = min(max(math.ceil(number / _BATCHES), least), most)
        pool = UnlabeledNotes(data, size, held_out=held_out.digests)
    gold = _read_gold(data, active, labels, held_out) if active else None
    return Notes(seed, validation, pool, gold, test)
