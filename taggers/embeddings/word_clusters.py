"""Word clusters as features of words, and their storage in a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.kernels.hash_index import ABSENT, HashIndex, Positions
from corpus.kernels.hashing import MOST_KEY, Hashes, hash_values
from corpus.storage.arrays import Expected
from taggers.embeddings.clusters import MOST_CLUSTERS, clusterings_of
from taggers.embeddings.embedding import find_embeddings, word_hashes
from taggers.embeddings.embedding_files import NORMALISATIONS
from taggers.features.words import Feature, Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.patient_counts import patients_of_words
from taggers.privacy.pruning import CLUSTERS, Pruning

Clusters = npt.NDArray[np.integer]

#: The cluster of a word that has none.
NONE = -1

#: The name of the files of a model, and of their column.
_CLUSTERS = "clusters"


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTable:
    """Clusterings of the same words.

    Parameters
    ----------
    names : tuple of str
        The names of the C clusterings.
    normalisation : str
        The normalisation of words before lookup.
    table : KeyedTable
        The V words, with the column ``clusters``, int16 or int32 of shape (V, C).
    """

    names: tuple[str, ...]
    normalisation: str
    table: KeyedTable

    def _hashes(self, words: Words) -> Hashes:
        return word_hashes(NORMALISATIONS[self.normalisation](words))

    def rows(self, types: Sequence[str]) -> Positions:
        """Return the row of each word, or `ABSENT`."""
        return self.table.rows(self._hashes(Words(types)))

    def clusters(self, words: Words) -> Clusters:
        """Return the clusters of words, shape (T, C); `NONE` for unknown words."""
        return self.table.values(_CLUSTERS, self._hashes(words), absent=NONE)

    def feature(self, column: int) -> Feature:
        """Return a feature of words: the number of the cluster in a clustering."""

        def cluster(words: Words) -> list[str]:
            clusters = words.once(self, lambda: self.clusters(words))[:, column]
            numbers, places = np.unique(clusters, return_inverse=True)
            values = ["" if number == NONE else str(number) for number in numbers.tolist()]
            return [values[place] for place in places.tolist()]

        return cluster

    def with_nonzero_weights(self, weighted: HashIndex) -> ClusterTable:
        """Return the clusterings of the words with at least one cluster that has a weight."""
        matters = np.zeros(len(self.table), bool)
        for name, clusters in zip(self.names, self.table[_CLUSTERS].T, strict=True):
            values = [str(number) for number in range(int(clusters.max(initial=0)) + 1)]
            matters |= (weighted.positions(hash_values(name, values)) != ABSENT)[clusters]
        return replace(self, table=self.table.take(matters))


class WordClusters:
    """A collection of clusterings.

    Parameters
    ----------
    tables : iterable of ClusterTable
        Tables of clusterings with distinct names.
    """

    def __init__(self, tables: Iterable[ClusterTable] = ()) -> None:
        self.tables = tuple(tables)

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
                table = KeyedTable(words, {_CLUSTERS: columns})
                tables.append(ClusterTable(tuple(wanted), embedding.normalisation, table))
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
        clusters = table.table[_CLUSTERS][:, [table.names.index(name)]]
        return WordClusters(
            [replace(table, names=(name,), table=table.table.with_columns({_CLUSTERS: clusters}))]
        )

    @property
    def size(self) -> int:
        """The number of words with a cluster, of all embeddings."""
        return sum(len(table.table) for table in self.tables)

    def counted(self, train: Batch) -> WordClusters:
        """Return the clusterings with the numbers of patients of training documents."""
        counts = [patients_of_words(train, len(table.table), table.rows) for table in self.tables]
        return WordClusters(
            replace(table, table=table.table.with_patients(patients))
            for table, patients in zip(self.tables, counts, strict=True)
        )

    def pruned(self, pruning: Pruning) -> WordClusters:
        """Return the clusterings without the words of few patients."""
        keep = CLUSTERS in pruning.keep
        return WordClusters(
            replace(table, table=table.table.pruned(pruning, keep=keep)) for table in self.tables
        )

    def having(self, types: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which words have a cluster in some clustering."""
        known = np.zeros(len(types), bool)
        for table in self.tables:
            known |= table.rows(types) != ABSENT
        return known

    def with_nonzero_weights(self, hashes: Hashes, key: int = 0) -> WordClusters:
        """Return the clusterings without words whose clusters have no weight.

        `hashes`, with their key, are those of the feature values that have a weight. With these
        weights, predictions stay the same.
        """
        weighted = HashIndex(hashes, key)
        return WordClusters(table.with_nonzero_weights(weighted) for table in self.tables)

    def description(self) -> list[dict[str, Any]]:
        """Return the description that `from_model` needs in addition to the files, for JSON."""
        return [
            {"names": table.names, "normalisation": table.normalisation, "key": table.table.key}
            for table in self.tables
        ]

    def files(self) -> dict[str, bytes]:
        """Return the content of a model's files: arrays in NumPy's format."""
        return {
            name: content
            for number, table in enumerate(self.tables)
            for name, content in table.table.files(f"{_CLUSTERS}-{number}").items()
        }

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
            normalisation = fields.text("normalisation")
            if normalisation not in NORMALISATIONS or not names:
                raise fields.error("normalisation", f"one of {', '.join(NORMALISATIONS)}")
            columns = {_CLUSTERS: Expected("int16 int32", (None, len(names)), 0, MOST_CLUSTERS)}
            key = fields.integer("key", least=0, most=MOST_KEY)
            table = KeyedTable.from_model(
                model, f"{_CLUSTERS}-{number}", columns, key=key, mapped=True
            )
            tables.append(ClusterTable(names, normalisation, table))
        return cls(tables)
