"""``bootstrap rules``: tables of patterns that are learned from annotated notes."""

from __future__ import annotations

import argparse
from itertools import chain

from bootstrap.cli.console import StageProgress, print_lines, report_compiling, report_problems
from bootstrap.cli.inputs import problems_of, read_note_batches
from corpus.batch import make_batch
from corpus.errors import InputError, number_of
from corpus.formats.batches import documents_of
from corpus.kernels.compiled import warm_up
from corpus.storage.atomic import new_file, refuse_existing
from taggers.patterns import learning


def learn(options: argparse.Namespace) -> None:
    """Learn rules, write them, and print their number for each class."""
    refuse_existing(options.output)
    problems = problems_of(options)
    notes = read_note_batches(options, problems)
    batch = make_batch(
        chain.from_iterable(map(documents_of, notes)), labelled=True, problems=problems
    )
    report_problems(problems)
    warm_up(*learning.KERNELS, announce=report_compiling)
    with StageProgress("candidates") as bar:
        rules = learning.learn(
            batch,
            min_patients=options.min_patients,
            progress=lambda done, total: bar.report("learning", done, total),
        )
    if not rules:
        raise InputError(
            f"{options.source}: no rule finds annotations of two patients or more; expected more "
            "annotated notes"
        )
    with new_file(options.output) as file:
        file.write(learning.rules_table(rules).encode())
    classes = len({rule.pattern.label for rule in rules})
    print_lines(
        f"{number_of(len(rules), 'rule')} for {number_of(classes, 'class', 'classes')} in "
        f"{options.output}; words in them occur in the notes of {options.min_patients:,} "
        "patients or more"
    )
