"""Taggers that live in a folder: trained in a process of their own, tagging over processes.

Workers get the folder of a model and Arrow bytes, and return arrays as bytes.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import numpy.typing as npt
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bootstrap.execution.processes import KilledError, deaf, end_with, in_process
from corpus.batch import Batch
from taggers import Tagger, Tagging, Training, load_tagger, make_tagger
from taggers.base import Detail, Progress, joined, kernels_of
from taggers.options import TaggerOptions

#: Told what is done, how much of it and of how much.
Report = Callable[[str, int, int], None]

# An array as bytes, its type and its shape; and the arrays of a `Tagging`.
_Array = tuple[bytes, str, tuple[int, ...]]
_Found = tuple[_Array | None, ...]

_CHUNK = 2500  # documents that a worker gets at a time: fewer would look at words more often


def _silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class SavedTagger:
    """A tagger in a folder.

    Parameters
    ----------
    folder : Path
        Where its model is, or will be after `fit`.
    kind : str
        The kind of tagger.
    options : options of that kind
        How to train it.
    jobs : int
        Processes that tag.
    report : callable
        Told of progress.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        options: TaggerOptions | None,
        *,
        jobs: int = 1,
        report: Report = _silent,
    ) -> None:
        self.folder = folder
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self.kind = kind
        self._options = options
        self._jobs = jobs
        self._report = report
        self._tagger: Tagger | None = None

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        trusted: Collection[str] = (),
        jobs: int = 1,
        report: Report = _silent,
    ) -> Self:
        """Open a model that is there; `trusted` is as in `taggers.kinds.load_tagger`."""
        tagger = load_tagger(folder, trusted=trusted)
        opened = cls(folder, tagger.kind, None, jobs=jobs, report=report)
        opened._take(tagger)
        return opened

    def save(self, folder: Path) -> None:
        """Copy the model to another folder."""
        shutil.copytree(self.folder, folder)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions the tagger calls."""
        return kernels_of(self._tagger or make_tagger(self.kind, self._given()))

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train in a process of its own, write the model to the folder and read it from there.

        It begins with the weights of `warm_start`.

        Raises
        ------
        TrainingError
            If there is no model in the end.
        KilledError
            If the training process was ended.
        """
        staging = self.folder.with_name(f".{self.folder.name}.{os.getpid()}")
        shutil.rmtree(staging, ignore_errors=True)
        before = None if warm_start is None else warm_start.folder
        job = _Job(
            self.kind,
            self._given(),
            train.to_bytes(),
            validation,
            before,
            rng,
            staging,
        )
        for done, most in in_process(_train, job):
            self._report("training", done, most)
            if progress:
                progress(done, most)
        staging.rename(self.folder)
        self._take(load_tagger(self.folder, trusted=(self.kind,)))
        return self

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "probability",
        detail: Detail = "document",
        progress: Progress | None = None,
    ) -> Tagging:
        """Tag documents, over processes where there are enough of them.

        Raises
        ------
        KilledError
            If one of the processes was ended.
        """
        if self._tagger is None:
            raise ValueError("the tagger has not been trained")

        # In the same pieces whatever the number of processes: what is computed together decides
        # how it is rounded.
        starts = range(0, max(len(batch), 1), _CHUNK)
        pieces = (batch.slice(start, start + _CHUNK) for start in starts)
        if self._jobs == 1 or len(starts) == 1:
            tagger = self._tagger
            results: Iterator[Tagging] = (
                tagger.tag(piece, measure=measure, detail=detail) for piece in pieces
            )
        else:
            results = self._over_processes(pieces, measure, detail)
        taggings = []
        for start, tagging in zip(starts, results, strict=True):
            taggings.append(tagging)
            done = min(start + _CHUNK, len(batch))
            self._report("tagging", done, len(batch))
            if progress:
                progress(done, len(batch))
        return joined(taggings)

    def _over_processes(
        self, pieces: Iterator[Batch], measure: str, detail: Detail
    ) -> Iterator[Tagging]:
        # Bytes are sent to the workers as they are: joblib writes no file for them, and makes no
        # folder in shared memory where it is named another one.
        parallel = joblib.Parallel(
            n_jobs=self._jobs,
            return_as="generator",
            max_nbytes=None,
            temp_folder=str(self.folder),
            initializer=end_with,
            initargs=(os.getpid(),),
        )
        chunks = (piece.to_bytes() for piece in pieces)
        model = str(self.folder), self.kind, self._version
        with deaf():
            results = parallel(
                joblib.delayed(_tag_chunk)(model, chunk, measure, detail) for chunk in chunks
            )
        for found in _alive(results):
            tags, confidence, *details = (_array(part) for part in found)
            assert tags is not None
            assert confidence is not None
            yield Tagging(tags, self.labels, confidence, *details)

    def _given(self) -> TaggerOptions:
        if self._options is None:
            raise ValueError("a tagger that was opened has no options to train with")
        return self._options

    def _take(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self.labels, self.training = tagger.labels, tagger.training
        self._version = (self.folder / "model.json").stat().st_mtime_ns


def _alive(results: Iterator[_Found]) -> Iterator[_Found]:
    """Yield what workers return as long as none is killed."""
    try:
        yield from results
    except TerminatedWorkerError:
        raise KilledError(
            "a tagging process was killed; the system may have been out of memory, of which fewer "
            "--jobs need less"
        ) from None


@functools.lru_cache(maxsize=1)
def _loaded(folder: str, kind: str, version: int) -> Tagger:
    """Keep the model that a worker used last; the version tells it from a later one there."""
    return load_tagger(Path(folder), trusted=(kind,))


def _tag_chunk(model: tuple[str, str, int], batch: bytes, measure: str, detail: Detail) -> _Found:
    tagging = _loaded(*model).tag(Batch.from_bytes(batch), measure=measure, detail=detail)
    details = tagging.token_confidence, tagging.marginals, tagging.entity_probabilities
    arrays = tagging.tags, tagging.confidence, *details
    return tuple(
        None if each is None else (each.tobytes(), each.dtype.str, each.shape) for each in arrays
    )


def _array(part: _Array | None) -> npt.NDArray[Any] | None:
    return None if part is None else np.frombuffer(part[0], part[1]).reshape(part[2])


@dataclass(frozen=True, slots=True)
class _Job:
    """What the training process needs."""

    kind: str
    options: TaggerOptions
    train: bytes
    validation: Batch | None
    start: Path | None
    rng: np.random.Generator
    folder: Path


def _train(send: Callable[[tuple[int, int]], None], job: _Job) -> None:
    tagger = make_tagger(job.kind, job.options)
    tagger.fit(
        Batch.from_bytes(job.train),
        job.validation,
        warm_start=load_tagger(job.start, trusted=(job.kind,)) if job.start else None,
        rng=job.rng,
        progress=lambda done, most: send((done, most)),
    )
    tagger.save(job.folder)
