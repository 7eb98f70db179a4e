"""The unlabeled documents that are worth annotating: uncertain ones that differ from each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bootstrap.active_learning.choice import RoundLimits, choose_round
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
    return choose_round(-confidence, batch, RoundLimits(number, near_duplicate=SIMILAR))
