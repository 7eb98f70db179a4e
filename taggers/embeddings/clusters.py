"""Word clusters by k-means (scikit-learn) on normalised vectors (paper 003, section 3.3.2).

Centres are initialised with random words. With many clusters, the initialisation of k-means++ takes
longer than all iterations, without a better result (docs/explanation/word-embeddings.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.storage.arrays import Expected, array_bytes, read_array
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import digest_of_content, manifest_bytes, read_manifest
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.embedding_files import Floats, cluster_files, errors_of
from taggers.threads import one_thread

Clusters = npt.NDArray[np.int32]

#: Iterations between two reports of progress; each report costs one more assignment of clusters.
_PASSES = 4

#: The most clusters of a clustering.
MOST_CLUSTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Options of clustering.

    Parameters
    ----------
    k : int
        Number of clusters, K.
    random_state : int
        Seed of the random initial centres.
    passes : int
        Maximum number of iterations of k-means.
    """

    k: int
    random_state: int = 0
    passes: int = 20


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The cluster of each word of an embedding.

    Parameters
    ----------
    name : str
        The name of the clustering, such as ``lower-w5-k128``.
    clusters : ndarray of int32, shape (V,)
        The cluster of each word, from 0 to K - 1.
    options : ClusterOptions
        The options of clustering.
    inertia : float
        The mean squared distance of the normalised vectors from the centres of their clusters.
    """

    name: str
    clusters: Clusters
    options: ClusterOptions
    inertia: float

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the number of words in each cluster, shape (K,)."""
        return np.bincount(self.clusters, minlength=self.options.k)


def clusterings_of(embedding: Embedding) -> dict[str, Clustering]:
    """Load the clusterings of an embedding by name, in ascending number of clusters.

    Raises
    ------
    InputError
        If a clustering is damaged.
    """
    clusterings = [_read(embedding, name, path) for name, path in cluster_files(embedding.folder)]
    return {clustering.name: clustering for clustering in clusterings}


def _read(embedding: Embedding, name: str, path: Path) -> Clustering:
    with errors_of(path, "clusters"):
        manifest = read_manifest(path)
        fields, most = manifest.fields.fields("options"), 2**63 - 1
        options = ClusterOptions(
            fields.integer("k", least=1, most=MOST_CLUSTERS),
            fields.integer("random_state", least=0, most=most),
            fields.integer("passes", least=0, most=most),
        )
        expected = Expected("int32", (len(embedding),), 0, options.k - 1)
        file = path.with_suffix(".npy").name
        manifest.verify([file])
        clusters = read_array(manifest.path(file), expected, mapped=True)
        return Clustering(name, clusters, options, manifest.fields.number("inertia"))


def write_clusters(
    embedding: Embedding, clusters: npt.NDArray[Any], options: ClusterOptions, inertia: float
) -> None:
    """Write the clusters of an embedding's words, then their description."""
    path = embedding.folder / f"clusters-{options.k}.npy"
    content = array_bytes(clusters.astype(np.int32))
    write_atomically(path, content)
    description = {"options": asdict(options), "inertia": inertia}
    digests = {path.name: digest_of_content(content)}
    write_atomically(path.with_suffix(".json"), manifest_bytes(description, digests))


def find_clusterings(
    send: Callable[[int], None], folder: Path, clusterings: Sequence[ClusterOptions]
) -> None:
    """Compute clusterings of an embedding by k-means one after another, and write them beside it.

    For a small vocabulary, the start of a process takes longer than k-means.

    Parameters
    ----------
    send : callable
        Called with the number of completed iterations, each times the number of its clusters.
    folder : Path
        The folder of the embedding.
    clusterings : sequence of ClusterOptions
        Options of clustering, with at most as many clusters as words.
    """
    embedding = Embedding.load(folder)
    embedding.verify()
    directions = np.concatenate(list(embedding.directions()))
    before = 0
    for options in clusterings:

        def progress(passes: int, before: int = before, k: int = options.k) -> None:
            send(before + passes * k)

        last = options is clusterings[-1]
        _cluster(progress, embedding, directions if last else directions.copy(), options)
        before += options.passes * options.k


def _cluster(
    send: Callable[[int], None], embedding: Embedding, directions: Floats, options: ClusterOptions
) -> None:
    """Compute and write a clustering; the normalised vectors are changed by rounding."""
    from sklearn.cluster import KMeans  # noqa: PLC0415 - slow to import
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - the same

    centres: object = "random"
    done = 0
    # With several threads, the order of summation and hence rounding are not deterministic.
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer vectors differ than k
        while done < options.passes:
            passes = min(_PASSES, options.passes - done)
            result = KMeans(
                options.k,
                init=centres,
                n_init=1,
                max_iter=passes,
                tol=0.0,
                random_state=options.random_state,
                copy_x=False,
            ).fit(directions)
            centres = result.cluster_centers_
            done += passes
            send(done)
            if result.n_iter_ < passes:  # converged
                break
    write_clusters(embedding, result.labels_, options, float(result.inertia_) / len(directions))
