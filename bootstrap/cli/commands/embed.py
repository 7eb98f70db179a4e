"""``bootstrap embed``: word embeddings trained on unlabeled notes, or pretrained ones."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from bootstrap.cli.console import StageProgress, print_figures, print_lines, report_problems
from bootstrap.cli.inputs import problems_of, read_note_batches
from bootstrap.embedding_training import EmbeddingRecipe, embed, notes_of
from corpus.errors import InputError, number_of
from corpus.formats import count_records
from corpus.units import unit_texts
from taggers.embeddings.embedding import Embedding, find_embeddings
from taggers.embeddings.pretrained import load_pretrained
from taggers.embeddings.training import TrainingOptions

_NORMALISATIONS, _WINDOWS = ("none", "lower", "unaccented"), (5,)
_log = logging.getLogger(__name__)


def train(options: argparse.Namespace) -> None:
    """Train embeddings and print a table of them."""
    problems = problems_of(options)

    def texts() -> Iterator[pa.LargeStringArray]:
        number, total = 0, count_records(options.source, format=options.source_format)
        for notes in read_note_batches(options, problems, labelled=False):
            number += len(notes)
            bar.report("reading", number, total, "documents")
            yield unit_texts(notes.column("text"), options.unit)

    with StageProgress("tokens") as bar:
        embeddings = embed(
            texts,
            notes_of(options.source, options.unit),
            options.output,
            _recipes(options),
            jobs=options.jobs,
            resume=options.resume,
            report=bar.report,
        )
    report_problems(problems)
    _print_embeddings(embeddings, options.output)


def _recipes(options: argparse.Namespace) -> list[EmbeddingRecipe]:
    """Return the embeddings to train: each normalisation with each window."""
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
        _log.warning("%s: the first vector is kept", number_of(repeated, "duplicate word"))
    _print_embeddings([embedding], options.output)


def _print_embeddings(embeddings: Sequence[Embedding], folder: Path) -> None:
    """Print a table of embeddings, their folder and the commands that use them."""
    rows = (
        (
            embedding.name,
            embedding.normalisation,
            f"{len(embedding):,}",
            f"{embedding.dimension}",
            str(embedding.settings.get("epochs") or ""),
        )
        for embedding in embeddings
    )
    print_figures(("embedding", "normalised", "words", "dimension", "epochs"), rows)
    print_lines(
        "",
        f"They are in {folder}, which contains words of the notes and is as private as they "
        "are. Next:",
        f"  bootstrap embed show {folder} WORD",
        f"  bootstrap cluster {folder}",
    )


def show(options: argparse.Namespace) -> None:
    """Print the neighbours of a word in each embedding."""
    embeddings = find_embeddings(options.folder)
    for embedding in embeddings:
        embedding.verify()  # all vectors are read below, so this costs little
    neighbours = [embedding.neighbours(options.word, options.number) for embedding in embeddings]
    if not any(neighbours):
        raise InputError(
            f"{options.folder}: no embedding has a vector for this word, its lower case or "
            "its lemma"
        )
    for embedding, nearest in zip(embeddings, neighbours, strict=True):
        looked_up = _looked_up(embedding, options.word) if nearest else "no vector"
        print_lines(f"{embedding.name}: {looked_up}")
        if nearest:
            rows = (
                (near.word, f"{near.similarity:.3f}", f"{near.count:,}" if near.count else "")
                for near in nearest
            )
            print_figures(("", "", ""), rows)


def _looked_up(embedding: Embedding, word: str) -> str:
    """Return the word of the embedding that stands for a word, and its frequency."""
    entry = embedding.word_of(word)
    if entry is None:
        return f"{word} (not in the vocabulary; from its character n-grams)"
    name, count = entry
    return f"{name} ({number_of(count, 'occurrence')})" if count else name
