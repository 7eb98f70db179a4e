"""``bootstrap assess``: whether a run is good enough."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from bootstrap.cli.console import StageProgress, print_figures, print_lines, report_compiling
from bootstrap.config.configuration import load_configuration
from bootstrap.data.preparation import prepare
from bootstrap.data.representativeness import percent
from bootstrap.deidentification.leaks import assess
from bootstrap.execution.processes import default_jobs
from bootstrap.runs.assessment import ALL, LEAKING, RECALL, Assessment, verdict_on
from bootstrap.runs.folder import Run
from bootstrap.runs.learning_curve import SHARES, LearningCurve
from bootstrap.runs.runner import warm_up_taggers
from corpus.errors import InputError, quoted
from taggers import TrainingError

#: The exit code if a run is not good enough, which is not an error.
NOT_ENOUGH = 3


def main(options: argparse.Namespace) -> int:
    """Print the verdict and its reasons; the exit code is `NOT_ENOUGH` if it does not hold."""
    run, jobs = Run(options.run), options.jobs or default_jobs()
    run.best_iteration()  # refuses other folders
    configuration = load_configuration(run.config_file, trust=options.trust)
    warm_up_taggers(configuration, report_compiling)
    assessment = assess(
        run,
        classes=options.classes or (),
        target=options.recall or RECALL,
        trust=configuration.kinds,
        jobs=jobs,
    )
    most = LEAKING if options.leaking_notes is None else options.leaking_notes
    verdict = verdict_on(assessment, most, careful=bool(options.recall))
    print_lines(*verdict.lines)
    print_lines("")
    plain, careful = "notes that show a mention", f"with --recall {assessment.target:g}"
    print_figures([plain, "", "share", "at most", careful, "share", "at most"], _rows(assessment))
    if options.curve:
        notes, _ = prepare(configuration)
        parts = ", ".join(f"{round(share * len(notes.seed.batch)):,}" for share in SHARES)
        print_lines("", f"Training on {parts} documents of the seed ...")
        with StageProgress("documents") as bar:
            try:
                curve = LearningCurve.trained(run, configuration, notes, bar.report)
            except TrainingError as error:
                raise InputError(f"{options.run}: {error}") from None
        print_lines(*curve.lines())
    return 0 if verdict.holds else NOT_ENOUGH


def _rows(assessment: Assessment) -> Iterator[list[str]]:
    plain, careful = assessment.plain.leaks, assessment.careful.leaks
    for name in plain:
        row = [quoted(name) if name != ALL else "all classes"]
        for leaks in (plain[name], careful[name]):
            share = leaks.notes / max(assessment.notes, 1)
            row += [f"{leaks.notes:,}", percent(share, 1), percent(leaks.most, 1)]
        yield row
