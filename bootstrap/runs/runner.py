"""Carrying out a run: from a configuration to a run folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from bootstrap.config.configuration import Configuration, Start
from bootstrap.data.splits import FileState, LabelledNotes, Notes, UnlabeledNotes, fingerprint
from bootstrap.execution.parallel_tagger import ParallelTagger, Report
from bootstrap.runs.folder import Run, RunError, locked, new_folder
from bootstrap.runs.outcome import halves
from bootstrap.selection.proportions import (
    Reference,
    content_of,
    given_reference,
    measured_reference,
)
from bootstrap.self_training import Iteration, self_train
from corpus.counts import count_words
from corpus.evaluation import Counts
from corpus.storage import write_atomically
from corpus.tags import classes_of

#: Beside a model: what makes documents of notes as in its training.
UNIT_FILE = "unit.json"

#: Nanoseconds: more than any file system's clock takes for a tick.
_TICK = 2 * 10**9


@contextlib.contextmanager
def opened_run(folder: Path, configuration: Configuration, *, resume: bool) -> Iterator[Run]:
    """Make a run folder, or open one to go on with, and keep other processes out of it.

    Parameters
    ----------
    folder : Path
        The run folder.
    configuration : Configuration
        Of the run.
    resume : bool
        Whether to go on with a run that is there; where none is, it begins.

    Raises
    ------
    RunError
        If there is a run and `resume` is false, if its configuration or data differ, or if another
        process works on it.
    """
    run = Run(folder)
    resuming = resume and run.has_begun()
    known = _digests(run) if resuming else None
    data = fingerprint(configuration, known)
    if not resuming:
        run = new_folder(folder)
    with locked(run):
        if run.has_begun() and not resume:  # by another process, a moment ago
            raise RunError(f"{folder} is a run: go on with it by --resume")
        if run.has_begun():
            _refuse_other_configuration(run, configuration)
            _refuse_other_data(run, data)
            run.discard_open()
            _keep_rules(run, configuration)
            run.summarise()  # in case it was killed just before
        else:
            run.begin(configuration.to_toml(), data)
        yield run


def _digests(run: Run) -> dict[FileState, str]:
    """Give the digests of the files that had not just changed when the run was begun.

    What changes twice within a tick of the file system's clock does not look changed.
    """
    begun = run.data_file.stat().st_mtime_ns
    return {
        FileState(row["file"], row["bytes"], row["changed"]): row["blake2b"]
        for row in run.data().to_pylist()
        if "changed" in row and row["changed"] < begun - _TICK
    }


def _refuse_other_configuration(run: Run, configuration: Configuration) -> None:
    before = _settings(run.configuration())
    now = _settings(configuration.as_dict())
    for name in {**before, **now}:
        if before.get(name) != now.get(name) and not _only_milder(name, before.get(name)):
            if name not in before and _in_every_run(name):
                raise RunError(
                    f"{run.folder} was begun by a version without the setting {name}; begin a new "
                    "run: give --out another folder"
                )
            raise RunError(
                f"{run.folder} was begun with {name} = {_shown(before, name)} and not "
                f"{_shown(now, name)}; resume it with the same configuration, or give "
                "--out another folder"
            )


def _shown(settings: Mapping[str, Any], name: str) -> str:
    return repr(settings[name]) if name in settings else "nothing"


def _in_every_run(name: str) -> bool:
    """Say whether every run keeps a setting: all but the lines of tables that are open."""
    section, *keys = name.split(".")
    return section != "labels" and len(keys) == 1


def _keep_rules(run: Run, configuration: Configuration) -> None:
    """Write the rules for bad input that a run goes on with: its configuration is as used."""
    if not run.is_finished() and _settings(run.configuration()) != _settings(
        configuration.as_dict()
    ):
        write_atomically(run.config_file, configuration.to_toml().encode())


def _only_milder(name: str, before: Any) -> bool:
    """Say whether a run can go on with another rule for bad input: it has met none so far."""
    return name in ("data.conflicts", "data.invalid") and before == "stop"


def _settings(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            settings |= _settings(value, f"{prefix}{name}.")
        else:
            settings[f"{prefix}{name}"] = value
    return settings


def _refuse_other_data(run: Run, data: pa.Table) -> None:
    before, now = (
        {(row["split"], row["file"]): row["blake2b"] for row in table.to_pylist()}
        for table in (run.data(), data)
    )
    for split, file in {**before, **now}:
        old, new = before.get((split, file)), now.get((split, file))
        if old != new:
            change = "is gone" if new is None else "is new" if old is None else "has changed"
            raise RunError(
                f"{run.folder}: {split} file {file} {change} since the run was begun; resume it "
                "with the same notes, or give --out another folder"
            )


def carry_out(
    run: Run, configuration: Configuration, notes: Notes, *, jobs: int, report: Report
) -> Iterator[dict[str, Any]]:
    """Do the iterations of a run that are not closed yet.

    Parameters
    ----------
    run : Run
        From `opened_run`.
    configuration : Configuration
        Of the run.
    notes : Notes
        From `bootstrap.data.splits.read_notes`.
    jobs : int
        Processes that tag.
    report : callable
        Told of progress within an iteration.

    Yields
    ------
    dict
        The metrics of each iteration when it is closed.
    """
    options = configuration
    seed, validation, pool = notes.seed, notes.validation, notes.unlabeled

    def tagger_for(iteration: int) -> ParallelTagger:
        kind, tagger = options.kind, options.tagger
        if options.start and iteration == 0:
            kind, tagger = options.start.kind, _with_counts(options.start, run, pool, report)
        run.iteration_folder(iteration).mkdir(mode=0o700)
        return ParallelTagger(run.model_folder(iteration), kind, tagger, jobs=jobs, report=report)

    history = None
    if closed := len(run.metrics()):
        pool.flawless = _flawless_batches(run.metrics(), options.loop.keep)
        tagger = ParallelTagger.load(run.model_folder(closed - 1), jobs=jobs, report=report)
        history = run.history(options.loop.keep, tagger, classes_of(tagger.labels))
        starting = options.start is not None and tagger.kind == options.start.kind
        history = replace(history, starting=starting)
    iterations = self_train(
        seed.batch,
        pool,
        validation.documents,
        validation.batch,
        tagger_for,
        loop=options.loop,
        select=options.select,
        start=options.start.trust if options.start else None,
        reference=_reference(options, seed, validation),
        held_out=validation.groups,
        history=history,
    )
    for step in iterations:
        metrics = metrics_of(step, validation, pool)
        if run.model_folder(step.iteration).is_dir():
            unit = json.dumps({"unit": options.data.unit, "repeated": options.loop.repeated})
            write_atomically(run.model_folder(step.iteration) / UNIT_FILE, unit.encode())
        run.close_iteration(step.iteration, step.selected, metrics)
        yield metrics


def _with_counts(start: Start, run: Run, pool: UnlabeledNotes, report: Report) -> Any:
    """Give the options of a model to start from, with the counts of all unlabeled notes."""
    if start.tagger.counts:
        return start.tagger
    if not run.counts_file.exists():  # else they were counted before an interruption
        report("counting words", 0, 0)
        problems = pool.problems  # what iterations leave out is theirs, whether words were counted
        counts = count_words(
            pool.documents(), progress=lambda done: report("counting words", done, 0)
        )
        pool.problems = problems
        counts.save(run.counts_file)
    return replace(start.tagger, counts=str(run.counts_file))


def _flawless_batches(metrics: Sequence[Mapping[str, Any]], keep: str) -> int:
    """Say how many batches closed iterations have read of which nothing was left out.

    Iteration i reads the first i + 1 batches and counts what it could not use of them; the last
    one may have met a batch that cannot be read.
    """
    if keep != "accumulate":  # it reads all of them again anyway
        return 0
    return sum(not row["left_out"] for row in metrics[:-1])


def _reference(
    options: Configuration, seed: LabelledNotes, validation: LabelledNotes
) -> Reference | None:
    """Give the proportions that selections must resemble, if they are to resemble any.

    They are those of the classes that the seed teaches: a tagger finds no others, so that no
    selection of its documents could come near to a proportion of them.
    """
    if not options.select.proportions:
        return None
    batch = validation.batch
    if options.reference:
        tokens = len(batch.words) / max(len(batch), 1)
        given = options.reference
        return given_reference(given.per_token, given.length, given.empty, tokens)
    classes = classes_of(seed.batch.labels)
    return measured_reference(content_of(batch, batch.tags, batch.labels, classes), classes)


def metrics_of(step: Iteration, validation: LabelledNotes, pool: UnlabeledNotes) -> dict[str, Any]:
    """Write an iteration as plain numbers: what ``metrics.json`` holds."""
    worst = max(step.selections, key=lambda selection: selection.deviation, default=None)
    training = step.tagger.training
    return {
        "iteration": step.iteration,
        "selected": 0 if step.selected is None else len(step.selected.batch),
        **_figures(step.scores.counts("ner")),
        "classes": {
            name: _figures(step.scores.class_counts(name))
            for name in classes_of(validation.batch.labels)
        },
        "tagged": step.tagged,
        "blank": step.blank,
        "confident": sum(selection.confident for selection in step.selections),
        "bound": sum(selection.bound for selection in step.selections),
        "deviation": worst.deviation if worst else None,
        "worst": worst.worst if worst else "",
        "proportions": worst.proportions.as_dict() if worst and worst.proportions else {},
        "confidence": {
            f"q{100 * q:02.0f}": value for q, value in step.confidence_quantiles.items()
        },
        "agreement": step.agreement,
        "human_tokens": step.human_tokens,
        "training_documents": step.training_documents,
        "training": None
        if training is None
        else {
            "converged": training.converged,
            "outcome": training.outcome,
            "iterations": training.iterations,
            "loss": training.loss,
            "failed": training.failed,
            "clustering": training.clustering,
        },
        "left_out": dict(pool.problems.counts),
        "halves": halves(validation.documents, step.scores),
        "seconds": step.seconds,
        "stopped": step.stopped,
    }


def _figures(counts: Counts) -> dict[str, float]:
    return {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
