"""Word clusters as features of words, and their storage in a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes, hash_values
from corpus.storage.arrays import Expected
from taggers.embeddings.clusters import MOST_CLUSTERS, clusterings_of
from taggers.embeddings.embedding import find_embeddings, word_hashes
from taggers.embeddings.embedding_tables import EmbeddingTable, EmbeddingTables, described
from taggers.features.words import Feature, Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import CLUSTERS

Clusters = npt.NDArray[np.integer]

#: The cluster of a word that has none.
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTable(EmbeddingTable):
    """Clusterings of the same words.

    Parameters
    ----------
    table : KeyedTable
        The V words, with the column ``clusters``, int16 or int32 of shape (V, C).
    names : tuple of str
        The names of the C clusterings.
    """

    names: tuple[str, ...]

    def clusters(self, words: Words) -> Clusters:
        """Return the clusters of words, shape (T, C); `NONE` for unknown words."""
        return self.table.values(CLUSTERS, self.hashes(words), absent=NONE)

    def feature(self, column: int) -> Feature:
        """Return a feature of words: the number of the cluster in a clustering."""

        def cluster(words: Words) -> list[str]:
            clusters = words.once(self, lambda: self.clusters(words))[:, column]
            numbers, places = np.unique(clusters, return_inverse=True)
            values = ["" if number == NONE else str(number) for number in numbers.tolist()]
            return [values[place] for place in places.tolist()]

        return cluster

    def description(self) -> dict[str, Any]:
        return {"names": self.names, **EmbeddingTable.description(self)}


class WordClusters(EmbeddingTables[ClusterTable]):
    """A collection of clusterings with distinct names."""

    name = CLUSTERS

    @classmethod
    def read(cls, folder: Path, names: Sequence[str] = ()) -> Self:
        """Load clusterings from a folder of embeddings.

        Parameters
        ----------
        folder : Path
            A folder of embeddings with clusterings.
        names : sequence of str
            The clusterings to load; all by default.

        Raises
        ------
        InputError
            If there are no clusterings, or one of the names is unknown.
        """
        every = {embedding: clusterings_of(embedding) for embedding in find_embeddings(folder)}
        known = [name for clusterings in every.values() for name in clusterings]
        if not known:
            raise InputError(f"{folder} has no clusters yet: run bootstrap cluster first")
        for name in names:
            if name not in known:
                raise InputError(f"{folder} has no clustering {name}; it has {', '.join(known)}")
        tables = []
        for embedding, clusterings in every.items():
            wanted = [name for name in clusterings if not names or name in names]
            if wanted:
                columns = np.stack([clusterings[name].clusters for name in wanted], axis=1)
                small = columns.max(initial=0) < np.iinfo(np.int16).max
                columns = columns.astype(np.int16 if small else np.int32)
                words = word_hashes(embedding.names.strings())
                table = KeyedTable(words, {CLUSTERS: columns})
                tables.append(ClusterTable(embedding.normalisation, table, tuple(wanted)))
        return cls(tables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all clusterings."""
        return tuple(name for table in self.tables for name in table.names)

    def features(self) -> dict[str, Feature]:
        """Return a feature of words for each clustering: the number of the cluster."""
        return {
            name: table.feature(column)
            for table in self.tables
            for column, name in enumerate(table.names)
        }

    def only(self, name: str) -> WordClusters:
        """Return the clustering of a name."""
        (table,) = (table for table in self.tables if name in table.names)
        words, column = table.table, table.names.index(name)
        columns = {CLUSTERS: words[CLUSTERS][:, [column]]}
        only = KeyedTable(words.hashes, columns, patients=words.patients, key=words.key)
        return WordClusters([replace(table, names=(name,), table=only)])

    def with_nonzero_weights(self, hashes: Hashes, key: int = 0) -> WordClusters:
        """Return the clusterings without words whose clusters have no weight.

        `hashes`, with their key, are those of the feature values that have a weight. With these
        weights, predictions stay the same.
        """
        weighted = HashIndex(hashes, key)

        def with_weight(table: ClusterTable) -> KeyedTable:
            matters = np.zeros(len(table.table), bool)
            for name, clusters in zip(table.names, table.table[CLUSTERS].T, strict=True):
                values = [str(number) for number in range(int(clusters.max(initial=0)) + 1)]
                matters |= (weighted.positions(hash_values(name, values)) != ABSENT)[clusters]
            return table.table.take(matters)

        return self._with(with_weight)

    @classmethod
    def from_model(cls, model: ModelFiles) -> Self:
        """Read clusterings from the files of a model.

        Raises
        ------
        InputError
            If a file or the description of the model is not what `files` and `description` return.
        """
        tables = []
        for number, fields in enumerate(model.fields.rows("clusters")):
            names = fields.distinct_texts("names")
            normalisation, key = described(fields)
            if not names:
                raise fields.error("names", "at least one name")
            columns = {CLUSTERS: Expected("int16 int32", (None, len(names)), 0, MOST_CLUSTERS)}
            table = KeyedTable.from_model(
                model, f"{CLUSTERS}-{number}", columns, key=key, mapped=True
            )
            tables.append(ClusterTable(normalisation, table, names))
        return cls(tables)
