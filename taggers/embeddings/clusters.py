"""Word clusters by k-means on normalised vectors (paper 003, section 3.3.2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, shown
from corpus.storage.arrays import Expected, array_bytes, read_array
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import digest_of_content, manifest_bytes, read_manifest
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.listing import DAMAGED, cluster_files

Clusters = npt.NDArray[np.int32]


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
    clusterings = [_opened(embedding, *each) for each in cluster_files(embedding.folder)]
    return {each.name: each for each in clusterings}


def _opened(embedding: Embedding, name: str, path: Path) -> Clustering:
    try:
        manifest = read_manifest(path)
        description = manifest.fields
        options = description.fields("options")
        most = 2**63 - 1
        found = ClusterOptions(
            options.integer("k", least=1, most=MOST_CLUSTERS),
            options.integer("random_state", least=0, most=most),
            options.integer("passes", least=0, most=most),
        )
        expected = Expected("int32", (len(embedding),), 0, found.k - 1)
        file = path.with_suffix(".npy").name
        manifest.verify([file])
        clusters = read_array(manifest.path(file), expected, mapped=True)
        return Clustering(name, clusters, found, description.number("inertia"))
    except InputError as error:
        raise InputError(f"{shown(path)} holds no clusters: {error}") from None
    except DAMAGED as error:
        raise InputError(f"{shown(path)} holds no clusters: {shown(error)}") from None


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
