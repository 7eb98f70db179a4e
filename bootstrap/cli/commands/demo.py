"""``bootstrap demo``: a tagger teaches itself on synthetic notes."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from bootstrap.cli.commands.run import do_run
from bootstrap.cli.console import output, say
from bootstrap.cli.display import class_table
from bootstrap.cli.main import build_parser
from bootstrap.config.configuration import SEED, load_configuration
from bootstrap.demo import SEED_NOTES, Demo, free_folder, make_demo, scores_on_test
from bootstrap.execution.processes import default_jobs
from bootstrap.iteration import STOPPED
from corpus.errors import InputError, shown
from corpus.evaluation import Scores

#: Notes from which words can be learned; and numbers of clusters, if there are so many for each.
_LEAST, _NOTES_FOR_CLUSTER = 1000, 10
_CLUSTERS = (16, 64, 256, 1024)


def main(options: argparse.Namespace) -> None:
    """Generate notes, carry out a run on them and say what it gained."""
    folder = options.out or free_folder(Path("runs"))
    if folder.exists():
        raise InputError(f"{folder} exists already; name a new folder with --out")
    if options.start != SEED and options.notes < _LEAST:
        raise InputError(
            f"{options.notes:,} notes are too few to learn from a list of names; --start "
            f"{options.start} needs {_LEAST:,} or more"
        )
    jobs = options.jobs or default_jobs()
    say(_begin_lines(options.notes, options.start))
    demo = make_demo(folder, options.notes, options.start)
    if options.start != SEED:
        _find_clusters(demo, options.notes, jobs)
    say(
        [
            "Each iteration tags a batch of notes, keeps the ones it is sure of in the right",
            "proportions, and trains again on all of them. Scores are of validation notes.",
            "",
        ]
    )
    run = do_run(load_configuration(demo.config), demo.run, resume=False, jobs=jobs)
    outcome = run.outcome()
    say(["", f"Stopped: {STOPPED[outcome.stopped or 'maximum']}.", ""])
    output.print(class_table(run.metrics()))
    best = outcome.iteration
    seed, taught = (scores_on_test(demo, iteration, jobs) for iteration in (0, best))
    say(gain_lines(seed, taught, best))
    say(_next_lines(demo))


def _find_clusters(demo: Demo, number: int, jobs: int) -> None:
    """Learn from the unlabeled notes which words are used alike, by the commands for it."""
    say(["What a name looks like where the list lacks it, the unlabeled notes tell:"])
    notes, folder = str(demo.notes("unlabeled")), str(demo.embeddings)
    learn = ["embed", notes, "-o", folder, "--normalise", "digits", "--window", "1", "5"]
    numbers = [str(k) for k in _CLUSTERS if k * _NOTES_FOR_CLUSTER <= number]
    for words in (
        [*learn, "--min-count", "2", "--jobs", str(min(jobs, 2))],
        ["cluster", folder, "--k", *numbers, "--jobs", str(jobs)],
    ):
        say([f"  bootstrap {' '.join(words)}"])
        command = import_module(f"bootstrap.cli.commands.{words[0]}")
        command.main(build_parser().parse_args(words))


def _begin_lines(notes: int, start: str) -> list[str]:
    """Say what there is to begin with."""
    there = f"Generating {notes:,} unlabeled notes in Spanish and Catalan, and "
    if start == SEED:
        return [
            f"{there}a seed of {SEED_NOTES} annotated ones",
            "that shows only a part of how people and places are written about.",
        ]
    return [
        f"{there}not one that is annotated to learn from:",
        "a list of names says who may be a person, and how frequent the names are in the notes "
        "who is.",
    ]


def gain_lines(seed: Scores, taught: Scores, best: int) -> list[str]:
    """Say what was gained, and what was lost for it, on notes that chose nothing."""
    lines = ["", f"On {len(seed.ids):,} test notes that no one has looked at until now:"]
    for name in (*seed.classes, "all"):
        before, after = (
            scores.counts("ner") if name == "all" else scores.class_counts(name)
            for scores in (seed, taught)
        )
        lines.append(
            f"  {shown(name):10} precision {before.precision:.3f} to {after.precision:.3f}, "
            f"recall {before.recall:.3f} to {after.recall:.3f}, "
            f"F1 {before.f1:.3f} to {after.f1:.3f} ({after.f1 - before.f1:+.3f})"
        )
    lines.append(f"without one more annotated note: the model of iteration {best}.")
    before, after = seed.counts("ner"), taught.counts("ner")
    if after.recall < before.recall and after.precision > before.precision:
        lines.append(
            "Recall fell: it finds fewer of them than the first model did, and is right more "
            "often where it finds one."
        )
    return lines


def _next_lines(demo: Demo) -> list[str]:
    notes = demo.notes("test")
    return [
        "",
        f"The run is in {demo.run}, its configuration is {demo.config}. Next:",
        f"  bootstrap show {demo.run}",
        f"  bootstrap plot {demo.run} -o {demo.folder / 'f1.png'}",
        f"  bootstrap tag {demo.run} {notes} {demo.folder / 'tagged.jsonl'}",
        f"  bootstrap evaluate {notes} {demo.folder / 'tagged.jsonl'}",
        "and with notes of your own:",
        "  bootstrap init mynotes",
        "(bootstrap is in .venv/bin; `. .venv/bin/activate` puts it on your path)",
    ]
