"""``bootstrap cluster``: words with similar vectors, put together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from bootstrap.cli.console import ProgressLine, output, say, warn
from bootstrap.embedding_training import held_folder
from bootstrap.execution.processes import default_jobs, in_processes
from corpus.errors import InputError, shown
from taggers.embeddings.clusters import ClusterOptions, clusterings_of
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.folder import find_embeddings
from taggers.embeddings.kmeans import find_clusters

_KS = (128, 1024, 8192)  # of paper 003, table 3.1


def main(options: argparse.Namespace) -> None:
    """Find clusters in each embedding of a folder, and say how large they are."""
    os.umask(0o077)
    ks = sorted(set(options.k or _KS))
    embeddings = find_embeddings(options.folder)
    with held_folder(options.folder):
        tasks = []
        for embedding in embeddings:
            for k in _possible(embedding, ks, asked=options.k is not None):
                wanted = ClusterOptions(k, options.random_state, options.passes)
                if not _is_there(embedding, wanted):
                    tasks.append((embedding.folder, wanted))
        _find(tasks, options.jobs or default_jobs())
    output.print(sizes_table(embeddings, ks))
    say(["", "For a run to look at them, write into its configuration:", "", "  [tagger]"])
    say([f'  clusters = "{options.folder.absolute()}"'])


def _possible(embedding: Embedding, ks: Sequence[int], *, asked: bool) -> list[int]:
    """Leave out numbers of clusters that are larger than that of words."""
    possible = [k for k in ks if k <= len(embedding)]
    if len(possible) < len(ks):
        many = " and ".join(f"{k:,}" for k in ks if k > len(embedding))
        what = f"{embedding.name} has {len(embedding):,} words: {many} clusters are too many"
        if asked or not possible:
            raise InputError(f"{what}; name smaller numbers with --k")
        warn([f"{what} and left out"])
    return possible


def _is_there(embedding: Embedding, wanted: ClusterOptions) -> bool:
    """Say whether a clustering was made before just so."""
    for each in clusterings_of(embedding).values():
        if each.options.k == wanted.k:
            if each.options == wanted:
                return True
            raise InputError(
                f"{shown(embedding.folder)} has {wanted.k} clusters found with random state "
                f"{each.options.random_state} in {each.options.passes} passes; remove clusters-"
                f"{wanted.k}.json to find others"
            )
    return False


def _find(tasks: Sequence[tuple[Path, ClusterOptions]], jobs: int) -> None:
    # A pass takes as long as there are clusters.
    done = [0] * len(tasks)
    total = sum(options.k * options.passes for _, options in tasks)
    with ProgressLine("clusters times passes") as line:
        for number, passes in in_processes(find_clusters, tasks, jobs=jobs):
            done[number] = passes * tasks[number][1].k
            line.report("clustering", sum(done), total)


def sizes_table(embeddings: Sequence[Embedding], ks: Sequence[int]) -> Table:
    """Say how many words clusters have (paper 003, table 3.1): the median."""
    table = Table(box=None)
    table.add_column("embedding")
    for title in ("words", *(f"median, K = {k:,}" for k in ks)):
        table.add_column(title, justify="right")
    for embedding in embeddings:
        medians = {
            each.options.k: f"{np.median(each.sizes()):.1f}"
            for each in clusterings_of(embedding).values()
        }
        cells = [medians.get(k, "") for k in ks]
        table.add_row(embedding.name, f"{len(embedding):,}", *cells)
    return table
