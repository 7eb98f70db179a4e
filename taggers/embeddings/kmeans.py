"""K-means (scikit-learn) on normalised vectors, run in a separate process.

Centres are initialised with random words. With many clusters, the initialisation of k-means++ takes
longer than all iterations, without a better result (docs/explanation/word-embeddings.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from taggers.embeddings.clusters import ClusterOptions, write_clusters
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.vectors import Floats
from taggers.threads import one_thread

#: Iterations between two reports of progress, each of which assigns the clusters once more.
_PASSES = 4


def find_clusters(send: Callable[[int], None], folder: Path, options: ClusterOptions) -> None:
    """Compute the clusters of an embedding by k-means and write them beside it.

    Parameters
    ----------
    send : callable
        Called with the number of completed iterations.
    folder : Path
        The folder of the embedding.
    options : ClusterOptions
        Options of clustering, with at most as many clusters as words.
    """
    embedding = Embedding.load(folder)
    embedding.verify()
    _cluster(send, embedding, np.concatenate(list(embedding.directions())), options)


def find_clusterings(
    send: Callable[[int], None], folder: Path, clusterings: Sequence[ClusterOptions]
) -> None:
    """Compute several clusterings of an embedding one after another in the same process.

    For a small vocabulary, the start of a process takes longer than k-means.

    Parameters
    ----------
    send : callable
        Called with the number of completed iterations, each times the number of its clusters.
    folder, clusterings
        As in `find_clusters`.
    """
    embedding = Embedding.load(folder)
    embedding.verify()
    directions = np.concatenate(list(embedding.directions()))
    before = 0
    for options in clusterings:

        def progress(done: int, before: int = before, k: int = options.k) -> None:
            send(before + done * k)

        _cluster(progress, embedding, directions.copy(), options)
        before += options.passes * options.k


def _cluster(
    send: Callable[[int], None], embedding: Embedding, directions: Floats, options: ClusterOptions
) -> None:
    """Compute and write a clustering; the normalised vectors are changed by rounding."""
    from sklearn.cluster import KMeans  # noqa: PLC0415 - slow to import
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - the same

    start: object = "random"
    done = 0
    # With several threads, the order of summation and hence rounding are not deterministic.
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer vectors differ than k
        while done < options.passes:
            passes = min(_PASSES, options.passes - done)
            found = KMeans(
                options.k,
                init=start,
                n_init=1,
                max_iter=passes,
                tol=0.0,
                random_state=options.random_state,
                copy_x=False,
            ).fit(directions)
            start = found.cluster_centers_
            done += passes
            send(done)
            if found.n_iter_ < passes:  # converged
                break
    write_clusters(embedding, found.labels_, options, float(found.inertia_) / len(directions))
