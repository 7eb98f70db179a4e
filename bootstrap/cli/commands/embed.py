"""``bootstrap embed``: vectors of words from unlabeled notes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from bootstrap.cli.arguments import number_of, problems_of, unlabeled_of
from bootstrap.cli.console import ProgressLine, output, report_problems, say
from bootstrap.embedding_training import Plan, embed, notes_of
from corpus.document import Document
from corpus.problems import Problems
from corpus.units import split_documents
from taggers.embeddings.training import TrainingOptions

if TYPE_CHECKING:
    from taggers.embeddings.embedding import Embedding


def main(options: argparse.Namespace) -> None:
    """Train embeddings and say what was made."""
    os.umask(0o077)  # words of notes are as private as the notes
    problems = problems_of(options)

    def documents() -> Iterator[Document]:
        sources = _told(unlabeled_of(options, problems), line, number_of(options))
        return split_documents(sources, options.unit, Problems())

    with ProgressLine("tokens") as line:
        made = embed(
            documents,
            notes_of(options.source, options.unit),
            options.output,
            plans_of(options),
            jobs=options.jobs,
            resume=options.resume,
            report=line.report,
        )
    report_problems(problems)
    output.print(embeddings_table(made))
    say(["", *next_lines(options.output)])


def _told(documents: Iterable[Document], line: ProgressLine, total: int) -> Iterator[Document]:
    """Show how many documents are read."""
    for number, document in enumerate(documents, start=1):
        line.report("reading", number, total, "documents")
        yield document


def plans_of(options: argparse.Namespace) -> list[Plan]:
    """Give the embeddings that the command line asks for: each normalisation in each window."""
    return [
        Plan(
            normalisation,
            TrainingOptions(
                kind=options.kind,
                dimension=options.dimension,
                window=window,
                epochs=options.epochs or 0,
                min_count=options.min_count,
                random_state=options.random_state,
                workers=options.workers,
            ),
        )
        for normalisation in dict.fromkeys(options.normalise)
        for window in dict.fromkeys(options.window)
    ]


def embeddings_table(embeddings: Sequence[Embedding]) -> Table:
    """Say how many words embeddings have, and what they were learned from."""
    table = Table("embedding", "normalised", "words", "dimension", "epochs", box=None)
    for each in embeddings:
        epochs = each.settings.get("epochs")
        table.add_row(
            each.name,
            each.normalisation,
            f"{len(each):,}",
            f"{each.dimension}",
            "" if epochs is None else f"{epochs}",
        )
    return table


def next_lines(folder: Path) -> list[str]:
    """Say where embeddings are and what can be done with them."""
    return [
        f"They are in {folder}, which holds words of the notes and is as private as they are. "
        "Next:",
        f"  bootstrap embed show {folder} WORD",
        f"  bootstrap cluster {folder}",
    ]
