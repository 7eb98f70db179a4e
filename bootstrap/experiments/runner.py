"""Running of the runs of an experiment, several at a time."""

from __future__ import annotations

import logging
import os
import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from bootstrap.config.configuration import Configuration
from bootstrap.config.overrides import ConfigurationError
from bootstrap.data.preparation import prepare
from bootstrap.data.splits import problems_for, read_notes
from bootstrap.execution.cluster import connected
from bootstrap.execution.processes import KilledError, in_processes
from bootstrap.experiments.configurations import (
    check_variants,
    configuration_of,
    needs_embeddings,
)
from bootstrap.experiments.documents import DocumentFiles
from bootstrap.experiments.folder import ExperimentFolder, is_scored, read_run
from bootstrap.experiments.plan import Plan, Variant
from bootstrap.experiments.splits import read_splits
from bootstrap.runs.continued import check_continued
from bootstrap.runs.embeddings import embeddings_of_notes
from bootstrap.runs.folder import Run
from bootstrap.runs.lists import with_classes_of_lists
from bootstrap.runs.resume import opened_run, refuse_other_configuration, rename_files
from bootstrap.runs.runner import complete_run, run_iterations
from corpus.errors import InputError, Problems
from corpus.storage.atomic import WriteError, new_folder
from taggers.base import TrainingError


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run of an experiment, with its folder and its configuration."""

    variant: Variant
    split: str
    run: Run
    configuration: Configuration

    @property
    def name(self) -> str:
        """The name of the run: the end of the path of its folder."""
        return f"{self.run.folder.parent.name}/{self.run.folder.name}"

    def is_finished(self) -> bool:
        """Return whether the run has ended and its test documents have been scored."""
        with read_run(self.run):
            return is_scored(self.run)


@dataclass(frozen=True, slots=True)
class PlannedEmbeddings:
    """Embeddings that the runs of a split share.

    The configuration describes a run on all annotated documents of the split. With `test_text`,
    the text of the test documents is used.
    """

    split: str
    folder: Path
    configuration: Configuration
    test_text: bool

    @property
    def name(self) -> str:
        """The name of the embeddings, in words."""
        return f"embeddings of {self.split}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The work to do for an experiment.

    Parameters
    ----------
    runs : tuple of PlannedRun
        All runs, including finished ones.
    embeddings : tuple of PlannedEmbeddings
        The embeddings that its runs share.
    problems : Problems
        Documents and annotations that could not be used as they are.
    folder : Path
        The folder of the experiment.
    cluster : str
        The cluster that does the work; "" is this machine.
    """

    runs: tuple[PlannedRun, ...]
    embeddings: tuple[PlannedEmbeddings, ...]
    problems: Problems
    folder: Path
    cluster: str = ""

    @property
    def left(self) -> list[PlannedRun]:
        """The runs that are not finished."""
        return [run for run in self.runs if not run.is_finished()]


def prepare_runs(plan: Plan, experiment: ExperimentFolder) -> Schedule:
    """Write the documents of the runs of an experiment, and build their configurations.

    Raises
    ------
    InputError
        If documents cannot be read, if a configuration is invalid, or if a run was started with
        another configuration.
    """
    check_variants(plan, resources=True)
    problems = problems_for(plan.data)
    splits = read_splits(plan, problems)
    documents = experiment.documents_folder.absolute()
    earlier = Path(experiment.plan()["documents"]) if experiment.has_begun() else documents
    planner = _Planner(plan, experiment, DocumentFiles(documents, plan, splits), earlier)
    runs = tuple(planner.run(variant, split, state) for variant, state, split in plan.runs)
    shared = needs_embeddings(run.configuration for run in runs)
    embeddings = tuple(map(planner.embeddings, plan.splits)) if shared else ()
    experiment.save_plan(plan)
    folder = experiment.folder.absolute()
    return Schedule(runs, embeddings, problems, folder, plan.execution.cluster)


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans the runs of an experiment in its folder; `earlier` is where its documents were."""

    plan: Plan
    experiment: ExperimentFolder
    files: DocumentFiles
    earlier: Path

    def run(self, variant: Variant, split: str, random_state: int) -> PlannedRun:
        """Plan a run, and check that its folder, if there is one, has the same configuration."""
        run = self.experiment.run(variant.name, split, random_state)
        files = self.files.files_of(variant, split, random_state)
        configuration = configuration_of(self.plan, variant, files, random_state)
        self._check_budget(variant, split, configuration)
        if run.has_begun():
            rename_files(run, self.earlier, self.experiment.documents_folder.absolute())
            refuse_other_configuration(run, configuration)
        return PlannedRun(variant, split, run, configuration)

    def _check_budget(self, variant: Variant, split: str, configuration: Configuration) -> None:
        """Refuse an invalid budget now, not hours later when the run is carried out."""
        own_gold = "gold" in variant.tables.get("active", {})
        if configuration.active is None or variant.seed is None or own_gold:
            return
        least = variant.seed.documents + variant.seed.others
        most = len(self.files.units_of(split))
        if not least < configuration.active.budget <= most:
            raise ConfigurationError(
                f"{self.plan.source.file}: [active] budget = {configuration.active.budget:,} "
                f"(variant {variant.name}): expected more than the {least:,} documents of "
                f"the seed and at most the {most:,} documents of [data] seed that are not held out"
            )

    def embeddings(self, split: str) -> PlannedEmbeddings:
        """Plan the embeddings of a split, which all its runs share."""
        labels = {} if self.plan.labels is None else {"labels": self.plan.labels}
        everything = Variant("", "full-supervision", labels, None)
        if not self.plan.data.seed:  # all runs have the same documents
            everything = self.plan.variants[0]
        files = self.files.files_of(everything, split, 0)
        configuration = configuration_of(self.plan, everything, files, 0)
        folder = self.experiment.embeddings_folder(split)
        return PlannedEmbeddings(split, folder, configuration, self.plan.options.test_text)


class Message(NamedTuple):
    """What the process of a run reports.

    Parameters
    ----------
    kind : {"stage", "warning", "failed", "finished"}
        A stage of the work, a warning, the error that ended the work, or its end.
    text : str
        The stage, the warning or the error.
    done, total : int
        The amount done in the stage, and the total or 0.
    """

    kind: Literal["stage", "warning", "failed", "finished"]
    text: str = ""
    done: int = 0
    total: int = 0


Send = Callable[[Message], None]


def carry_out(
    send: Send, configuration: Configuration, folder: Path, embeddings: Path | None, jobs: int
) -> None:
    """Carry out a run, or the rest of it, with the embeddings that runs share if it needs them."""
    with _reported(send):
        configuration = with_classes_of_lists(configuration)
        notes, _ = prepare(configuration)
        check_continued(configuration, notes)
        with opened_run(folder, configuration, resume=True) as run:
            if embeddings:
                _link_embeddings(embeddings, run)
            iteration = len(run.metrics())

            def report(stage: str, done: int, total: int) -> None:
                send(Message("stage", f"iteration {iteration}: {stage}", done, total))

            if not run.is_finished():
                for _ in run_iterations(run, configuration, notes, jobs=jobs, report=report):
                    iteration += 1
            send(Message("stage", "scoring"))
            complete_run(run, configuration, notes, jobs=jobs, with_advice=False)


def train_shared_embeddings(
    send: Send, configuration: Configuration, folder: Path, jobs: int, test_text: bool
) -> None:
    """Train the embeddings that the runs of a split share; see `PlannedEmbeddings`."""
    with _reported(send):
        notes = read_notes(configuration.data, configuration.labels, batch_size=1)
        state = configuration.loop.random_state

        def report(stage: str, done: int, total: int) -> None:
            send(Message("stage", stage, done, total))

        embeddings_of_notes(folder, notes, state, jobs=jobs, report=report, test_text=test_text)


@contextmanager
def _reported(send: Send) -> Iterator[None]:
    """Send the warnings that are logged meanwhile, and the end of the work or its error."""
    handler, logger = _Sender(send), logging.getLogger()
    logger.addHandler(handler)
    try:
        yield
        send(Message("finished"))
    except (InputError, TrainingError, KilledError, WriteError) as error:
        send(Message("failed", str(error)))
    except Exception as error:  # its message may contain text of notes
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        send(Message("failed", f"internal error: {type(error).__name__} ({where})"))
    finally:
        logger.removeHandler(handler)


def _link_embeddings(shared: Path, run: Run) -> None:
    """Link the shared embeddings into the folder of a run; their files are never changed."""
    if run.embeddings_folder.exists():
        return
    with new_folder(run.embeddings_folder) as staging:
        shutil.copytree(shared, staging, copy_function=_linked, dirs_exist_ok=True)


def _linked(source: str, target: str) -> Any:
    """Link a file, or copy it where links are not possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


class _Sender(logging.Handler):
    """A handler that sends warnings to the process of the experiment."""

    def __init__(self, send: Send) -> None:
        super().__init__(logging.WARNING)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        self._send(Message("warning", record.getMessage()))


@dataclass(frozen=True, slots=True)
class Event:
    """What the process of a run, or of the embeddings of a split, reports."""

    what: PlannedRun | PlannedEmbeddings
    message: Message


def carry_out_all(schedule: Schedule, *, jobs: int) -> Iterator[Event]:
    """Carry out the runs of an experiment that are not finished.

    A run that fails does not end the others.

    Parameters
    ----------
    schedule : Schedule
        From `prepare_runs`.
    jobs : int
        Number of processes: runs at the same time, or processes of each run if there are fewer.

    Yields
    ------
    Event

    Raises
    ------
    KilledError
        If a process was ended by the system.
    """
    with connected(schedule.cluster) as cluster:
        if not cluster:
            yield from _carry_out_all(schedule, jobs, in_processes)
            return
        with _folder_of_messages(schedule.folder) as folder:

            def in_workers(
                work: Callable[..., None], tasks: Sequence[Sequence[Any]], *, jobs: int
            ) -> Iterator[tuple[int, Any]]:
                return cluster.in_workers(work, tasks, folder=folder)

            yield from _carry_out_all(schedule, 1, in_workers)


@contextmanager
def _folder_of_messages(experiment: Path) -> Iterator[Path]:
    """Make a folder for what workers report, and remove those that were left before."""
    prefix = ".messages-"
    for folder in experiment.glob(f"{prefix}*"):
        shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory(prefix=prefix, dir=experiment) as name:
        yield Path(name)


def _carry_out_all(
    schedule: Schedule, jobs: int, carry_out_tasks: Callable[..., Iterator[tuple[int, Any]]]
) -> Iterator[Event]:
    left = schedule.left
    splits, failed = {run.split for run in left}, set()
    for shared in schedule.embeddings:
        if shared.split in splits:
            folder = shared.folder.absolute()
            task = (shared.configuration, folder, jobs, shared.test_text)
            for _, values in carry_out_tasks(train_shared_embeddings, [task], jobs=1):
                message = Message(*values)
                failed |= {shared.split} if message.kind == "failed" else set()
                yield Event(shared, message)
    folders = {shared.split: shared.folder.absolute() for shared in schedule.embeddings}
    runs, tasks = [], []
    for run in left:
        needed = folders.get(run.split) if needs_embeddings([run.configuration]) else None
        if needed and run.split in failed:
            yield Event(run, Message("failed", f"the embeddings of {run.split} are missing"))
        else:
            runs.append(run)
            tasks.append((run.configuration, run.run.folder.absolute(), needed))
    at_once = max(1, min(jobs, len(runs)))
    with_jobs = [(*task, jobs // at_once) for task in tasks]
    for index, values in carry_out_tasks(carry_out, with_jobs, jobs=at_once):
        yield Event(runs[index], Message(*values))
