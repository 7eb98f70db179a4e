"""``bootstrap count``: the words of a corpus and their frequencies."""

from __future__ import annotations

import argparse

from bootstrap.cli.console import StageProgress, print_lines, report_problems
from bootstrap.cli.inputs import problems_of, read_note_batches
from bootstrap.execution.processes import executor_for
from corpus.counts import Piece, count_tokens, in_pieces, tokenized
from corpus.errors import InputError
from corpus.formats import count_records
from corpus.formats.batches import from_bytes, to_bytes
from corpus.storage.atomic import refuse_existing


def main(options: argparse.Namespace) -> None:
    """Count the words of a corpus and write them."""
    refuse_existing(options.output)
    problems = problems_of(options)
    notes = read_note_batches(options, problems, labelled=False)
    batches = (batch.select(["id", "text", "group"]) for batch in notes)
    pieces = executor_for(1).map(_tokenized, map(to_bytes, in_pieces(batches)))
    total = count_records(options.source, format=options.source_format)
    with StageProgress() as bar:
        counts = count_tokens(pieces, progress=lambda done: bar.report("counting", done, total))
    report_problems(problems)
    if not len(counts):
        raise InputError(f"{options.source}: no document has a word")
    counts.save(options.output)
    print_lines(
        f"{len(counts):,} different words of {counts.tokens:,} tokens in {counts.total:,} "
        f"documents are in {options.output}. They are as private as the notes."
    )


def _tokenized(batch: bytes) -> Piece:
    """Tokenize notes, which may be done on a cluster."""
    return tokenized(from_bytes(batch))
