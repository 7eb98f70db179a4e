"""``bootstrap count``: the words of a corpus and their frequencies."""

from __future__ import annotations

import argparse

from bootstrap.cli.arguments import Commands, add_command, add_notes, add_output
from corpus.errors import InputError, shown


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "count", main, "count the words of a corpus")
    add_notes(parser)
    add_output(parser, "a new Parquet file")


def main(options: argparse.Namespace) -> None:
    """Count the words of a corpus and write them."""
    from bootstrap.cli.console import print_lines, report_problems
    from bootstrap.cli.inputs import problems_of, read_notes
    from bootstrap.cli.progress import StageProgress
    from corpus.corpora import count_records
    from corpus.counts import count_words
    from corpus.storage.atomic import refuse_existing

    refuse_existing(options.output)
    problems = problems_of(options)
    documents = read_notes(options, problems, labelled=False)
    total = count_records(options.source, format=options.source_format)
    with StageProgress() as bar:
        counts = count_words(documents, progress=lambda done: bar.report("counting", done, total))
    report_problems(problems)
    if not len(counts):
        raise InputError(f"{shown(options.source)}: {counts.total:,} documents without any word")
    counts.save(options.output)
    print_lines(
        [
            f"{len(counts):,} different words of {counts.tokens:,} tokens in {counts.total:,} "
            f"documents are in {options.output}. They are as private as the notes."
        ]
    )
