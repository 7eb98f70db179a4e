"""Values of words in columns, whose rows are found by the hashes of the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.kernels.hash_index import ABSENT, HashIndex, Positions
from corpus.kernels.hashing import Hashes
from corpus.storage.arrays import Expected, array_files
from taggers.model_folder import ModelFiles
from taggers.privacy.patient_counts import Counts, expected_counts
from taggers.privacy.pruning import Pruning

Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]


class KeyedTable:
    """A table of words: the hash of each word, its number of patients, and columns of values.

    Tables are not changed: methods return new ones. A model stores no text of the words.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Distinct hashes of the words.
    columns : mapping of str to ndarray, each of shape (V, ...)
        The values of the words.
    patients : ndarray of int32, shape (V,), optional
        The number of patients in whose training documents each word occurs; 0 by default.
    key : int
        The key of the hashes (see `corpus.kernels.hashing.keyed`); 0 for none.

    Examples
    --------
    >>> hashes = np.array([11, 22], np.uint64)
    >>> table = KeyedTable(hashes, {"bearers": np.array([500, 70])})
    >>> table.values("bearers", np.array([22, 33], np.uint64), absent=-1).tolist()
    [70, -1]
    """

    def __init__(
        self,
        hashes: Hashes,
        columns: Mapping[str, Array],
        *,
        patients: Counts | None = None,
        key: int = 0,
    ) -> None:
        self.hashes = hashes
        self.columns = dict(columns)
        self.patients = np.zeros(len(hashes), np.int32) if patients is None else patients
        self.key = key
        self._index: HashIndex | None = None

    def __len__(self) -> int:
        """Return the number of words, V."""
        return len(self.hashes)

    def __getitem__(self, name: str) -> Array:
        """Return a column."""
        return self.columns[name]

    def rows(self, hashes: Hashes) -> Positions:
        """Return the row of each hash without a key, or `ABSENT`, as int32 of shape (N,)."""
        if self._index is None:
            self._index = HashIndex(self.hashes, self.key)
        return self._index.positions(hashes)

    def values(self, name: str, hashes: Hashes, absent: float = 0) -> Array:
        """Return the value of each hash in a column.

        Parameters
        ----------
        name : str
            The column.
        hashes : ndarray of uint64, shape (N,)
            Hashes without a key.
        absent : float
            The value of hashes that are not in the table.

        Returns
        -------
        ndarray, shape (N, ...)
            Of the data type of the column.
        """
        column, rows = self.columns[name], self.rows(hashes)
        values = np.full((len(rows), *column.shape[1:]), absent, column.dtype)
        known = rows != ABSENT
        values[known] = column[rows[known]]
        return values

    def take(self, kept: Flags) -> KeyedTable:
        """Return the rows that a mask of shape (V,) selects."""
        columns = {name: column[kept] for name, column in self.columns.items()}
        return KeyedTable(self.hashes[kept], columns, patients=self.patients[kept], key=self.key)

    def with_patients(self, patients: Counts) -> KeyedTable:
        """Return the table with other numbers of patients, int32 of shape (V,)."""
        return KeyedTable(self.hashes, self.columns, patients=patients, key=self.key)

    def pruned(self, pruning: Pruning, *, keep: bool = False) -> KeyedTable:
        """Return the words of enough patients, hashed with the key of a pruning.

        Parameters
        ----------
        pruning : Pruning
            What is removed.
        keep : bool
            Whether all words are kept, because they are public.
        """
        kept = self if keep else self.take(pruning.keeps(self.patients))
        hashes, key = pruning.with_hashes(kept.hashes, kept.key)
        return KeyedTable(hashes, kept.columns, patients=pruning.known(kept.patients), key=key)

    def forgetting(self, pruning: Pruning, *learned: str) -> KeyedTable:
        """Return all words, with 0 in learned columns for words of few patients."""
        frequent = pruning.keeps(self.patients)
        zeroed = {name: self.columns[name].copy() for name in learned}
        for column in zeroed.values():
            column[~frequent] = 0
        patients = np.where(frequent, pruning.known(self.patients), 0).astype(np.int32)
        return KeyedTable(self.hashes, self.columns | zeroed, patients=patients, key=self.key)

    def files(self, name: str) -> dict[str, bytes]:
        """Return the content of the files of a model; their names begin with a name."""
        arrays: dict[str, Array] = {"words": self.hashes, "patients": self.patients}
        arrays |= self.columns
        return array_files({f"{name}-{part}": array for part, array in arrays.items()})

    @classmethod
    def from_model(
        cls,
        model: ModelFiles,
        name: str,
        columns: Mapping[str, Expected],
        *,
        key: int = 0,
        mapped: bool = False,
    ) -> Self:
        """Read a table from the files of a model, and check it.

        Parameters
        ----------
        model : ModelFiles
            A model with the `files` of a table.
        name : str
            The name of the table.
        columns : mapping of str to Expected
            The values of each column. Their number need not be known: the shape's first dimension
            equals the number of hashes.
        key : int
            The key of the hashes.
        mapped : bool
            Whether the hashes and the columns are mapped into memory.

        Raises
        ------
        InputError
            If a file is missing, or is not what is expected.
        """
        hashes = model.hashes(f"{name}-words", mapped=mapped)
        values = {
            part: model.array(
                f"{name}-{part}",
                replace(expected, shape=(len(hashes), *expected.shape[1:])),
                mapped=mapped,
            )
            for part, expected in columns.items()
        }
        patients = model.array(f"{name}-patients", expected_counts(len(hashes)))
        return cls(hashes, values, patients=patients, key=key)
