"""Oracles: what annotates the documents of a round."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, keys_of, make_batch
from corpus.errors import InputError, shown
from corpus.tags import classes_of


class Oracle(Protocol):
    """Annotates documents: gold annotations in a simulation, or people."""

    def label(self, batch: Batch, indices: npt.NDArray[np.int64]) -> Batch:
        """Annotate documents completely.

        Parameters
        ----------
        batch : Batch
            Documents without tags.
        indices : ndarray of int64, shape (K,)
            The documents to annotate.

        Returns
        -------
        Batch
            These documents with their tags, in the same order.
        """
        ...


class GoldOracle:
    """An oracle that knows the gold annotations, for simulations.

    Parameters
    ----------
    gold : Batch
        Tagged documents.
    """

    def __init__(self, gold: Batch) -> None:
        self._gold = gold
        self._row = {key: row for row, key in enumerate(keys_of(gold).to_pylist())}

    def label(self, batch: Batch, indices: npt.NDArray[np.int64]) -> Batch:
        """Return the gold annotations of documents; see `Oracle.label`.

        Raises
        ------
        InputError
            If a document is not among the gold ones.
        """
        keys = keys_of(batch).take(indices).to_pylist()
        for key, name in zip(keys, batch.ids.take(indices).to_pylist(), strict=True):
            if key not in self._row:
                raise InputError(f"document {shown(name)} is not among the gold documents")
        rows = np.array([self._row[key] for key in keys], np.int64)
        documents = self._gold.take(rows).to_documents()
        # As it is read from the folder of a run: with its words in the order of the text.
        return make_batch(documents, labelled=True, classes=classes_of(self._gold.labels))
