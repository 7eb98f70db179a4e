"""Comparison of what was kept with the digests that were computed when it was written."""

from __future__ import annotations

from pathlib import Path

from bootstrap.advice.advice import read_advice
from bootstrap.experiments.folder import ExperimentFolder, read_run
from bootstrap.runs.assessment import read_assessment
from bootstrap.runs.folder import Run
from bootstrap.runs.records import read_table
from corpus.errors import InputError
from taggers.embeddings.embedding_files import embedding_folders
from taggers.model_folder import DESCRIPTION, verify_model


def verify(path: Path) -> int:
    """Compare files with their digests, and return the number of files.

    Parameters
    ----------
    path : Path
        A run, an experiment, a model, a folder of embeddings, or a gazetteer or a file of word
        counts.

    Raises
    ------
    InputError
        If a file is missing, has changed or has no digest, or if the path is something else.
    """
    experiment = ExperimentFolder(path)
    if experiment.has_begun():
        return _verify_runs(experiment)
    if Run(path).has_begun():
        return _verify_run(Run(path))
    if (path / DESCRIPTION).is_file():
        return verify_model(path)
    if embedding_folders(path):
        return _verify_embeddings(path)
    if path.is_file():
        read_table(path)
        return 1
    raise InputError(
        f"{path} has no digests to compare; expected a run, an experiment, a model, "
        "embeddings, a gazetteer or word counts"
    )


def _verify_runs(experiment: ExperimentFolder) -> int:
    number = 0
    for _, _, _, run in experiment.runs():
        if run.has_begun():
            with read_run(run):
                number += _verify_run(run)
    return number


def _verify_run(run: Run) -> int:
    others = (read_advice(run.folder), read_assessment(run))
    number = run.verify() + sum(other is not None for other in others)
    if run.counts_file.exists():
        read_table(run.counts_file)
        number += 1
    for folder in (run.lists_folder, run.list_model_folder):
        if folder.exists():
            number += verify_model(folder)
    if run.embeddings_folder.exists():
        number += _verify_embeddings(run.embeddings_folder)
    return number


def _verify_embeddings(folder: Path) -> int:
    from taggers.embeddings.clusters import clusterings_of  # noqa: PLC0415 - numba is slow to import
    from taggers.embeddings.embedding import find_embeddings  # noqa: PLC0415 - the same

    if not embedding_folders(folder):  # the text of a run may have too few words
        return 0
    return sum(
        embedding.verify() + 2 * len(clusterings_of(embedding))
        for embedding in find_embeddings(folder)
    )
