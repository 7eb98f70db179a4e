"""The word vectors of a network, which are part of its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT, Positions
from corpus.kernels.hashing import MOST_KEY
from corpus.storage.arrays import array_files, weights_of_shape
from corpus.storage.fields import Fields
from taggers.embeddings.embedding import find_embeddings, word_hashes
from taggers.embeddings.embedding_files import FIRST, NORMALISATIONS, UNKNOWN
from taggers.features.feature_options import vector_coverage
from taggers.features.words import Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.options import Coverage
from taggers.privacy.patient_counts import patients_of_words
from taggers.privacy.pruning import VECTORS, Pruning

Floats = npt.NDArray[np.float32]

#: The name of the files of a model, and of their column.
_VECTORS = "vectors"


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """The vectors of the words of an embedding.

    Parameters
    ----------
    normalisation : str
        The normalisation of words before lookup.
    mean : ndarray of float16, shape (E,)
        The mean of all vectors, for unknown words.
    table : KeyedTable
        The V words, with the column ``vectors`` of shape (V, E). Half precision (float16) halves
        the size of models.
    """

    normalisation: str
    mean: npt.NDArray[np.float16]
    table: KeyedTable

    def rows(self, types: Sequence[str]) -> Positions:
        """Return the row of each word, or else of its lower case, or else `ABSENT`."""
        normalise = NORMALISATIONS[self.normalisation]
        rows = self.table.rows(word_hashes(normalise(Words(types))))
        missing = np.flatnonzero(rows == ABSENT)
        if len(missing):
            words = Words([types[row] for row in missing.tolist()]).lowers
            rows[missing] = self.table.rows(word_hashes(normalise(Words(words))))
        return rows

    def vectors(self, types: Sequence[str]) -> Floats:
        """Return the vectors of words, shape (T, E)."""
        rows = self.rows(types)
        vectors = np.repeat(self.mean[None].astype(np.float32), len(rows), axis=0)
        known = rows != ABSENT
        vectors[known] = self.table[_VECTORS][rows[known]]
        return vectors


class WordVectors:
    """The joined vectors of words in several embeddings.

    Parameters
    ----------
    tables : sequence of VectorTable
        None for no vectors.
    """

    def __init__(self, tables: Sequence[VectorTable] = ()) -> None:
        self.tables = tuple(tables)

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
            columns = {_VECTORS: embedding.vectors[FIRST:].astype(np.float16)}
            words = KeyedTable(word_hashes(embedding.names.strings()), columns)
            tables.append(VectorTable(embedding.normalisation, mean, words))
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

    @property
    def size(self) -> int:
        """The number of words with a vector, of all embeddings."""
        return sum(len(table.table) for table in self.tables)

    def counted(self, train: Batch) -> WordVectors:
        """Return the vectors with the numbers of patients of training documents."""
        counts = [patients_of_words(train, len(table.table), table.rows) for table in self.tables]
        return WordVectors(
            [
                replace(table, table=table.table.with_patients(patients))
                for table, patients in zip(self.tables, counts, strict=True)
            ]
        )

    def pruned(self, pruning: Pruning) -> WordVectors:
        """Return the vectors, without the words of few patients."""
        keep = VECTORS in pruning.keep
        return WordVectors(
            [replace(table, table=table.table.pruned(pruning, keep=keep)) for table in self.tables]
        )

    def having(self, types: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which words have a vector in some embedding."""
        known = np.zeros(len(types), bool)
        for table in self.tables:
            known |= table.rows(types) != ABSENT
        return known

    def description(self) -> list[dict[str, Any]]:
        """Return the description that `from_model` needs in addition to the files."""
        return [
            {"normalisation": table.normalisation, "key": table.table.key} for table in self.tables
        ]

    def files(self) -> dict[str, bytes]:
        """Return the contents of a model's files: arrays in NumPy's format."""
        files: dict[str, bytes] = {}
        for number, table in enumerate(self.tables):
            files |= array_files({f"{_VECTORS}-{number}-mean": table.mean})
            files |= table.table.files(f"{_VECTORS}-{number}")
        return files

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
            normalisation = fields.text("normalisation")
            if normalisation not in NORMALISATIONS:
                raise fields.error("normalisation", f"one of {', '.join(NORMALISATIONS)}")
            name, key = f"{_VECTORS}-{number}", fields.integer("key", least=0, most=MOST_KEY)
            mean = model.array(f"{name}-mean", weights_of_shape(None, dtypes="float16"))
            columns = {_VECTORS: weights_of_shape(None, len(mean), dtypes="float16")}
            table = KeyedTable.from_model(model, name, columns, key=key)
            tables.append(VectorTable(normalisation, mean, table))
        return cls(tables)
