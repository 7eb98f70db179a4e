"""Word clusters as features of words, and their storage in a model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.kernels.hash_index import ABSENT, HashIndex, Positions
from corpus.kernels.hashing import MOST_KEY, Hashes, hash_values
from corpus.storage.arrays import Expected, array_bytes
from taggers.embeddings.clusters import MOST_CLUSTERS, clusterings_of
from taggers.embeddings.embedding import word_hashes
from taggers.embeddings.folder import find_embeddings
from taggers.embeddings.normalisation import NORMALISATIONS
from taggers.features import Feature, Words
from taggers.model_folder import ModelFiles
from taggers.privacy.patient_counts import Counts, expected_counts, patients_of_words
from taggers.privacy.pruning import CLUSTERS, Pruning

Clusters = npt.NDArray[np.int32]

#: The cluster of a word that has none.
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTable:
    """Clusterings of the same words.

    Parameters
    ----------
    names : tuple of str
        The names of the C clusterings.
    normalisation : str
        The normalisation of words before lookup.
    hashes : ndarray of uint64, shape (V,)
        Hashes of the words. A model stores no text of them.
    clusters : ndarray of int32, shape (V, C)
        The cluster of each word in each clustering.
    patients : ndarray of int32, shape (V,)
        The number of patients in whose training documents each word occurs.
    key : int
        The key of the hashes; 0 for none.
    """

    names: tuple[str, ...]
    normalisation: str
    hashes: Hashes
    clusters: Clusters
    patients: Counts
    key: int = 0

    def taken(self, kept: npt.NDArray[np.bool_]) -> ClusterTable:
        """Return the same clusterings of some of the words, by a mask of shape (V,)."""
        return replace(
            self,
            hashes=self.hashes[kept],
            clusters=self.clusters[kept],
            patients=self.patients[kept],
        )

    def positions(self, words: Words, index: HashIndex) -> Positions:
        """Return the row of each word, or `ABSENT`."""
        return index.positions(word_hashes(NORMALISATIONS[self.normalisation](words)))

    def of(self, words: Words, index: HashIndex) -> Clusters:
        """Return the clusters of words, shape (T, C); `NONE` for unknown words."""
        rows = self.positions(words, index)
        found = np.full((len(rows), len(self.names)), NONE, np.int32)
        known = rows != ABSENT
        found[known] = self.clusters[rows[known]]
        return found


class WordClusters:
    """A collection of clusterings.

    Parameters
    ----------
    tables : sequence of ClusterTable
        Tables of clusterings with distinct names.
    """

    def __init__(self, tables: Sequence[ClusterTable] = ()) -> None:
        self.tables = tuple(tables)
        self._indices = [HashIndex(table.hashes, table.key) for table in tables]

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
        found = {each: clusterings_of(each) for each in find_embeddings(folder)}
        there = [name for clusterings in found.values() for name in clusterings]
        if not there:
            raise InputError(f"{shown(folder)} has no clusters yet: run bootstrap cluster first")
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
                unknown = np.zeros(len(hashes), np.int32)
                tables.append(
                    ClusterTable(taken, embedding.normalisation, hashes, columns, unknown)
                )
        return cls(tables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all clusterings."""
        return tuple(name for table in self.tables for name in table.names)

    def features(self) -> dict[str, Feature]:
        """Return a feature of words for each clustering: the number of the cluster."""
        return {
            name: _feature(table, index, column)
            for table, index in zip(self.tables, self._indices, strict=True)
            for column, name in enumerate(table.names)
        }

    def only(self, names: Iterable[str]) -> WordClusters:
        """Return the clusterings of some names."""
        wanted = set(names)
        tables = []
        for table in self.tables:
            columns = [column for column, name in enumerate(table.names) if name in wanted]
            if columns:
                taken = tuple(table.names[column] for column in columns)
                tables.append(replace(table, names=taken, clusters=table.clusters[:, columns]))
        return WordClusters(tables)

    @property
    def size(self) -> int:
        """The number of words with a cluster, of all embeddings."""
        return sum(len(table.hashes) for table in self.tables)

    def counted(self, train: Batch) -> WordClusters:
        """Return the clusterings with the numbers of patients of training documents."""
        return WordClusters(
            [
                replace(
                    table,
                    patients=patients_of_words(
                        train,
                        len(table.hashes),
                        functools.partial(_positions, table, index),
                    ),
                )
                for table, index in zip(self.tables, self._indices, strict=True)
            ]
        )

    def pruned(self, pruning: Pruning) -> WordClusters:
        """Return the clusterings without the words of few patients."""
        tables = []
        for table in self.tables:
            kept = np.ones(len(table.hashes), bool)
            if CLUSTERS not in pruning.keep:
                kept = pruning.keeps(table.patients)
            taken = table.taken(kept)
            hashes, key = pruning.with_hashes(taken.hashes, taken.key)
            known = pruning.known(taken.patients)
            tables.append(replace(taken, hashes=hashes, patients=known, key=key))
        return WordClusters(tables)

    def having(self, types: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which words have a cluster in some clustering."""
        words, found = Words(types), np.zeros(len(types), bool)
        for table, index in zip(self.tables, self._indices, strict=True):
            found |= table.positions(words, index) != ABSENT
        return found

    def covered(self, types: Sequence[str], counts: npt.NDArray[np.int64]) -> dict[str, int]:
        """Count the tokens that have a cluster.

        Parameters
        ----------
        types : sequence of str
            Word types.
        counts : ndarray of int64
            The number of tokens of each word type.

        Returns
        -------
        dict of str to int
            The number of covered tokens, by the name of the embedding.
        """
        words = Words(types)
        found = {}
        for table, index in zip(self.tables, self._indices, strict=True):
            some = table.of(words, index)[:, 0] != NONE
            found[table.names[0].rpartition("-k")[0]] = int(counts[some].sum())
        return found

    def with_nonzero_weights(self, hashes: Hashes, key: int = 0) -> WordClusters:
        """Return the clusterings without words whose clusters have no weight.

        Parameters
        ----------
        hashes : ndarray of uint64
            Hashes of the feature values with a nonzero weight.
        key : int
            The key of these hashes.

        Returns
        -------
        WordClusters
            Clusterings that yield the same predictions with these weights.
        """
        return WordClusters(
            [_with_nonzero_weights(table, HashIndex(hashes, key)) for table in self.tables]
        )

    def description(self) -> list[dict[str, Any]]:
        """Return the description that `of_model` needs in addition to the files, as JSON values."""
        return [
            {"names": table.names, "normalisation": table.normalisation, "key": table.key}
            for table in self.tables
        ]

    def files(self) -> dict[str, bytes]:
        """Return the content of a model's files: arrays in NumPy's format."""
        found = {}
        for number, table in enumerate(self.tables):
            small = np.iinfo(np.int16).max > table.clusters.max(initial=0)
            found[f"clusters-{number}.npy"] = array_bytes(
                table.clusters.astype(np.int16 if small else np.int32)
            )
            found[f"clusters-{number}-words.npy"] = array_bytes(table.hashes)
            found[f"clusters-{number}-patients.npy"] = array_bytes(table.patients)
        return found

    @classmethod
    def of_model(cls, model: ModelFiles) -> Self:
        """Read clusterings from the files of a model.

        Raises
        ------
        InputError
            If a file or the description of the model is not what `files` and `description` return.
        """
        tables = []
        for number, table in enumerate(model.fields.rows("clusters")):
            names = table.distinct_texts("names")
            normalisation = table.text("normalisation")
            if normalisation not in NORMALISATIONS or not names:
                raise table.error("normalisation", f"one of {', '.join(NORMALISATIONS)}")
            hashes = model.hashes(f"clusters-{number}-words", mapped=True)
            shape = (len(hashes), len(names))
            expected = Expected("int16 int32", shape, 0, MOST_CLUSTERS)
            clusters = model.array(f"clusters-{number}", expected, mapped=True)
            patients = model.array(f"clusters-{number}-patients", expected_counts(len(hashes)))
            key = table.integer("key", least=0, most=MOST_KEY)
            tables.append(ClusterTable(names, normalisation, hashes, clusters, patients, key))
        return cls(tables)


def _feature(table: ClusterTable, index: HashIndex, column: int) -> Feature:
    def clusters(words: Words) -> list[str]:
        found = words.once(table, lambda: table.of(words, index))[:, column]
        numbers, places = np.unique(found, return_inverse=True)
        values = ["" if number == NONE else str(number) for number in numbers.tolist()]
        return [values[place] for place in places.tolist()]

    return clusters


def _positions(table: ClusterTable, index: HashIndex, types: Sequence[str]) -> Positions:
    return table.positions(Words(types), index)


def _with_nonzero_weights(table: ClusterTable, weighted: HashIndex) -> ClusterTable:
    matters = np.zeros(len(table.hashes), bool)
    for column, name in enumerate(table.names):
        clusters = table.clusters[:, column]
        values = [str(number) for number in range(int(clusters.max(initial=0)) + 1)]
        matters |= (weighted.positions(hash_values(name, values)) != ABSENT)[clusters]
    return table.taken(matters)
