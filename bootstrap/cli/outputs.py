"""What a command reads and writes: notes in one file, or a dataset, file by file."""

from __future__ import annotations

import argparse
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from bootstrap.cli.inputs import problems_of, read_note_batches
from bootstrap.datasets import DatasetJob, Part, dataset_job
from corpus.arguments import is_url, path_or_store
from corpus.errors import InputError, Problems, number_of
from corpus.formats import FORMATS, Columns, Target, WriteReport, count_records, target_of
from corpus.formats.batches import SCHEMA, with_confidences
from corpus.formats.files import is_standard
from corpus.formats.places import Place
from corpus.formats.sources import Source, format_of, locate, suffix_of
from corpus.formats.synthetic import is_synthetic
from corpus.formats.tabular.parquet import schema_of
from corpus.storage.manifest import digest_of_content

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Output:
    """What a command writes.

    Parameters
    ----------
    options : Namespace
        The options of the command.
    columns : Columns
        The names of columns.
    format : str
        The format of the target.
    is_dataset : bool
        Whether it is a dataset.

    Attributes
    ----------
    problems, written
        The problems of all notes, and what was written of them.
    total : int
        The number of notes, which may be estimated; 0 is unknown.
    """

    options: argparse.Namespace
    columns: Columns
    format: str
    is_dataset: bool
    problems: Problems = field(init=False)
    written: WriteReport = field(default_factory=WriteReport)
    total: int = 0
    _job: DatasetJob | None = None

    def __post_init__(self) -> None:
        self.problems = problems_of(self.options)

    @contextmanager
    def begun(self, made_by: Mapping[str, object]) -> Iterator[list[Mapping[str, Any]]]:
        """Begin to write, and return the figures of what was written before.

        `made_by` is what determines a dataset besides the notes, by name: strings as they are, and
        of other values the digests.
        """
        options = self.options
        if not self.is_dataset:
            self.total = count_records(options.source, format=options.source_format)
            yield []
            return
        described = {
            name: value if isinstance(value, str) else digest_of_content(repr(value).encode())
            for name, value in {**made_by, "columns": self.columns}.items()
        }
        places = Place(path_or_store(options.source)), Place(options.target)
        with dataset_job(*places, described, self.columns, resume=options.resume) as job:
            self._job, self.total = job, job.rows
            if job.records:
                done = number_of(len(job.sources), "file")
                _log.info("%s of %s were complete before", f"{len(job.records):,}", done)
            for record in job.records.values():
                self._add(record["documents"], record["spans"])
                self.problems.counts.update(record["problems"])
                self.total += record["documents"]
            yield list(job.records.values())

    @property
    def resumed(self) -> bool:
        """Whether a dataset was begun before."""
        return self._job is not None and self._job.resumed

    def parts(self) -> Iterator[Part]:
        """Yield what is to be written: one file, or the missing ones of a dataset."""
        if self._job:
            yield from self._job.parts()
        else:
            yield Part(self.options.source, Path(self.options.target))

    def sources(self) -> Iterator[str | Source]:
        """Yield all notes to read: as the command names them, or file by file."""
        yield from self._job.files() if self._job else [self.options.source]

    def read(self, source: str | Source, *, labelled: bool) -> Iterator[pa.RecordBatch]:
        """Read notes with what the target can hold of them."""
        return read_note_batches(
            self.options,
            self.problems,
            source=source,
            columns=self.columns,
            labelled=labelled,
            carry=FORMATS[self.format].carry,
        )

    def write(
        self, part: Part, batches: Iterator[pa.RecordBatch], confidences: Iterable[str] = ()
    ) -> None:
        """Write notes with these confidences, and set the figures of a part."""
        before, first = Counter(self.problems.counts), next(batches, None)
        schema = first.schema if first else SCHEMA
        if first is None and isinstance(part.source, Source):
            schema = with_confidences(schema_of(part.source, self.columns), confidences)
        target = Target(part.target, self.format, self.columns)
        done = target.write(chain([first], batches) if first else batches, schema)
        self._add(done.documents, done.spans)
        self.written.left_out.update(done.left_out)
        self.written.other_columns.update(done.other_columns)
        problems = Counter(self.problems.counts)
        problems.subtract(before)
        part.figures |= {
            "documents": done.documents,
            "spans": done.spans,
            "problems": dict(+problems),
        }

    def _add(self, documents: int, spans: int) -> None:
        self.written.documents += documents
        self.written.spans += spans


def output_of(options: argparse.Namespace, columns: Columns, format: str | None = None) -> Output:
    """Return what a command writes.

    A folder of Parquet becomes another one, unless the target has the suffix of a file or another
    format. So does whatever is in an object store.

    Raises
    ------
    InputError
        If the target exists or cannot be written, or there is nothing to resume.
    """
    format = format or options.target_format
    in_store = is_url(str(options.source)) or is_url(str(options.target))
    if in_store or _is_folder_of_parquet(options):
        if {options.source_format, format} - {None, "parquet"}:
            raise InputError(
                "from and to an object store, notes are Parquet; convert them first, or name files "
                "of this machine"
            )
        return Output(options, columns, "parquet", is_dataset=True)
    if options.resume:
        locate(options.source)
        raise InputError(
            f"--resume goes on with a folder of Parquet, and {options.source} is none; name "
            "a folder as OUT, too"
        )
    target = target_of(options.target, format=format, columns=columns)
    return Output(options, columns, target.format, is_dataset=False)


def _is_folder_of_parquet(options: argparse.Namespace) -> bool:
    source, target = str(options.source), Path(options.target)
    if is_synthetic(source) or is_standard(target) or not os.path.isdir(source):  # noqa: PTH112
        return False
    others = {suffix for row in FORMATS.values() for suffix in row.suffixes}
    if suffix_of(target) in others or options.target_format not in (None, "parquet"):
        return False
    return (options.source_format or format_of(locate(source))) == "parquet"
