"""Taggers in folders: trained in a separate process, and applied by an executor."""

from __future__ import annotations

import contextlib
import functools
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from bootstrap.execution.processes import Executor, SerialExecutor, executor_for, in_processes
from corpus.batch import Batch
from corpus.errors import InputError
from corpus.storage.atomic import new_folder
from taggers import Tagger, Tagging, Training, load_tagger, make_tagger
from taggers.base import Detail, Progress, joined, kernels_of
from taggers.model_folder import add_to_model, read_digest
from taggers.options import TaggerOptions

#: Called with the name of a stage, the amount done and the total.
ReportStage = Callable[[str, int, int], None]

_CHUNK = 2500  # documents of an item; smaller chunks would look up more words repeatedly


def _silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class ParallelTagger:
    """A `Tagger` in a folder that trains in another process and tags in several.

    It tags documents in chunks of a fixed size, so that the results do not depend on the executor
    or the number of processes. Models are passed on as path and digest, documents as Arrow bytes.

    Parameters
    ----------
    folder : Path
        The folder of the model; `fit` creates it.
    kind : str
        The kind of tagger.
    options : options of that kind
        The options of training.
    jobs : int
        Number of processes that tag.
    executor : Executor, optional
        The executor that tags; by default one for the number of jobs.
    report : callable
        Called with the progress.
    files : mapping of str to bytes
        Files that are added to the model when it is trained, by name.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        options: TaggerOptions | None,
        *,
        jobs: int = 1,
        executor: Executor | None = None,
        report: ReportStage = _silent,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.folder = folder
        self.files = dict(files or {})
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self.kind = kind
        self._options = options
        self._executor = executor or executor_for(jobs)
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
        executor: Executor | None = None,
        report: ReportStage = _silent,
    ) -> Self:
        """Load a model from its folder; `trusted` is as in `taggers.registry.load_tagger`."""
        tagger = load_tagger(folder, trusted=trusted)
        loaded = cls(folder, tagger.kind, None, jobs=jobs, executor=executor, report=report)
        loaded._use(tagger)
        return loaded

    def save(self, folder: Path) -> None:
        """Copy the model to another folder."""
        shutil.copytree(self.folder, folder)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions the tagger calls."""
        return kernels_of(self._tagger or make_tagger(self.kind, self._training_options()))

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train in another process, which writes the model, and load it from its folder.

        Parameters
        ----------
        warm_start : ParallelTagger, optional
            The model whose weights training begins with.

        Raises
        ------
        InputError
            If the folder exists.
        TrainingError
            If the training produces no model.
        KilledError
            If the training process was ended.
        """
        fit = FolderFit(self, train, validation, warm_start, rng)

        def report(stage: str, done: int, total: int) -> None:
            self._report(stage, done, total)
            if progress:
                progress(done, total)

        fit_all([fit], jobs=self._jobs, report=report)
        return self

    def move(self, folder: Path) -> None:
        """Move the model to another folder of the same file system."""
        self.folder.rename(folder)
        self.folder = folder

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "probability",
        detail: Detail = "document",
        progress: Progress | None = None,
    ) -> Tagging:
        """Tag documents.

        Raises
        ------
        KilledError
            If one of the processes was ended.
        """
        if self._tagger is None:
            raise ValueError("the tagger has not been trained")

        # The chunks do not depend on the number of processes, because rounding depends on the
        # documents that are tagged together.
        starts = range(0, max(len(batch), 1), _CHUNK)
        chunks = (batch.slice(start, start + _CHUNK) for start in starts)
        if self._executor.shares_memory or len(starts) == 1:
            tag = functools.partial(self._tagger.tag, measure=measure, detail=detail)
            results = SerialExecutor().map(tag, chunks)
        else:
            model = _Model(str(self.folder.absolute()), self.kind, self._digest)
            tag_bytes = functools.partial(_tag_bytes, model, measure, detail)
            results = self._executor.map(tag_bytes, (chunk.to_bytes() for chunk in chunks))
        taggings = []
        for start, tagging in zip(starts, results, strict=True):
            taggings.append(tagging)
            done = min(start + _CHUNK, len(batch))
            self._report("tagging", done, len(batch))
            if progress:
                progress(done, len(batch))
        return joined(taggings)

    def _training_options(self) -> TaggerOptions:
        if self._options is None:
            raise ValueError("a loaded model has no options to train with")
        return self._options

    def _use(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self.labels, self.training = tagger.labels, tagger.training
        self._digest = read_digest(self.folder)


@dataclass(frozen=True, slots=True, eq=False)
class FolderFit:
    """A training of a tagger in a folder; the parameters are those of `ParallelTagger.fit`."""

    tagger: ParallelTagger
    train: Batch
    validation: Batch | None
    warm_start: ParallelTagger | None
    rng: np.random.Generator


def fit_all(fits: Sequence[FolderFit], *, jobs: int, report: ReportStage = _silent) -> None:
    """Train several taggers, each in another process.

    Parameters
    ----------
    fits : sequence of Fit
        The trainings.
    jobs : int
        Maximum number of processes at a time.
    report : callable
        Called with the progress of all trainings together.

    Raises
    ------
    InputError
        If one of the folders exists.
    TrainingError
        If a training produces no model.
    KilledError
        If a training process was ended.
    """
    steps: dict[int, tuple[int, int]] = {}
    with contextlib.ExitStack() as stack:
        tasks = [(_job(fit, stack.enter_context(new_folder(fit.tagger.folder))),) for fit in fits]
        for index, step in in_processes(_train, tasks, jobs=jobs):
            steps[index] = step
            done, total = (sum(numbers) for numbers in zip(*steps.values(), strict=True))
            # The trainings that have not begun will take about as long as the others.
            report("training", done, total * len(fits) // len(steps))
    for fit in fits:
        fit.tagger._use(load_tagger(fit.tagger.folder, trusted=(fit.tagger.kind,)))


def _job(fit: FolderFit, staging: Path) -> _Job:
    tagger, warm_start = fit.tagger, fit.warm_start
    return _Job(
        tagger.kind,
        tagger._training_options(),
        fit.train.to_bytes(),
        fit.validation,
        warm_start.folder if warm_start else None,
        fit.rng,
        staging,
        tagger.files,
    )


@dataclass(frozen=True, slots=True)
class _Model:
    """The description from which a worker loads a model."""

    path: str
    kind: str
    digest: str


@functools.lru_cache(maxsize=1)
def _loaded(model: _Model) -> Tagger:
    """Load a model, and keep it for the next chunks."""
    folder = Path(model.path)
    tagger = load_tagger(folder, trusted=(model.kind,))
    if read_digest(folder) != model.digest:
        raise InputError(f"{folder}: the model was replaced while it was in use; start again")
    return tagger


def _tag_bytes(model: _Model, measure: str, detail: Detail, batch: bytes) -> Tagging:
    """Tag a batch in a worker."""
    return _loaded(model).tag(Batch.from_bytes(batch), measure=measure, detail=detail)


@dataclass(frozen=True, slots=True)
class _Job:
    """The arguments of the training process."""

    kind: str
    options: TaggerOptions
    train: bytes
    validation: Batch | None
    warm_start: Path | None
    rng: np.random.Generator
    folder: Path
    files: Mapping[str, bytes] = field(default_factory=dict)


def _train(send: Callable[[tuple[int, int]], None], job: _Job) -> None:
    tagger = make_tagger(job.kind, job.options)
    tagger.fit(
        Batch.from_bytes(job.train),
        job.validation,
        warm_start=load_tagger(job.warm_start, trusted=(job.kind,)) if job.warm_start else None,
        rng=job.rng,
        progress=lambda done, total: send((done, total)),
    )
    tagger.save(job.folder)
    if job.files:
        add_to_model(job.folder, job.files)
