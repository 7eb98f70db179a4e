"""Which tokens the parts of a text touch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


def touched_tokens(
    documents: Indices,
    starts: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
    *,
    rows: Indices,
    begins: Indices,
    finishes: Indices,
) -> tuple[Indices, Indices]:
    """Find the first and the last token that each part of a text touches.

    Parameters
    ----------
    documents : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    starts, ends : ndarray of int32, shape (N,)
        Half-open offsets of the tokens in the text of their document.
    rows, begins, finishes : ndarray of int64, shape (S,)
        Document, and half-open offsets in it, of each part.

    Returns
    -------
    first, last : ndarray of int64, shape (S,)
        The last one is before the first where no token is touched.
    """
    # Document and offset in one number, which grows along the batch.
    owners = np.repeat(np.arange(len(documents) - 1, dtype=np.int64) << 32, np.diff(documents))
    first = np.searchsorted(owners + ends, (rows << 32) + begins, side="right")
    last = np.searchsorted(owners + starts, (rows << 32) + finishes, side="left") - 1
    return first, last
