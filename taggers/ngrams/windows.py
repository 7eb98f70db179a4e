"""The three channels of an n-gram: its words, and those before and after it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]

#: The channels, in their order.
CHANNELS = ("left", "words", "right")

#: In place of a token, before and after a document, and after an n-gram.
BORDER = -1


def windows_of(
    first: Indices, last: Indices, document_offsets: Indices, length: int
) -> npt.NDArray[np.int64]:
    """Return the tokens of the channels of n-grams.

    Parameters
    ----------
    first, last : ndarray of int64, shape (K,)
        The first and the last token of each n-gram.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of the tokens of documents.
    length : int
        The tokens of a channel, T.

    Returns
    -------
    ndarray of int64, shape (K, 3, T)
        `BORDER` where there is no token. The left context ends at the last place, and the others
        begin at the first.
    """
    places = np.arange(length)
    document = np.searchsorted(document_offsets, first, side="right") - 1
    begin, end = (document_offsets[document + step][:, None] for step in (0, 1))
    left = first[:, None] - length + places
    words = first[:, None] + places
    right = last[:, None] + 1 + places
    return np.stack(
        [
            np.where(left >= begin, left, BORDER),
            np.where(words <= last[:, None], words, BORDER),
            np.where(right < end, right, BORDER),
        ],
        axis=1,
    )
