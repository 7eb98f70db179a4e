"""A run of an experiment, carried out in a process of its own."""

from __future__ import annotations

import logging
import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bootstrap.config.configuration import Configuration
from bootstrap.data.preparation import prepare
from bootstrap.data.splits import Notes, read_notes
from bootstrap.execution.processes import KilledError
from bootstrap.runs.embeddings import embeddings_of_notes
from bootstrap.runs.folder import Run
from bootstrap.runs.resume import opened_run
from bootstrap.runs.runner import complete_run, run_iterations
from corpus.errors import InputError
from corpus.storage.atomic import WriteError, new_folder
from taggers.base import TrainingError


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
        notes, _ = prepare(configuration)
        with opened_run(folder, configuration, resume=True) as run:
            if embeddings:
                _link_embeddings(embeddings, run)
            if not run.is_finished():
                _run(send, run, configuration, notes, jobs)
            send(Message("stage", "scoring"))
            complete_run(run, configuration, notes, jobs=jobs, with_advice=False)


def _run(send: Send, run: Run, configuration: Configuration, notes: Notes, jobs: int) -> None:
    """Run the iterations of a run that are not closed yet."""
    iteration = len(run.metrics())

    def report(stage: str, done: int, total: int) -> None:
        send(Message("stage", f"iteration {iteration}: {stage}", done, total))

    for metrics in run_iterations(run, configuration, notes, jobs=jobs, report=report):
        iteration = metrics.iteration + 1


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
