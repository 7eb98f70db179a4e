"""``bootstrap demo``: a tagger teaches itself on synthetic notes."""

from __future__ import annotations

import argparse
from pathlib import Path

from bootstrap.commands.console import output, say
from bootstrap.commands.run import do_run
from bootstrap.configuration import load_configuration
from bootstrap.demo import JUDGED_NOTES, SEED_NOTES, Demo, free_folder, make_demo, scores_on_test
from bootstrap.display import class_table
from bootstrap.loop import STOPPED
from bootstrap.running import default_jobs
from corpus.errors import InputError
from corpus.tags import classes_of


def main(options: argparse.Namespace) -> None:
    """Generate notes, carry out a run on them and say what it gained."""
    folder = options.out or free_folder(Path("runs"))
    if folder.exists():
        raise InputError(f"{folder} exists already; name a new folder with --out")
    jobs = options.jobs or default_jobs()
    say(
        [
            f"Generating {options.notes:,} unlabeled notes in Spanish and Catalan, and a seed of "
            f"{SEED_NOTES} annotated ones",
            "that shows only a part of how people and places are written about.",
        ]
    )
    demo = make_demo(folder, options.notes)
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
    say(_gain_lines(demo, outcome.iteration, jobs))
    say(_next_lines(demo))


def _gain_lines(demo: Demo, best: int, jobs: int) -> list[str]:
    seed, taught = (scores_on_test(demo, iteration, jobs) for iteration in (0, best))
    lines = ["", f"On {JUDGED_NOTES:,} test notes that no one has looked at until now, F1 went"]
    for name in (*classes_of(f"B-{name}" for name in seed.classes), "all"):
        counts = [
            scores.counts("ner") if name == "all" else scores.class_counts(name)
            for scores in (seed, taught)
        ]
        gain = counts[1].f1 - counts[0].f1
        lines.append(
            f"  {name:10} from {counts[0].f1:.3f} to {counts[1].f1:.3f} ({gain:+.3f}); "
            f"recall from {counts[0].recall:.3f} to {counts[1].recall:.3f}"
        )
    return [*lines, f"without one more annotated note: the model of iteration {best}."]


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
