"""The word vectors of a network, which are part of its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT, Positions
from corpus.storage.arrays import array_files, weights_of_shape
from corpus.storage.fields import Fields
from taggers.embeddings.embedding import find_embeddings, word_hashes
from taggers.embeddings.embedding_files import FIRST, UNKNOWN
from taggers.embeddings.embedding_tables import EmbeddingTable, EmbeddingTables, described
from taggers.features.feature_options import vector_coverage
from taggers.features.words import Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.options import Coverage
from taggers.privacy.pruning import VECTORS

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable(EmbeddingTable):
    """The vectors of the words of an embedding.

    Parameters
    ----------
    table : KeyedTable
        The V words, with the column ``vectors`` of shape (V, E). Half precision (float16) halves
        the size of models.
    mean : ndarray of float16, shape (E,)
        The mean of all vectors, for unknown words.
    """

    mean: npt.NDArray[np.float16]

    def rows(self, types: Sequence[str]) -> Positions:
        """Return the row of each word, or else of its lower case, or else `ABSENT`."""
        rows = EmbeddingTable.rows(self, types)
        missing = np.flatnonzero(rows == ABSENT)
        if len(missing):
            words = Words([types[row] for row in missing.tolist()])
            rows[missing] = EmbeddingTable.rows(self, words.lowers)
        return rows

    def vectors(self, types: Sequence[str]) -> Floats:
        """Return the vectors of words, shape (T, E)."""
        rows = self.rows(types)
        vectors = np.repeat(self.mean[None].astype(np.float32), len(rows), axis=0)
        known = rows != ABSENT
        vectors[known] = self.table[VECTORS][rows[known]]
        return vectors

    def files(self, name: str) -> dict[str, bytes]:
        return array_files({f"{name}-mean": self.mean}) | EmbeddingTable.files(self, name)


class WordVectors(EmbeddingTables[VectorTable]):
    """The joined vectors of words in several embeddings."""

    name = VECTORS

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read all embeddings of a folder.

        Raises
        ------
        InputError
            If there are none, or one is damaged.
        """
        tables = []
        for embedding in find_embeddings(folder):
            embedding.verify()
            mean = embedding.vectors[UNKNOWN].astype(np.float16)
            columns = {VECTORS: embedding.vectors[FIRST:].astype(np.float16)}
            words = KeyedTable(word_hashes(embedding.names.strings()), columns)
            tables.append(VectorTable(embedding.normalisation, words, mean))
        return cls(tables)

    @property
    def dimension(self) -> int:
        """The dimension of the joined vectors, E; 0 if there are none."""
        return sum(len(table.mean) for table in self.tables)

    def lookup(self, types: Sequence[str]) -> Floats:
        """Return the vectors of words, shape (T, E)."""
        parts = [table.vectors(types) for table in self.tables]
        return np.concatenate([np.zeros((len(types), 0), np.float32), *parts], axis=1)

    @property
    def unknown(self) -> Floats:
        """The vector of unknown words, shape (E,)."""
        means = [table.mean.astype(np.float32) for table in self.tables]
        return np.concatenate([np.zeros(0, np.float32), *means])

    def coverage(self) -> Coverage:
        """Return the coverage of tokens by the first embedding."""

        def count(batch: Batch) -> int:
            known = self.tables[0].rows(batch.vocabulary) != ABSENT
            return int(known[batch.word_ids].sum())

        return vector_coverage("a vector in the embeddings", count)

    @classmethod
    def from_model(cls, model: ModelFiles, description: Sequence[Fields]) -> Self:
        """Read vectors from the files of a model and its `description`.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns, or a normalisation is unknown.
        """
        tables = []
        for number, fields in enumerate(description):
            name, (normalisation, key) = f"{VECTORS}-{number}", described(fields)
            mean = model.array(f"{name}-mean", weights_of_shape(None, dtypes="float16"))
            columns = {VECTORS: weights_of_shape(None, len(mean), dtypes="float16")}
            table = KeyedTable.from_model(model, name, columns, key=key)
            tables.append(VectorTable(normalisation, table, mean))
        return cls(tables)
