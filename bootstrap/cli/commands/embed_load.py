"""``bootstrap embed load``: vectors of words that were made elsewhere."""

from __future__ import annotations

import argparse
import os

from bootstrap.cli.commands.embed import embeddings_table, next_lines
from bootstrap.cli.console import ProgressLine, output, say, warn
from taggers.embeddings.pretrained import load_pretrained


def main(options: argparse.Namespace) -> None:
    """Take over a file of vectors and say what it holds."""
    os.umask(0o077)
    with ProgressLine("vectors") as line:
        embedding, repeated = load_pretrained(
            options.source,
            options.output,
            name=options.name,
            normalisation=options.normalise,
            encoding=options.encoding,
            progress=lambda done, total: line.report("reading", done, total),
        )
    if repeated:
        warn([f"{repeated:,} words are there more than once; the first vector of each is kept"])
    output.print(embeddings_table([embedding]))
    say(["", *next_lines(options.output)])
