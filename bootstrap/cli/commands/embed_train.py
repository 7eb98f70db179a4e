"""``bootstrap embed train``: word embeddings trained on unlabeled notes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    Commands,
    add_command,
    add_embeddings,
    add_list,
    add_notes,
    add_random_state,
    normalisation,
    positive,
)

if TYPE_CHECKING:
    from rich.table import Table

    from bootstrap.cli.progress import StageProgress
    from bootstrap.embedding_training import Plan
    from corpus.document import Document
    from taggers.embeddings.embedding import Embedding

_NORMALISATIONS, _WINDOWS = ("none", "lower", "unaccented"), (5,)


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "train", main, "train word embeddings on unlabeled notes")
    add_notes(parser)
    add_embeddings(parser, "-o", "--output", required=True)
    parser.add_argument(
        "--kind",
        choices=("word2vec", "fasttext"),
        default="word2vec",
        help="algorithm (default: word2vec)",
    )
    add_list(
        parser,
        "--normalise",
        normalisation,
        metavar="NAME",
        help="normalisations of words (none, lower, unaccented, digits), an embedding for each "
        "(default: none,lower,unaccented)",
    )
    add_list(
        parser,
        "--window",
        positive,
        metavar="N",
        help="context words on each side, an embedding for each (default: 5)",
    )
    for flag, default, what in (
        ("--dimension", 100, "dimension of the vectors (default: 100)"),
        ("--min-count", 5, "ignore words with fewer occurrences (default: 5)"),
        ("--epochs", None, "passes over the notes (default: 5 to 30, more for fewer notes)"),
        ("--workers", 1, "threads per embedding; more than 1 is not reproducible (default: 1)"),
        ("--jobs", 1, "embeddings trained at the same time (default: 1)"),
    ):
        parser.add_argument(flag, type=positive, default=default, metavar="N", help=what)
    parser.add_argument(
        "--unit",
        choices=("document", "line", "sentence"),
        default="line",
        help="context windows do not cross its boundaries (default: line)",
    )
    add_random_state(parser)
    parser.add_argument("--resume", action="store_true", help="continue an interrupted training")


def main(options: argparse.Namespace) -> None:
    """Train embeddings and print a table of them."""
    from bootstrap.cli.console import output, print_lines, report_problems
    from bootstrap.cli.inputs import number_of, problems_of, read_unlabeled
    from bootstrap.cli.progress import StageProgress
    from bootstrap.embedding_training import embed, notes_of
    from corpus.problems import Problems
    from corpus.units import split_documents

    os.umask(0o077)  # words of notes are as private as the notes
    problems = problems_of(options)

    def documents() -> Iterator[Document]:
        sources = _counted(read_unlabeled(options, problems), bar, number_of(options))
        return split_documents(sources, options.unit, Problems())

    with StageProgress("tokens") as bar:
        embeddings = embed(
            documents,
            notes_of(options.source, options.unit),
            options.output,
            plans_of(options),
            jobs=options.jobs,
            resume=options.resume,
            report=bar.report,
        )
    report_problems(problems)
    output.print(embeddings_table(embeddings))
    print_lines(["", *next_lines(options.output)])


def _counted(documents: Iterable[Document], bar: StageProgress, total: int) -> Iterator[Document]:
    """Yield documents and show how many are read."""
    for number, document in enumerate(documents, start=1):
        bar.report("reading", number, total, "documents")
        yield document


def plans_of(options: argparse.Namespace) -> list[Plan]:
    """Return the embeddings to train: each normalisation with each window."""
    from bootstrap.embedding_training import Plan
    from taggers.embeddings.training import TrainingOptions

    return [
        Plan(
            name,
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
        for name in dict.fromkeys(options.normalise or _NORMALISATIONS)
        for window in dict.fromkeys(options.window or _WINDOWS)
    ]


def embeddings_table(embeddings: Sequence[Embedding]) -> Table:
    """Build a table of embeddings: their vocabulary, dimension and epochs."""
    from bootstrap.cli.console import SafeTable

    table = SafeTable("embedding", "normalised", "words", "dimension", "epochs", box=None)
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
    """Return lines with the folder of embeddings and the commands that use them."""
    return [
        f"They are in {folder}, which contains words of the notes and is as private as they are. "
        "Next:",
        f"  bootstrap embed show {folder} WORD",
        f"  bootstrap cluster {folder}",
    ]
