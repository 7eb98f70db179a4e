"""``bootstrap cluster``: clusters of words with similar vectors."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Sequence

import numpy as np

from bootstrap.cli.console import StageProgress, print_figures, print_lines
from bootstrap.embedding_training import cluster_embeddings, locked_folder
from bootstrap.execution.processes import default_jobs
from corpus.errors import InputError
from taggers.embeddings.clusters import ClusterOptions, clusterings_of
from taggers.embeddings.embedding import Embedding, find_embeddings

_KS = (128, 1024, 8192)  # of paper 003, table 3.1
_log = logging.getLogger(__name__)


def main(options: argparse.Namespace) -> None:
    """Cluster the words of each embedding of a folder and print the median sizes of clusters."""
    ks = sorted(set(options.k or _KS))
    embeddings = find_embeddings(options.folder)
    with locked_folder(options.folder):
        tasks = []
        for embedding in embeddings:
            for k in _possible(embedding, ks, asked=options.k is not None):
                wanted = ClusterOptions(k, options.random_state, options.passes)
                if not _exists(embedding, wanted):
                    tasks.append((embedding.folder, [wanted]))
        with StageProgress("clusters times passes") as bar:
            jobs = options.jobs or default_jobs()
            cluster_embeddings(tasks, jobs=jobs, report=bar.report)
    titles = ["embedding", "words", *(f"median, K = {k:,}" for k in ks)]
    print_figures(titles, _size_rows(embeddings, ks))
    print_lines("", "To use them as features, add to the configuration of a run:", "")
    print_lines("  [tagger]", f'  clusters = "{options.folder.absolute()}"')


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
    for clustering in clusterings_of(embedding).values():
        existing = clustering.options
        if existing.k == wanted.k and existing != wanted:
            raise InputError(
                f"{embedding.folder} has {wanted.k} clusters found with random state "
                f"{existing.random_state} in {existing.passes} passes; remove clusters-"
                f"{wanted.k}.json to find others"
            )
        if existing == wanted:
            return True
    return False


def _size_rows(embeddings: Sequence[Embedding], ks: Sequence[int]) -> Iterator[list[str]]:
    """Yield the median numbers of words of a cluster (paper 003, table 3.1)."""
    for embedding in embeddings:
        medians = {
            clustering.options.k: f"{np.median(clustering.sizes()):.1f}"
            for clustering in clusterings_of(embedding).values()
        }
        yield [embedding.name, f"{len(embedding):,}", *(medians.get(k, "") for k in ks)]
