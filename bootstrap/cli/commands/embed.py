"""``bootstrap embed``: word embeddings trained on unlabeled notes, or pretrained ones."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    NORMALISATIONS,
    Commands,
    add_command,
    add_embeddings,
    add_group,
    add_list,
    add_notes,
    add_number,
    add_random_state,
    one_of,
    positive,
)
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from bootstrap.cli.progress import StageProgress
    from bootstrap.embedding_training import EmbeddingRecipe
    from corpus.document import Document
    from taggers.embeddings.embedding import Embedding

_NORMALISATIONS, _WINDOWS = ("none", "lower", "unaccented"), (5,)
_log = logging.getLogger(__name__)


def register(commands: Commands) -> None:
    """Add the commands."""
    group = add_group(commands, "embed", "train, load and inspect word embeddings")
    _register_train(group)
    _register_load(group)
    parser = add_command(group, "show", show, "show the nearest neighbours of a word")
    add_embeddings(parser, "folder")
    parser.add_argument("word", metavar="WORD", help="a word")
    add_number(parser, "-n", "--number", default=10, help="number of neighbours (default: 10)")


def _register_train(group: Commands) -> None:
    parser = add_command(group, "train", train, "train word embeddings on unlabeled notes")
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
        "NAME",
        "normalisations of words (none, lower, unaccented, digits), an embedding for each "
        "(default: none,lower,unaccented)",
        convert=one_of(NORMALISATIONS),
    )
    add_list(
        parser,
        "--window",
        "N",
        "context words on each side, an embedding for each (default: 5)",
        convert=positive,
    )
    for flag, default, what in (
        ("--dimension", 100, "dimension of the vectors (default: 100)"),
        ("--min-count", 5, "ignore words with fewer occurrences (default: 5)"),
        ("--epochs", None, "passes over the notes (default: 5 to 30, more for fewer notes)"),
        ("--workers", 1, "threads per embedding; more than 1 is not reproducible (default: 1)"),
        ("--jobs", 1, "embeddings trained at the same time (default: 1)"),
    ):
        add_number(parser, flag, default=default, help=what)
    parser.add_argument(
        "--unit",
        choices=("document", "line", "sentence"),
        default="line",
        help="context windows do not cross its boundaries (default: line)",
    )
    add_random_state(parser)
    parser.add_argument("--resume", action="store_true", help="continue an interrupted training")


def _register_load(group: Commands) -> None:
    parser = add_command(group, "load", load, "load pretrained embeddings")
    parser.add_argument(
        "source",
        type=Path,
        metavar="FILE",
        help="a file of word2vec or fastText, text or binary, or of GloVe, text; may be gzipped",
    )
    add_embeddings(parser, "-o", "--output", required=True)
    parser.add_argument(
        "--name", help="name of the embedding (default: the name of the file without its suffix)"
    )
    parser.add_argument(
        "--normalise",
        choices=NORMALISATIONS,
        default="none",
        help="normalisation of words before they are looked up (default: none)",
    )
    parser.add_argument(
        "--encoding", default="utf-8", help="encoding of the words (default: utf-8)"
    )


def train(options: argparse.Namespace) -> None:
    """Train embeddings and print a table of them."""
    from bootstrap.cli.console import report_problems
    from bootstrap.cli.inputs import problems_of, read_notes
    from bootstrap.cli.progress import StageProgress
    from bootstrap.embedding_training import embed, notes_of
    from corpus.corpora import count_records
    from corpus.errors import Problems
    from corpus.units import split_documents

    os.umask(0o077)  # words of notes are as private as the notes
    problems = problems_of(options)

    def documents() -> Iterator[Document]:
        total = count_records(options.source, format=options.source_format)
        sources = _counted(read_notes(options, problems, labelled=False), bar, total)
        return split_documents(sources, options.unit, Problems())

    with StageProgress("tokens") as bar:
        embeddings = embed(
            documents,
            notes_of(options.source, options.unit),
            options.output,
            _recipes(options),
            jobs=options.jobs,
            resume=options.resume,
            report=bar.report,
        )
    report_problems(problems)
    _print_embeddings(embeddings, options.output)


def _counted(documents: Iterable[Document], bar: StageProgress, total: int) -> Iterator[Document]:
    """Yield documents and show how many are read."""
    for number, document in enumerate(documents, start=1):
        bar.report("reading", number, total, "documents")
        yield document


def _recipes(options: argparse.Namespace) -> list[EmbeddingRecipe]:
    """Return the embeddings to train: each normalisation with each window."""
    from bootstrap.embedding_training import EmbeddingRecipe
    from taggers.embeddings.training import TrainingOptions

    return [
        EmbeddingRecipe(
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


def load(options: argparse.Namespace) -> None:
    """Load a file of vectors and print a table of it."""
    from bootstrap.cli.progress import StageProgress
    from taggers.embeddings.pretrained import load_pretrained

    os.umask(0o077)
    with StageProgress("vectors") as bar:
        embedding, repeated = load_pretrained(
            options.source,
            options.output,
            name=options.name,
            normalisation=options.normalise,
            encoding=options.encoding,
            progress=lambda done, total: bar.report("reading", done, total),
        )
    if repeated:
        words = "word" if repeated == 1 else "words"
        _log.warning("%s duplicate %s: the first vector of each is kept", f"{repeated:,}", words)
    _print_embeddings([embedding], options.output)


def _print_embeddings(embeddings: Sequence[Embedding], folder: Path) -> None:
    """Print a table of embeddings, their folder and the commands that use them."""
    from bootstrap.cli.console import SafeTable, output, print_lines

    table = SafeTable("embedding", "normalised", "words", "dimension", "epochs", box=None)
    for embedding in embeddings:
        table.add_row(
            embedding.name,
            embedding.normalisation,
            f"{len(embedding):,}",
            f"{embedding.dimension}",
            str(embedding.settings.get("epochs") or ""),
        )
    output.print(table)
    print_lines(
        [
            "",
            f"They are in {folder}, which contains words of the notes and is as private as they "
            "are. Next:",
            f"  bootstrap embed show {folder} WORD",
            f"  bootstrap cluster {folder}",
        ]
    )


def show(options: argparse.Namespace) -> None:
    """Print the neighbours of a word in each embedding."""
    from bootstrap.cli.console import print_lines, print_pairs
    from taggers.embeddings.embedding import find_embeddings

    embeddings = find_embeddings(options.folder)
    for embedding in embeddings:
        embedding.verify()  # all vectors are read below, so that this costs little
    neighbours = [embedding.neighbours(options.word, options.number) for embedding in embeddings]
    if not any(neighbours):
        raise InputError(
            f"{shown(options.folder)}: no embedding has a vector for this word, its lower case or "
            "its lemma"
        )
    for embedding, nearest in zip(embeddings, neighbours, strict=True):
        looked_up = _looked_up(embedding, options.word) if nearest else "no vector"
        print_lines([f"{embedding.name}: {looked_up}"])
        if nearest:
            print_pairs(
                (near.word, f"{near.similarity:.3f}", f"{near.count:,}" if near.count else "")
                for near in nearest
            )


def _looked_up(embedding: Embedding, word: str) -> str:
    """Return the word of the embedding that stands for a word, and its frequency."""
    entry = embedding.word_of(word)
    if entry is None:
        return f"{word} (not in the vocabulary; from its character n-grams)"
    name, count = entry
    return f"{name} ({count:,} occurrences)" if count else name
