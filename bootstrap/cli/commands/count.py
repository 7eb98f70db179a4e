"""``bootstrap count``: the words of a corpus and their frequencies."""

from __future__ import annotations

import argparse

from bootstrap.cli.console import StageProgress, print_lines, report_problems
from bootstrap.cli.inputs import problems_of, read_note_batches
from corpus.counts import count_words
from corpus.errors import InputError
from corpus.formats import count_records
from corpus.storage.atomic import refuse_existing


def main(options: argparse.Namespace) -> None:
    """Count the words of a corpus and write them."""
    refuse_existing(options.output)
    problems = problems_of(options)
    notes = read_note_batches(options, problems, labelled=False)
    total = count_records(options.source, format=options.source_format)
    with StageProgress() as bar:
        counts = count_words(notes, progress=lambda done: bar.report("counting", done, total))
    report_problems(problems)
    if not len(counts):
        raise InputError(f"{options.source}: no document has a word")
    counts.save(options.output)
    print_lines(
        [
            f"{len(counts):,} different words of {counts.tokens:,} tokens in {counts.total:,} "
            f"documents are in {options.output}. They are as private as the notes."
        ]
    )
