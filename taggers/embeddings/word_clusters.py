"""The clusters of words as features of them, and as a model keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, shown
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes, hash_values
from taggers.arrays import array_bytes
from taggers.embeddings.clusters import clusterings_of
from taggers.embeddings.embedding import word_hashes
from taggers.embeddings.folder import find_embeddings
from taggers.embeddings.normalisation import NORMALISATIONS
from taggers.features import Feature, Words

Clusters = npt.NDArray[np.int32]

#: The cluster of a word that has none.
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTable:
    """Clusterings of the same words.

    Parameters
    ----------
    names : tuple of str
        Of the C clusterings.
    normalisation : str
        What words become before they are looked up.
    hashes : ndarray of uint64, shape (V,)
        Of the words: a model tells them, but does not spell them.
    clusters : ndarray of int32, shape (V, C)
        The cluster of each word in each clustering.
    """

    names: tuple[str, ...]
    normalisation: str
    hashes: Hashes
    clusters: Clusters

    def of(self, words: Words, index: HashIndex) -> Clusters:
        """Give the clusters of words, shape (T, C), or `NONE`."""
        rows = index.positions(word_hashes(NORMALISATIONS[self.normalisation](words)))
        found = np.full((len(rows), len(self.names)), NONE, np.int32)
        known = rows != ABSENT
        found[known] = self.clusters[rows[known]]
        return found


class WordClusters:
    """Clusterings by their names.

    Parameters
    ----------
    tables : sequence of ClusterTable
        Their names are distinct.
    """

    def __init__(self, tables: Sequence[ClusterTable] = ()) -> None:
        self.tables = tuple(tables)
        self._indices = [HashIndex(table.hashes) for table in tables]

    @classmethod
    def read(cls, folder: Path, names: Sequence[str] = ()) -> Self:
        """Take clusterings from a folder of embeddings.

        Parameters
        ----------
        folder : Path
            It has clusterings.
        names : sequence of str
            Which of them; all by default.

        Raises
        ------
        InputError
            If there are none, or not those.
        """
        found = {each: clusterings_of(each) for each in find_embeddings(folder)}
        there = [name for clusterings in found.values() for name in clusterings]
        if not there:
            raise InputError(f"{shown(folder)} has no clusters yet: bootstrap cluster makes them")
        for name in names:
            if name not in there:
                raise InputError(
                    f"{shown(folder)} has no clustering {shown(name)}; it has {', '.join(there)}"
                )
        tables = []
        for embedding, clusterings in found.items():
            wanted = [each for name, each in clusterings.items() if not names or name in names]
            if wanted:
                columns = np.stack([each.clusters for each in wanted], axis=1)
                hashes = word_hashes(embedding.names.strings())
                taken = tuple(each.name for each in wanted)
                tables.append(ClusterTable(taken, embedding.normalisation, hashes, columns))
        return cls(tables)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of all clusterings."""
        return tuple(name for table in self.tables for name in table.names)

    def features(self) -> dict[str, Feature]:
        """Give a feature of words for each clustering: it says the number of the cluster."""
        return {
            name: _feature(table, index, column)
            for table, index in zip(self.tables, self._indices, strict=True)
            for column, name in enumerate(table.names)
        }

    def only(self, names: Iterable[str]) -> WordClusters:
        """Give some of the clusterings."""
        wanted = set(names)
        tables = []
        for table in self.tables:
            columns = [column for column, name in enumerate(table.names) if name in wanted]
            if columns:
                taken = tuple(table.names[column] for column in columns)
                clusters = table.clusters[:, columns]
                tables.append(ClusterTable(taken, table.normalisation, table.hashes, clusters))
        return WordClusters(tables)

    def covered(self, types: Sequence[str], counts: npt.NDArray[np.int64]) -> dict[str, int]:
        """Count the tokens that have a cluster.

        Parameters
        ----------
        types : sequence of str
            Words.
        counts : ndarray of int64
            How many tokens are each.

        Returns
        -------
        dict of str to int
            By the names of embeddings.
        """
        words = Words(types)
        found = {}
        for table, index in zip(self.tables, self._indices, strict=True):
            some = table.of(words, index)[:, 0] != NONE
            found[table.names[0].rpartition("-k")[0]] = int(counts[some].sum())
        return found

    def with_nonzero_weights(self, hashes: Hashes) -> WordClusters:
        """Leave out words none of whose clusters has a weight.

        Parameters
        ----------
        hashes : ndarray of uint64
            Of the values of features that have a weight.

        Returns
        -------
        WordClusters
            With the same features for a model that has those weights.
        """
        return WordClusters(
            [_with_nonzero_weights(table, HashIndex(hashes)) for table in self.tables]
        )

    def description(self) -> list[dict[str, Any]]:
        """Give what `of_files` needs beside the files, as JSON can hold it."""
        return [
            {"names": table.names, "normalisation": table.normalisation} for table in self.tables
        ]

    def files(self) -> dict[str, bytes]:
        """Give the content of a model's files: arrays as NumPy writes them."""
        found = {}
        for number, table in enumerate(self.tables):
            small = np.iinfo(np.int16).max > table.clusters.max(initial=0)
            found[f"clusters-{number}.npy"] = array_bytes(
                table.clusters.astype(np.int16 if small else np.int32)
            )
            found[f"clusters-{number}-words.npy"] = array_bytes(table.hashes)
        return found

    @classmethod
    def of_files(cls, folder: Path, description: Sequence[Mapping[str, Any]]) -> Self:
        """Read what `files` gave."""
        tables = []
        for number, table in enumerate(description):
            hashes = np.load(folder / f"clusters-{number}-words.npy", mmap_mode="c")
            clusters = np.load(folder / f"clusters-{number}.npy", mmap_mode="c")
            names = tuple(map(str, table["names"]))
            tables.append(ClusterTable(names, str(table["normalisation"]), hashes, clusters))
        return cls(tables)


def _feature(table: ClusterTable, index: HashIndex, column: int) -> Feature:
    def clusters(words: Words) -> list[str]:
        found = words.once(table, lambda: table.of(words, index))[:, column]
        numbers, places = np.unique(found, return_inverse=True)
        values = ["" if number == NONE else str(number) for number in numbers.tolist()]
        return [values[place] for place in places.tolist()]

    return clusters


def _with_nonzero_weights(table: ClusterTable, weighted: HashIndex) -> ClusterTable:
    matters = np.zeros(len(table.hashes), bool)
    for column, name in enumerate(table.names):
        clusters = table.clusters[:, column]
        values = [str(number) for number in range(int(clusters.max(initial=0)) + 1)]
        matters |= (weighted.positions(hash_values(name, values)) != ABSENT)[clusters]
    return ClusterTable(
        table.names, table.normalisation, table.hashes[matters], table.clusters[matters]
    )
