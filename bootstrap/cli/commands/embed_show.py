"""``bootstrap embed show``: the nearest neighbours of a word."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import Commands, add_command, add_embeddings, positive
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from taggers.embeddings.embedding import Embedding


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "show", main, "show the nearest neighbours of a word")
    add_embeddings(parser, "folder")
    parser.add_argument("word", metavar="WORD", help="a word")
    parser.add_argument(
        "-n",
        "--number",
        type=positive,
        default=10,
        metavar="N",
        help="number of neighbours (default: 10)",
    )


def main(options: argparse.Namespace) -> None:
    """Print the neighbours of a word in each embedding."""
    from bootstrap.cli.console import print_lines, print_pairs
    from taggers.embeddings.embedding import find_embeddings

    embeddings = find_embeddings(options.folder)
    for each in embeddings:
        each.verify()  # all vectors are read below, so that this costs little
    found = {each.name: each.neighbours(options.word, options.number) for each in embeddings}
    if not any(found.values()):
        raise InputError(
            f"{shown(options.folder)}: no embedding has a vector for this word, its lower case or "
            "its lemma"
        )
    for each in embeddings:
        if not found[each.name]:
            print_lines([f"{each.name}: no vector"])
            continue
        print_lines([f"{each.name}: {_count_of(each, options.word)}"])
        print_pairs(
            (
                neighbour.word,
                f"{neighbour.similarity:.3f}",
                f"{neighbour.count:,}" if neighbour.count else "",
            )
            for neighbour in found[each.name]
        )


def _count_of(embedding: Embedding, word: str) -> str:
    """Return the word of the embedding that stands for a word, and its frequency."""
    found = embedding.word_of(word)
    if found is None:
        return f"{word} (not in the vocabulary; from its character n-grams)"
    name, count = found
    return f"{name} ({count:,} occurrences)" if count else name
