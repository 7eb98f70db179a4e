"""``bootstrap cluster``: clusters of words with similar vectors."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    Commands,
    add_command,
    add_embeddings,
    add_jobs,
    add_list,
    add_number,
    add_random_state,
    positive,
)
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from rich.table import Table

    from taggers.embeddings.clusters import ClusterOptions
    from taggers.embeddings.embedding import Embedding

_KS = (128, 1024, 8192)  # of paper 003, table 3.1
_log = logging.getLogger(__name__)


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "cluster", main, "cluster words by k-means on their vectors")
    add_embeddings(parser, "folder")
    help = "numbers of clusters (default: 128,1024,8192)"
    add_list(parser, "--k", "K", help, convert=positive)
    add_number(
        parser,
        "--passes",
        default=20,
        help="maximum number of k-means passes over the vectors (default: 20)",
    )
    add_random_state(parser)
    add_jobs(parser)


def main(options: argparse.Namespace) -> None:
    """Cluster the words of each embedding of a folder and print the median sizes of clusters."""
    from bootstrap.cli.console import output, print_lines
    from bootstrap.embedding_training import locked_folder
    from bootstrap.execution.processes import default_jobs
    from taggers.embeddings.clusters import ClusterOptions
    from taggers.embeddings.embedding import find_embeddings

    os.umask(0o077)
    ks = sorted(set(options.k or _KS))
    embeddings = find_embeddings(options.folder)
    with locked_folder(options.folder):
        tasks = []
        for embedding in embeddings:
            for k in _possible(embedding, ks, asked=options.k is not None):
                wanted = ClusterOptions(k, options.random_state, options.passes)
                if not _exists(embedding, wanted):
                    tasks.append((embedding.folder, [wanted]))
        _find(tasks, options.jobs or default_jobs())
    output.print(_sizes_table(embeddings, ks))
    print_lines(["", "To use them as features, add to the configuration of a run:", ""])
    print_lines(["  [tagger]", f'  clusters = "{options.folder.absolute()}"'])


def _possible(embedding: Embedding, ks: Sequence[int], *, asked: bool) -> list[int]:
    """Return the numbers of clusters that are not larger than the vocabulary."""
    possible = [k for k in ks if k <= len(embedding)]
    if len(possible) < len(ks):
        many = " and ".join(f"{k:,}" for k in ks if k > len(embedding))
        what = f"{embedding.name} has {len(embedding):,} words: {many} clusters are too many"
        if asked or not possible:
            raise InputError(f"{what}; set smaller numbers with --k")
        _log.warning("%s and are skipped", what)
    return possible


def _exists(embedding: Embedding, wanted: ClusterOptions) -> bool:
    """Return whether a clustering with these options exists."""
    from taggers.embeddings.clusters import clusterings_of

    for clustering in clusterings_of(embedding).values():
        existing = clustering.options
        if existing.k == wanted.k and existing != wanted:
            raise InputError(
                f"{shown(embedding.folder)} has {wanted.k} clusters found with random state "
                f"{existing.random_state} in {existing.passes} passes; remove clusters-"
                f"{wanted.k}.json to find others"
            )
        if existing == wanted:
            return True
    return False


def _find(tasks: Sequence[tuple[Path, Sequence[ClusterOptions]]], jobs: int) -> None:
    """Find clusterings in processes, with their progress."""
    from bootstrap.cli.progress import StageProgress
    from bootstrap.execution.processes import in_processes
    from taggers.embeddings.clusters import find_clusterings

    # The time of a pass is proportional to the number of clusters.
    done = [0] * len(tasks)
    total = sum(options.k * options.passes for _, (options,) in tasks)
    with StageProgress("clusters times passes") as bar:
        for number, steps in in_processes(find_clusterings, tasks, jobs=jobs):
            done[number] = steps
            bar.report("clustering", sum(done), total)


def _sizes_table(embeddings: Sequence[Embedding], ks: Sequence[int]) -> Table:
    """Build a table of the median words of a cluster (paper 003, table 3.1)."""
    import numpy as np

    from bootstrap.cli.console import figures_table
    from taggers.embeddings.clusters import clusterings_of

    table = figures_table("embedding", "words", *(f"median, K = {k:,}" for k in ks))
    for embedding in embeddings:
        medians = {
            clustering.options.k: f"{np.median(clustering.sizes()):.1f}"
            for clustering in clusterings_of(embedding).values()
        }
        cells = [medians.get(k, "") for k in ks]
        table.add_row(embedding.name, f"{len(embedding):,}", *cells)
    return table
