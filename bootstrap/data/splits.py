"""The notes of a run: seed, validation and the pool of unlabeled notes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from bootstrap.config.configuration import Configuration, DataOptions, ReferenceOptions
from corpus.batch import Batch, make_batch
from corpus.corpora import is_synthetic, read_corpus, with_classes
from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats import find_files, has_column
from corpus.problems import Problems
from corpus.tags import classes_of
from corpus.units import split_documents
from gazetteers.builtin import BUILTIN_LISTS
from taggers.embeddings.listing import cluster_files

_DIGEST = 16  # bytes: more than enough for billions of texts


def read_sources(
    options: DataOptions,
    split: str,
    labels: Mapping[str, str] | None,
    problems: Problems,
    start: int = 0,
) -> Iterator[Document]:
    """Yield the documents of a split as they are in the source, with the classes of the run.

    Parameters
    ----------
    options : DataOptions
        Where the notes are.
    split : {"seed", "validation", "unlabeled"}
        Which notes.
    labels : mapping of str to str or None
        Classes by the labels of the source.
    problems : Problems
        Told of what cannot be used as it stands.
    start : int
        How many records are passed over unread.
    """
    classes = None if labels is None else dict(labels)
    source = getattr(options, split)
    documents = read_corpus(
        source,
        columns=options.columns_of(split),
        problems=problems,
        start=start,
        labelled=split != "unlabeled",
    )
    for document in documents:
        yield with_classes(document, classes)


#: What a run calls the notes of the pool that are held out with those of validation.
HELD_OUT = "notes held out because a validation note has the same text"


def digest_of(document: Document) -> bytes | None:
    """Give what tells a text from all others; of a blank one, None."""
    if not document.text.strip():
        return None
    return hashlib.blake2b(
        document.text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST
    ).digest()


def problems_for(options: DataOptions) -> Problems:
    """Make a list of problems with the rules that the user chose."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


#: The splits of a run, by the keys of ``[data]``.
SPLITS = ("seed", "validation", "unlabeled")


def splits_of(data: DataOptions) -> list[str]:
    """Give the splits that a run has: one that starts from a dictionary may have no seed."""
    return [split for split in SPLITS if getattr(data, split)]


def source_lines(data: DataOptions) -> list[str]:
    """Say which notes a run reads."""
    width = max(map(len, SPLITS))
    return [f"{split:{width}}  {shown(getattr(data, split))}" for split in splits_of(data)]


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file system says of a file, by which one that has not changed is known.

    Parameters
    ----------
    file : str
        Its path, or the name of synthetic notes.
    bytes : int
        Its size.
    changed : int
        When it was last written, renamed or replaced, in nanoseconds; unlike the time of
        modification, no program sets it back.
    """

    file: str
    bytes: int = 0
    changed: int = 0


def fingerprint(
    configuration: Configuration, known: Mapping[FileState, str] | None = None
) -> pa.Table:
    """List every file of a run with its size and digest, so that a change of one can be named.

    Parameters
    ----------
    configuration : Configuration
        Which notes, and what else is read: the clusters that the tagger looks at, the dictionaries
        and counts that it starts from.
    known : mapping of FileState to str, optional
        Digests of files that need not be read again if they are as they were.

    Returns
    -------
    pyarrow.Table
        Columns ``split``, ``file``, ``bytes``, ``changed`` and ``blake2b``.
    """
    data, clusters = configuration.data, configuration.tagger.clusters
    files = {split: _files(getattr(data, split)) for split in splits_of(data)}
    if configuration.start:
        files["start"] = [*configuration.start.files]
    if clusters:
        found = cluster_files(Path(clusters))
        files["clusters"] = [path.with_suffix(".npy") for _, path in found]
        files["clusters"] += sorted({path.with_name("hashes.npy") for _, path in found})
    for name in ("names", "phrases"):
        if paths := [
            path for path in getattr(configuration.tagger, name) if path not in BUILTIN_LISTS
        ]:
            files[name] = [Path(path) for path in paths]
    rows = [
        {"split": split, **asdict(state), "blake2b": digest}
        for split, paths in files.items()
        for state, digest in _fingerprints(paths, known or {})
    ]
    return pa.Table.from_pylist(rows)


def _files(source: str) -> list[Path | str]:
    """Give the files of notes, or the name of synthetic ones."""
    return [source] if is_synthetic(source) else [*find_files(source)]


def _fingerprints(
    paths: Iterable[Path | str], known: Mapping[FileState, str]
) -> Iterator[tuple[FileState, str]]:
    for path in paths:
        if isinstance(path, str):
            yield FileState(path), ""
            continue
        try:
            status = path.stat()  # before it is read: a change meanwhile is seen later
            state = FileState(str(path), status.st_size, status.st_ctime_ns)
            digest = known.get(state) or _digest(path)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        yield state, digest


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class LabelledNotes:
    """Documents that people labelled.

    Parameters
    ----------
    documents : tuple of Document
        In the unit of the run.
    batch : Batch
        The same, tokenized and tagged.
    groups : frozenset of str
        The patients named in the source.
    digests : frozenset of bytes
        Of the texts of the source (see `digest_of`).
    problems : Problems
        What could not be used as it stood.
    """

    documents: tuple[Document, ...]
    batch: Batch
    groups: frozenset[str]
    digests: frozenset[bytes]
    problems: Problems


def read_labelled(configuration: Configuration, split: str) -> LabelledNotes:
    """Read the seed or the validation notes.

    The seed of a run that starts from a dictionary teaches its class, too, and need not be there.

    Raises
    ------
    InputError
        If they are not there, or have no entity, or an id twice where they are to be scored.
    """
    options = configuration.data
    problems = problems_for(options)
    if not getattr(options, split):
        return _no_notes(configuration, problems)
    sources = list(read_sources(options, split, configuration.labels, problems))
    documents = tuple(split_documents(sources, options.unit, problems))
    if not any(document.spans for document in documents):
        raise InputError(
            f"[data] {split} = {getattr(options, split)}: {len(sources)} documents and not one "
            f"entity; expected annotated notes{_suspicion(configuration, split)}"
        )
    started = [configuration.start.tagger.label] if configuration.start and split == "seed" else []
    if split == "validation":
        _refuse_same_ids(documents, getattr(options, split))
    return LabelledNotes(
        documents=documents,
        batch=make_batch(documents, labelled=True, classes=started, problems=problems),
        groups=frozenset(source.group for source in sources if source.group is not None),
        digests=frozenset(filter(None, map(digest_of, sources))),
        problems=problems,
    )


def _no_notes(configuration: Configuration, problems: Problems) -> LabelledNotes:
    """Give the seed of a run that starts from a dictionary alone: it only names the class."""
    classes = [configuration.start.tagger.label] if configuration.start else []
    batch = make_batch([], labelled=True, classes=classes)
    return LabelledNotes((), batch, frozenset(), frozenset(), problems)


def _suspicion(configuration: Configuration, split: str) -> str:
    """Say what may be why notes seem to have no annotations."""
    options = configuration.data
    source, column = getattr(options, split), options.columns_of(split).label
    if not is_synthetic(source) and not has_column(source, column):
        return (
            f" (nothing in it has the column or key {column!r}; [data] label or {split}_columns "
            "names another)"
        )
    return " (does [labels] name their labels?)" if configuration.labels is not None else ""


def _refuse_same_ids(documents: Iterable[Document], source: str) -> None:
    """Documents are scored by their ids."""
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(
                f"{shown(source)}: document {shown(document.id)} is there twice; ids must be unique"
            )
        seen.add(document.id)


class UnlabeledNotes:
    """The pool of unlabeled notes; only one batch of them is in memory.

    Parameters
    ----------
    options : DataOptions
        Where the notes are.
    size : int
        Documents of a batch.
    held_out : frozenset of bytes
        Digests of texts that are left out.

    Attributes
    ----------
    problems : Problems
        What could not be used as it stood, in the notes read by the latest `batches`.
    flawless : int
        In this many of the first batches all could be used, as an earlier process found out.
    """

    def __init__(
        self, options: DataOptions, size: int, held_out: frozenset[bytes] = frozenset()
    ) -> None:
        self.problems = problems_for(options)
        self.flawless = 0
        self._options = options
        self._size = size
        self._held_out = held_out

    def documents(self, start: int = 0) -> Iterator[Document]:
        """Yield the documents from number `start` on, in the unit of the run, without labels."""
        self.problems = problems_for(self._options)
        # A record is a document where none was left out and none is split: it need not be read.
        whole = self._options.unit == "document" and start <= self.flawless * self._size
        unread, read = (start, 0) if whole else (0, start)
        # Labels of unlabeled notes, where a corpus has some, are not for the loop to see.
        sources = read_sources(self._options, "unlabeled", {}, self.problems, unread)
        kept = self._kept(sources, self.problems)
        return islice(split_documents(kept, self._options.unit, self.problems), read, None)

    def _kept(self, sources: Iterable[Document], problems: Problems) -> Iterator[Document]:
        """Pass over texts of validation, which a tagger that learned from them would know."""
        for source in sources:
            if self._held_out and digest_of(source) in self._held_out:
                problems.count(HELD_OUT)
            else:
                yield source

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on."""
        documents = self.documents(start * self._size)
        while chunk := list(islice(documents, self._size)):
            yield make_batch(chunk, labelled=False)


@dataclass(frozen=True, slots=True, eq=False)
class Notes:
    """All notes of a run.

    Parameters
    ----------
    seed, validation : LabelledNotes
        Read whole.
    unlabeled : UnlabeledNotes
        Read in batches.
    """

    seed: LabelledNotes
    validation: LabelledNotes
    unlabeled: UnlabeledNotes


def read_notes(configuration: Configuration) -> Notes:
    """Read the seed and the validation notes, and look whether the pool can be read.

    Raises
    ------
    InputError
        If notes are not there or cannot be read, or have no entity where people labelled them, or
        if proportions are given of a class that the seed lacks.
    """
    seed, validation = (read_labelled(configuration, split) for split in SPLITS[:2])
    notes = Notes(
        seed=seed,
        validation=validation,
        unlabeled=UnlabeledNotes(
            configuration.data, configuration.loop.batch, held_out=validation.digests
        ),
    )
    if configuration.select.proportions and configuration.reference:
        _refuse_untaught(configuration.reference, classes_of(notes.seed.batch.labels))
    next(notes.unlabeled.documents(), None)
    return notes


def _refuse_untaught(given: ReferenceOptions, taught: Sequence[str]) -> None:
    """No tagger finds what it was not taught: no selection could have these proportions."""
    for name in sorted(set(given.per_token) - set(taught)):
        raise InputError(
            f"[select.reference] names {shown(name)}, which the seed lacks: no selection can have "
            "any; leave it out, and count documents of nothing else as empty"
        )
