"""The notes of a run that still show a mention after de-identification, and what fewer would cost.

Test notes are used if the run has some: they chose nothing. Without them, validation notes are
used, and each half of their patients is measured with the threshold that the other half chooses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from bootstrap.config.configuration import load_data
from bootstrap.data.splits import problems_for, read_source_batches
from bootstrap.deidentification.deidentify import deidentify_options
from bootstrap.deidentification.recall import (
    Coverage,
    Indices,
    Threshold,
    coverage_of,
    crossed_thresholds,
)
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.runs.assessment import ALL, RECALL, Assessment, Leaks, Result, upper_bound
from bootstrap.runs.folder import Run
from corpus.errors import InputError, quoted


def assess(
    run: Run,
    *,
    classes: Collection[str] = (),
    target: float = RECALL,
    trust: Collection[str] = (),
    jobs: int = 1,
) -> Assessment:
    """Assess the model of a run on its annotated notes.

    Parameters
    ----------
    run : Run
        A run with a model.
    classes : collection of str
        The classes whose mentions must not be left; by default, all.
    target : float
        The recall of all mentions, more than 0 and less than 1, whose threshold is assessed.
    trust, jobs
        As for `bootstrap.load`.

    Raises
    ------
    InputError
        If the notes of the run cannot be read, or have no mention of a class.
    """
    data, labels = load_data(run.config_file)
    how = deidentify_options("placeholders", None, data.unit)

    def coverage_with(model: Path, split: str) -> Coverage:
        tagger = ParallelTagger.load(model, trust=trust, jobs=jobs)
        notes = read_source_batches(data, split, labels, problems_for(data))
        return coverage_of(notes, tagger, how)

    # The final model has learned from the validation notes.
    coverage = coverage_with(run.best_model(), "validation")
    chosen, reaches = coverage.threshold(target)
    split, careful = "validation", crossed_thresholds(coverage, target)
    thresholds: Threshold = careful
    if data.test:
        coverage = coverage_with(run.model(), "test")
        split, thresholds = "test", chosen
    known = sorted(set(coverage.labels.tolist()))
    if unknown := sorted({*classes} - {*known}):
        raise InputError(
            f"the {split} notes of {run.folder} have no annotation of {quoted(unknown[0])}; "
            f"expected some of {', '.join(map(quoted, known))}"
        )
    names = [name for name in known if not classes or name in classes]
    return Assessment(
        split,
        len(coverage.patients),
        target,
        reaches,
        _result(coverage, 0.0, names),
        _result(coverage, thresholds, names),
    )


def _result(coverage: Coverage, threshold: Threshold, names: Sequence[str]) -> Result:
    """Measure a threshold for all notes, or one for each."""
    left, leaks = coverage.left(threshold), {}
    for name in (ALL, *names):
        is_of_class = np.isin(coverage.labels, [name] if name else names)
        number = len(np.unique(coverage.owners[left & is_of_class]))
        leaks[name] = Leaks(number, most_leaking(number, coverage.patients))
    return Result(coverage.recall(threshold), coverage.removed(threshold), leaks)


def most_leaking(number: int, patients: Indices) -> float:
    """Return the upper 95 % bound of the share of notes that show a mention.

    Parameters
    ----------
    number : int
        How many notes show one.
    patients : ndarray of int64, shape (D,)
        The number of the patient of each note. The notes of a patient are alike, so D notes count
        as no more than there are patients.

    Returns
    -------
    float
        See `upper_bound`; 1 without notes.
    """
    distinct = len(np.unique(patients))
    return upper_bound(number * distinct / max(len(patients), 1), distinct)
