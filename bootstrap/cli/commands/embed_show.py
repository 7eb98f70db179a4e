"""``bootstrap embed show``: the words that are used like a word, by which embeddings are judged."""

from __future__ import annotations

import argparse

from rich.table import Table

from bootstrap.cli.console import output, say
from corpus.errors import InputError, shown
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.folder import find_embeddings


def main(options: argparse.Namespace) -> None:
    """Show the neighbours of a word in each embedding."""
    embeddings = find_embeddings(options.folder)
    found = {each.name: each.neighbours(options.word, options.number) for each in embeddings}
    if not any(found.values()):
        raise InputError(
            f"{shown(options.folder)}: no embedding has a vector for this word, for its lower case "
            "or for its lemma"
        )
    for each in embeddings:
        if not found[each.name]:
            say([f"{each.name}: no vector"])
            continue
        say([f"{each.name}: {_count_of(each, options.word)}"])
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
        for neighbour in found[each.name]:
            count = f"{neighbour.count:,}" if neighbour.count else ""
            table.add_row(neighbour.word, f"{neighbour.similarity:.3f}", count)
        output.print(table)


def _count_of(embedding: Embedding, word: str) -> str:
    """Say which word of the embedding a word is, and how often it occurs."""
    found = embedding.word_of(word)
    if found is None:
        return f"{word} (never seen: by its parts)"
    name, count = found
    return f"{name} ({count:,} times)" if count else name
