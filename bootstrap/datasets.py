"""Datasets: folders of Parquet files, here or in an object store, made file by file.

A file of the target is complete or absent. `JOB` says from what it is made. `RECORDS` has a record
of each complete file, and `MANIFEST`, with all of them, is written last.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from bootstrap.execution.processes import KilledError, temporary_folder
from corpus.errors import InputError, number_of
from corpus.formats.places import Entry, Place
from corpus.formats.sources import Columns, Source, suffix_of
from corpus.formats.table import FORMATS
from corpus.formats.tabular.parquet import checked_rows
from corpus.storage.atomic import (
    create_folder,
    folder_lock,
    remove_partial,
    write_errors_of,
)
from corpus.storage.fields import Fields
from corpus.storage.manifest import Manifest, digest_of_file, manifest_bytes

_log = logging.getLogger(__name__)

JOB, RECORDS, MANIFEST = ".job.json", ".records", "_manifest.json"

#: The key of figures that are not for everyone who gets the dataset.
PRIVATE = "private"

#: The files whose footers are read at a time: in a store, each takes a while.
_AT_ONCE = 16

#: The figures of a complete file.
Record = dict[str, Any]


@dataclass(slots=True, eq=False)
class Part:
    """A file that is being made, of a dataset or alone.

    Parameters
    ----------
    source : str or Source
        The file to read. A file that is made alone has the source that the command names.
    target : Path
        The file to write.
    figures : dict
        What is known of it when it is written, serialisable as JSON. The caller sets it. What is
        `PRIVATE` is no part of the manifest.
    """

    source: str | Source
    target: Path
    figures: Record = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class DatasetJob:
    """The files of a source, and those of the target that are made from them.

    Parameters
    ----------
    source, target : Place
        The places.
    made_by : mapping of str to str
        What else determines the target, such as the model, by name.
    sources : dict of str to list of int
        The bytes and the time of each file of the source, by name.
    records : dict of str to dict
        The figures of the files that are complete.
    failed : list of str
        The files that could not be read, and may be replaced.
    rows : int
        The notes in the files that are not complete when the job begins.
    resumed : bool
        Whether it goes on with what was begun before.
    """

    source: Place
    target: Place
    made_by: Mapping[str, str]
    sources: dict[str, list[int]]
    records: dict[str, Record] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    rows: int = 0
    resumed: bool = False

    @property
    def missing(self) -> list[str]:
        """The names of the files that are not complete."""
        return [name for name in self.sources if name not in self.records]

    def check(self, columns: Columns) -> None:
        """Check the missing files before the first of them is made, and count their notes.

        Raises
        ------
        InputError
            If one of them is no Parquet file, or has no column of texts.
        """

        def rows(name: str) -> int:
            with self.source.open(name) as file:
                return checked_rows(file, f"{self.source.name}/{name}", columns)

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            self.rows = sum(threads.map(rows, self.missing))

    def files(self) -> Iterator[Source]:
        """Yield all files of the source, one by one."""
        for name in self.sources:
            self.failed.append(name)
            with self._fetched(name) as source:
                yield source
            self.failed.remove(name)

    def parts(self) -> Iterator[Part]:
        """Yield the missing files; one is complete when the next is asked for."""
        for name in self.missing:
            self.failed.append(name)  # for as long as it is not complete
            with self._fetched(name) as source, self._target_of(name) as path:
                part = Part(source, path)
                yield part
                self._refuse_changed(name)
                size, digest = path.stat().st_size, digest_of_file(path)
            self.failed.remove(name)
            self.records[name] = {**part.figures, "bytes": size, "blake2b": digest}
            self.target.write(f"{RECORDS}/{name}.json", manifest_bytes(self.records[name]))

    def _refuse_changed(self, name: str) -> None:
        if _state_of(self.source.entry(name)) != self.sources[name]:
            raise InputError(f"{self.source.name}/{name} has changed while it was read")

    @contextmanager
    def _fetched(self, name: str) -> Iterator[Source]:
        """Yield a file of the source, as one of this machine."""
        with ExitStack() as stack:
            folder = self.source.folder or stack.enter_context(temporary_folder())
            yield Source(name, folder, (self.source.fetch(name, folder),), is_folder=False)

    @contextmanager
    def _target_of(self, name: str) -> Iterator[Path]:
        """Yield the path of a file to write, which is uploaded to a store when it is complete."""
        if self.target.folder is not None:
            self.target.remove(name)  # it may be complete, but without a record
            yield self.target.folder / name
            return
        with temporary_folder() as folder:
            yield folder / name
            self.target.upload(folder / name, name)

    def save(self) -> None:
        """Write what is made from what."""
        self.target.write(JOB, manifest_bytes(self._description()))

    def complete(self) -> None:
        """Write the manifest, unless somebody else has begun to write to the same place."""
        now = _read(self.target, JOB)
        if now is None or now["made_by"] != self.made_by:
            raise InputError(f"{self.target.name}: another process has written to it")
        records = {
            name: {key: value for key, value in self.records[name].items() if key != PRIVATE}
            for name in self.sources  # in this order, whenever they were made
        }
        self.target.write(MANIFEST, manifest_bytes({**self._description(), "records": records}))

    def resume(self, before: Mapping[str, Any]) -> None:
        """Take over the records of a job that was interrupted, or is complete.

        Raises
        ------
        InputError
            If the target was made from something else.
        """
        again = "; name a new folder to make it from the beginning"
        if not {"made_by", "sources", "failed"} <= before.keys():
            raise InputError(f"{self.target.name} was not made by this command{again}")
        made_by = before["made_by"]
        for name in {**made_by, **self.made_by}:
            if made_by.get(name) != self.made_by.get(name):
                raise InputError(
                    f"{self.target.name}: the {name} changed after it was begun{again}"
                )
        replaceable = {*before["failed"]} & self.sources.keys()
        for name in sorted({*before["sources"], *self.sources} - replaceable):
            if before["sources"].get(name) != self.sources.get(name):
                raise InputError(
                    f"{self.source.name}/{name} was added, removed or changed after "
                    f"{self.target.name} was begun{again}"
                )
        self.resumed, records = True, before.get("records")
        sizes = {entry.name: entry.size for entry in self.target.entries()}
        for name in filter(sizes.__contains__, self.sources):
            record = records.get(name) if records else _read(self.target, f"{RECORDS}/{name}.json")
            if record and sizes[name] == record["bytes"]:
                self.records[name] = record

    def _description(self) -> dict[str, Any]:
        return {"made_by": dict(self.made_by), "sources": self.sources, "failed": self.failed}


@contextmanager
def dataset_job(
    source: Place, target: Place, made_by: Mapping[str, str], columns: Columns, *, resume: bool
) -> Iterator[DatasetJob]:
    """Begin to make a dataset, or go on with one; the manifest is written at the end.

    Parameters
    ----------
    source, target : Place
        The places; the target must be new unless `resume`.
    made_by : mapping of str to str
        What else determines the target, by name.
    columns : Columns
        The names of the columns of the source.
    resume : bool
        Whether to go on if the target was begun.

    Raises
    ------
    InputError
        If the source has no Parquet file or one that cannot be used, the places overlap, the target
        exists and is not to be resumed, another process works on it, or it was made from something
        else.
    """
    files = {entry.name: _state_of(entry) for entry in _parquet_files(source)}
    if not files:
        raise InputError(f"{source.name} holds no Parquet file (.parquet, .pq)")
    if source.overlaps(target):
        raise InputError(f"{target.name} and {source.name} overlap: name a folder beside it")
    job = DatasetJob(source, target, made_by, files)
    before = _read(target, MANIFEST) or _read(target, JOB)
    if before is not None and resume:
        job.resume(before)
    elif target.folder and target.folder.is_file():
        raise InputError(f"{target.name} is a file: name a new folder")
    elif before is not None or (target.folder and not resume and target.folder.exists()):
        raise InputError(f"{target.name} exists: --resume goes on with it; or name a new folder")
    elif target.entries():
        raise InputError(f"{target.name} holds other files: name a new folder")
    job.check(columns)
    with ExitStack() as stack:
        if target.folder is not None:
            create_folder(target.folder)
            stack.enter_context(folder_lock(target.folder, "dataset"))
            remove_partial(target.folder)
        if (_read(target, MANIFEST) or _read(target, JOB)) != before:
            raise InputError(f"{target.name}: another process has written to it; try again")
        is_complete = before is not None and "records" in before and not job.missing
        stack.enter_context(_explained(job))
        if not is_complete:
            job.save()
        yield job
        if not job.missing:
            if not is_complete:
                job.complete()
            target.remove_folder(RECORDS)  # the manifest has made it superfluous
            target.remove(JOB)


def _parquet_files(source: Place) -> list[Entry]:
    suffixes = FORMATS["parquet"].suffixes
    return [entry for entry in source.entries() if suffix_of(Path(entry.name)) in suffixes]


def _state_of(entry: Entry | None) -> list[int]:
    """Return what changes with a file."""
    return [entry.size, entry.modified] if entry else []


def _read(place: Place, name: str) -> dict[str, Any] | None:
    """Read a file of JSON, which may be large; None if there is none."""
    content, where = place.read(name), f"{place.name}/{name}"
    if content is None:
        return None
    try:
        fields = Fields(msgspec.json.decode(content), where)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InputError(f"{where} is damaged: it is not JSON") from None
    return Manifest(Path(where), fields).description


def is_begun(target: Place) -> bool:
    """Return whether a dataset was begun at a place."""
    return any(target.entry(name) for name in (MANIFEST, JOB))


@contextmanager
def _explained(job: DatasetJob) -> Iterator[None]:
    """Add to errors how to go on, and save which file could not be read."""
    kept = "complete files are kept; continue with --resume"
    try:
        with write_errors_of(Path(job.target.name), f"make space: {kept}"):
            yield
    except KeyboardInterrupt:
        _log.warning("interrupted; complete: %s. Continue with --resume", _done(job))
        raise
    except InputError as error:
        with suppress(InputError):  # a store may have no connection
            job.save()
        raise InputError(f"{error}; complete: {_done(job)}. Continue with --resume") from None
    except KilledError as error:
        raise KilledError(f"{error}; {kept}") from None


def _done(job: DatasetJob) -> str:
    return f"{len(job.records):,} of {number_of(len(job.sources), 'file')}"
