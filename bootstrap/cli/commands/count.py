"""``bootstrap count``: every word of a corpus with how often it occurs."""

from __future__ import annotations

import argparse

from bootstrap.cli.arguments import number_of, problems_of, unlabeled_of
from bootstrap.cli.console import ProgressLine, report_problems, say
from corpus.counts import count_words
from corpus.errors import InputError, shown
from corpus.storage import refuse_existing


def main(options: argparse.Namespace) -> None:
    """Count the words of a corpus and write them."""
    refuse_existing(options.output)
    problems = problems_of(options)
    documents, total = unlabeled_of(options, problems), number_of(options)
    with ProgressLine() as line:
        counts = count_words(documents, progress=lambda done: line.report("counting", done, total))
    report_problems(problems)
    if not len(counts):
        raise InputError(
            f"{shown(options.source)}: {counts.total:,} documents and not one word to count"
        )
    counts.save(options.output)
    say(
        [
            f"{len(counts):,} different words of {counts.tokens:,} tokens in {counts.total:,} "
            f"documents are in {options.output}. They are as private as the notes."
        ]
    )
