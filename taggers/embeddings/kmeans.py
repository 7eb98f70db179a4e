"""K-means (scikit-learn) on the directions of vectors, in a process of its own.

It begins with words drawn at random: k-means++ takes longer for its start than all passes after
it where clusters are many, and ends no better (docs/explanation/word-embeddings.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from taggers.embeddings.clusters import ClusterOptions, write_clusters
from taggers.embeddings.embedding import Embedding
from taggers.threads import one_thread

#: Passes between two reports: each time the clusters are looked up once more.
_PASSES = 4


def find_clusters(send: Callable[[int], None], folder: Path, options: ClusterOptions) -> None:
    """Compute the clusters of an embedding by k-means and write them beside it.

    Parameters
    ----------
    send : callable
        Told of the passes done.
    folder : Path
        Of the embedding.
    options : ClusterOptions
        No more clusters than words.
    """
    from sklearn.cluster import KMeans  # noqa: PLC0415 - slow to import
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - the same

    embedding = Embedding.load(folder)
    directions = np.concatenate(list(embedding.directions()))
    start: object = "random"
    done = 0
    # With several threads, sums are rounded in the order of chance.
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
            if found.n_iter_ < passes:  # nothing moves any more
                break
    write_clusters(embedding, found.labels_, options, float(found.inertia_) / len(directions))
