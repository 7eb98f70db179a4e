"""Training of the models of an iteration, in its folder and in processes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from bootstrap.execution.parallel_tagger import FolderFit, ParallelTagger, Report, fit_all
from bootstrap.runs.folder import Run
from bootstrap.self_training.training import Fit
from taggers import Tagger

#: The beginning of the names of the folders in which alternatives are trained.
_ALTERNATIVE = "alternative-"


def free_model_folder(run: Run, iteration: int) -> Path:
    """Return a folder for another model of an iteration.

    Parameters
    ----------
    run : Run
        The run.
    iteration : int
        The number of the iteration.

    Returns
    -------
    Path
        It does not exist, and no other call returns it. `keep_model` moves the model to its place.
    """
    parent = run.iteration_folder(iteration)
    parent.mkdir(mode=0o700, exist_ok=True)
    folder = parent / f"{_ALTERNATIVE}{len(list(parent.glob(f'{_ALTERNATIVE}*')))}"
    folder.mkdir(mode=0o700)
    return folder / "model"


def keep_model(run: Run, iteration: int, tagger: Tagger) -> None:
    """Move the model of an iteration to its place, and remove its alternatives."""
    parent, in_folder = run.iteration_folder(iteration), _in_folder(tagger)
    if in_folder.folder.is_relative_to(parent):
        in_folder.move(run.model_folder(iteration))
    for folder in parent.glob(f"{_ALTERNATIVE}*"):
        shutil.rmtree(folder)


def train_in_folders(fits: Sequence[Fit], *, jobs: int, report: Report) -> list[Tagger]:
    """Train several taggers at the same time, each in another process.

    Parameters
    ----------
    fits : sequence of Fit
        Trainings of `ParallelTagger`.
    jobs : int
        Maximum number of processes at a time.
    report : callable
        Called with the progress of all trainings together.

    Returns
    -------
    list of Tagger
    """
    in_folders = [
        FolderFit(
            _in_folder(fit.tagger),
            fit.train,
            fit.validation,
            None if fit.warm_start is None else _in_folder(fit.warm_start),
            fit.rng,
        )
        for fit in fits
    ]
    fit_all(in_folders, jobs=jobs, report=report)
    return [fit.tagger for fit in fits]


def _in_folder(tagger: Tagger) -> ParallelTagger:
    if not isinstance(tagger, ParallelTagger):
        raise TypeError(f"a {type(tagger).__name__} is not a tagger in a folder")
    return tagger
