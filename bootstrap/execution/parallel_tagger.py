"""Taggers in folders: trained in a separate process, and applied by an executor."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa

from bootstrap.execution.processes import SerialExecutor, executor_for, in_processes
from bootstrap.self_training.training import Fit
from corpus.batch import Batch
from corpus.errors import InputError
from corpus.formats.batches import from_bytes, to_bytes
from corpus.storage.atomic import new_folder, open_new, write_atomically
from taggers import Tagger, Tagging, Training, load_tagger, make_tagger
from taggers.base import Detail, Progress, joined, kernels_of
from taggers.model_folder import add_to_model, read_digest
from taggers.options import TaggerOptions
from taggers.patterns.first import without_patterns

Result = TypeVar("Result")

#: Called with the name of a stage, the amount done and the total.
ReportStage = Callable[[str, int, int], None]

_CHUNK = 2500  # documents of an item; smaller chunks would look up more words repeatedly

#: The file of the documents of a training, in the new folder of the model until they are read.
_DOCUMENTS = "documents.arrow"


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
    report : callable
        Called with the progress.
    files : mapping of str to bytes
        Files that are added to the model when it is trained, by name.
    keeps : bool
        Whether a model that is already in the folder is used if the same training made it.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        options: TaggerOptions | None,
        *,
        jobs: int = 1,
        report: ReportStage = _silent,
        files: Mapping[str, bytes] | None = None,
        keeps: bool = False,
    ) -> None:
        self.folder = folder
        self.keeps = keeps
        self.files = dict(files or {})
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self.kind = kind
        self._options = options
        self._executor = executor_for(jobs)
        self._jobs = jobs
        self._report = report
        self._tagger: Tagger | None = None

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        trust: Collection[str] = (),
        jobs: int = 1,
        report: ReportStage = _silent,
    ) -> Self:
        """Load a model from its folder; `trust` is as in `taggers.registry.load_tagger`."""
        tagger = load_tagger(folder, trust=trust)
        loaded = cls(folder, tagger.kind, None, jobs=jobs, report=report)
        loaded._use(tagger)
        return loaded

    def save(self, folder: Path) -> None:
        """Copy the model to another folder."""
        shutil.copytree(self.folder, folder)

    @property
    def saved(self) -> SavedModel:
        """The description from which other processes load the model."""
        return SavedModel(str(self.folder.absolute()), self.kind, self._digest)

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
        """Train in another process, which writes the model, and load it; see `fit_all`."""

        def report_step(stage: str, done: int, total: int) -> None:
            self._report(stage, done, total)
            if progress:
                progress(done, total)

        fit_all(
            [Fit("", self, lambda: train, validation, warm_start, rng)],
            jobs=self._jobs,
            report=report_step,
        )
        return self

    def move(self, folder: Path) -> None:
        """Move the model to another folder of the same file system."""
        self.folder.rename(folder)
        self.folder = folder

    def copy(self, folder: Path) -> None:
        """Copy the model to another folder, and use it there."""
        self.save(folder)
        self.folder = folder

    def add_files(self, files: Mapping[str, bytes]) -> None:
        """Write more files into the folder, as files of the model; see `add_to_model`."""
        add_to_model(self.folder, files)
        self._digest = read_digest(self.folder)

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Tag documents in chunks; a process that was ended raises a `KilledError`."""
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
            tag_bytes = functools.partial(_tag_bytes, self.saved, measure, detail)
            results = self._executor.map(tag_bytes, (chunk.to_bytes() for chunk in chunks))
        taggings = []
        for start, tagging in zip(starts, results, strict=True):
            taggings.append(tagging)
            self._report("tagging", min(start + _CHUNK, len(batch)), len(batch))
        return joined(taggings)

    def apply(
        self, work: Callable[[Tagger, pa.RecordBatch], Result], batches: Iterable[pa.RecordBatch]
    ) -> Iterator[Result]:
        """Yield the results of a function of the tagger and each record batch, in order.

        Parameters
        ----------
        work : callable
            A function of a module, or a `functools.partial` of one.
        batches : iterable of RecordBatch
            The batches, which are read as they are needed.

        Raises
        ------
        KilledError
            If a process was ended.
        """
        if self._tagger is None:
            raise ValueError("the tagger has not been trained")
        if self._executor.shares_memory:
            return SerialExecutor().map(functools.partial(work, self._tagger), batches)
        of_bytes = functools.partial(_apply_to_bytes, self.saved, work)
        return self._executor.map(of_bytes, map(to_bytes, batches))

    def _training_options(self) -> TaggerOptions:
        if self._options is None:
            raise ValueError("a loaded model has no options to train with")
        return self._options

    def _use(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self.labels, self.training = tagger.labels, tagger.training
        self._digest = read_digest(self.folder)


def fit_all(fits: Sequence[Fit], *, jobs: int, report: ReportStage = _silent) -> list[Tagger]:
    """Train several taggers in folders, each in another process, at most `jobs` at a time.

    Each model is in its folder as soon as it is trained, whatever becomes of the others.

    Returns
    -------
    list of Tagger
        The trained taggers.

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
    taggers = [in_folder(fit.tagger) for fit in fits]
    with contextlib.ExitStack() as stack:
        tasks, left = list[tuple[Any, ...]](), list[tuple[contextlib.ExitStack, Path, str]]()
        for tagger, fit in zip(taggers, fits, strict=True):
            folder = stack.enter_context(contextlib.ExitStack())
            staging, key = _staged(tagger, fit, folder)
            if not staging:
                continue
            left.append((folder, _key_file(tagger), key))
            start = in_folder(fit.warm_start).folder if fit.warm_start else None
            options = tagger._training_options()
            tasks.append(
                (tagger.kind, options, fit.validation, start, fit.rng, staging, tagger.files)
            )
        trained = len(fits) - len(tasks)
        for index, step in in_processes(_train, tasks, jobs=jobs) if tasks else ():
            if step is None:
                folder, file, key = left[index]
                folder.close()
                trained += 1
                if key:
                    write_atomically(file, key.encode())
                continue
            steps[index] = step
            done, total = (sum(numbers) for numbers in zip(*steps.values(), strict=True))
            # The trainings that have not begun will take about as long as the others.
            report(_stage(fits, trained), done, total * len(tasks) // len(steps))
    for tagger in taggers:
        tagger._use(load_tagger(tagger.folder, trust=(tagger.kind,)))
    return [*taggers]


def in_folder(tagger: Tagger) -> ParallelTagger:
    """Return a tagger that is in a folder; any other tagger raises a TypeError."""
    if not isinstance(tagger, ParallelTagger):
        raise TypeError(f"a {type(tagger).__name__} is not a tagger in a folder")
    return tagger


def _stage(fits: Sequence[Fit], trained: int) -> str:
    """Name what is trained, and how many of how many are."""
    names = ", ".join(fit.name for fit in fits if fit.name)
    number = f" {trained} of {len(fits)} done" if len(fits) > 1 else ""
    return f"training{number} ({names})" if names else f"training{number}"


def _staged(
    tagger: ParallelTagger, fit: Fit, folder: contextlib.ExitStack
) -> tuple[Path | None, str]:
    """Write the documents of a training into the new folder of its model, if it has none yet."""
    # Trainings that are compared then keep no documents in the memory of this process.
    documents = fit.train().to_bytes()
    key = _key(tagger, fit, documents) if tagger.keeps else ""
    if _is_trained(tagger, key):
        return None, key
    staging = folder.enter_context(new_folder(tagger.folder))
    with open_new(staging / _DOCUMENTS) as file:
        file.write(documents)
    return staging, key


def _key(tagger: ParallelTagger, fit: Fit, documents: bytes) -> str:
    """Return a digest of all that a training depends on."""
    digest = hashlib.blake2b(digest_size=16)
    options, rng = tagger._training_options(), fit.rng.bit_generator.state
    digest.update(repr((tagger.kind, options, tagger.files, rng)).encode())
    digest.update(documents)
    digest.update(fit.validation.to_bytes() if fit.validation else b"")
    digest.update(read_digest(in_folder(fit.warm_start).folder).encode() if fit.warm_start else b"")
    return digest.hexdigest()


def _key_file(tagger: ParallelTagger) -> Path:
    return tagger.folder.with_name("training-key")


def _is_trained(tagger: ParallelTagger, key: str) -> bool:
    """Return whether the model of a training is there; another one is removed if it may be."""
    file = _key_file(tagger)
    if key and file.is_file() and file.read_text(encoding="utf-8") == key:
        return tagger.folder.is_dir()
    if key:  # the old key first, so that no other model ever stands beside it
        file.unlink(missing_ok=True)
        shutil.rmtree(tagger.folder, ignore_errors=True)
    return False


def _train(  # noqa: PLR0917 - a task of `in_processes`
    send: Callable[[tuple[int, int] | None], None],
    kind: str,
    options: TaggerOptions,
    validation: Batch | None,
    warm_start: Path | None,
    rng: np.random.Generator,
    folder: Path,
    files: Mapping[str, bytes],
) -> None:
    """Train a tagger in another process, and save it; the last message is None."""
    tagger, documents = make_tagger(kind, options), (folder / _DOCUMENTS).read_bytes()
    (folder / _DOCUMENTS).unlink()
    tagger.fit(
        Batch.from_bytes(documents),
        validation,
        # Only what was learned is a start, not the patterns before it.
        warm_start=without_patterns(load_tagger(warm_start, trust=(kind,))) if warm_start else None,
        rng=rng,
        progress=lambda done, total: send((done, total)),
    )
    tagger.save(folder)
    if files:
        add_to_model(folder, files)
    send(None)


@dataclass(frozen=True, slots=True)
class SavedModel:
    """The description from which a worker loads a model.

    Parameters
    ----------
    path : str
        The folder of the model.
    kind : str
        The kind of tagger.
    digest : str
        The digest of the model.
    """

    path: str
    kind: str
    digest: str

    def load(self) -> Tagger:
        """Load the model, which is kept for later calls.

        Raises
        ------
        InputError
            If it is damaged, or is another one now.
        """
        return _loaded(self)


@functools.lru_cache(maxsize=1)
def _loaded(model: SavedModel) -> Tagger:
    folder = Path(model.path)
    tagger = load_tagger(folder, trust=(model.kind,))
    if read_digest(folder) != model.digest:
        raise InputError(f"{folder}: the model was replaced while it was in use; start again")
    return tagger


def _apply_to_bytes(
    model: SavedModel, work: Callable[[Tagger, pa.RecordBatch], Result], batch: bytes
) -> Result:
    """Apply a function to the model and a record batch in a worker."""
    return work(model.load(), from_bytes(batch))


def _tag_bytes(model: SavedModel, measure: str, detail: Detail, batch: bytes) -> Tagging:
    """Tag a batch in a worker."""
    return model.load().tag(Batch.from_bytes(batch), measure=measure, detail=detail)
