"""Random samples of documents that are read one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corpus.document import Document

#: The maximum number of documents of a sample.
SAMPLED = 2000


class Sample:
    """A random sample of the documents of a stream.

    The documents with the smallest random keys are kept. The sample does not depend on how the
    stream is divided into parts.

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
        kept = np.sort(np.argsort(keys, kind="stable")[: self._size])
        before = len(self.documents)
        self.documents = [
            self.documents[place] if place < before else documents[place - before]
            for place in kept.tolist()
        ]
        self._keys = keys[kept]
