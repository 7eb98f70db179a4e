"""``bootstrap run``: a self-training run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bootstrap.cli.console import (
    messages,
    output,
    report_problems,
    say,
    tell_of_compiling,
    warn,
)
from bootstrap.cli.display import RunDisplay, class_table
from bootstrap.config.configuration import SEED, Configuration, load_configuration
from bootstrap.config.options import LoopOptions
from bootstrap.data.preparation import prepare
from bootstrap.data.splits import Notes, source_lines
from bootstrap.execution.processes import KilledError, default_jobs
from bootstrap.iteration import STOPPED
from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import IterationMetrics, beyond_tolerance
from bootstrap.runs.resume import opened_run
from bootstrap.runs.runner import run_iterations
from corpus.errors import InputError, shown
from corpus.kernels.registry import warm_up
from corpus.tags import classes_of
from taggers import TrainingError, make_tagger
from taggers.base import kernels_of

#: More classes than these do not fit into the live table.
_SHOWN_CLASSES = 3


def main(options: argparse.Namespace) -> None:
    """Carry out a run and say what it gained, where it is and what to do next."""
    configuration = load_configuration(options.config, options.overrides)
    folder = options.out or Path("runs") / _name_of(options.config)
    run = do_run(configuration, folder, resume=options.resume, jobs=options.jobs)
    output.print(class_table(run.metrics()))
    say([*outcome_lines(run), *next_lines(folder)])


def _name_of(config: Path) -> str:
    """Name a run after its configuration, or after the folder if that is a ``config.toml``."""
    return config.absolute().parent.name if config.stem == "config" else config.stem


def do_run(configuration: Configuration, folder: Path, *, resume: bool, jobs: int | None) -> Run:
    """Carry out a run and show it; of one that is finished already, say so."""
    os.umask(0o077)  # all that a run writes is as private as the notes
    notes, coverage_lines = prepare(configuration)  # before there is a folder
    with opened_run(folder, configuration, resume=resume) as run:
        if run.is_finished():
            run.write_report()  # in case it was killed just before
            say([f"{folder} is finished."])
            return run
        warn(source_lines(configuration.data))
        _warn_of_notes(notes)
        warn(coverage_lines)
        try:
            kernels = kernels_of(make_tagger(configuration.kind, configuration.tagger))
            if model := configuration.initial_model:
                kernels += kernels_of(make_tagger(model.kind, model.options))
            warm_up(*kernels, announce=tell_of_compiling)
            _show(run, configuration, notes, jobs or default_jobs())
        except KeyboardInterrupt:
            closed = len(run.metrics())
            messages.print(
                f"\ninterrupted; {_iterations(closed)} closed. To go on, type the same command "
                "with --resume"
            )
            raise
        except TrainingError as error:
            raise InputError(f"{folder}: {error}") from None
        except KilledError as error:
            raise KilledError(
                f"{folder}: {error}; to go on, type the same command with --resume"
            ) from None
        report_problems(notes.unlabeled.problems)
        warn(_pool_lines(run.metrics(), configuration.loop))
        run.write_report()
        return run


def _iterations(number: int) -> str:
    return f"{number} iteration{'' if number == 1 else 's'}"


def _warn_of_notes(notes: Notes) -> None:
    report_problems(notes.seed.problems)
    report_problems(notes.validation.problems)
    warn(_class_lines(notes))


def _class_lines(notes: Notes) -> list[str]:
    """Name the classes of the validation notes that no tagger can learn from the seed."""
    taught, wanted = (
        set(classes_of(labelled.batch.labels)) for labelled in (notes.seed, notes.validation)
    )
    if not wanted - taught:
        return []
    names = ", ".join(map(shown, sorted(wanted - taught)))
    lacking = (
        "which the seed lacks" if notes.seed.documents else "which [initial_model] does not tag"
    )
    return [f"validation has {names}, {lacking}: it cannot be found, and all are missed"]


def _pool_lines(rows: Sequence[IterationMetrics], loop: LoopOptions) -> list[str]:
    """Say if the unlabeled notes were too few, or too empty, to learn from."""
    tagged = rows[1].tagged if len(rows) > 1 else 0
    blank = all(row.blank == row.tagged for row in rows)
    if loop.iterations and not tagged:
        return ["unlabeled: there is no note to learn from, so that iteration 0 is all there is"]
    lines = [f"unlabeled: all {tagged:,} documents are blank"] if tagged and blank else []
    if 0 < tagged < loop.batch:
        lines.append(
            f"unlabeled: {tagged:,} documents are fewer than one batch of {loop.batch:,}, so that "
            "there was one iteration; set [loop] batch lower"
        )
    return lines


def _show(run: Run, configuration: Configuration, notes: Notes, jobs: int) -> None:
    classes = classes_of(notes.validation.batch.labels)
    failures = []
    with RunDisplay(output, classes if len(classes) <= _SHOWN_CLASSES else ()) as display:
        for metrics in run.metrics():
            display.add(metrics)
        steps = run_iterations(run, configuration, notes, jobs=jobs, report=display.report)
        for metrics in steps:
            display.add(metrics)
            failures += _failure(metrics)
    warn(failures)


def _failure(metrics: IterationMetrics) -> list[str]:
    """Say if the training of an iteration could not go on."""
    training = metrics.training
    if training is None or not training.failed:
        return []
    return [f"iteration {metrics.iteration}: {training.outcome}; its model may be poor"]


def outcome_lines(run: Run) -> Sequence[str]:
    """Say why a run stopped and what it gained."""
    outcome, beyond = run.outcome(), beyond_tolerance(run.metrics())
    reason = STOPPED.get(outcome.stopped or "", "it is not finished")
    first, best = outcome.first, outcome.best
    kind = run.start_kind
    start = "the seed alone" if kind == SEED else f"the {kind} model alone"
    return [
        "",
        f"Stopped: {reason}.",
        f"The best model is that of iteration {outcome.iteration}. Strict entity F1 went from "
        f"{first.f1:.3f} with {start} to {best.f1:.3f} ({best.f1 - first.f1:+.3f}; precision "
        f"{first.precision:.3f} to {best.precision:.3f}, recall {first.recall:.3f} to "
        f"{best.recall:.3f}),",
        "where one half of the validation notes chose the iteration and the other was counted.",
        *_proportion_lines(beyond),
    ]


def _proportion_lines(beyond: Sequence[IterationMetrics]) -> list[str]:
    """Say that the proportions could not be kept, how far they were from it and what may help."""
    if not beyond:
        return []
    worst = max(beyond, key=lambda row: row.deviation or 0)
    return [
        "",
        f"! Proportions were not kept in {_iterations(len(beyond))} "
        f"({', '.join(str(row.iteration) for row in beyond)}): no choice of a tenth of the "
        "confident documents was within tolerance, so the nearest one was taken.",
        f"The worst was iteration {worst.iteration}: {worst.selected:,} of "
        f"{worst.confident:,} selected, {worst.deviation or 0:.1f} times the tolerance in "
        f'"{shown(worst.worst)}".',
        "A lower select.confidence or a larger loop.batch gives more to choose from; "
        "select.proportions=false takes the most confident, whatever is in them.",
    ]


def next_lines(folder: Path) -> Sequence[str]:
    """Say where a run is and what can be done with it."""
    return [
        "",
        f"The run is in {folder}, where report.html shows it. It holds text of the notes and is as "
        "private as they are. Next:",
        f"  bootstrap show {folder}",
        f"  bootstrap plot {folder} -o f1.png",
        f"  bootstrap tag {folder} NOTES TAGGED.jsonl",
    ]
