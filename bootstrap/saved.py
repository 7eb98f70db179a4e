"""Taggers that live in a folder: trained in a process of their own, tagging over processes.

Training leaves Python for seconds at a time, in which nothing else of the process moves; from a
process of its own it can be stopped at once, and its memory is given back. Workers get the folder
of a model and Arrow bytes, and return arrays as bytes.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
import numpy.typing as npt
from joblib.externals.loky.process_executor import TerminatedWorkerError

from corpus.batch import Batch
from taggers import Tagger, Tagging, Training, load_tagger, make_tagger
from taggers.tagger import Detail, Progress, joined

#: Told what is done, how much of it and of how much.
Report = Callable[[str, int, int], None]

# An array as bytes, its type and its shape; and the arrays of a `Tagging`.
_Array = tuple[bytes, str, tuple[int, ...]]
_Found = tuple[_Array | None, ...]

_CHUNK = 2500  # documents that a worker gets at a time: fewer would look at words more often
_POLL = 0.1  # seconds between looks at another process


def _silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class KilledError(OSError):
    """A process that worked for a tagger was ended by the system or by somebody."""


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
        self, folder: Path, kind: str, options: Any, *, jobs: int = 1, report: Report = _silent
    ) -> None:
        self.folder = folder
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self._kind = kind
        self._options = options
        self._jobs = jobs
        self._report = report
        self._tagger: Tagger | None = None

    @classmethod
    def load(cls, folder: Path, *, jobs: int = 1, report: Report = _silent) -> Self:
        """Open a model that is there."""
        tagger = load_tagger(folder)
        opened = cls(folder, "", None, jobs=jobs, report=report)
        opened._take(tagger)
        return opened

    def save(self, folder: Path) -> None:
        """Copy the model to another folder."""
        shutil.copytree(self.folder, folder)

    def prepare(self, tell: Callable[[], None]) -> None:
        """Do here what other processes then need not do; `tell` is called before it takes long."""
        (self._tagger or make_tagger(self._kind, self._options)).prepare(tell)

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train in a process of its own, write the model to the folder and read it from there.

        It begins with the weights of `start`.

        Raises
        ------
        TrainingError
            If there is no model in the end.
        KilledError
            If the training process was ended.
        """
        staging = self.folder.with_name(f".{self.folder.name}.{os.getpid()}")
        shutil.rmtree(staging, ignore_errors=True)
        before = None if start is None else start.folder
        job = _Job(
            self._kind,
            self._options,
            train.to_bytes(),
            validation,
            before,
            rng,
            staging,
        )
        for done, most in _train_in_process(job):
            self._report("training", done, most)
            if progress:
                progress(done, most)
        staging.rename(self.folder)
        self._take(load_tagger(self.folder))
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
            initializer=_end_with,
            initargs=(os.getpid(),),
        )
        chunks = (piece.to_bytes() for piece in pieces)
        with _deaf():
            results = parallel(
                joblib.delayed(_tag_chunk)(str(self.folder), self._version, chunk, measure, detail)
                for chunk in chunks
            )
        for found in _alive(results):
            tags, confidence, *details = (_array(part) for part in found)
            assert tags is not None
            assert confidence is not None
            yield Tagging(tags, self.labels, confidence, *details)

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


@contextmanager
def _deaf() -> Iterator[None]:
    """Make processes that start meanwhile never hear of Ctrl-C: it is this one that ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """End this process soon after the one that it works for, however that one ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@functools.lru_cache(maxsize=1)
def _loaded(folder: str, version: int) -> Tagger:
    """Keep the model that a worker used last; the version tells it from a later one there."""
    return load_tagger(Path(folder))


def _tag_chunk(folder: str, version: int, batch: bytes, measure: str, detail: Detail) -> _Found:
    tagging = _loaded(folder, version).tag(Batch.from_bytes(batch), measure=measure, detail=detail)
    arrays = tagging.tags, tagging.confidence, tagging.tokens, tagging.marginals, tagging.entities
    return tuple(
        None if each is None else (each.tobytes(), each.dtype.str, each.shape) for each in arrays
    )


def _array(part: _Array | None) -> npt.NDArray[Any] | None:
    return None if part is None else np.frombuffer(part[0], part[1]).reshape(part[2])


@dataclass(frozen=True, slots=True)
class _Job:
    """What the training process needs."""

    kind: str
    options: Any
    train: bytes
    validation: Batch | None
    start: Path | None
    rng: np.random.Generator
    folder: Path


def _train_in_process(job: _Job) -> Iterator[tuple[int, int]]:
    """Train in another process and yield its progress; it ends with this one."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_train, args=(theirs, os.getpid()), daemon=True)
    try:
        with _deaf():
            process.start()
        theirs.close()
        # Not an argument of the process: that would wait for ever for one that died at its start.
        ours.send(job)
        yield from _messages(ours)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise KilledError(
            "the training process ended without a model; the system may have been out of memory"
        ) from None
    finally:
        if process.pid is not None:
            process.terminate()
            process.join()
        ours.close()


def _messages(connection: Connection) -> Iterator[tuple[int, int]]:
    while True:
        while not connection.poll(_POLL):
            pass
        message = connection.recv()
        if isinstance(message, BaseException):
            raise message
        if message is None:
            return
        yield message


def _train(connection: Connection, parent: int) -> None:
    _end_with(parent)
    try:
        job: _Job = connection.recv()
        tagger = make_tagger(job.kind, job.options)

        def progress(done: int, most: int) -> None:
            connection.send((done, most))

        tagger.fit(
            Batch.from_bytes(job.train),
            job.validation,
            start=load_tagger(job.start) if job.start else None,
            rng=job.rng,
            progress=progress,
        )
        tagger.save(job.folder)
        connection.send(None)
    except Exception as error:  # whatever it is, the parent process raises it
        with suppress(OSError):
            connection.send(error)
