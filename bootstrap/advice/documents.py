"""The unlabeled documents that are worth annotating: uncertain ones that differ from each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bootstrap.data.separation import plain_form
from corpus.batch import Batch

#: Documents with this Jaccard similarity of their word types or more are near duplicates.
SIMILAR = 0.5


def uncertain_documents(
    batch: Batch, confidence: npt.NDArray[np.float64], number: int
) -> npt.NDArray[np.int64]:
    """Return the documents whose tags are least certain and that are no near duplicates.

    Uncertainty sampling (Lewis and Gale, "A sequential algorithm for training text classifiers",
    SIGIR 1994; for sequences: Culotta and McCallum, AAAI 2005), without documents that resemble a
    more uncertain one.

    Parameters
    ----------
    batch : Batch
        D documents.
    confidence : ndarray of float64, shape (D,)
        The confidence in the tags of each.
    number : int
        The maximum number of documents.

    Returns
    -------
    ndarray of int64, shape (n,)
        The indices of at most `number` documents with tokens, the most uncertain first. No two of
        them have a Jaccard similarity of `SIMILAR` or more; word types are compared in lower case
        and with all digits as 0. None if half of the documents or more have the lowest confidence,
        as that of a dictionary model may be: it does not tell them apart.
    """
    filled = confidence[batch.lengths > 0]
    if not len(filled) or np.median(filled) == filled.min():
        return np.zeros(0, np.int64)
    types = _WordTypes(batch)
    chosen: list[int] = []
    similarity = np.zeros(len(batch))
    similarity[batch.lengths == 0] = 1
    for document in np.argsort(confidence, kind="stable").tolist():
        if len(chosen) == number:
            break
        if similarity[document] < SIMILAR:
            chosen.append(document)
            similarity = np.maximum(similarity, types.similarity(document))
    return np.array(chosen, np.int64)


class _WordTypes:
    """The distinct word types of each document of a batch."""

    def __init__(self, batch: Batch) -> None:
        index: dict[str, int] = {}
        forms = (plain_form(word) for word in batch.vocabulary)
        numbers = np.array([index.setdefault(form, len(index)) for form in forms], np.int64)
        self._number = len(index)
        owners = np.repeat(np.arange(len(batch)), batch.lengths)
        pairs = np.unique(owners * max(self._number, 1) + numbers[batch.word_ids])
        self._owners, self._types = np.divmod(pairs, max(self._number, 1))
        self._sizes = np.bincount(self._owners, minlength=len(batch))

    def similarity(self, document: int) -> npt.NDArray[np.float64]:
        """Compute the Jaccard similarity of a document with tokens to every one, shape (D,)."""
        inside = np.zeros(self._number, bool)
        inside[self._types[self._owners == document]] = True
        shared = np.bincount(self._owners[inside[self._types]], minlength=len(self._sizes))
        found: npt.NDArray[np.float64] = shared / (self._sizes + self._sizes[document] - shared)
        return found
