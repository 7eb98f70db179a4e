"""Random samples of documents, of which those with the smallest random keys are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.document import Document

#: The maximum number of documents of a sample.
SAMPLED = 2000


class Sample:
    """A random sample of the documents of a stream.

    It does not depend on how the stream is divided into parts.

    Parameters
    ----------
    size : int
        The maximum number of documents.
    random_state : int
        The seed of the random keys.

    Attributes
    ----------
    documents : list of Document
        The sample, in the order of the stream.
    """

    def __init__(self, size: int = SAMPLED, random_state: int = 0) -> None:
        self.documents: list[Document] = []
        self._keys = np.zeros(0)
        self._size = size
        self._rng = np.random.default_rng(random_state)

    def add(self, documents: Sequence[Document]) -> None:
        """Add the next documents of the stream."""
        keys = np.concatenate([self._keys, self._rng.random(len(documents))])
        kept = np.sort(_smallest(keys)[: self._size])
        before = len(self.documents)
        self.documents = [
            self.documents[place] if place < before else documents[place - before]
            for place in kept.tolist()
        ]
        self._keys = keys[kept]


def sample_of(
    batch: Batch, size: int = SAMPLED, *, tokens: int | None = None, random_state: int = 0
) -> Batch:
    """Return a random sample of the documents of a batch.

    Parameters
    ----------
    batch : Batch
        The documents.
    size : int
        The maximum number of documents.
    tokens : int, optional
        The maximum number of tokens. The first document that is drawn is kept even if it has more.
    random_state : int
        The seed of the random keys.

    Returns
    -------
    Batch
        Whole documents, in the order of the batch.
    """
    drawn = _smallest(np.random.default_rng(random_state).random(len(batch)))[:size]
    if tokens is not None:
        fitting = int(np.searchsorted(np.cumsum(batch.lengths[drawn]), tokens, "right"))
        drawn = drawn[: max(fitting, 1)]
    return batch if len(drawn) == len(batch) else batch.take(np.sort(drawn))


def _smallest(keys: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the places of keys in ascending order, shape (n,)."""
    return np.argsort(keys, kind="stable")
