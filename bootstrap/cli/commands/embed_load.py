"""``bootstrap embed load``: pretrained embeddings."""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path

from bootstrap.cli.arguments import NORMALISATIONS, Commands, add_command, add_embeddings
from bootstrap.cli.commands.embed_train import embeddings_table, next_lines

_log = logging.getLogger(__name__)


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "load", main, "load pretrained embeddings")
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


def main(options: argparse.Namespace) -> None:
    """Load a file of vectors and print a table of it."""
    from bootstrap.cli.console import output, print_lines
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
    output.print(embeddings_table([embedding]))
    print_lines(["", *next_lines(options.output)])
