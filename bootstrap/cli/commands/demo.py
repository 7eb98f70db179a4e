"""``bootstrap demo``: self-training on synthetic notes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from bootstrap.cli.arguments import CommandParser
from bootstrap.cli.commands import cluster, embed
from bootstrap.cli.commands.experiment import run_plan
from bootstrap.cli.commands.run import run_and_show
from bootstrap.cli.console import print_lines
from bootstrap.cli.display import print_classes
from bootstrap.cli.parser import SEED
from bootstrap.config.configuration import load_configuration
from bootstrap.demo import (
    COMPARED_NOTES,
    SEED_NOTES,
    UNLABELED_NOTES,
    Demo,
    deidentified_on_test,
    free_folder,
    make_comparison,
    make_demo,
    scores_on_test,
)
from bootstrap.execution.processes import default_jobs
from bootstrap.experiments.plan import load_plan
from bootstrap.runs.outcome import decision_lines
from bootstrap.self_training.stopping import STOPPED
from corpus.errors import InputError, quoted
from corpus.evaluation.measures import Scores

#: The minimum number of notes to train embeddings on, and the number for each cluster.
_MIN_NOTES, _NOTES_FOR_CLUSTER = 1000, 10
_CLUSTERS = (16, 64, 256, 1024)
#: The test notes that are shown before and after.
_SHOWN = 5


def main(options: argparse.Namespace) -> None:
    """Generate notes, run self-training on them and report the gain on test notes."""
    folder = options.out or free_folder(Path("runs"))
    _refuse_existing(folder)
    if options.compare:
        _compare(options, folder)
        return
    number = options.notes or UNLABELED_NOTES[options.initial_model]
    if options.initial_model != SEED and number < _MIN_NOTES:
        raise InputError(
            f"{number:,} notes are too few to learn from a list of names; --initial-model "
            f"{options.initial_model} needs {_MIN_NOTES:,} or more"
        )
    jobs = options.jobs or default_jobs()
    print_lines(*_description_lines(number, options.initial_model))
    demo = make_demo(folder, number, options.initial_model)
    if options.initial_model != SEED:
        _find_clusters(demo, number, jobs, options.root)
    print_lines(
        "Each iteration tags more notes, selects pseudo-labels at the rates of the validation",
        "notes, and retrains on them. Scores are on the validation notes.",
        "",
    )
    run = run_and_show(load_configuration(demo.config), demo.run, resume=False, jobs=jobs)
    outcome = run.outcome()
    reason = f"Stopped: {STOPPED[outcome.stopped or 'maximum']}."
    print_lines("", *decision_lines(run.metrics()), reason, "")
    print_classes(run)
    best, models = outcome.iteration, [run.iteration(0).model_folder, run.best_model()]
    first, last = (scores_on_test(demo, model, jobs) for model in models)
    print_lines(*gain_lines(first, last, best))
    if final := run.final_model():
        f1 = scores_on_test(demo, final, jobs).counts("ner").f1
        print_lines(f"The final model, trained on the validation notes as well, has F1 {f1:.3f}.")
    print_lines(*_deidentified_lines(demo))
    print_lines(*_next_lines(demo))


def _deidentified_lines(demo: Demo) -> Iterator[str]:
    """Yield test notes before and after. They are synthetic, so that their text may be shown."""
    yield ""
    yield "Test notes, as they are (-) and without the patient (+):"
    for before, after in deidentified_on_test(demo, _SHOWN):
        yield f"  - {before}"
        yield f"  + {after}"


def _refuse_existing(folder: Path) -> None:
    """Raise an `InputError` if the folder exists, with the command that continues its run."""
    if not folder.exists():
        return
    demo = Demo(folder)
    how = "name a new folder with --out"
    if demo.config.is_file():
        how += f", or continue: bootstrap run {demo.config} --out {demo.run} --resume"
    elif demo.comparison.is_file():
        how += f", or continue: bootstrap experiment {demo.comparison} --out {demo.experiment}"
    raise InputError(f"{folder} exists already; {how}")


def _compare(options: argparse.Namespace, folder: Path) -> None:
    """Generate notes, and compare what people and the machine gain on them."""
    number = options.notes or COMPARED_NOTES
    if options.initial_model != SEED:
        raise InputError("--compare begins with a seed; remove --initial-model")
    if number < _MIN_NOTES:
        raise InputError(f"{number:,} notes are too few; --compare needs {_MIN_NOTES:,} or more")
    print_lines(
        f"Generating {number:,} notes in Spanish and Catalan; 100 of them are the seed.",
        "Compared are the seed alone, self-training on the other notes, a person who annotates",
        "50 of them a round, both together, and all annotations, with two random states.",
        "",
    )
    demo = make_comparison(folder, number)
    run_plan(load_plan(demo.comparison), demo.experiment, jobs=options.jobs)
    picture = demo.folder / "by-documents.png"
    print_lines(
        "",
        f"The page, for a browser: {(demo.experiment / 'report.html').absolute()}",
        f"The experiment file is {demo.comparison}. Next:",
        f"  bootstrap plot {demo.experiment} --axis documents -o {picture}",
        f"  bootstrap experiment {demo.comparison} --out {demo.experiment} --list",
    )


def _find_clusters(demo: Demo, number: int, jobs: int, parser: CommandParser) -> None:
    """Learn word clusters from the unlabeled notes with the commands for it."""
    print_lines("Learning clusters of similar words from the unlabeled notes:")
    notes, folder = str(demo.notes("unlabeled")), str(demo.embeddings)
    train = ["embed", "train", notes, "-o", folder, "--normalise", "digits", "--window", "1,5"]
    numbers = ",".join(str(k) for k in _CLUSTERS if k * _NOTES_FOR_CLUSTER <= number)
    for command, words in (
        (embed.train, [*train, "--min-count", "2", "--jobs", str(min(jobs, 2))]),
        (cluster.main, ["cluster", folder, "--k", numbers, "--jobs", str(jobs)]),
    ):
        print_lines(f"  bootstrap {' '.join(words)}")
        command(parser.parse_args(words))


def _description_lines(notes: int, initial_model: str) -> list[str]:
    """Describe the notes of the demonstration and the model of iteration 0."""
    generating = f"Generating {notes:,} unlabeled notes in Spanish and Catalan, and "
    if initial_model == SEED:
        return [
            f"{generating}a seed of {SEED_NOTES} annotated ones",
            "that contain only some of the ways in which people and places are mentioned.",
        ]
    return [
        f"{generating}no annotated notes to train on:",
        "the initial model uses a list of names and the frequencies of words in the notes.",
    ]


def gain_lines(first: Scores, last: Scores, best: int) -> list[str]:
    """Report the gain, and its cost in recall if any, on the test notes."""
    lines = ["", f"On {len(first.ids):,} held-out test notes:"]
    for name in (*first.classes, "all"):
        before, after = (
            scores.counts("ner") if name == "all" else scores.class_counts(name)
            for scores in (first, last)
        )
        lines.append(
            f"  {quoted(name):10} precision {before.precision:.3f} to {after.precision:.3f}, "
            f"recall {before.recall:.3f} to {after.recall:.3f}, "
            f"F1 {before.f1:.3f} to {after.f1:.3f} ({after.f1 - before.f1:+.3f})"
        )
    lines.append(f"with no further annotation: the model of iteration {best}.")
    before, after = first.counts("ner"), last.counts("ner")
    if after.recall < before.recall and after.precision > before.precision:
        lines.append(
            "Recall fell and precision rose: the last model finds fewer entities than the first, "
            "and more of those it finds are correct."
        )
    return lines


def _next_lines(demo: Demo) -> list[str]:
    notes = demo.notes("test")
    return [
        "",
        f"The page of the run, for a browser: {(demo.run / 'report.html').absolute()}",
        f"The run is in {demo.run}, its configuration is {demo.config}. Next:",
        f"  bootstrap show {demo.run}",
        f"  bootstrap plot {demo.run} -o {demo.folder / 'f1.png'}",
        f"  bootstrap tag {demo.run} {notes} {demo.folder / 'tagged.jsonl'}",
        f"  bootstrap evaluate {notes} {demo.folder / 'tagged.jsonl'}",
        f"  bootstrap deidentify {demo.run} {notes} {demo.folder / 'shared.jsonl'}",
        "To use your own notes:",
        "  bootstrap init mynotes",
        "(bootstrap is in .venv/bin; `. .venv/bin/activate` puts it on your path)",
    ]
