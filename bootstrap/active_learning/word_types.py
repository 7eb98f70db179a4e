"""Similarity of documents: the distinct words that two of them share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bootstrap.data.separation import plain_form
from corpus.batch import Batch
from corpus.ragged import owners_of
from corpus.tags import classes_of
from taggers.base import Tagging


class WordTypes:
    """The distinct words of each document of a batch.

    Words are compared in lower case and with all digits as 0. With a tagging, the words of an
    entity count as its class, so that documents which differ in a name alone are equal.

    Parameters
    ----------
    batch : Batch
        D documents.
    tagging : Tagging, optional
        Their tags.
    """

    def __init__(self, batch: Batch, tagging: Tagging | None = None) -> None:
        index: dict[str, int] = {}
        forms = (plain_form(word) for word in batch.vocabulary)
        numbers = np.array([index.setdefault(form, len(index)) for form in forms], np.int64)
        types = numbers[batch.word_ids]
        self._number = len(index)
        if tagging is not None:
            classes = _classes(tagging)
            types = np.where(classes >= 0, len(index) + classes, types)
            self._number += len(classes_of(tagging.labels))
        owners = owners_of(batch.document_offsets)
        pairs = np.unique(owners * max(self._number, 1) + types)
        self._owners, self._types = np.divmod(pairs, max(self._number, 1))
        self._sizes = np.bincount(self._owners, minlength=len(batch))

    def similarity(self, document: int) -> npt.NDArray[np.float64]:
        """Compute the Jaccard similarity of a document with tokens to every one, shape (D,)."""
        inside = np.zeros(self._number, bool)
        inside[self._types[self._owners == document]] = True
        shared = np.bincount(self._owners[inside[self._types]], minlength=len(self._sizes))
        found: npt.NDArray[np.float64] = shared / (self._sizes + self._sizes[document] - shared)
        return found


def _classes(tagging: Tagging) -> npt.NDArray[np.int64]:
    """Return the number of the class of each token; -1 outside of entities."""
    number = {name: index for index, name in enumerate(classes_of(tagging.labels))}
    of_label = np.array([number.get(label[2:], -1) for label in tagging.labels], np.int64)
    return of_label[tagging.tags]
