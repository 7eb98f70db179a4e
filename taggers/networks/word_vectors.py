"""The word vectors of a network, which are part of its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import MOST_KEY, Hashes
from corpus.storage.arrays import array_files, weights_of_shape
from corpus.storage.json_fields import Fields
from taggers.embeddings.embedding import find_embeddings, word_hashes
from taggers.embeddings.listing import NORMALISATIONS
from taggers.embeddings.vectors import FIRST, UNKNOWN
from taggers.feature_options import vector_coverage
from taggers.features import Words
from taggers.model_folder import ModelFiles
from taggers.options import Coverage
from taggers.privacy.patient_counts import Counts, expected_counts, patients_of_words
from taggers.privacy.pruning import VECTORS, Pruning

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """The vectors of the words of an embedding.

    Parameters
    ----------
    normalisation : str
        The normalisation of words before lookup.
    hashes : ndarray of uint64, shape (V,)
        Hashes of the words. A model stores no text of them.
    vectors : ndarray of float16, shape (V + 1, E)
        The mean of all vectors, for unknown words, and the vector of each word. They are stored in
        half precision, which halves the size of models.
    patients : ndarray of int32, shape (V,)
        The number of patients in whose training documents each word occurs.
    key : int
        The key of the hashes; 0 for none.
    """

    normalisation: str
    hashes: Hashes
    vectors: npt.NDArray[np.float16]
    patients: Counts
    key: int = 0

    def rows(self, types: Sequence[str], index: HashIndex) -> npt.NDArray[np.int32]:
        """Return the rows of words: of the word, or else in lower case, or else 0."""
        normalise = NORMALISATIONS[self.normalisation]
        rows = index.positions(word_hashes(normalise(Words(types))))
        missing = np.flatnonzero(rows == ABSENT)
        if len(missing):
            words = Words([types[row] for row in missing.tolist()]).lowers
            rows[missing] = index.positions(word_hashes(normalise(Words(words))))
        return np.where(rows == ABSENT, 0, rows + 1).astype(np.int32)


class WordVectors:
    """The joined vectors of words in several embeddings.

    Parameters
    ----------
    tables : sequence of VectorTable
        None for no vectors.
    """

    def __init__(self, tables: Sequence[VectorTable] = ()) -> None:
        self.tables = tuple(tables)
        self._indices = [HashIndex(table.hashes, table.key) for table in tables]

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
            vectors = embedding.vectors[FIRST - 1 :].astype(np.float16)
            assert UNKNOWN == FIRST - 1
            hashes = word_hashes(embedding.names.strings())
            unknown = np.zeros(len(hashes), np.int32)
            tables.append(VectorTable(embedding.normalisation, hashes, vectors, unknown))
        return cls(tables)

    @property
    def dimension(self) -> int:
        """The dimension of the joined vectors, E; 0 if there are none."""
        return sum(table.vectors.shape[1] for table in self.tables)

    def of(self, types: Sequence[str]) -> Floats:
        """Return the vectors of words, shape (T, E)."""
        found = [np.zeros((len(types), 0), np.float32)]
        for table, index in zip(self.tables, self._indices, strict=True):
            found.append(table.vectors[table.rows(types, index)].astype(np.float32))
        return np.concatenate(found, axis=1)

    @property
    def unknown(self) -> Floats:
        """The vector of unknown words, shape (E,)."""
        means = [table.vectors[0].astype(np.float32) for table in self.tables]
        return np.concatenate([np.zeros(0, np.float32), *means])

    def coverage(self) -> Coverage:
        """Return the coverage of tokens by the first embedding."""

        def count(batch: Batch) -> int:
            known = self.tables[0].rows(batch.vocabulary, self._indices[0]) > 0
            return int(known[batch.word_ids].sum())

        return vector_coverage("a vector in the embeddings", count)

    @property
    def size(self) -> int:
        """The number of words with a vector, of all embeddings."""
        return sum(len(table.hashes) for table in self.tables)

    def counted(self, train: Batch) -> WordVectors:
        """Return the vectors with the numbers of patients of training documents."""

        def patients(table: VectorTable, index: HashIndex) -> Counts:
            return patients_of_words(
                train, len(table.hashes), lambda types: table.rows(types, index) - 1
            )

        pairs = zip(self.tables, self._indices, strict=True)
        return WordVectors(
            [replace(table, patients=patients(table, each)) for table, each in pairs]
        )

    def pruned(self, pruning: Pruning) -> WordVectors:
        """Return the vectors without those of the words of few patients."""
        tables = []
        for table in self.tables:
            kept = np.ones(len(table.hashes), bool)
            if VECTORS not in pruning.keep:
                kept = pruning.keeps(table.patients)
            hashes, key = pruning.with_hashes(table.hashes[kept], table.key)
            vectors = table.vectors[np.concatenate([[True], kept])]
            patients = pruning.known(table.patients[kept])
            tables.append(VectorTable(table.normalisation, hashes, vectors, patients, key))
        return WordVectors(tables)

    def having(self, types: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which words have a vector in some embedding."""
        found = np.zeros(len(types), bool)
        for table, index in zip(self.tables, self._indices, strict=True):
            found |= table.rows(types, index) > 0
        return found

    def description(self) -> list[dict[str, Any]]:
        """Return the description that `from_model` needs in addition to the files."""
        return [{"normalisation": each.normalisation, "key": each.key} for each in self.tables]

    def files(self) -> dict[str, bytes]:
        """Return the contents of a model's files: arrays in NumPy's format."""
        found: dict[str, npt.NDArray[Any]] = {}
        for number, table in enumerate(self.tables):
            found[f"vectors-{number}"] = table.vectors
            found[f"vectors-{number}-words"] = table.hashes
            found[f"vectors-{number}-patients"] = table.patients
        return array_files(found)

    @classmethod
    def from_model(cls, model: ModelFiles, description: Sequence[Fields]) -> Self:
        """Read vectors from the files of a model and its `description`.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns, or a normalisation is unknown.
        """
        tables = []
        for number, table in enumerate(description):
            normalisation = table.text("normalisation")
            if normalisation not in NORMALISATIONS:
                raise table.error("normalisation", f"one of {', '.join(NORMALISATIONS)}")
            hashes = model.hashes(f"vectors-{number}-words")
            expected = weights_of_shape(len(hashes) + 1, None, dtypes="float16")
            vectors = model.array(f"vectors-{number}", expected)
            patients = model.array(f"vectors-{number}-patients", expected_counts(len(hashes)))
            key = table.integer("key", least=0, most=MOST_KEY)
            tables.append(VectorTable(normalisation, hashes, vectors, patients, key))
        return cls(tables)
